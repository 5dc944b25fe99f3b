/** Statements as one connection has prepared them. */
import type { PreparedStatement, TextParser } from './prepared-statement.js';
import { leastUsed, MAX_STATEMENTS } from './statement-cache.js';

/**
 * PostgreSQL refuses to execute it once the types of its results have changed, so what the connection was told of them
 * holds as long as it gives any: for this connection, which may not have heard yet of a change that others have.
 */
export interface Preparation {
  readonly statement: PreparedStatement;
  /** The driver's parsers of the result columns; null as long as they have not been described. */
  parsers: readonly TextParser[] | null;
  /** True where the preparation is of no use any more. */
  isLost: boolean;
}

/** Prepared statements of one connection, by name. */
export class Preparations {
  readonly #kept = new Map<string, Preparation>();

  /** Preparation under the statement's name, if it is of that statement and still of use. */
  find(statement: PreparedStatement): Preparation | undefined {
    const known = this.#kept.get(statement.name);
    return known?.statement === statement && !known.isLost ? known : undefined;
  }

  /** True where the name is in use, or was. */
  has(name: string): boolean {
    return this.#kept.has(name);
  }

  /** Keeps one, unless it has no name. */
  add(preparation: Preparation): void {
    const { name } = preparation.statement;
    if (name !== '') this.#kept.set(name, preparation);
  }

  /** Makes room for all that a query executes, where it needs any; the names that are no longer kept. */
  makeRoom(statements: readonly PreparedStatement[]): readonly string[] {
    const names = new Set(statements.map(({ name }) => name).filter((name) => name !== ''));
    const added = [...names].filter((name) => !this.#kept.has(name)).length;
    const removed: string[] = [];
    while (added > 0 && this.#kept.size + added > MAX_STATEMENTS) {
      const others = [...this.#kept.values()].filter(({ statement }) => !names.has(statement.name));
      const unused = leastUsed(others.map(({ statement }) => statement));
      this.#kept.delete(unused.name);
      removed.push(unused.name);
    }
    return removed;
  }
}
