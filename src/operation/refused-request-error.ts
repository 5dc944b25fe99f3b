/** The error of a feature that refuses a request. */
import type { ProblemStatus } from './problem-status.js';

/** A request that a feature refuses with a status of its choice. The message is shown to the client. */
export class RefusedRequestError extends Error {
  override readonly name = 'RefusedRequestError';

  constructor(
    readonly status: ProblemStatus,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
