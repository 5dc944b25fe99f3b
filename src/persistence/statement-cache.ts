/** The statements that are in use, by their text. Clients choose orders and sizes, so their number is limited. */
import { PreparedStatement } from './prepared-statement.js';

/** Each connection keeps the plans of as many, some 10 kB each. */
const MAX_STATEMENTS = 200;

/** Statements by text. The one that was not used for longest makes room, and its name is used again. */
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
    const statement = new PreparedStatement(text, this.#takeName());
    this.#statements.set(text, statement);
    return statement;
  }

  #takeName(): string {
    const { size } = this.#statements;
    if (size < MAX_STATEMENTS) return this.#isNaming ? `crud_${size}` : '';
    const { text, name } = this.#oldest();
    this.#statements.delete(text);
    return name;
  }

  #oldest(): PreparedStatement {
    return [...this.#statements.values()].reduce((oldest, statement) =>
      statement.lastUse < oldest.lastUse ? statement : oldest,
    );
  }
}
