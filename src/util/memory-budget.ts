/** The process's budget of memory: results that arrive or are kept, and answers that clients have not taken, share it. */
import { getHeapStatistics } from 'node:v8';

/** Memory that Node reserves for new objects by default. */
const NEW_SPACE = 48 * 1024 * 1024;

const { heap_size_limit: whole } = getHeapStatistics();

/** Bytes for objects that last: the value of `--max-old-space-size`, or the part that Node takes of the machine or the container. */
export const HEAP_LIMIT: number = Math.max(whole - NEW_SPACE, whole / 2);

/** Bytes of all together. The rest of the heap is for everything else. */
export const BUDGET: number = HEAP_LIMIT / 2;

/** Bytes of memory for a byte of a text: the text and its JSON have one or two of them for each letter. */
export const TEXT_WEIGHT = 4;

let taken = 0;

/** Takes bytes of the budget, or returns them where their number is negative. */
export function takeBytes(bytes: number): void {
  taken += bytes;
}

/**
 * True where the budget has room for as many more bytes.
 *
 * @param share of the budget, from 0 to 1
 */
export function isWithin(bytes: number, share = 1): boolean {
  return taken + bytes <= BUDGET * share;
}

/** True where an answer of as many bytes fits beside the others. One alone may have any length. */
export function hasRoom(bytes: number, share?: number): boolean {
  return taken === 0 || isWithin(bytes, share);
}

/** Counts bytes of rows while work is under way beside which they are kept. */
export async function whileKept<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  takeBytes(TEXT_WEIGHT * bytes);
  try {
    return await work();
  } finally {
    takeBytes(-TEXT_WEIGHT * bytes);
  }
}

/** Bytes of the texts of rows. */
export function bytesOf(rows: readonly (readonly (string | null)[])[]): number {
  let bytes = 0;
  for (const row of rows) for (const text of row) bytes += text?.length ?? 0;
  return bytes;
}
