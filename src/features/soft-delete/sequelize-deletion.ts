/** Soft deletion as Sequelize has it: a row of a paranoid model is alive as long as its moment has the default value. */
import type { Model, Transaction } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeRecords } from '../../describe/describe-model.js';
import type { RecordInfo, SoftDeletion } from '../../describe/model-info.js';
import { runRecordHooks } from '../../describe/sequelize-internals.js';
import { encodeParameter } from '../../execute/sql/encode-parameter.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import { equalTo, sqlCondition } from '../../operation/predicates.js';
import type { Predicate } from '../../request/query/predicate.js';
import { showValue } from '../../util/option-problems.js';
import { aliveRows, rowsAsked, softDeletionOf } from './deletion.js';

/**
 * Converts the conditions of soft deletion among others. `paranoid` has a query find deleted rows, which Sequelize leaves out by itself.
 * `before` is the condition of deleted rows, which a restore ends.
 */
export function deletionWords<M extends Model>(model: ModelClass<M>, parts: readonly Predicate[]) {
  const info = describeRecords(model as unknown as ModelClass);
  const kinds = parts.map(softDeletionOf);
  const others = parts.filter((_, index) => kinds[index] === undefined);
  if (!info.softDelete) return { others };
  // Sequelize adds the condition of a moment by itself, and none of another mark.
  if (kinds.includes('none')) return { others: info.softDelete.values ? parts : others };
  const before = kinds.includes('only') && goneRows(info, info.softDelete);
  return { others, paranoid: false as const, ...(before ? { before } : {}) };
}

function goneRows(info: RecordInfo, { attribute }: SoftDeletion): Predicate | null {
  const usual = usualText(info, attribute);
  return usual === null ? rowsAsked(info, 'only') : sqlCondition`${{ attribute }} IS DISTINCT FROM ${usual}`;
}

/** The rows that are not soft-deleted; null where none can be. */
export function liveRows(info: RecordInfo): Predicate | null {
  const alive = aliveRows(info);
  const usual = alive && usualText(info, info.softDelete?.attribute ?? '');
  return alive && usual !== null ? equalTo(info.softDelete?.attribute ?? '', usual) : alive;
}

/** The default value of the moment; null for NULL, and for a mark with two values. */
function usualText(info: RecordInfo, attribute: string): string | null {
  if (info.softDelete?.values) return null;
  const usual: unknown = info.model.getAttributes()[attribute]?.defaultValue;
  // Sequelize takes an empty one for none.
  const text = usual ? encodeParameter(attributeOf(info, attribute).type, usual) : null;
  return typeof text === 'string' ? text : null;
}

/**
 * The attribute that has the moment of a soft delete.
 *
 * @throws TypeError for a mark that has none
 */
export function momentOf({ name, softDelete }: RecordInfo): string {
  if (softDelete && softDelete.values === null) return softDelete.attribute;
  throw new TypeError(
    `${name} marks deleted rows by ${softDelete?.attribute}, which has no moment, so none was deleted before one; purge each by its key, ` +
      "such as those of list({ deleted: 'only' }).",
  );
}

/** The number of rows that a static `destroy` has reported. @throws TypeError where one of the user's reports none */
export function checkedCount({ name }: { readonly name: string }, count: unknown): number {
  if (typeof count === 'number') return count;
  throw new TypeError(
    `The static destroy of ${name} returns ${showValue(count)} in the place of the number of rows that it has deleted; return that of ` +
      'super.destroy(…).',
  );
}

interface MarkOptions {
  readonly hooks?: boolean;
  readonly transaction?: Transaction | null;
}

/** Destroys a record as Sequelize does, or marks it by `softDelete`. */
export function destroyRecord(
  record: Model,
  { softDelete }: RecordInfo,
  options: MarkOptions,
): Promise<unknown> {
  return softDelete?.values && !Object(options).force
    ? setMark(record, 'Destroy', softDelete.attribute, softDelete.values.deleted, options)
    : record.destroy(options);
}

/** Restores a record in the same way. */
export function restoreRecord(
  record: Model,
  { softDelete }: RecordInfo,
  options: MarkOptions,
): Promise<unknown> {
  return softDelete?.values
    ? setMark(record, 'Restore', softDelete.attribute, softDelete.values.alive, options)
    : record.restore(options);
}

/** A change for Sequelize: the hooks of an update run within those of the delete, so that none that could refuse it is passed by. */
async function setMark(
  record: Model,
  kind: 'Destroy' | 'Restore',
  attribute: string,
  value: unknown,
  options: MarkOptions,
): Promise<void> {
  const run = async (when: 'before' | 'after') => {
    if (options.hooks !== false) await runRecordHooks(record, `${when}${kind}`, options);
  };
  await run('before');
  // Set without a setter of the user's.
  record.setDataValue(attribute as never, value as never);
  await record.save({ ...options, validate: false, omitNull: false });
  await run('after');
}
