/**
 * Records for getters, virtual attributes and users to read from: instances of the model's class as Sequelize leaves them
 * after a query, without what its queries and constructor do on the way.
 */
import type { FindOptions, Model } from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import { type BuildableModel, buildableModel } from '../../model/sequelize-internals.js';
import type { TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';
import { hasInstanceFields } from './class-lineage.js';
import { hasPlainQueries } from './plain-queries.js';

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
  { model }: ModelInfo,
  attributes: readonly AttributeInfo[],
  parsers: readonly TextParser[],
): Hydrate {
  const names = attributes.map(({ name }) => name);
  const buildable = buildableModel(model);
  return (row) => {
    const values: Values = {};
    for (const [index, name] of names.entries()) {
      const text = row[index];
      values[name] = typeof text === 'string' ? (parsers[index] as TextParser)(text) : null;
    }
    return toRecord(buildable, values, names);
  };
}

/** Whether records of a model may be made without Sequelize, as neither its queries nor its class are more than that. */
export function hasPlainRecords<M extends Model>(model: ModelClass<M>): boolean {
  return hasPlainQueries(model, 'read') && !hasInstanceFields(model as unknown as ModelClass);
}

/**
 * What `findAll` finds, for models that have plain records, at a fraction of the cost.
 *
 * @param columns what the query selects beside the attributes
 */
export async function findRecords<M extends Model>(
  model: ModelClass<M>,
  query: FindOptions,
  columns: readonly string[] = [],
): Promise<M[]> {
  const rows = await model.findAll({ ...query, ...RAW });
  const buildable = buildableModel(model);
  const names = [...Object.keys(buildable.rawAttributes), ...columns];
  const sanitizers = Object.entries(buildable._dataTypeSanitizers);
  return (rows as unknown as Values[]).map((values) => {
    for (const [name, sanitize] of sanitizers) {
      if (Object.hasOwn(values, name)) values[name] = sanitize.call(buildable.prototype, values[name], RAW);
    }
    return toRecord(buildable, values, names) as M;
  });
}

const RAW = { raw: true };

/** An instance with these values, which become its own. */
function toRecord({ prototype, _schema, _schemaDelimiter }: BuildableModel, values: Values, names: string[]) {
  return Object.assign(Object.create(prototype), {
    dataValues: values,
    _previousDataValues: { ...values },
    uniqno: 1,
    _changed: new Set(),
    _options: { isNewRecord: false, _schema, _schemaDelimiter, raw: true, attributes: names },
    isNewRecord: false,
  });
}
