/**
 * Records for getters, virtual attributes and users to read from. They are instances of the model's class as Sequelize leaves them
 * after a query, without the other work of its queries and constructor. They are made at once; or they read the texts of
 * their row at the first access to a property, because much code passes records on without any.
 */
import type { InspectOptions, inspect } from 'node:util';
import type { Model } from 'sequelize';
import { noteInclude } from '../../describe/include-internals.js';
import type { AttributeInfo, ModelInfo, RecordInfo } from '../../describe/model-info.js';
import { buildableModel, valuesOfRecord } from '../../describe/sequelize-internals.js';
import type { TextParser, TextRow } from '../../postgres/index.js';
import { encodeParameter } from '../sql/encode-parameter.js';

/** Makes a record of a row. */
export type Hydrate = (row: TextRow) => Model;

type RecordValues = Record<string, unknown>;

/** The columns that records are made of. */
export interface RecordColumns {
  readonly info: ModelInfo;
  readonly attributes: readonly AttributeInfo[];
  /** The driver's parser of each column. */
  readonly parsers: readonly TextParser[];
}

/** The attributes that a record is made of: getters may read hidden ones as well. */
export function storedAttributes({ attributes }: Pick<ModelInfo, 'attributes'>): AttributeInfo[] {
  return [...attributes.values()].filter(({ type }) => type.kind !== 'virtual');
}

/** The maker of records from rows with these columns. */
export function hydrator(columns: RecordColumns): Hydrate {
  const { prototype } = buildableModel(columns.info.model);
  const read = valueReader(columns);
  const fields = recordFields(columns);
  return (row) => {
    const record = Object.create(prototype);
    record.dataValues = read(row);
    record._previousDataValues = { ...record.dataValues };
    return fields(record);
  };
}

/** Sets the fields that Sequelize's constructor sets beside the values. */
function recordFields({ info, attributes }: RecordColumns): (record: object) => Model {
  const { rawAttributes, _schema, _schemaDelimiter } = buildableModel(info.model);
  // Sequelize names those that are virtual, too, when all are read.
  const isWhole = attributes.length === storedAttributes(info).length;
  const names = isWhole ? Object.keys(rawAttributes) : attributes.map(({ name }) => name);
  return (empty) => {
    const record = empty as Record<string, unknown>;
    record['uniqno'] = 1;
    record['_changed'] = new Set();
    record['_options'] = { isNewRecord: false, _schema, _schemaDelimiter, raw: true, attributes: names };
    record['isNewRecord'] = false;
    return empty as Model;
  };
}

/** Reads the values of rows, as Sequelize leaves them. */
function valueReader({ info, attributes, parsers }: RecordColumns): (row: TextRow) => RecordValues {
  const { prototype, _dataTypeSanitizers: sanitizers } = buildableModel(info.model);
  const columns = attributes.map(({ name }, index) => {
    const parse = parsers[index] as TextParser;
    const sanitize = sanitizers[name];
    if (!sanitize) return { name, parse };
    return { name, parse: (text: string) => sanitize.call(prototype, parse(text), RAW) };
  });
  return (row) => {
    const values: RecordValues = {};
    for (let index = 0; index < columns.length; index += 1) {
      const { name, parse } = columns[index] as (typeof columns)[number];
      const text = row[index];
      values[name] = typeof text === 'string' ? parse(text) : null;
    }
    return values;
  };
}

const RAW = { raw: true };

interface PristineRow {
  readonly columns: RecordColumns;
  readonly row: TextRow;
  /** Loaded relations, by name. */
  readonly relations: Readonly<RecordValues>;
}

/** The properties that hold the values of a record. Both hold the same objects, as Sequelize's do. */
type ValuesName = 'dataValues' | '_previousDataValues';

interface Origin extends PristineRow, Record<ValuesName, RecordValues> {
  readonly record: object;
  /** Null when the texts have been read. */
  read: ((row: TextRow) => RecordValues) | null;
  relations: Readonly<RecordValues>;
}

const ORIGIN = Symbol('origin');
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** A record of ours. The symbol is found through proxies, and on objects that inherit from the record. */
interface MadeRecord {
  readonly [ORIGIN]: Origin;
}

/** The same for records that read the texts at the first access, and are as others from then on. */
export function pristineHydrator(columns: RecordColumns): Hydrate {
  const { prototype } = buildableModel(columns.info.model);
  const read = valueReader(columns);
  const fields = recordFields(columns);
  return (row) => {
    const record: object = Object.create(prototype);
    Object.defineProperty(record, 'dataValues', ACCESSORS.dataValues);
    Object.defineProperty(record, '_previousDataValues', ACCESSORS._previousDataValues);
    const values = { dataValues: UNREAD, _previousDataValues: UNREAD };
    const origin: Origin = { columns, row, record, read, relations: UNREAD, ...values };
    Object.defineProperty(record, ORIGIN, { value: origin });
    Object.defineProperty(record, INSPECT, SHOWN);
    return fields(record);
  };
}

/** The row of a record that no code has read or changed since it was made; else null. */
export function pristineRow(record: object): PristineRow | null {
  const { [ORIGIN]: origin } = record as Partial<MadeRecord>;
  return origin?.read && origin.record === record && isAsMade(origin) ? origin : null;
}

/** Sets the loaded records of a relation, as Sequelize does. A record that is as its row stays so. */
export function attachRelation(record: Model, name: string, value: unknown): void {
  const { [ORIGIN]: origin } = record as Partial<MadeRecord>;
  if (origin && pristineRow(record)) origin.relations = { ...origin.relations, [name]: value };
  else for (const each of valuesOfRecord(record)) each[name] = value;
  Object.defineProperty(record, name, { ...ORDINARY, value });
  noteInclude(record, name);
}

/** True where a record has its class, its values, and no method of its own in the place of Sequelize's. */
function isAsMade({ record, columns: { info } }: Origin): boolean {
  const hasClass = Object.getPrototypeOf(record) === info.model.prototype;
  const hasMethods = !Object.hasOwn(record, 'get') && !Object.hasOwn(record, 'toJSON');
  return hasClass && hasMethods && isUnread(record, 'dataValues');
}

const UNREAD: RecordValues = Object.freeze({});
const ORDINARY = { enumerable: true, configurable: true, writable: true };
const ACCESSORS = {
  dataValues: unreadProperty('dataValues'),
  _previousDataValues: unreadProperty('_previousDataValues'),
};

/** A property whose first use reads the texts, and makes it an ordinary one. */
function unreadProperty(name: ValuesName): PropertyDescriptor & ThisType<MadeRecord> {
  return {
    enumerable: true,
    configurable: true,
    get() {
      return readOrigin(this[ORIGIN])[name];
    },
    set(values: RecordValues) {
      const origin = readOrigin(this[ORIGIN]);
      // `this` may also be an object that inherits from the record.
      const isSet = Reflect.defineProperty(this, name, { ...ORDINARY, value: values });
      if (!isSet) origin[name] = values;
    },
  };
}

function isUnread(record: object, name: ValuesName): boolean {
  return Object.getOwnPropertyDescriptor(record, name)?.get === ACCESSORS[name].get;
}

/** A record that was frozen before keeps its accessors, which return the values all the same. */
function readOrigin(origin: Origin): Origin {
  const { record, read, row } = origin;
  if (!read) return origin;
  origin.dataValues = Object.assign(read(row), origin.relations);
  origin._previousDataValues = { ...origin.dataValues };
  // A parser of the user's may have thrown.
  origin.read = null;
  for (const name of ['dataValues', '_previousDataValues'] as const) {
    const { [name]: value } = origin;
    if (isUnread(record, name)) Reflect.defineProperty(record, name, { ...ORDINARY, value });
  }
  Reflect.defineProperty(record, INSPECT, { value: undefined });
  return origin;
}

/** Node would show accessors. */
const SHOWN: PropertyDescriptor & ThisType<MadeRecord & object> = {
  configurable: true,
  value(depth: number, options: InspectOptions, show: typeof inspect) {
    const { record } = readOrigin(this[ORIGIN]);
    return show(Object.isFrozen(record) ? { ...record } : record, { ...options, depth });
  },
};

/** The values of an attribute of records, in the text form of the column. @throws TypeError for a record without the attribute */
export function recordColumn(
  info: RecordInfo,
  records: readonly object[],
  attribute: string,
): readonly (string | null)[] {
  return records.map((record) => {
    const text = storedText(info, record, attribute);
    if (text !== undefined) return text;
    throw new TypeError(
      `A ${info.name} has no '${attribute}', by which its relations are found; have it read, or in the object that stands for the record.`,
    );
  });
}

/** Moments of the keys of records with all their digits, by attribute; null where the digits are not known. */
export const exactMoments = new WeakMap<object, Readonly<Record<string, Date | null>>>();

/**
 * The value of an attribute of a record, in the text form of the column. It is undefined where it was read without the attribute, and
 * null for a moment of its key without digits below the milliseconds.
 */
export function storedText(info: RecordInfo, record: object, attribute: string): string | null | undefined {
  const type = info.attributes.get(attribute)?.type;
  const pristine = pristineRow(record);
  const position = pristine?.columns.attributes.findIndex(({ name }) => name === attribute) ?? -1;
  if (pristine && position >= 0) return pristine.row[position] ?? null;
  const exact = exactMoments.get(record)?.[attribute];
  if (type && exact !== undefined) return exact && encodeParameter(type, exact);
  // A getter may make anything of a key.
  const { dataValues = record } = record as { readonly dataValues?: object };
  const value = (dataValues as Readonly<Record<string, unknown>>)[attribute];
  return type && (textOfMoment(record, attribute, value) ?? encodeParameter(type, value));
}

/** The text of a moment with all its digits, where the value is that of the row; else undefined. */
function textOfMoment(record: object, attribute: string, value: unknown): string | undefined {
  const { [ORIGIN]: origin } = record as Partial<MadeRecord>;
  if (!(value instanceof Date) || origin?.record !== record) return undefined;
  const { columns, row } = origin;
  const position = columns.attributes.findIndex(({ name }) => name === attribute);
  const text = row[position];
  if (typeof text !== 'string') return undefined;
  const parsed: unknown = columns.parsers[position]?.(text);
  return parsed instanceof Date && parsed.getTime() === value.getTime() ? text : undefined;
}
