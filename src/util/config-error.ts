/** The error of a wrong configuration, and the list it is collected in. */

/**
 * Thrown while configuring: by `bootstrap`, `crudRouter`, `crudController` and the engine. All problems of one call
 * are in it, one line each; a line names the model, what was found and what to write.
 *
 * @example
 * ```ts
 * await bootstrap(app).catch((error) => {
 *   if (error instanceof ConfigError) console.error(error.problems.join('\n'));
 *   throw error;
 * });
 * ```
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    /** Every problem found, in the order of the models. */
    readonly problems: readonly string[],
  ) {
    super(
      problems.length === 1
        ? String(problems[0])
        : `${problems.length} problems:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
  }
}

/** What `parse` gives; where it throws a `ConfigError`, its problems are added to the others and `fallback` is given. */
export function collectProblems<T>(problems: string[], parse: () => T, fallback: T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return fallback;
  }
}

/** Throws one `ConfigError` if there is any problem. */
export function throwProblems(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigError(Object.freeze([...problems]));
}
