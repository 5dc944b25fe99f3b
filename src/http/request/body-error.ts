/** A body that cannot be read at all, before any schema is asked. */

/** What is wrong with the transport of a body. */
export class BodyError extends Error {
  override readonly name = 'BodyError';

  constructor(
    readonly status: 400 | 413 | 415,
    readonly code: string,
    detail: string,
  ) {
    super(detail);
  }
}
