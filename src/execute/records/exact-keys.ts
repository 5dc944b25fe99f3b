/**
 * Keys with a moment in them: a record holds milliseconds, and the row has microseconds, so that Sequelize would find no row by the
 * key of its record. The rest of the moment is read beside the record, and kept for the conditions on its row.
 */
import { type FindOptions, literal, type Model, Op } from 'sequelize';
import type { Literal } from 'sequelize/types/utils';
import type { ModelClass } from '../../declare/crud-options.js';
import { LocalDate, localText, momentText, preciseDate } from '../../describe/exact-time.js';
import { scopeOf } from '../../describe/hooks-and-scopes-internals.js';
import type { RecordInfo, RowKey } from '../../describe/model-info.js';
import { idOf } from '../../describe/row-key.js';
import { writeExactly } from '../customization/exact-types.js';
import { exactMoments } from '../customization/hydrate-record.js';
import { attributeOf, columnsOf } from '../sql/predicate-sql.js';
import { columnName, quotedSql, type SqlFragment, sql } from '../sql/sql-fragment.js';
import { type RowFinder, take, withColumns } from './row-finder.js';

/** Columns that a query reads beside the attributes, by their alias; null where a record has all of its key. */
function exactColumns(info: RecordInfo): Readonly<Record<string, SqlFragment>> | null {
  const moments = momentsOf(info.primaryKey);
  if (moments.length === 0) return null;
  // A model that no application serves is written as Sequelize does it.
  writeExactly(info.model);
  const column = columnsOf(info, info.name);
  return Object.fromEntries(moments.map((name) => [aliasOf(name), sql`${column(name)}::text`]));
}

/** A query that reads them. */
export function exactly<Q extends FindOptions>(info: RecordInfo, query: Q): Q {
  const columns = exactColumns(info);
  if (!columns) return query;
  return { ...query, attributes: withColumns(scopeOf(info.model), query.attributes, columns) };
}

/** Keeps values that were read beside a record. */
export function keepExact<M extends Model>({ primaryKey }: RecordInfo, record: M): M {
  if (!primaryKey.some(({ type }) => type.kind === 'date')) return record;
  const moments = primaryKey.flatMap(({ name, type }): [string, Date][] => {
    if (type.kind !== 'date') return [];
    const text = type.zone === undefined ? String(take(record, aliasOf(name))) : '';
    const value: unknown = (record.dataValues as Readonly<Record<string, unknown>>)[name];
    if (!(value instanceof Date)) return [];
    if (type.zone === undefined)
      return [[name, preciseDate(value.getTime(), /\.(\d+)/.exec(text)?.[1] ?? '')]];
    return [[name, new LocalDate(value.getTime(), localText(value, type.zone))]];
  });
  exactMoments.set(record, Object.fromEntries(moments));
  return record;
}

/**
 * Keeps the key of a record that was inserted: the moments that were sent, or those that the table has filled in. They come back with
 * milliseconds, and are read once more by them, among the rows of the transaction. Where several could be meant, none is kept.
 */
export async function keepInserted<M extends Model>(
  info: RecordInfo,
  record: M,
  sent: Readonly<Record<string, unknown>>,
  { transaction }: Pick<FindOptions, 'transaction'>,
): Promise<M> {
  const names = momentsOf(info.primaryKey);
  const values: Readonly<Record<string, unknown>> = record.dataValues;
  // An infinite moment is no `Date`, and has no more digits.
  const moments = names.flatMap((name): [string, Date | null][] => {
    const [given, value] = [sent[name], values[name]];
    if (!(value instanceof Date)) return [];
    return [[name, given instanceof Date && given.getTime() === value.getTime() ? given : null]];
  });
  if (moments.length > 0) exactMoments.set(record, Object.fromEntries(moments));
  if (moments.every(([, moment]) => moment !== null)) return record;
  const same = info.primaryKey.map(({ name }) => {
    const value = values[name];
    if (!names.includes(name) || !(value instanceof Date)) return { [name]: value };
    return { [name]: { [Op.gte]: value, [Op.lt]: new Date(value.getTime() + 1) } };
  });
  const query = { where: { [Op.and]: same }, hooks: false, paranoid: false, limit: 2, useMaster: true };
  const model = (record.constructor as ModelClass<M>).unscoped() as ModelClass<M>;
  const [found, other] = await model.findAll(
    exactly({ ...info, model: model as unknown as ModelClass }, { ...query, transaction } as FindOptions),
  );
  if (found && !other) exactMoments.set(record, exactMoments.get(keepExact(info, found)) ?? {});
  return record;
}

/**
 * Conditions on the kept values of a record, in the place of Sequelize's conditions by column. Sequelize writes a literal for any name, and
 * has no types for the condition of an UPDATE.
 */
export function keptConditions(
  info: RecordInfo,
  record: Model,
  isUpdate = false,
): Readonly<Record<string, Literal>> {
  const moments = exactMoments.get(record) ?? {};
  const column = isUpdate
    ? (name: string) => columnName(attributeOf(info, name))
    : columnsOf(info, info.name);
  const entries = info.primaryKey.flatMap((part): [string, Literal][] => {
    const moment = moments[part.name];
    if (!moment) return [];
    return [[part.column, literal(quotedSql(sql`${column(part.name)} = ${momentText(moment)}`))]];
  });
  return Object.fromEntries(entries);
}

/** The value of a part of the key of a record's row. */
export function exactValue(record: Model, name: string): unknown {
  return exactMoments.get(record)?.[name] ?? (record.dataValues as Readonly<Record<string, unknown>>)[name];
}

/** The id of the row of a record. */
export function idOfRecord(key: RowKey, record: Model): unknown {
  return idOf(key, (name) => exactValue(record, name));
}

/** False for a record without a key, and for one whose key may be that of another row. */
export function isKeyKnown({ primaryKey }: RecordInfo, record: Model): boolean {
  // A view may return a row without a key.
  const isWhole = primaryKey.every(({ name }) => (exactValue(record, name) ?? null) !== null);
  return primaryKey.length > 0 && isWhole && !Object.values(exactMoments.get(record) ?? {}).includes(null);
}

/** Selects rows, and returns their ids. */
export async function selectIds<M extends Model>(
  finder: RowFinder<M>,
  info: RecordInfo,
  key: RowKey,
  options: FindOptions,
): Promise<readonly unknown[]> {
  const records = await finder.select(finder.terms, null, options, exactColumns(info));
  return records.map((record) => idOfRecord(key, keepExact(info, record)));
}

/** A column without a zone is read with all digits of its clock. */
function momentsOf(key: RowKey): readonly string[] {
  return key.flatMap(({ name, type }) => (type.kind === 'date' && type.zone === undefined ? [name] : []));
}

/** No attribute has such a name. */
function aliasOf(name: string): string {
  return `exact ${name}`;
}
