/** Restore and purge of soft-deleted rows: their routes, the error of other rows, and purges of many rows by jobs. */
import type { ResourceCheck } from '../../compile/compile-resource.js';
import type { RecordInfo, RowKey } from '../../describe/model-info.js';
import { keyText } from '../../describe/row-key.js';
import { PersistenceError } from '../../errors/errors.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { type RouteSpec, routeOf } from '../../operation/route-spec.js';
import { showValue, unknownOptions } from '../../util/option-problems.js';

/** `POST /{id}/restore`. */
export const RESTORE: RouteSpec = routeOf('restore', {
  verb: 'post',
  path: '/:id/restore',
  guardedAs: 'update',
  parameters: ['id', 'context'],
  words: {
    verb: 'Restore',
    success: 'The record, which is no longer deleted.',
    description: () =>
      'Brings a deleted record back. What belongs to it stays as it is. A record that is not deleted is a 409.',
  },
});

/** `DELETE /{id}/purge`. */
export const PURGE: RouteSpec = routeOf('purge', {
  verb: 'delete',
  path: '/:id/purge',
  guardedAs: 'remove',
  parameters: ['id', 'context'],
  status: 204,
  words: {
    verb: 'Purge',
    success: 'The record is removed for good.',
    description: () => 'Removes a deleted record for good. A record that is not deleted is a 409.',
  },
});

/** Problems of the endpoints of a model whose rows a delete removes. */
export const checkEndpoints: ResourceCheck = ({ info, endpoints }) =>
  [RESTORE, PURGE]
    .filter(({ operation }) => endpoints.has(operation) && !info.softDelete)
    .map(
      ({ endpoint }) =>
        `endpoints has '${endpoint}', and a delete removes the rows; make the model paranoid, set softDelete, or leave it out.`,
    );

/**
 * A row is not soft-deleted, and the operation is for rows that are. 409.
 *
 * @example
 * ```ts
 * throw new NotDeletedError('This Article is not in the bin.');
 * ```
 */
export class NotDeletedError extends PersistenceError {
  override readonly name = 'NotDeletedError';
}

/** Error for a restore or a purge of a row that is not soft-deleted. @internal */
export function notDeleted({ name }: { readonly name: string }): NotDeletedError {
  return new NotDeletedError(`This ${name} is not deleted.`);
}

/** Error for a write by a key that a soft-deleted row has. @internal */
export function keptByDeleted({ name, address }: Pick<RecordInfo, 'name' | 'address'>): RefusedRequestError {
  const detail = `A soft-deleted ${name} has this ${keyText(address)}, and nothing was written; restore it, or use another ${keyText(address)}.`;
  return new RefusedRequestError(409, detail);
}

/** Options of `Repository.purge` in the place of a key. */
export interface PurgeOptions {
  /** Rows that were deleted before this moment. */
  readonly before: Date;
  /** At most so many rows, by key. Default: 1,000. */
  readonly limit?: number;
}

const MAX_ROWS = 1_000;

/** True where an argument is no id: that of a key of several attributes is an object with one of them. */
export function isPurgeOptions(which: unknown, key: RowKey): which is PurgeOptions {
  if (typeof which !== 'object' || which === null || Object.getPrototypeOf(which) !== Object.prototype)
    return false;
  return key.length < 2 || !key.some(({ name }) => name in which);
}

/** @throws TypeError for something else than a moment @throws RangeError for no moment at all, and for a limit that is none */
export function checkPurge(options: PurgeOptions): Required<PurgeOptions> {
  const { before, limit = MAX_ROWS } = options;
  const [unknown] = unknownOptions('purge', options, ['before', 'limit']);
  if (unknown) throw new TypeError(unknown);
  if (!(before instanceof Date)) {
    throw new TypeError(
      `purge.before is ${showValue(before)}; use a Date, such as new Date(Date.now() - 30 * 86_400_000).`,
    );
  }
  if (Number.isNaN(before.getTime())) {
    throw new RangeError('purge.before is an invalid Date; use one that is a moment.');
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new RangeError(`purge.limit is ${showValue(limit)}; use an integer from 1.`);
  }
  return { before, limit };
}
