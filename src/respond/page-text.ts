/** A page of records -> its JSON text. One with much text is written in slices, between which other requests have their turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Envelope } from './envelope.js';
import { JsonBytes } from './json-bytes.js';

/** Characters of a page that is written at once, but for the last record. */
const SHORT = 256 * 1024;
/** Characters of a piece, but for the last record: each costs about as much as a short record. */
const PIECE = 64 * 1024;
/** Milliseconds of a slice, but for the last record. */
const SLICE = 5;

const NO_ITEMS = '{"items":[]';

/** The records of a page as JSON texts, made one by one. */
export interface PageTexts {
  readonly size: number;
  /** The text of a record, each once and in order. */
  write(index: number): string;
  /** Told that a record is written, where there are many bytes of them. */
  forget(index: number): void;
}

/** The JSON text of an envelope with items, which are not in it. The items come first in every envelope. */
export function writePage(
  envelope: Envelope,
  { size, write, forget }: PageTexts,
  within: <T>(work: () => T) => T,
): string | Promise<JsonBytes> {
  const end = `]${JSON.stringify(envelope).slice(NO_ITEMS.length)}`;
  let text = '{"items":[';
  for (let index = 0; index < size; index += 1) {
    if (text.length > SHORT) {
      const page = writeOn(text, index, end, { size, forget, write: (at) => within(() => write(at)) });
      // Also where nobody waits for it, because the request has failed meanwhile.
      page.catch(() => {});
      return page;
    }
    // Not `join`, which copies every text once more.
    text += index === 0 ? write(index) : `,${write(index)}`;
  }
  return text + end;
}

async function writeOn(
  text: string,
  from: number,
  end: string,
  { size, write, forget }: PageTexts,
): Promise<JsonBytes> {
  const bytes = new JsonBytes();
  let piece = text;
  for (let index = 0; index < from; index += 1) forget(index);
  let started = 0;
  for (let index = from; index < size; index += 1) {
    if (performance.now() - started > SLICE) {
      await nextTurn();
      started = performance.now();
    }
    piece += `,${write(index)}`;
    forget(index);
    if (piece.length < PIECE) continue;
    bytes.add(piece);
    piece = '';
  }
  bytes.add(piece + end);
  return bytes;
}
