/** An error of a filter: its problem, and the position in the text. */
import type { RequestIssue } from '../../schema/request-issue.js';

/** The codes of filter errors; they are part of the API. */
export type FilterErrorCode =
  | 'q.syntax'
  | 'q.unclosed'
  | 'q.unknown-field'
  | 'q.unknown-operator'
  | 'q.operator-not-allowed'
  | 'q.to-many'
  | 'q.arity'
  | 'q.type'
  | 'q.range'
  | 'q.bad-escape'
  | 'q.too-long'
  | 'q.too-complex'
  | 'q.too-deep'
  | 'q.list-too-long'
  | 'q.encoding';

/** One problem of a filter. */
export class FilterError extends Error {
  override readonly name = 'FilterError';

  constructor(
    readonly code: FilterErrorCode,
    /** Offset in `q` in UTF-16 code units, from 0. */
    readonly position: number,
    private readonly told: Pick<RequestIssue, 'detail' | 'allowed'>,
  ) {
    super(told.detail);
  }

  /** The problem as a member of `errors` in an answer. */
  toIssue(): RequestIssue {
    const { code, position } = this;
    const { detail, ...choices } = this.told;
    return { parameter: 'q', code, detail, position, ...choices };
  }
}
