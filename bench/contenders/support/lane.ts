/** Connections that many reads share: their packets of a turn of the event loop are written at once. */
import { Client } from 'pg';
import { LeanQuery, type TextRow } from './lean-query.js';
import type { Statement } from './statements.js';

const LANES = 2;

/** Opens them. */
export function connectLanes(databaseUrl: string): Promise<readonly Lane[]> {
  return Promise.all(Array.from({ length: LANES }, () => new Lane(databaseUrl).connect()));
}

/** A pipelined connection. */
export class Lane {
  readonly #client: Client & { readonly connection?: { readonly stream: { cork(): void; uncork(): void } } };
  #isCorked = false;

  constructor(connectionString: string) {
    // The sessions' time zone decides how timestamps are written.
    this.#client = new Client({ connectionString, pipeline: true, options: '-c TimeZone=UTC' } as object);
  }

  async connect(): Promise<this> {
    await this.#client.connect();
    return this;
  }

  query(statement: Statement): Promise<readonly TextRow[]> {
    this.#cork();
    return new Promise((resolve, reject) => {
      this.#client.query(new LeanQuery(statement, (error, rows) => (error ? reject(error) : resolve(rows))));
    });
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const stream = this.#client.connection?.stream;
    stream?.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream?.uncork();
    });
  }
}
