/** The statements that are in use, by their text. Clients choose orders and sizes, so their number is limited. */
import { PreparedStatement } from './prepared-statement.js';

/** Each connection keeps the plans of as many, some 10 kB each. */
const MAX_STATEMENTS = 200;

/** Statements by text. The one that was not used for longest makes room, and its name is used again. */
export class StatementCache {
  readonly #statements = new Map<string, PreparedStatement>();
  readonly #isNaming: boolean;

  /** @param isNaming `false` where a pooler gives each transaction another connection to the server */
  constructor(isNaming: boolean) {
    this.#isNaming = isNaming;
  }

  /** The statement with this text. */
  get(text: string): PreparedStatement {
    const known = this.#statements.get(text);
    // Moved to the end: a Map is in the order of insertion.
    if (known) this.#statements.delete(text);
    const statement = known ?? new PreparedStatement(text, this.#takeName());
    this.#statements.set(text, statement);
    return statement;
  }

  #takeName(): string {
    const { size } = this.#statements;
    if (size < MAX_STATEMENTS) return this.#isNaming ? `crud_${size}` : '';
    const [oldest] = this.#statements.values();
    this.#statements.delete((oldest as PreparedStatement).text);
    return (oldest as PreparedStatement).name;
  }
}
