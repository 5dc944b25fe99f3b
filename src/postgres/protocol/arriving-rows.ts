/** The rows of a query as they arrive. Those of a result with many bytes are kept as bytes, and there is a most that is kept. */
import { RESULT_TOO_LARGE } from '../../errors/database-fault.js';
import type { TextRow } from './batch.js';
import { LARGE_RESULT, LargeResult, MAX_RESULT } from './large-result.js';
import type { DriverClient, DriverConnection } from './pg-internals.js';

/** Error of a result that is too large to be kept. */
export class ResultTooLargeError extends Error {
  readonly severity = 'ERROR';
  readonly code = RESULT_TOO_LARGE;

  constructor() {
    super(`The rows of a result have over ${MAX_RESULT} bytes.`);
  }
}

/** The rows of one query, execution by execution. */
export class ArrivingRows {
  readonly #client: DriverClient;
  readonly #most: number;
  #rows: TextRow[] = [];
  #bytes = 0;
  #large: LargeResult | null = null;
  #isOver = false;

  constructor(client: DriverClient, sql: string) {
    this.#client = client;
    // Rows of a write are returned, however many bytes they have.
    this.#most = sql.startsWith('SELECT') ? MAX_RESULT : Number.POSITIVE_INFINITY;
  }

  /** @param bytes of its message */
  add(row: TextRow, bytes: number): void {
    // Rows of a query that was given up still arrive, until its connection is closed.
    if (this.#isOver) return;
    this.#bytes += bytes;
    if (this.#bytes > this.#most) this.#drop();
    else this.#rows.push(this.#bytes < LARGE_RESULT ? row : this.#keep(row, bytes));
  }

  /** Rows of an execution that has ended; null where they have more bytes than is kept. */
  take(): readonly TextRow[] | null {
    const rows = this.#bytes > this.#most ? null : this.#rows;
    this.#rows = [];
    this.#bytes = 0;
    this.#large?.end();
    this.#large = null;
    return rows;
  }

  /** No more are looked for. */
  end(): void {
    this.#isOver = true;
    this.#drop();
    this.#large?.end();
  }

  #drop(): void {
    this.#rows = [];
    this.#large?.forget();
  }

  #keep(row: TextRow, bytes: number): TextRow {
    this.#large ??= new LargeResult((this.#client.connection as DriverConnection).stream);
    return this.#large.keep(row, bytes);
  }
}
