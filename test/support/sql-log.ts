/** The statements that Sequelize sends, for tests of what is asked of the database. */

/** Remembers statements; `record` is an engine's `logging`. */
export class SqlLog {
  #statements: string[] = [];

  readonly record = (message: string): void => {
    this.#statements.push(message.replace(/^Executing \([^)]*\): /, ''));
  };

  /** The statements that were sent while `work` ran, and its result. */
  async during<T>(work: () => PromiseLike<T>): Promise<{ result: T; statements: string[] }> {
    this.#statements = [];
    const result = await work();
    return { result, statements: this.#statements };
  }
}
