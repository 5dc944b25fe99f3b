/** Packages that not every application has. */

/**
 * The result of a plain `require` of a package that is not installed. The `require` is in a `try` where it is written: bundlers follow
 * nothing else, and leave a missing package to run time there.
 *
 * @throws every other error of the package
 */
export function nullIfMissing(name: string, error: unknown): null {
  const { code, message } = error as NodeJS.ErrnoException;
  // The other lines of the message have the stack of requires.
  if (code === 'MODULE_NOT_FOUND' && message.split('\n', 1)[0]?.includes(name)) return null;
  throw error;
}
