/** All rows of a list in chunks, each read behind the last row of the one before: nothing is held between two of them. */
import { describeFault } from '../errors/database-fault.js';
import type { Keyset } from '../request/query/cursor-codec.js';

/** Rows of a chunk at most. A few sizes, as each is a statement of its own. */
const SIZES = [2_000, 500, 100, 20, 4, 1] as const;
/** Bytes of a chunk; larger rows come in smaller chunks. */
const MOST_BYTES = 2 * 1024 * 1024;

/** A chunk, as far as the next one depends on it. */
interface Chunk {
  /** Place of its last row; null or left out where no row follows. */
  readonly next?: Keyset | null;
  /** Bytes of its rows, and their number. Left out where nothing measures them. */
  readonly weight?: { readonly bytes: number; readonly count: number };
}

/**
 * Reads chunks in turn. The next one is read when the iterator is called. A result that is too large is read again in smaller ones.
 *
 * @param place behind which the first one begins; null is the first row
 */
export async function* readChunks<C extends Chunk>(
  place: Keyset | null,
  read: (after: Keyset | null, size: number) => Promise<C>,
): AsyncGenerator<C, void, undefined> {
  let after = place;
  let size: number = SIZES[0];
  for (;;) {
    const chunk = await read(after, size).catch((error: unknown) => {
      const { kind } = describeFault(error) ?? {};
      if (size > 1 && (kind === 'tooLarge' || kind === 'noMemory')) return null;
      throw error;
    });
    if (chunk === null) {
      size = sizeWithin(size - 1);
      continue;
    }
    yield chunk;
    if (!chunk.next) return;
    after = chunk.next;
    const { bytes = 0, count = 0 } = chunk.weight ?? {};
    if (bytes > MOST_BYTES) size = sizeWithin((MOST_BYTES * count) / bytes);
  }
}

function sizeWithin(most: number): number {
  return SIZES.find((size) => size <= most) ?? 1;
}
