/** The error of a cursor that is not, or is no longer, of this list. */
import { InvalidQueryError } from '../schema/request-issue.js';

/** Why a cursor is refused; part of the API. */
export type CursorErrorCode = 'cursor.malformed' | 'cursor.mismatch';

/**
 * A cursor that was not made by this list: damaged, forged, or made for another resource, order or filter. Answered
 * with 400 by the list route itself.
 *
 * @example
 * ```ts
 * override async list(query: ListQuery, context: CrudContext<City>) {
 *   return super.list(query, context).catch((error: unknown) => {
 *     // A place whose values the columns cannot have; this application starts over.
 *     if (error instanceof InvalidCursorError && query.kind === 'cursor')
 *       return super.list({ ...query, after: null, before: null }, context);
 *     throw error;
 *   });
 * }
 * ```
 */
export class InvalidCursorError extends InvalidQueryError {
  override readonly name = 'InvalidCursorError';

  constructor(code: CursorErrorCode, parameter: 'after' | 'before') {
    super([{ parameter, code, detail: DETAILS[code] }]);
  }
}

const DETAILS: Readonly<Record<CursorErrorCode, string>> = {
  'cursor.malformed': 'This is not a cursor of this API; take it unchanged from next_cursor or prev_cursor.',
  'cursor.mismatch':
    'The cursor was made for another list: the resource, sort or q is not the same. Start again without a cursor.',
};
