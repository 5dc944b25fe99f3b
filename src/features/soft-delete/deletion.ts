/** Conditions of soft deletion: the rows of a model that are deleted, and those that are not. */
import type { Endpoint } from '../../declare/endpoint.js';
import { deletedAtOf, type RecordInfo } from '../../describe/model-info.js';
import { DELETED, type Deleted } from '../../request/query/list-query.js';
import type { Comparison, Predicate, Value } from '../../request/query/predicate.js';
import { showValue } from '../../util/option-problems.js';

/** Conditions of soft deletion, by which an executor recognizes them. */
const softDeletion = new WeakMap<Predicate, 'none' | 'only'>();

/** The soft-deleted rows that a condition is about, where it is one of soft deletion itself. */
export function softDeletionOf(predicate: Predicate): 'none' | 'only' | undefined {
  return softDeletion.get(predicate);
}

/** The rows that are not soft-deleted; null for a model whose rows cannot be. */
export function aliveRows({ model }: Pick<RecordInfo, 'model'>): Comparison<Value> | null {
  const attribute = deletedAtOf({ model, paranoid: model.options.paranoid === true });
  return attribute === undefined ? null : deletionCondition(attribute, 'none');
}

function deletionCondition(attribute: string, of: 'none' | 'only'): Comparison<Value> {
  const values = Object.freeze([of === 'none' ? 'true' : 'false']);
  const condition = Object.freeze({ kind: 'comparison', attribute, operator: '=isnull=', values } as const);
  softDeletion.set(condition, of);
  return condition;
}

/**
 * The rows that are not soft-deleted, or those that are, or null for both.
 *
 * @throws TypeError where rows cannot be soft-deleted @throws RangeError for another word than `only` and `with`
 */
export function rowsAsked(
  info: Pick<RecordInfo, 'model' | 'name'>,
  deleted?: Deleted,
): Comparison<Value> | null {
  const alive = aliveRows(info);
  if (deleted === undefined) return alive;
  if (alive === null) {
    throw new TypeError(
      `${info.name} is not paranoid, so none of its rows is soft-deleted; make the model paranoid, or ask for none of these rows.`,
    );
  }
  if (DELETED.includes(deleted))
    return deleted === 'only' ? deletionCondition(alive.attribute, 'only') : null;
  throw new RangeError(`deleted is ${showValue(deleted)}; use 'only' or 'with', or leave it out.`);
}

/** True for endpoints that write soft-deleted rows, and no others. */
export function writesGone(endpoint: Endpoint | undefined): boolean {
  return endpoint === 'restore' || endpoint === 'purge';
}
