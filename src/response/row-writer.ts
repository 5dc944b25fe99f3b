/** Rows of texts -> JSON text, without objects in between. */
import type { AttributeInfo } from '../model/model-info.js';
import { type TextFormat, textFormat } from './text-format.js';

/** A row as the database sent it, a column for each attribute. */
type TextRow = readonly (string | null)[];
type TextParsers = readonly ((text: string) => unknown)[];

/** Writes a row as a JSON object. */
export type RowWriter = (row: TextRow) => string;

/** Finds the writer for rows with the columns of all attributes, or of some. */
export type RowWriters = (parsers: TextParsers, fields?: readonly string[] | null) => RowWriter;

/** The writers of rows with these columns, or with those of them that are fields. */
export function compileRowWriters(attributes: readonly AttributeInfo[]): RowWriters {
  // The parsers are the same as long as the table has the same types.
  const whole = new WeakMap<TextParsers, RowWriter>();
  const formats = new WeakMap<TextParsers[number], Map<AttributeInfo, TextFormat>>();
  const formatOf = (attribute: AttributeInfo, parser: TextParsers[number]): TextFormat => {
    const known = formats.get(parser) ?? new Map<AttributeInfo, TextFormat>();
    const format = known.get(attribute) ?? textFormat(attribute.type, parser);
    formats.set(parser, known.set(attribute, format));
    return format;
  };
  const writerOf = (selected: readonly AttributeInfo[], parsers: TextParsers): RowWriter =>
    writer(
      selected,
      selected.map((attribute, index) => formatOf(attribute, parsers[index] as TextParsers[number])),
    );
  return (parsers, fields) => {
    if (fields) return writerOf(selectedOf(attributes, fields), parsers);
    const write = whole.get(parsers) ?? writerOf(attributes, parsers);
    whole.set(parsers, write);
    return write;
  };
}

/** Those of the attributes that are fields, in their own order. */
export function selectedOf(
  attributes: readonly AttributeInfo[],
  fields: readonly string[],
): readonly AttributeInfo[] {
  return attributes.filter(({ name }) => fields.includes(name));
}

function writer(attributes: readonly AttributeInfo[], formats: readonly TextFormat[]): RowWriter {
  const keys = attributes.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (row) => {
    let text = '';
    for (let index = 0; index < keys.length; index += 1) {
      const value = row[index];
      const json = value === null || value === undefined ? 'null' : (formats[index] as TextFormat)(value);
      text += keys[index] + json;
    }
    return text === '' ? '{}' : `${text}}`;
  };
}
