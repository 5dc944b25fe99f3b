/** The error of a request that is refused, and the statuses that it may have. */

/** The statuses that an endpoint can fail with. */
export type ProblemStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 408
  | 409
  | 410
  | 412
  | 413
  | 415
  | 422
  | 428
  | 500
  | 503
  | 504;

/** A request that is refused with a status of its feature's choice. The message is shown to the client. */
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
