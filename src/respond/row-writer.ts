/** Rows of texts -> JSON text, without objects in between. */

import type { AttributeInfo } from '../describe/model-info.js';
import type { TextParser, TextRow } from '../postgres/index.js';
import { perPair } from '../util/memoize-by-identity.js';
import { type TextFormat, textFormat } from './text-format.js';
import type { WireFormat } from './wire-format.js';

/** Parsers of the driver for the columns of a row. */
export type TextParsers = readonly TextParser[];

/**
 * Writes a row as a JSON object.
 *
 * @param more JSON of members behind the properties
 */
export type RowWriter = (row: TextRow, more?: string) => string;

/** The JSON text of an object with more members behind its own. */
export function withMembers(text: string, more: string): string {
  if (more === '') return text;
  return text === '{}' ? `{${more}}` : `${text.slice(0, -1)},${more}}`;
}

/** Finds the writer for rows with the columns of all properties, or of some; the same for the same objects. */
export type RowWriters = (parsers: TextParsers, fields?: readonly string[] | null) => RowWriter;

/** A property of what is written. */
export interface RowProperty {
  readonly name: string;
  readonly attribute: AttributeInfo;
  /** Format of the driver's value. Default: the format of the column. */
  readonly toWire?: WireFormat;
}

/** The writers of rows that have a column for each property, or for each that is among the fields. */
export function compileRowWriters(properties: readonly RowProperty[]): RowWriters {
  const formats = new WeakMap<TextParser, Map<RowProperty, TextFormat>>();
  const formatOf = (property: RowProperty, parser: TextParser): TextFormat => {
    const known = formats.get(parser) ?? new Map<RowProperty, TextFormat>();
    const { attribute, toWire } = property;
    const format = known.get(property) ?? textFormat(attribute.type, parser, toWire);
    formats.set(parser, known.set(property, format));
    return format;
  };
  const writerOf = (selected: readonly RowProperty[], parsers: TextParsers): RowWriter =>
    writer(
      selected,
      selected.map((property, index) => formatOf(property, parsers[index] as TextParser)),
    );
  // The parsers are the same as long as the table has the same types.
  return perPair((parsers: TextParsers, fields: readonly string[] | null) =>
    writerOf(fields ? selectedOf(properties, fields) : properties, parsers),
  );
}

/** Selected properties, in their own order. */
export function selectedOf(
  properties: readonly RowProperty[],
  fields: readonly string[],
): readonly RowProperty[] {
  return properties.filter(({ name }) => fields.includes(name));
}

function writer(properties: readonly RowProperty[], formats: readonly TextFormat[]): RowWriter {
  const keys = properties.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (row, more = '') => {
    let text = '';
    for (let index = 0; index < keys.length; index += 1) {
      const value = row[index];
      const json = value === null || value === undefined ? 'null' : (formats[index] as TextFormat)(value);
      text += keys[index] + json;
    }
    if (text === '' || more === '') return `${text || '{'}${more}}`;
    return `${text},${more}}`;
  };
}
