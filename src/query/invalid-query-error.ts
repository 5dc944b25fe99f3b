/** The error of a query string or a path that cannot be understood. */
import type { RequestIssue } from '../schema/request-issue.js';

/** Enough to act on; an address of thousands of wrong parameters is not answered with as many sentences. */
const MAX_ISSUES = 100;

/** A request that asks for something that does not exist, or says it wrongly: all problems at once. */
export class InvalidQueryError extends Error {
  override readonly name: string = 'InvalidQueryError';

  /** Every problem found, up to as many as are worth reading. */
  readonly errors: readonly RequestIssue[];

  constructor(errors: readonly RequestIssue[]) {
    super(errors.length === 1 ? String(errors[0]?.detail) : `The request has ${errors.length} problems.`);
    this.errors = Object.freeze(errors.slice(0, MAX_ISSUES));
  }
}
