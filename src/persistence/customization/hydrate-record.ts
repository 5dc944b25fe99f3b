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
