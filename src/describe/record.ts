/** Models and their records, the instances of Sequelize, wherever they turn up. */

import { Model } from 'sequelize';
import { getModelName } from 'sequelize-typescript';
import { crudRecords } from '../declare/crud.js';
import type { CrudOptions, ModelClass } from '../declare/crud-options.js';

/** Members of a Sequelize instance; `get` reads getters, virtual attributes and loaded relations, too. */
export interface RecordInstance {
  readonly constructor: ModelClass;
  get(): Readonly<Record<string, unknown>>;
}

/** True where a value is a model class, of any copy of Sequelize. */
export function isModel(value: unknown): value is ModelClass {
  return typeof value === 'function' && 'getAttributes' in value && 'rawAttributes' in value;
}

/** True where an object is a record, of any copy of Sequelize. */
export function isRecord(value: object): value is RecordInstance {
  return isModel(value.constructor) && 'get' in value;
}

/** The model of a record. */
export function modelOf(record: RecordInstance): ModelClass {
  return ownModel(record.constructor);
}

/** The model itself. `Model.unscoped()` and `Model.scope()` make a subclass, which has no decorators of its own. */
export function ownModel(model: ModelClass): ModelClass {
  let own: ModelClass & { scoped?: boolean } = model;
  while (Object.hasOwn(own, 'scoped') && own.scoped) own = Object.getPrototypeOf(own);
  return own;
}

const open = new Set<object>();

/**
 * Does something with the content of a value, all of it synchronously.
 *
 * @throws TypeError when that leads to the same value again, which JSON has no form for
 */
export function enter<T>(value: object, work: () => T): T {
  if (open.has(value)) {
    throw new TypeError(`A ${value.constructor?.name || 'value'} of an answer is inside itself.`);
  }
  open.add(value);
  try {
    return work();
  } finally {
    open.delete(value);
  }
}

/** True for a model class, attached to a Sequelize instance or not. */
export function isModelClass(value: unknown): value is ModelClass {
  return typeof value === 'function' && 'getTableName' in value;
}

/** True for a model class with `@Table`, attached or not. */
export function hasTable(value: unknown): value is ModelClass {
  return isModelClass(value) && getModelName(value.prototype) !== undefined;
}

/** Declaration that makes a class a model, as the end of a sentence. */
export const EXTENDS_MODEL = "extends Model, with import { Model } from 'sequelize-typescript'";

/** Description of a value in the place of a model, as the end of a sentence. */
export function foundInstead(value: unknown): string {
  if (typeof value === 'function') return `the class ${value.name}`;
  return value === undefined
    ? 'undefined, which a class is as long as a circular import loads it'
    : String(value);
}

/** Sequelize's own, before a class or a plugin has others. */
const { toJSON: sequelizeToJson, get: sequelizeGet } = Model.prototype;

type Values = Readonly<Record<string, unknown>>;

interface JsonRecord {
  readonly dataValues?: Values;
  toJSON?(): unknown;
  get?(name?: string): unknown;
}

/** True where the records of a model have a JSON form of their own. */
export function hasJsonForm({ prototype }: { readonly prototype: object }): boolean {
  const { toJSON, get }: JsonRecord = prototype;
  return toJSON !== sequelizeToJson || get !== sequelizeGet;
}

/**
 * The JSON form of a record that has one of its own; null for any other. Values that it leaves out or masks must not leave.
 *
 * @throws TypeError where its `toJSON` returns no object
 */
export function jsonFormOf(record: object): Values | null {
  if (!isRecord(record) || !hasJsonForm({ prototype: record })) return null;
  const own: JsonRecord = record;
  const hasOwnJson = own.toJSON !== sequelizeToJson;
  const form: unknown = hasOwnJson ? own.toJSON?.() : own.get?.();
  if (typeof form !== 'object' || form === null || Array.isArray(form)) {
    if (!hasOwnJson) return null;
    throw new TypeError(`toJSON of ${record.constructor.name} gave no object, so no answer has the record.`);
  }
  // It is an object, whatever its members are.
  const values = form as Values;
  return own.get === sequelizeGet ? values : namedValues(own, values);
}

/** A `get` of the user's may have another value for a name than among all values. */
function namedValues(record: JsonRecord, form: Values): Values {
  const named = Object.entries(form).map(([name, value]) => {
    const isStored = value === record.dataValues?.[name];
    return [name, isStored ? record.get?.(name) : value];
  });
  return Object.fromEntries(named);
}

/** The options of its `@Crud`, also for the model with another scope; undefined where it has none. */
export function declaredOptions(model: ModelClass): CrudOptions | undefined {
  const own = ownModel(model);
  return crudRecords().findLast((record) => record.model === own)?.options;
}
