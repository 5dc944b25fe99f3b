/** Soft deletion as Sequelize has it: a row is alive as long as its mark, a column, has its default value. */
import type { Model } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeRecords } from '../../describe/describe-model.js';
import { deletedAtOf, type RecordInfo } from '../../describe/model-info.js';
import { encodeParameter } from '../../execute/sql/encode-parameter.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import { equalTo, sqlCondition } from '../../operation/predicates.js';
import type { Predicate } from '../../request/query/predicate.js';
import { aliveRows, rowsAsked, softDeletionOf } from './deletion.js';

/**
 * Converts the conditions of soft deletion among others. `paranoid` has a query find deleted rows, which Sequelize leaves out by itself.
 * `before` is the condition of deleted rows, which a restore ends.
 */
export function deletionWords<M extends Model>(model: ModelClass<M>, parts: readonly Predicate[]) {
  const kinds = parts.map(softDeletionOf);
  const others = parts.filter((_, index) => kinds[index] === undefined);
  if (!model.options.paranoid || kinds.includes('none')) return { others };
  const before = kinds.includes('only') && goneRows(describeRecords(model as unknown as ModelClass));
  return { others, paranoid: false as const, ...(before ? { before } : {}) };
}

function goneRows(info: RecordInfo): Predicate | null {
  const mark = markOf(info);
  const usual = usualText(info, mark);
  return usual === null
    ? rowsAsked(info, 'only')
    : sqlCondition`${{ attribute: mark }} IS DISTINCT FROM ${usual}`;
}

/** The rows that are not soft-deleted; null where none can be. */
export function liveRows(info: RecordInfo): Predicate | null {
  const alive = aliveRows(info);
  const usual = alive && usualText(info, alive.attribute);
  return alive && usual !== null ? equalTo(alive.attribute, usual) : alive;
}

/** The default value of the mark; null for NULL. */
function usualText(info: RecordInfo, mark: string): string | null {
  const usual: unknown = info.model.getAttributes()[mark]?.defaultValue;
  // Sequelize takes an empty one for none.
  const text = usual ? encodeParameter(attributeOf(info, mark).type, usual) : null;
  return typeof text === 'string' ? text : null;
}

/** The attribute that has the moment of a soft delete, of a model that is paranoid. */
export function markOf({ model }: RecordInfo): string {
  return deletedAtOf({ model, paranoid: true }) as string;
}
