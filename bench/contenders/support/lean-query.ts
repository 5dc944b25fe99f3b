/** A query of `pg` that asks for rows and nothing else: parsed once, never described, its values left as texts. */
import { type Connection, Query } from 'pg';
import type { Statement } from './statements.js';

/** A row: the text of each column, as it came. */
export type TextRow = readonly (string | null)[];

/** What `pg` has and its types do not tell. */
type Wire = Connection & {
  readonly parsedStatements: Record<string, string | undefined>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
  readonly stream: { cork(): void; uncork(): void };
  parse(query: { name: string; text: string }): void;
  bind(config: { statement: string; values: readonly (string | null)[] }): void;
  execute(config: object): void;
  sync(): void;
};

/** Given to `client.query`, it calls back once. */
export class LeanQuery extends Query {
  readonly name: string;
  readonly #statement: Statement;
  readonly #rows: TextRow[] = [];
  readonly #settle: (error: Error | null, rows: readonly TextRow[]) => void;

  constructor(statement: Statement, settle: (error: Error | null, rows: readonly TextRow[]) => void) {
    super(statement.text);
    this.name = statement.name;
    this.#statement = statement;
    this.#settle = settle;
  }

  override submit = (connection: Connection): null => {
    const wire = connection as Wire;
    const { name, text, values } = this.#statement;
    wire.stream.cork();
    if (wire.parsedStatements[name] === undefined && wire.submittedNamedStatements[name] === undefined) {
      wire.parse({ name, text });
      wire.submittedNamedStatements[name] = text;
    }
    wire.bind({ statement: name, values: values.map(toText) });
    wire.execute({});
    wire.sync();
    wire.stream.uncork();
    return null;
  };

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

function toText(value: unknown): string | null {
  return value === null ? null : String(value);
}
