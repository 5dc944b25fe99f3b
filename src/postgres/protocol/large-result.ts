/**
 * Results of many bytes. Their rows wait outside of V8's heap, and become texts when they are read, one after the other: a page
 * of large rows needs the heap for one of them. What all results keep is bounded: beyond it only the oldest is read on.
 */

import type { TextRow } from './batch.js';
import { HEAP_LIMIT } from './heap-limit.js';
import type { DriverStream } from './pg-internals.js';

/** Bytes of a result. Rows behind them are kept as bytes, if they are large themselves. */
export const LARGE_RESULT = 256 * 1024;
/** Bytes of one result that are kept at most. */
export const MAX_RESULT: number = HEAP_LIMIT / 2;
/** Bytes of all results together. */
const MAX_KEPT = HEAP_LIMIT / 4;
/** Bytes of a row that is worth it. */
const LARGE_ROW = 2_048;
/** A shorter text costs less than its bytes and the access to them. */
const LONG_VALUE = 64;

/** Results whose rows arrive, the oldest first. */
const arriving = new Set<LargeResult>();
/** Bytes that nothing has read yet. */
let kept = 0;

/** Bytes of a result that are kept. */
interface Kept {
  bytes: number;
}

/** Rows that nothing will read, because they are gone. */
const forgotten = new FinalizationRegistry<Kept>((result) => free(result, result.bytes));

/** The large rows of one execution. */
export class LargeResult {
  readonly #stream: Pick<DriverStream, 'pause' | 'resume'>;
  readonly #kept: Kept = { bytes: 0 };
  #isPaused = false;

  /** @param stream what the rows arrive on */
  constructor(stream: Pick<DriverStream, 'pause' | 'resume'>) {
    this.#stream = stream;
    arriving.add(this);
    forgotten.register(this, this.#kept);
  }

  /** The same row, with long values as bytes. Short ones are copied, because they may be parts of the text of the row. */
  keep(row: TextRow, size: number): TextRow {
    if (size < LARGE_ROW) return row;
    const slim: (string | null)[] = new Array(row.length);
    for (const [index, text] of row.entries()) {
      if (text === null || text === '') slim[index] = text;
      else if (text.length < LONG_VALUE) slim[index] = Buffer.from(text).toString();
      else this.#keepValue(slim, index, Buffer.from(text));
    }
    this.flow();
    return slim;
  }

  /** Nothing will read the rows that have arrived. */
  forget(): void {
    free(this.#kept, this.#kept.bytes);
  }

  /** No more rows arrive. */
  end(): void {
    arriving.delete(this);
    if (this.#isPaused) this.#stream.resume();
    this.#isPaused = false;
    flowAll();
  }

  /** Reads the connection on, or no further: as long as too much is kept, only the oldest result goes on. */
  flow(): void {
    const [oldest] = arriving;
    const isPaused = kept > MAX_KEPT && this !== oldest;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#stream.pause();
    else this.#stream.resume();
  }

  #keepValue(row: (string | null)[], index: number, bytes: Buffer): void {
    const value = new KeptValue(this, this.#kept, bytes);
    Object.defineProperty(row, index, { configurable: true, enumerable: true, get: () => value.read() });
  }
}

/** A value as bytes. The result is as long in memory as any of its values. */
class KeptValue {
  readonly result: LargeResult;
  readonly #kept: Kept;
  readonly #bytes: Buffer;
  #isRead = false;

  constructor(result: LargeResult, keeping: Kept, bytes: Buffer) {
    this.result = result;
    this.#kept = keeping;
    this.#bytes = bytes;
    keeping.bytes += bytes.length;
    kept += bytes.length;
  }

  /** Counts the bytes as free from the first read on: its caller is expected to be done with them soon. */
  read(): string {
    if (!this.#isRead) free(this.#kept, this.#bytes.length);
    this.#isRead = true;
    return this.#bytes.toString();
  }
}

function free(result: Kept, bytes: number): void {
  result.bytes -= bytes;
  kept -= bytes;
  flowAll();
}

function flowAll(): void {
  for (const result of arriving) result.flow();
}
