/** The error of a body that is not what the schema asks for. */
import type { RequestIssue } from './request-issue.js';

/** A body that fails its schema: all that is wrong with it, at once. */
export class InvalidBodyError extends Error {
  override readonly name = 'InvalidBodyError';

  constructor(
    /** Every problem found. */
    readonly errors: readonly RequestIssue[],
  ) {
    super(errors.length === 1 ? String(errors[0]?.detail) : `The body has ${errors.length} problems.`);
  }
}
