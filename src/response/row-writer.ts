/** Rows of texts -> JSON text, without objects in between. */
import type { AttributeInfo } from '../model/model-info.js';
import { type TextFormat, textFormat } from './text-format.js';

/** A row as the database sent it, a column for each attribute. */
type TextRow = readonly (string | null)[];
type TextParsers = readonly ((text: string) => unknown)[];

/** Writes a row as a JSON object. */
export type RowWriter = (row: TextRow) => string;

/** Finds the writer for rows: of all properties, or of some. */
export type RowWriters = (parsers: TextParsers, fields?: readonly string[] | null) => RowWriter;

/** The writers of rows with these columns. */
export function compileRowWriters(attributes: readonly AttributeInfo[]): RowWriters {
  // The parsers are the same as long as the table has the same types.
  const known = new WeakMap<TextParsers, readonly TextFormat[]>();
  const whole = new WeakMap<TextParsers, RowWriter>();
  const formatsFor = (parsers: TextParsers): readonly TextFormat[] => {
    const formats =
      known.get(parsers) ??
      attributes.map(({ type }, index) => textFormat(type, parsers[index] as TextParsers[number]));
    known.set(parsers, formats);
    return formats;
  };
  return (parsers, fields) => {
    if (fields) return writer(attributes, formatsFor(parsers), (name) => fields.includes(name));
    const write = whole.get(parsers) ?? writer(attributes, formatsFor(parsers), () => true);
    whole.set(parsers, write);
    return write;
  };
}

function writer(
  attributes: readonly AttributeInfo[],
  formats: readonly TextFormat[],
  isWritten: (name: string) => boolean,
): RowWriter {
  const columns = attributes.flatMap(({ name }, index) => (isWritten(name) ? [{ name, index }] : []));
  const keys = columns.map(({ name }, place) => `${place === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const positions = columns.map(({ index }) => index);
  const writes = positions.map((position) => formats[position] as TextFormat);
  return (row) => {
    let text = '';
    for (let place = 0; place < keys.length; place += 1) {
      const value = row[positions[place] as number];
      const json = value === null || value === undefined ? 'null' : (writes[place] as TextFormat)(value);
      text += keys[place] + json;
    }
    return text === '' ? '{}' : `${text}}`;
  };
}
