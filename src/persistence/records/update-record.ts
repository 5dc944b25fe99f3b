/** Changes a record, and has it hold the row as it is afterwards, with as few statements as that takes. */
import {
  type Attributes,
  type Model,
  type QueryOptionsWithType,
  QueryTypes,
  type Sequelize,
  type Transaction,
} from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';
import { versionOf } from '../../model/attribute-notes.js';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import { describeModel } from '../../plan/describe-model.js';
import { storedAttributes } from '../customization/hydrate-record.js';
import { hasPlainQueries } from '../customization/plain-queries.js';
import { tableTriggers } from '../customization/table-triggers.js';
import { quotedTable } from '../sql/quoted-table.js';

/** How the queries of a write run, and where. */
export interface WriteOptions {
  readonly hooks?: false;
  readonly transaction?: Transaction;
  readonly useMaster?: boolean;
}

/**
 * A column of every table, which a row that was written has, and a record that was read has not. Sequelize takes names
 * only, so a column of ours is not possible.
 */
const MARK = 'tableoid';

/** What an UPDATE of a model can give back, or null; by what Sequelize makes anew when it is given the model. */
const returnable = new WeakMap<object, readonly AttributeInfo[] | null>();

/**
 * Writes values to the row of a record. Sequelize does not report an UPDATE without a row: the row that comes back with it
 * tells, and shows what triggers did. Where none came back there was nothing to write, or the row is gone; reading tells.
 *
 * @throws InstanceError when the row is gone
 */
export async function updateRecord<M extends Model>(
  record: M,
  values: Partial<Attributes<M>>,
  options: WriteOptions,
): Promise<M> {
  const returned = await returnedAttributes(record.constructor as ModelClass, options);
  if (!returned) {
    await record.update(values, options);
    return record.reload(options);
  }
  const returning = [...returned.map(({ column }) => column), MARK] as (keyof Attributes<M>)[];
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) record.set(name, value as M[typeof name]);
  }
  // As `update` does, which copies the options twice more on the way.
  const fields = (record.changed() || []) as (keyof Attributes<M>)[];
  await record.save({ ...options, fields, returning });
  return takeRow(record, returned) ? record : record.reload(options);
}

/**
 * The attributes of the row that an UPDATE gives; null where it might not be the one that a query would give, or where
 * hooks, scopes and methods of the user's would see the difference.
 */
async function returnedAttributes(
  model: ModelClass,
  options: WriteOptions,
): Promise<readonly AttributeInfo[] | null> {
  if (!hasPlainQueries(model, 'write')) return null;
  const rawAttributes = model.getAttributes();
  if (!returnable.has(rawAttributes)) {
    returnable.set(rawAttributes, distinctAttributes(describeModel(model)));
  }
  const returned = returnable.get(rawAttributes);
  if (!returned) return null;
  const sequelize = model.sequelize as Sequelize;
  const query = { ...options, type: QueryTypes.SELECT } as QueryOptionsWithType<QueryTypes.SELECT>;
  const { hideUpdates } = await tableTriggers(sequelize, quotedTable(model), (text, bind) =>
    sequelize.query<object>(text, { ...query, bind }),
  );
  return hideUpdates ? null : returned;
}

/**
 * The stored attributes of a model; null where a row that comes back could be misread. Sequelize takes a `$` for a
 * parameter, and a column that is called as another attribute for that one. It counts versions itself; and what was
 * soft-deleted meanwhile would come back, and must not be found.
 */
function distinctAttributes(info: ModelInfo): readonly AttributeInfo[] | null {
  const { model, attributes, paranoid } = info;
  const version = versionOf(model);
  const all = [...attributes.values()];
  const columns = all.map(({ column }) => column);
  const isDistinct =
    new Set([...columns, MARK]).size === columns.length + 1 &&
    !attributes.has(MARK) &&
    all.every(({ name, column }) => column === name || !attributes.has(column)) &&
    !columns.some((column) => column.includes('$'));
  return isDistinct && !version && !paranoid ? storedAttributes(info) : null;
}

/** Has the record hold the row that came back, and nothing else, as reloading does; false where none came. */
function takeRow(record: Model, returned: readonly AttributeInfo[]): boolean {
  const dataValues: Readonly<Record<string, unknown>> = record.dataValues;
  if (!Object.hasOwn(dataValues, MARK)) return false;
  const row = Object.fromEntries(returned.map(({ name }) => [name, dataValues[name]]));
  record.set(row, { raw: true, reset: true });
  return true;
}
