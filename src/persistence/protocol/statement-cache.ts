/** The statements that are in use, by their text. Clients choose orders and sizes, so their number is limited. */
import { PreparedStatement } from './prepared-statement.js';

/** Each connection keeps the plans of as many, some 10 kB each. */
export const MAX_STATEMENTS = 200;

/** Statements by text. The one that was not used for longest makes room; connections close theirs when they have too many. */
export class StatementCache {
  readonly #statements = new Map<string, PreparedStatement>();
  readonly #isNaming: boolean;
  #uses = 0;

  /** @param isNaming `false` where a pooler gives each transaction another connection to the server */
  constructor(isNaming: boolean) {
    this.#isNaming = isNaming;
  }

  /** The statement with this text. */
  get(text: string): PreparedStatement {
    const statement = this.#statements.get(text) ?? this.#add(text);
    this.#uses += 1;
    statement.lastUse = this.#uses;
    return statement;
  }

  #add(text: string): PreparedStatement {
    if (this.#statements.size === MAX_STATEMENTS)
      this.#statements.delete(leastUsed(this.#statements.values()).text);
    const statement = this.#isNaming ? new PreparedStatement(text) : new PreparedStatement(text, '');
    this.#statements.set(text, statement);
    return statement;
  }
}

/** The statement that was not used for longest. */
export function leastUsed(statements: Iterable<PreparedStatement>): PreparedStatement {
  return [...statements].reduce((oldest, statement) =>
    statement.lastUse < oldest.lastUse ? statement : oldest,
  );
}
