/** The values of an attribute in records of any origin, as the database has them. */
import type { RecordInfo } from '../../describe/model-info.js';
import { pristineRow } from '../customization/hydrate-record.js';
import { encodeParameter } from '../sql/encode-parameter.js';

/** In the text form of the column. @throws TypeError for a record without the attribute */
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

/** The value of an attribute of a record, in the text form of the column; undefined where it was read without the attribute. */
export function storedText(info: RecordInfo, record: object, attribute: string): string | null | undefined {
  const type = info.attributes.get(attribute)?.type;
  const pristine = pristineRow(record);
  const position = pristine?.columns.attributes.findIndex(({ name }) => name === attribute) ?? -1;
  if (pristine && position >= 0) return pristine.row[position] ?? null;
  // A getter may make anything of a key.
  const { dataValues = record } = record as { readonly dataValues?: object };
  return type && encodeParameter(type, (dataValues as Readonly<Record<string, unknown>>)[attribute]);
}
