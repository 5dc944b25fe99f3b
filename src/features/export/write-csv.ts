/** Records as lines of CSV (RFC 4180): NULL is empty, and the empty text is `""`. The texts of rows become cells without an object. */

import type { Outcome } from '../../handle/outcome.js';
import type { jsonReplacer } from '../../respond/json-answer.js';
import type { PropertyFormat } from '../../respond/row-view.js';
import { stringJson, type TextFormat } from '../../respond/text-format.js';

/** Writes one of the records. */
export type WriteLine = (index: number) => string;

/** Choices of a file. */
export interface CsvOptions {
  /** Properties, in the order of the columns. */
  readonly names: readonly string[];
  /** The properties of the answer; null is all. */
  readonly fields: readonly string[] | null;
  /** True for a property whose values are any JSON: a text keeps its quotes, so that it is no number when it is read again. */
  isJson(name: string): boolean;
  /** True for a file whose texts must not be read as formulas. */
  readonly isForSpreadsheet: boolean;
  /** A function of the user's that takes part in writing JSON. */
  readonly replacer: ReturnType<typeof jsonReplacer>;
}

const BOM = '\u{feff}';
const LINE_END = '\r\n';

/** The line of names, which a file without records has, too. */
export function csvHead({ names, isForSpreadsheet }: CsvOptions): string {
  const cells = names.map((name) => quoted(isForSpreadsheet ? harmless(name) : name));
  return `${isForSpreadsheet ? BOM : ''}${cells.join()}${LINE_END}`;
}

/** Compiles the writer of a chunk. */
export function csvLines(outcome: Outcome, options: CsvOptions): WriteLine {
  const formats = options.replacer ? null : outcome.formats?.(options.fields);
  return formats ? linesOfRows(outcome.rows, formats, options) : linesOfValues(outcome, options);
}

function linesOfRows(
  rows: Outcome['rows'],
  formats: readonly PropertyFormat[],
  { names, isJson, isForSpreadsheet }: CsvOptions,
): WriteLine {
  const positions = names.map((name) => formats.findIndex((each) => each.name === name));
  const cells = positions.map((position, index) => {
    const { format } = formats[position] as PropertyFormat;
    return isJson(names[index] as string) ? jsonCellOf(format) : cellOf(format, isForSpreadsheet);
  });
  return (index) => {
    const row = rows[index] as Outcome['rows'][number];
    let line = '';
    for (let column = 0; column < cells.length; column += 1) {
      const text = row[positions[column] as number];
      if (column > 0) line += ',';
      if (text !== null && text !== undefined) line += (cells[column] as TextFormat)(text);
    }
    return line + LINE_END;
  };
}

function jsonCellOf(format: TextFormat): TextFormat {
  return (text) => {
    const json = format(text);
    return json === 'null' ? '' : quoted(json);
  };
}

function cellOf(format: TextFormat, isForSpreadsheet: boolean): TextFormat {
  const quote = isForSpreadsheet ? (text: string) => quoted(harmless(text)) : quoted;
  // A text would be put into JSON and taken out again.
  if (format === stringJson) return quote;
  return (text) => {
    const json = format(text);
    switch (json.charCodeAt(0)) {
      case QUOTE:
        return quote(json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1));
      case BRACKET:
      case BRACE:
        return quoted(json);
      default:
        return json === 'null' ? '' : json;
    }
  };
}

const [QUOTE, BRACKET, BRACE] = [0x22, 0x5b, 0x7b];

/** Lines of records that code of the user's has made. */
function linesOfValues(
  { values }: Outcome,
  { names, fields, isJson, isForSpreadsheet, replacer }: CsvOptions,
): WriteLine {
  const all = values(fields);
  const records = replacer ? (JSON.parse(JSON.stringify(all, replacer)) as typeof all) : all;
  const cells = names.map((name) => valueCell(isJson(name), isForSpreadsheet));
  return (index) => {
    const record = records[index] as Readonly<Record<string, unknown>>;
    let line = '';
    for (let column = 0; column < cells.length; column += 1) {
      if (column > 0) line += ',';
      line += (cells[column] as (value: unknown) => string)(record[names[column] as string]);
    }
    return line + LINE_END;
  };
}

function valueCell(isOfJson: boolean, isForSpreadsheet: boolean): (value: unknown) => string {
  return (value) => {
    if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
    if (typeof value === 'string' && !isOfJson) return quoted(isForSpreadsheet ? harmless(value) : value);
    return value === null || value === undefined ? '' : quoted(JSON.stringify(value));
  };
}

const SPECIAL = /[",\r\n]/;

function quoted(text: string): string {
  if (text === '') return '""';
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Beginnings of formulas (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r\n]/;
/** The end of a cell before a formula, for a program with another delimiter: it takes quotes only where a cell begins. */
const INNER_FORMULA = /([;\t\r\n]"*)(?=[=+\-@])/g;
/** Texts of numbers and times as the database writes them, also infinities, and moments before the year 0 and after 9999. */
const HARMLESS =
  /^[+-](?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|infinity|\d{6}-\d\d-\d\d(?:T[\d:.]+Z?)?)$/;

/** A text that no spreadsheet reads as a formula. A number stays one. */
function harmless(text: string): string {
  const inner = text.replace(INNER_FORMULA, "$1'");
  return FORMULA.test(text) && !HARMLESS.test(text) ? `'${inner}` : inner;
}
