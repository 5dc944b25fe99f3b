/** A query of `pg` that reads rows and nothing else: parsed once, never described, its values left as texts. */
import { type Connection, type Pool, Query } from 'pg';
import type { Statement } from './statements.js';

/** A row: the text of each column, as it came. */
export type TextRow = readonly (string | null)[];

/** Members of a connection of `pg` that its types leave out. */
type Wire = Connection & {
  readonly parsedStatements: Record<string, string | undefined>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
  readonly stream: { cork(): void; uncork(): void };
  parse(query: { name: string; text: string }): void;
  bind(config: { statement: string; values: readonly (string | null)[] }): void;
  execute(config: object): void;
  sync(): void;
};

type Settle = (error: Error | null, rows: readonly TextRow[]) => void;

/** An argument of `client.query`. It calls back once. */
export class LeanQuery {
  /** The client files the statement under it. */
  readonly name: string;
  readonly text: string;
  readonly #values: readonly unknown[];
  readonly #rows: TextRow[] = [];
  readonly #settle: Settle;

  constructor({ name, text, values }: Statement, settle: Settle) {
    this.name = name;
    this.text = text;
    this.#values = values;
    this.#settle = settle;
  }

  submit(connection: Connection): null {
    const wire = connection as Wire;
    const { name, text } = this;
    wire.stream.cork();
    if (wire.parsedStatements[name] === undefined && wire.submittedNamedStatements[name] === undefined) {
      wire.parse({ name, text });
      wire.submittedNamedStatements[name] = text;
    }
    wire.bind({ statement: name, values: this.#values.map(toText) });
    wire.execute({});
    wire.sync();
    wire.stream.uncork();
    return null;
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#settle(null, this.#rows);
  }

  handleError(error: Error): void {
    this.#settle(error, this.#rows);
  }
}

// A pipelined client takes nothing else; but the constructor of `Query` would prepare what is never used.
Object.setPrototypeOf(LeanQuery.prototype, Query.prototype);

/** Runs a statement on a connection of a pool. */
export async function runLean(pool: Pool, statement: Statement): Promise<readonly TextRow[]> {
  const client = await pool.connect();
  try {
    return await new Promise((resolve, reject) => {
      client.query(new LeanQuery(statement, (error, rows) => (error ? reject(error) : resolve(rows))));
    });
  } finally {
    client.release();
  }
}

function toText(value: unknown): string | null {
  return value === null ? null : String(value);
}
