/** The error that a call ends with. */

/** Runs the work and gives what it throws, or the promise is rejected with; an error of its own if it does neither. */
export async function caughtError(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('Expected an error, and there was none');
}
