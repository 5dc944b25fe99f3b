/** Values of records that only the scope or the table sets, and not code of the user's, and the condition of an UPDATE. */
import type { Attributes, Model, WhereOptions } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { isFilled, isGenerated, type RecordInfo, versionOf } from '../../describe/model-info.js';
import { withMembers } from '../../describe/sequelize-internals.js';
import type { WriteValues } from '../sql/encode-parameter.js';
import { attributeOf } from '../sql/predicate-sql.js';
import { countUpdates, endCount } from './counted-updates.js';
import { keptConditions } from './exact-keys.js';

/** Values by attribute. */
export type Pins = ReadonlyMap<string, unknown>;

/** The same model with a change to each record that it builds. A Proxy, because methods of the user's class may build records. */
function building<M extends Model>(model: ModelClass<M>, change: (record: M) => M): ModelClass<M> {
  // Sequelize's types of a model's values are open here.
  const build = (...args: unknown[]): M => change(Reflect.apply(model.build, model, args) as M);
  return withMembers(model, { build });
}

/** The same model, whose new records keep values. */
export function pinningModel<M extends Model>(model: ModelClass<M>, pins: Pins): ModelClass<M> {
  return building(model, (record) => pinned(record, pins));
}

/** The record, which keeps values when others are set. */
export function pinned<M extends Model>(record: M, pins: Pins): M {
  for (const [name, value] of pins) {
    const keep = { get: () => value, set: () => {} };
    Object.defineProperty(record.dataValues, name, { ...keep, enumerable: true, configurable: true });
  }
  return record;
}

/**
 * Sequelize names the row of a record by its key alone, and the row may have left the access of the request since it was read.
 * The first UPDATE takes the whole condition. A read after it, and an UPDATE of a hook, take the owner of the row, because the change
 * itself may have hidden the row.
 *
 * @param within the condition of the request, beside that of the key
 * @returns a function that ends it
 */
export function pinRow<M extends Model>(
  info: RecordInfo,
  record: M,
  pins: Pins,
  within: (byKey: object) => WhereOptions<Attributes<M>> | undefined,
): () => void {
  const { where: ofRecord } = record;
  const kept = Object.fromEntries([...pins].map(([name, value]) => [attributeOf(info, name).column, value]));
  // Where `id` names the attributes of a key that the model does not declare, Sequelize has no condition.
  const hasOwnKey = info.model.primaryKeyAttributes.length > 0;
  const updates = countUpdates(record);
  // Sequelize reads the condition of an UPDATE with `true`.
  const where = (isUpdate?: boolean) => {
    const byKey = (
      hasOwnKey ? Reflect.apply(ofRecord, record, [isUpdate]) : keyOf(info, record, isUpdate)
    ) as WhereOptions<Attributes<M>>;
    const exact = { ...byKey, ...keptConditions(info, record, isUpdate) };
    const isFirst = isUpdate && updates.every((rows) => rows === 0);
    return isFirst ? within(exact) : { ...exact, ...kept };
  };
  Object.defineProperty(record, 'where', { value: where, configurable: true });
  return () => {
    endCount(record);
    Reflect.deleteProperty(record, 'where');
  };
}

/** The condition of a row by its key, by column. */
function keyOf(info: RecordInfo, { dataValues }: Model, isUpdate = false): WriteValues {
  const version = isUpdate ? versionOf(info.model) : undefined;
  const names = [...info.primaryKey.map(({ name }) => name), ...(version === undefined ? [] : [version])];
  return Object.fromEntries(
    names.map((name) => [attributeOf(info, name).column, (dataValues as WriteValues)[name]]),
  );
}

/** Replaces pinned values of a record with values that can be set: those of its row, where it was read. */
export function unpin(record: Model, pins: Pins, row: WriteValues | null): void {
  for (const [name, kept] of pins) {
    const value = row?.[name] ?? kept;
    const ordinary = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(record.dataValues, name, ordinary);
  }
}

/** Makes Sequelize count from nothing where a row has no version yet. @returns the values of the row until then, by column */
export function startVersion(record: Model): Readonly<Record<string, unknown>> {
  const model = record.constructor as ModelClass;
  const version = versionOf(model);
  if (version === undefined || record.dataValues[version] !== null) return {};
  record.dataValues[version] = 0;
  return { [model.getAttributes()[version]?.field ?? version]: null };
}

/** Leaves a row that was not written without a version. */
export function resetVersion(record: Model): void {
  const version = versionOf(record.constructor as ModelClass);
  if (version !== undefined && record.dataValues[version] === 0 && record.previous(version as never) === null)
    record.dataValues[version] = null;
}

/**
 * The same model, whose new records lack attributes that its table fills in, or generates, unless they have a value. Sequelize would
 * have NULL for a key, and requires each attribute that may not be NULL. Its types lack the option `skip`.
 */
export function leavingToTable<M extends Model>(
  model: ModelClass<M>,
  { attributes }: RecordInfo,
  values: WriteValues,
): { readonly model: ModelClass<M>; readonly options: { readonly skip?: readonly string[] } } {
  const absent = [...attributes.values()].filter(({ name }) => values[name] === undefined);
  const left = absent.filter((each) => isGenerated(each) || (isFilled(each) && !each.hasDefault));
  const version = absent.find(({ name, hasDefault }) => name === versionOf(model) && !hasDefault)?.name;
  if (left.length === 0 && version === undefined) return { model, options: {} };
  const names = left.map(({ name }) => name);
  const leaving = building(model, (record) => {
    for (const name of names) delete (record.dataValues as Record<string, unknown>)[name];
    if (version !== undefined) keepReturned(record, version);
    return record;
  });
  return { model: leaving, options: { skip: names } };
}

/** Sequelize puts the version that it has sent, which may be none, in the place of the one that came back with the row. */
function keepReturned({ dataValues }: Model, version: string): void {
  let kept: unknown;
  const set = (value: unknown): void => {
    if (value !== undefined) kept = value;
  };
  Object.defineProperty(dataValues, version, { get: () => kept, set, enumerable: true, configurable: true });
}
