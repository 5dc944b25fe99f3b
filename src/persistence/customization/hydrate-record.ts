/**
 * Records for getters, virtual attributes and users to read from: instances of the model's class as Sequelize leaves them
 * after a query, without what its queries and constructor do on the way.
 */
import type { Model } from 'sequelize';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import { buildableModel } from '../../model/sequelize-internals.js';
import type { TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';

/** Makes a record of a row. */
export type Hydrate = (row: TextRow) => Model;

/** The values of a record, by attribute. */
type Values = Record<string, unknown>;

/** The columns that records are made of. */
export interface RecordColumns {
  readonly info: ModelInfo;
  readonly attributes: readonly AttributeInfo[];
  /** How the driver reads each. */
  readonly parsers: readonly TextParser[];
}

/** The row that a record is as it was read. */
export interface PristineRow {
  readonly columns: RecordColumns;
  readonly row: TextRow;
}

/** The attributes that a record is made of: getters may ask for those too that no answer shows. */
export function storedAttributes({ attributes }: ModelInfo): AttributeInfo[] {
  return [...attributes.values()].filter(({ type }) => type.kind !== 'virtual');
}

/** The maker of records from rows with these columns. The texts of a row are read when the record is first looked at. */
export function hydrator(
  info: ModelInfo,
  attributes: readonly AttributeInfo[],
  parsers: readonly TextParser[],
): Hydrate {
  const { prototype, rawAttributes, _schema, _schemaDelimiter } = buildableModel(info.model);
  const columns: RecordColumns = Object.freeze({ info, attributes, parsers });
  const read = valueReader(columns);
  // Sequelize names those that are virtual, too, when all are read.
  const isWhole = attributes.length === storedAttributes(info).length;
  const names = isWhole ? Object.keys(rawAttributes) : attributes.map(({ name }) => name);
  return (row) => {
    // In the order in which Sequelize's constructor makes them.
    const record: Model & Partial<MadeRecord> = Object.create(prototype);
    Object.defineProperty(record, 'dataValues', DATA_VALUES);
    Object.defineProperty(record, '_previousDataValues', PREVIOUS_VALUES);
    const _options = { isNewRecord: false, _schema, _schemaDelimiter, raw: true, attributes: names };
    Object.assign(record, { uniqno: 1, _changed: new Set(), _options, isNewRecord: false });
    const origin: RecordOrigin = { columns, row, read, values: UNREAD, previous: UNREAD };
    return Object.defineProperty(record, ORIGIN, { value: origin });
  };
}

/** The row of a record that is nobody else's, and that no code has looked into since it was read; else null. */
export function pristineRow(record: object): PristineRow | null {
  const { [ORIGIN]: origin } = record as Partial<MadeRecord>;
  const isOwn = Object.hasOwn(record, ORIGIN) && !Object.hasOwn(record, 'get');
  return origin?.read && isOwn ? origin : null;
}

/** Reads the values of a row. */
function valueReader({ info, attributes, parsers }: RecordColumns): (row: TextRow) => Values {
  const { prototype, _dataTypeSanitizers: sanitizers } = buildableModel(info.model);
  const columns = attributes.map(({ name, type }, index) => {
    const parser = parsers[index] as TextParser;
    const parse = type.kind === 'date' ? momentParser(parser) : parser;
    const sanitize = sanitizers[name];
    if (!sanitize) return { name, parse };
    return { name, parse: (text: string) => sanitize.call(prototype, parse(text), RAW) };
  });
  return (row) => {
    const values: Values = {};
    for (let index = 0; index < columns.length; index += 1) {
      const { name, parse } = columns[index] as (typeof columns)[number];
      const text = row[index];
      values[name] = typeof text === 'string' ? parse(text) : null;
    }
    return values;
  };
}

const RAW = { raw: true };

/** What a record is made of. Texts are read once: both kinds of values hold the same objects, as Sequelize's do. */
interface RecordOrigin extends PristineRow {
  /** Null when the texts have been read. */
  read: ((row: TextRow) => Values) | null;
  values: Values;
  previous: Values;
}

const ORIGIN = Symbol('origin');

/** A record of ours. The symbol is found through proxies, and by what inherits from the record. */
interface MadeRecord {
  readonly [ORIGIN]: RecordOrigin;
}

const UNREAD: Values = Object.freeze({});
const DATA_VALUES = originProperty('values');
const PREVIOUS_VALUES = originProperty('previous');

/** A property of records whose first use reads the texts. */
function originProperty(key: 'values' | 'previous'): PropertyDescriptor & ThisType<MadeRecord> {
  const readOrigin = (origin: RecordOrigin): RecordOrigin => {
    if (origin.read) {
      origin.values = origin.read(origin.row);
      origin.previous = { ...origin.values };
      origin.read = null;
    }
    return origin;
  };
  return {
    enumerable: true,
    configurable: true,
    get() {
      return readOrigin(this[ORIGIN])[key];
    },
    set(values: Values) {
      readOrigin(this[ORIGIN])[key] = values;
    },
  };
}

/** What PostgreSQL writes of a moment in UTC, in the years that JavaScript takes as they are. */
const MOMENT = /^(?!00)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/;
const MOMENTS = ['2026-01-31 08:00:00+00', '9999-12-31 23:59:59.9999+00', '0101-01-31 08:00:00.001999+00'];

/** Reads moments as the driver does, at less cost, where both read samples alike. */
function momentParser(parse: TextParser): TextParser {
  return MOMENTS.every((text) => isSameMoment(parse, readMoment, text))
    ? (text) => (MOMENT.test(text) ? readMoment(text) : parse(text))
    : parse;
}

function readMoment(text: string): Date {
  const year = digits(text, 0) * 100 + digits(text, 2);
  const second = digits(text, 17);
  // Up to the zone, of which JavaScript holds three digits.
  const fraction = text.length > 22 ? Number(text.slice(20, -3).slice(0, 3).padEnd(3, '0')) : 0;
  const [month, day, hour, minute] = [
    digits(text, 5) - 1,
    digits(text, 8),
    digits(text, 11),
    digits(text, 14),
  ];
  return new Date(Date.UTC(year, month, day, hour, minute, second, fraction));
}

/** The number that two digits are. */
function digits(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

const ZERO = '0'.charCodeAt(0);

/** A parser of the user's may throw at what is no value of its type. */
function isSameMoment(parse: TextParser, read: TextParser, text: string): boolean {
  try {
    const [one, other] = [parse(text), read(text)];
    return one instanceof Date && other instanceof Date && one.getTime() === other.getTime();
  } catch {
    return false;
  }
}
