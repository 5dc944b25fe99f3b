/**
 * Records for getters and virtual attributes to read from: instances of the model's class as Sequelize leaves them after a
 * query, without what its queries and constructor do on the way.
 */
import type { Model } from 'sequelize';
import type { AttributeInfo, ModelInfo } from '../model/model-info.js';
import type { TextRow } from './batch.js';
import type { TextParser } from './prepared-statement.js';

/** Makes a record of a row. */
export type RecordMaker = (row: TextRow) => Model;

/** What Sequelize's own constructor puts into an instance. */
const OWN_PROPERTIES: ReadonlySet<string> = new Set([
  'dataValues',
  '_previousDataValues',
  'uniqno',
  '_changed',
  '_options',
  'isNewRecord',
]);

/** Whether the class gives its instances properties of its own, which only its constructor can make. */
export function hasInstanceFields({ model }: ModelInfo): boolean {
  return Object.keys(new model()).some((name) => !OWN_PROPERTIES.has(name));
}

/** The attributes that a record is made of: getters may ask for those too that no answer shows. */
export function storedAttributes({ attributes }: ModelInfo): AttributeInfo[] {
  return [...attributes.values()].filter(({ type }) => type.kind !== 'virtual');
}

/** The maker of records from rows with these columns. */
export function recordMaker(
  { model }: ModelInfo,
  attributes: readonly AttributeInfo[],
  parsers: readonly TextParser[],
): RecordMaker {
  const names = attributes.map(({ name }) => name);
  return (row) => {
    const values: Record<string, unknown> = {};
    for (const [index, name] of names.entries()) {
      const text = row[index];
      values[name] = typeof text === 'string' ? (parsers[index] as TextParser)(text) : null;
    }
    return Object.assign(Object.create(model.prototype as object), {
      dataValues: values,
      _previousDataValues: { ...values },
      uniqno: 1,
      _changed: new Set(),
      _options: { isNewRecord: false, raw: true, attributes: names },
      isNewRecord: false,
    });
  };
}
