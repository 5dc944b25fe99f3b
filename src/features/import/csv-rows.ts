/** The text of a CSV file (RFC 4180) -> rows of cells. The package `csv-parse` is loaded at its first use. */
import type { Parser } from 'csv-parse';
import { BodyError } from '../../schema/request-issue.js';
import { nullIfMissing } from '../../util/optional-package.js';

/** A cell: null is one that is empty and has no quotes. */
export type Cell = string | null;

/** A record of a file. */
export interface CsvRow {
  readonly cells: readonly Cell[];
  /** The line of the file on which it begins, from 1. A quoted cell may have several. */
  readonly line: number;
  /** Characters of the record in the file. */
  readonly text: string;
}

/** Settings of a CSV file. */
export interface CsvSettings {
  readonly delimiter: string;
  /** Bytes of a record at most. */
  readonly maxRow: number;
}

/** Name of the package. */
export const CSV_PACKAGE = 'csv-parse';

/** The package; null where it is not installed. */
export function loadCsvParse(): typeof import('csv-parse') | null {
  try {
    return require('csv-parse');
  } catch (error) {
    return nullIfMissing(CSV_PACKAGE, error);
  }
}

interface FoundRecord {
  readonly record: readonly string[];
  /** Characters of the record in the file, up to its end. */
  readonly raw: string;
}

/** Reads the records of a file, as many at a time as a piece of it has. @throws BodyError 400 where it is no CSV, 413 */
export async function* readCsv(
  texts: AsyncIterable<string>,
  { delimiter, maxRow }: CsvSettings,
): AsyncGenerator<readonly CsvRow[]> {
  const { parse } = loadCsvParse() ?? missingPackage();
  const parser = parse({
    delimiter,
    raw: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n'],
    max_record_size: maxRow,
  });
  // The error is read at once; the event comes later.
  parser.on('error', () => {});
  const check = () => {
    if (parser.errored) throw malformed(parser.errored, line, maxRow);
  };
  let line = 1;
  const take = (): CsvRow[] => {
    const rows: CsvRow[] = [];
    for (const { record, raw } of recordsOf(parser)) {
      rows.push({ cells: record.includes('') ? cellsOf(record, raw, delimiter) : record, line, text: raw });
      line += lineEnds(raw);
    }
    return rows;
  };
  for await (const text of texts) {
    parser.write(text);
    const rows = take();
    if (rows.length > 0) yield rows;
    check();
  }
  const ended = new Promise((resolve) => parser.once('close', resolve));
  parser.end();
  const rows = take();
  // Reading the end of the stream closes it.
  parser.resume();
  await ended;
  if (rows.length > 0) yield rows;
  check();
}

function* recordsOf(parser: Parser): Generator<FoundRecord> {
  for (let found = parser.read(); found !== null; found = parser.read()) yield found;
}

/** The cells of a record, of which at least one is empty: only the text of the record says which ones had quotes. */
function cellsOf(record: readonly string[], raw: string, delimiter: string): readonly Cell[] {
  let position = 0;
  return record.map((cell) => {
    const isQuoted = raw[position] === '"';
    const quotes = isQuoted ? 2 + cell.split('"').length - 1 : 0;
    position += cell.length + quotes + delimiter.length;
    return cell === '' && !isQuoted ? null : cell;
  });
}

/** Number of lines that end in a record. Of the two characters that end one, the parser keeps the first. */
function lineEnds(raw: string): number {
  let count = raw.endsWith('\r') ? 1 : 0;
  for (let at = raw.indexOf('\n'); at >= 0; at = raw.indexOf('\n', at + 1)) count += 1;
  return count;
}

const WORDS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'a quote stands inside of a cell that does not begin with one',
  CSV_INVALID_CLOSING_QUOTE: 'something stands behind the closing quote of a cell',
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
};

/** The package's own words quote the file. */
function malformed(error: unknown, line: number, maxRow: number): unknown {
  const { code } = error as { readonly code?: unknown };
  if (code === 'CSV_MAX_RECORD_SIZE') return longRow(line, maxRow);
  const words = WORDS[String(code)];
  if (words === undefined) return error;
  const detail = `The body is not valid CSV: in the row that begins at line ${line}, ${words}. Double a quote inside of a quoted cell.`;
  return new BodyError(400, 'malformed', detail);
}

/** The error of a row that is longer than a body of one record. */
export function longRow(line: number, maxRow: number): BodyError {
  const detail = `The row that begins at line ${line} is larger than ${maxRow} bytes, which is the most that one record may have.`;
  return new BodyError(413, 'tooLarge', detail);
}

function missingPackage(): never {
  throw new TypeError(`An import of CSV needs the package ${CSV_PACKAGE}; run npm install ${CSV_PACKAGE}.`);
}
