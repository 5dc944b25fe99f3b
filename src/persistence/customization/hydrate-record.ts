/**
 * Records for getters, virtual attributes and users to read from: instances of the model's class as Sequelize leaves them
 * after a query, without what its queries and constructor do on the way.
 */
import type { Model } from 'sequelize';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import { type BuildableModel, buildableModel } from '../../model/sequelize-internals.js';
import type { TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';

/** Makes a record of a row. */
export type Hydrate = (row: TextRow) => Model;

/** The values of a record, by attribute. */
type Values = Record<string, unknown>;

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
  const buildable = buildableModel(info.model);
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
