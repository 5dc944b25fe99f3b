/** Rows of texts -> JSON text, without objects in between. */
import type { AttributeInfo } from '../model/model-info.js';
import { type TextFormat, textFormat } from './text-format.js';
import type { WireFormat } from './wire-format.js';

/** A row as the database sent it, a column for each attribute. */
type TextRow = readonly (string | null)[];
type TextParsers = readonly ((text: string) => unknown)[];

/** Writes a row as a JSON object. */
export type RowWriter = (row: TextRow) => string;

/** Finds the writer for rows: of all properties, or of some. */
export type RowWriters = (parsers: TextParsers, fields?: readonly string[] | null) => RowWriter;

/** A property of what is written. */
export interface RowProperty {
  readonly name: string;
  /** Which column it is written of. */
  readonly index: number;
  readonly type: AttributeInfo['type'];
  /** What is written of the driver's value. Default: the format of the column. */
  readonly toWire?: WireFormat;
}

/** The writers of rows with these properties, which are in the order of the answer. */
export function compileRowWriters(properties: readonly RowProperty[]): RowWriters {
  // The parsers are the same as long as the table has the same types.
  const known = new WeakMap<TextParsers, readonly TextFormat[]>();
  const whole = new WeakMap<TextParsers, RowWriter>();
  const formatsFor = (parsers: TextParsers): readonly TextFormat[] => {
    const formats =
      known.get(parsers) ??
      properties.map(({ type, index, toWire }) =>
        textFormat(type, parsers[index] as TextParsers[number], toWire),
      );
    known.set(parsers, formats);
    return formats;
  };
  return (parsers, fields) => {
    if (fields) return writer(properties, formatsFor(parsers), (name) => fields.includes(name));
    const write = whole.get(parsers) ?? writer(properties, formatsFor(parsers), () => true);
    whole.set(parsers, write);
    return write;
  };
}

function writer(
  properties: readonly RowProperty[],
  formats: readonly TextFormat[],
  isWritten: (name: string) => boolean,
): RowWriter {
  const written = [...properties.entries()].filter(([, { name }]) => isWritten(name));
  const keys = written.map(([, { name }], place) => `${place === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const positions = written.map(([, { index }]) => index);
  const writes = written.map(([place]) => formats[place] as TextFormat);
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
