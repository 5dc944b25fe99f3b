/** The statements that are in use, by their text. Clients choose orders and sizes, so their number is limited. */
import { PreparedStatement } from './prepared-statement.js';

/** Each connection keeps the plans of as many, some 10 kB each. */
export const MAX_STATEMENTS = 200;

/** Uses of all caches: connections keep statements of several. */
let uses = 0;

/** Statements by text. The one that was not used for longest makes room; connections close theirs when they have too many. */
export class StatementCache<S extends PreparedStatement = PreparedStatement> {
  readonly #statements = new Map<string, S>();
  readonly #make: (text: string) => S;

  constructor(make: (text: string) => S) {
    this.#make = make;
  }

  /** The statement with this text. */
  get(text: string): S {
    const statement = this.#statements.get(text) ?? this.#add(text);
    uses += 1;
    statement.lastUse = uses;
    return statement;
  }

  #add(text: string): S {
    if (this.#statements.size === MAX_STATEMENTS)
      this.#statements.delete(leastUsed(this.#statements.values()).text);
    const statement = this.#make(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

/** Makes a statement that connections keep. */
export function named(text: string): PreparedStatement {
  return new PreparedStatement(text);
}

/** Makes a statement that is prepared for each execution: a pooler may give each transaction another connection to the server. */
export function unnamed(text: string): PreparedStatement {
  return new PreparedStatement(text, '');
}

/** The statement that was not used for longest. */
export function leastUsed(statements: Iterable<PreparedStatement>): PreparedStatement {
  return [...statements].reduce((oldest, statement) =>
    statement.lastUse < oldest.lastUse ? statement : oldest,
  );
}
