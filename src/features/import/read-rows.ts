/** The text of a file -> its rows, each with its place and the body that it makes; and chunks of them. */
import type { ExportFormat } from '../../declare/export-options.js';
import { BodyError, InvalidRequestError, type RequestIssue } from '../../schema/request-issue.js';
import { type ColumnNames, type Columns, parseHeader } from './csv-columns.js';
import { type CsvRow, readCsv } from './csv-rows.js';
import { type FileLine, readJsonLines } from './ndjson-rows.js';

/** A row of a file. */
export interface FileRow extends FileLine {
  /** From 1, without the header. */
  readonly row: number;
}

/** Settings of a file. */
export interface FileSettings {
  readonly form: ExportFormat;
  readonly delimiter: string;
  /** Bytes of a row at most. */
  readonly maxRow: number;
  readonly columns: ColumnNames;
  /** Called with the text of the header, before any row. */
  onHeader?(text: string): void;
}

/** A header that names no columns of the resource. Nothing behind it is read. */
export class HeaderError extends InvalidRequestError {
  override readonly name = 'HeaderError';

  constructor(errors: readonly RequestIssue[]) {
    super(400, 'body', errors);
  }
}

const CHUNK_ROWS = 1_000;
const CHUNK_CHARACTERS = 1024 * 1024;

/**
 * Reads a file, chunk by chunk. Where a chunk ends depends on the file alone.
 *
 * @throws HeaderError before any row
 */
export async function* readChunks(
  texts: AsyncIterable<string>,
  settings: FileSettings,
): AsyncGenerator<readonly FileRow[]> {
  let chunk: FileRow[] = [];
  let characters = 0;
  for await (const rows of settings.form === 'csv' ? csvRows(texts, settings) : jsonRows(texts, settings)) {
    for (const row of rows) {
      chunk.push(row);
      characters += row.text.length;
      if (chunk.length < CHUNK_ROWS && characters < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = [];
      characters = 0;
    }
  }
  if (chunk.length > 0) yield chunk;
}

async function* csvRows(texts: AsyncIterable<string>, settings: FileSettings): AsyncGenerator<FileRow[]> {
  let columns: Columns | null = null;
  let row = 0;
  const read = ({ cells, line, text }: CsvRow): FileRow | null => {
    if (!columns) {
      settings.onHeader?.(text);
      columns = headerOf(cells, line, settings);
      return null;
    }
    // An empty line is a row only where it could be a cell.
    if (cells.length === 1 && cells[0] === null && columns.count > 1) return null;
    row += 1;
    return { row, line, text, ...columns.read(cells) };
  };
  for await (const records of readCsv(texts, settings)) yield records.flatMap((each) => read(each) ?? []);
  if (!columns)
    throw new BodyError(400, 'empty', 'The body has no header; begin it with the names of the columns.');
}

function headerOf(
  cells: CsvRow['cells'],
  line: number,
  { columns: known, delimiter }: FileSettings,
): Columns {
  const { columns, issues } = parseHeader(cells, known, delimiter);
  if (issues.length > 0) throw new HeaderError(issues.map((issue) => ({ ...issue, line })));
  return columns;
}

async function* jsonRows(texts: AsyncIterable<string>, { maxRow }: FileSettings): AsyncGenerator<FileRow[]> {
  let row = 0;
  for await (const lines of readJsonLines(texts, maxRow))
    yield lines.map((line) => {
      row += 1;
      return { row, ...line };
    });
}
