/** The error that a call ends with. */

/** Runs the work and returns the error that it throws, or that its promise is rejected with; an error of its own if it does neither. */
export async function caughtError(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('Expected an error, and there was none');
}
