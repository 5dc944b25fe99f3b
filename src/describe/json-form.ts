/** The JSON form of records whose class has a `toJSON`, or a `get`, in the place of Sequelize's. */
import { Model } from 'sequelize';
import { isRecord } from './record.js';

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
 * The JSON form of a record that has one of its own; null for any other. What it leaves out or masks must not leave.
 *
 * @throws TypeError where its `toJSON` gives no object
 */
export function jsonFormOf(record: object): Values | null {
  if (!isRecord(record) || !hasJsonForm({ prototype: record })) return null;
  const own: JsonRecord = record;
  const hasOwnJson = own.toJSON !== sequelizeToJson;
  const form: unknown = hasOwnJson ? own.toJSON?.() : own.get?.();
  if (!isValues(form)) {
    if (!hasOwnJson) return null;
    throw new TypeError(`toJSON of ${record.constructor.name} gave no object, so no answer has the record.`);
  }
  return own.get === sequelizeGet ? form : namedValues(own, form);
}

/** A `get` of the user's may have another value for a name than among all values. */
function namedValues(record: JsonRecord, form: Values): Values {
  const named = Object.entries(form).map(([name, value]) => {
    const isStored = value === record.dataValues?.[name];
    return [name, isStored ? record.get?.(name) : value];
  });
  return Object.fromEntries(named);
}

function isValues(form: unknown): form is Values {
  return typeof form === 'object' && form !== null && !Array.isArray(form);
}
