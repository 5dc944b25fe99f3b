/**
 * Records for getters, virtual attributes and users to read from: instances of the model's class as Sequelize leaves them
 * after a query, without what its queries and constructor do on the way.
 */
import type { Model } from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import type { TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';
import { type AnyClass, lineageOf, textOf } from './class-lineage.js';

/** Makes a record of a row. */
export type Hydrate = (row: TextRow) => Model;

/** What Sequelize's own constructor puts into an instance. */
const OWN_PROPERTIES: ReadonlySet<string | symbol> = new Set([
  'dataValues',
  '_previousDataValues',
  'uniqno',
  '_changed',
  '_options',
  'isNewRecord',
]);

/** The values of a record, by attribute. */
type Values = Record<string, unknown>;

/** What is known of classes. */
const instanceFields = new WeakMap<ModelClass, boolean>();

/** Whether the class gives its instances fields of its own, or private methods, which only its constructor can. */
export function hasInstanceFields(model: ModelClass): boolean {
  const known = instanceFields.get(model);
  if (known !== undefined) return known;
  // As of a row that is there: defaults may be functions of the user's.
  const Constructor = model as unknown as new (values: object, options: { isNewRecord: false }) => Model;
  const own = Reflect.ownKeys(new Constructor({}, { isNewRecord: false }));
  const hasFields = own.some((name) => !OWN_PROPERTIES.has(name));
  const isOwn = hasFields || lineageOf(model).some(hasPrivateMembers);
  instanceFields.set(model, isOwn);
  return isOwn;
}

/** A `#` before a letter in a string or a comment counts, too: that costs time, and nothing else. */
function hasPrivateMembers(each: AnyClass): boolean {
  return /#[\p{ID_Start}$_\\]/u.test(textOf(each));
}

/** The attributes that a record is made of: getters may ask for those too that no answer shows. */
export function storedAttributes({ attributes }: ModelInfo): AttributeInfo[] {
  return [...attributes.values()].filter(({ type }) => type.kind !== 'virtual');
}

/** The maker of records from rows with these columns. */
export function hydrator(
  info: ModelInfo,
  attributes: readonly AttributeInfo[],
  parsers: readonly TextParser[],
): Hydrate {
  const buildable = info.model as unknown as BuildableModel;
  const { prototype, rawAttributes, _dataTypeSanitizers: sanitizers } = buildable;
  const columns = attributes.map(({ name }, index) => {
    const parse = parsers[index] as TextParser;
    const sanitize = sanitizers[name];
    if (!sanitize) return { name, parse };
    return { name, parse: (text: string) => sanitize.call(prototype, parse(text), RAW) };
  });
  const { length } = columns;
  // Sequelize names those that are virtual, too, when all are read.
  const isWhole = length === storedAttributes(info).length;
  const names = isWhole ? Object.keys(rawAttributes) : columns.map(({ name }) => name);
  return (row) => {
    const values: Values = {};
    for (let index = 0; index < length; index += 1) {
      const { name, parse } = columns[index] as (typeof columns)[number];
      const text = row[index];
      values[name] = typeof text === 'string' ? parse(text) : null;
    }
    return toRecord(buildable, values, names);
  };
}

/** What Sequelize does to values that come from the database, by attribute. */
type Sanitizers = Readonly<Record<string, (this: object, value: unknown, options: object) => unknown>>;

/** Internals of a model that are not in its types. */
interface BuildableModel {
  readonly prototype: object;
  readonly rawAttributes: object;
  readonly _schema: unknown;
  readonly _schemaDelimiter: unknown;
  readonly _dataTypeSanitizers: Sanitizers;
}

const RAW = { raw: true };

/** An instance with these values, which become its own. */
function toRecord(
  { prototype, _schema, _schemaDelimiter }: BuildableModel,
  values: Values,
  names: string[],
): Model {
  const record = Object.create(prototype);
  record.dataValues = values;
  record._previousDataValues = { ...values };
  record.uniqno = 1;
  record._changed = new Set();
  record._options = { isNewRecord: false, _schema, _schemaDelimiter, raw: true, attributes: names };
  record.isNewRecord = false;
  return record;
}
