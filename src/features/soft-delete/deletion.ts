/** Conditions of soft deletion: the rows of a model that are deleted, and those that are not. */
import type { Endpoint } from '../../declare/endpoint.js';
import type { RecordInfo, SoftDeletion } from '../../describe/model-info.js';
import { DELETED, type Deleted } from '../../request/query/list-query.js';
import type { Predicate } from '../../request/query/predicate.js';
import { exactText } from '../../request/query/rule-filters.js';
import { showValue } from '../../util/option-problems.js';
import { quoteText } from '../../util/quote-text.js';

/** The facts of a model that separate its deleted rows from others. */
type DeletingInfo = Pick<RecordInfo, 'name' | 'attributes' | 'softDelete'>;

/** Conditions of soft deletion, by which an executor recognizes them. */
const softDeletion = new WeakMap<Predicate, 'none' | 'only'>();

/** The soft-deleted rows that a condition is about, where it is one of soft deletion itself. */
export function softDeletionOf(predicate: Predicate): 'none' | 'only' | undefined {
  return softDeletion.get(predicate);
}

/** The rows that are not soft-deleted; null for a model whose rows cannot be. */
export function aliveRows(info: DeletingInfo): Predicate | null {
  return info.softDelete && deletionCondition(info, info.softDelete, 'none');
}

function deletionCondition(info: DeletingInfo, deletion: SoftDeletion, of: 'none' | 'only'): Predicate {
  const { attribute } = deletion;
  const value = deletedText(info, deletion);
  const condition =
    value === null
      ? isNull(attribute, of === 'none')
      : comparedWith(attribute, of === 'none' ? 'IS DISTINCT FROM' : '=', value);
  softDeletion.set(condition, of);
  return condition;
}

function isNull(attribute: string, is: boolean): Predicate {
  return Object.freeze({
    kind: 'comparison',
    attribute,
    operator: '=isnull=',
    values: Object.freeze([String(is)]),
  });
}

/** The value is part of the text, so that every plan of PostgreSQL's can use partial indexes. */
function comparedWith(attribute: string, operator: 'IS DISTINCT FROM' | '=', value: string): Predicate {
  const texts = Object.freeze(['', ` ${operator} ${quoteText(value)}`]);
  return Object.freeze({ kind: 'sql', texts, parts: Object.freeze([Object.freeze({ attribute })]) });
}

/** The text of the value that marks deleted rows; null where their mark is a moment. */
export function deletedText(
  { name, attributes }: DeletingInfo,
  { attribute, values }: SoftDeletion,
): string | null {
  if (values === null) return null;
  const text = exactText(attributes.get(attribute)?.type, values.deleted);
  if (text === undefined)
    throw new TypeError(
      `softDelete.deleted of ${name} is ${showValue(values.deleted)}, which is no value of ${attribute}.`,
    );
  return text;
}

/**
 * The rows that are not soft-deleted, or those that are, or null for both.
 *
 * @throws TypeError where rows cannot be soft-deleted @throws RangeError for another word than `only` and `with`
 */
export function rowsAsked(info: DeletingInfo, deleted?: Deleted): Predicate | null {
  const { softDelete } = info;
  if (deleted === undefined) return aliveRows(info);
  if (softDelete === null) {
    throw new TypeError(
      `${info.name} is not paranoid and has no softDelete, so none of its rows is soft-deleted; set one of the two, or ask for none of ` +
        'these rows.',
    );
  }
  if (DELETED.includes(deleted))
    return deleted === 'only' ? deletionCondition(info, softDelete, 'only') : null;
  throw new RangeError(`deleted is ${showValue(deleted)}; use 'only' or 'with', or leave it out.`);
}

/** True for endpoints that write soft-deleted rows, and no others. */
export function writesGone(endpoint: Endpoint | undefined): boolean {
  return endpoint === 'restore' || endpoint === 'purge';
}
