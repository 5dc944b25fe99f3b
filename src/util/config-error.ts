/** The error of a wrong configuration, and the list it is collected in. */
import { OWN_FILES } from './own-package.js';

/**
 * Thrown while configuring: by `bootstrap`, `crudRouter`, `crudController` and the engine. All problems of one call
 * are in it, one line each; a line names the model, the value that was found and the fix.
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
  /** Every problem found, in the order of the models. */
  declare readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? String(problems[0])
        : `${problems.length} problems:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    // Node prints each property of an uncaught error, and the message has the problems already.
    Object.defineProperty(this, 'problems', { value: problems, enumerable: false });
    this.stack = shortStack(this);
  }
}

/** The message and the lines of the user's code: it called the check that found the problems. The frames of the check are of no use to him. */
function shortStack({ message, stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^\s+at .*[/\\]/.test(line));
  const isUsers = (line: string): boolean =>
    !(OWN_FILES && line.includes(OWN_FILES)) && !/node_modules|\bnode:|\(internal/.test(line);
  return [`ConfigError: ${message}`, ...frames.filter(isUsers)].join('\n');
}

/** Result of `parse`, or `fallback` where it throws a `ConfigError`, whose problems are added to the others. */
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
