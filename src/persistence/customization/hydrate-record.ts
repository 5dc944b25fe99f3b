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
export type RecordValues = Record<string, unknown>;

/** The columns that records are made of. */
export interface RecordColumns {
  readonly info: ModelInfo;
  readonly attributes: readonly AttributeInfo[];
  /** How the driver reads each. */
  readonly parsers: readonly TextParser[];
}

/** The attributes that a record is made of: getters may ask for those too that no answer shows. */
export function storedAttributes({ attributes }: ModelInfo): AttributeInfo[] {
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

/** Gives a record what Sequelize's constructor gives it beside its values. */
export function recordFields({ info, attributes }: RecordColumns): (record: object) => Model {
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
export function valueReader({ info, attributes, parsers }: RecordColumns): (row: TextRow) => RecordValues {
  const { prototype, _dataTypeSanitizers: sanitizers } = buildableModel(info.model);
  const columns = attributes.map(({ name, type }, index) => {
    const parser = parsers[index] as TextParser;
    const parse = type.kind === 'date' ? momentParser(parser) : parser;
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
