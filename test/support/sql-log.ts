/** The statements that Sequelize sends, for tests of the queries of a request. */
import { addsSessions } from './combination.js';

/** Remembers statements; `record` is an engine's `logging`. */
export class SqlLog {
  #statements: string[] = [];

  readonly record = (message: string): void => {
    // A request that comes 30 seconds after the start has it sent, and no request waits for it.
    if (MARKS.test(message)) return;
    this.#statements.push(message.replace(/^Executing \([^)]*\): /, ''));
  };

  /** The statements that were sent while `work` ran, and its result. */
  async during<T>(work: () => PromiseLike<T>): Promise<{ result: T; statements: string[] }> {
    this.#statements = [];
    const result = await work();
    return { result, statements: this.#statements };
  }

  /** The same without the statements that begin and end a session, where it is the combination that begins one. */
  async duringRequest<T>(work: () => PromiseLike<T>): Promise<{ result: T; statements: string[] }> {
    const { result, statements } = await this.during(work);
    return {
      result,
      statements: addsSessions ? statements.filter((text) => !BORDER.test(text)) : statements,
    };
  }
}

/** Statements that read or count the rows of a relation: keys of their parents are an array with the type of its column. */
export function relatedStatements(statements: readonly string[]): readonly string[] {
  return statements.filter((each) => each.includes('CASE WHEN false THEN ARRAY('));
}

/** Reads which tables were changed. */
const MARKS = /FROM pg_class c WHERE c\.oid = ANY\(\$1::oid\[\]\)/;
const BORDER = /^(?:START TRANSACTION|COMMIT|ROLLBACK)\b/;
