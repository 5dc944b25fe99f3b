/** A row that is kept as the answer of a request, by the statement that writes it. */
import { hash } from 'node:crypto';
import type { Statement } from '../../execute/sql/statement.js';
import type { OwnTable } from '../../operation/feature.js';
import type { TextRow } from '../../postgres/index.js';
import { keptIn } from '../../util/memo.js';
import type { RequestKey } from './key-table.js';

/** No JSON begins so. */
const SIGN = '=';

const marks = new WeakMap<readonly string[], string>();

/** Prefix of a row with these columns: another deployment may answer with others. */
function markOf(columns: readonly string[]): string {
  return keptIn(marks, columns, () => `${SIGN}${hash('sha1', JSON.stringify(columns), 'base64url')}`);
}

/** True where an answer was kept as a row. */
export function isRow(answer: string): boolean {
  return answer.startsWith(SIGN);
}

/** The row of an answer; null where it has other columns. */
export function keptRow(answer: string, columns: readonly string[]): TextRow | null {
  const mark = markOf(columns);
  return answer.startsWith(mark) ? parseRecord(answer.slice(mark.length)) : null;
}

/** Place of an answer. */
export interface AnswerKey extends RequestKey {
  readonly table: OwnTable;
  readonly status: number;
}

/** No column has such a name, which would be taken for the column. */
const WRITTEN = '"crud:written"';

/**
 * Extends the statement that writes a row, so that it keeps the row under a key, and fails with 23505 where the key is taken. The texts
 * of the values are those of PostgreSQL's output functions, so that the writers of rows can read them again.
 *
 * @param columns of the row; null where the answer is empty
 */
export function keepingRow(
  { scope, key, fingerprint, status, table }: AnswerKey,
  write: Statement,
  columns: readonly string[] | null,
): Statement {
  const kept = [scope, key, fingerprint, String(status), ...(columns ? [markOf(columns)] : [])];
  const [of, by, print, code, mark] = kept.map((_, index) => `$${write.values.length + 1 + index}`);
  const answer = columns ? `${mark}::text || ${WRITTEN}::text` : "''";
  const text =
    `WITH ${WRITTEN} AS (${write.text}${columns ? '' : ' RETURNING NULL'}), kept AS (INSERT INTO ${table.name} ` +
    `(scope, key, fingerprint, status, answer) SELECT ${of}, ${by}, ${print}, ${code}::smallint, ${answer} ` +
    `FROM ${WRITTEN}) SELECT * FROM ${WRITTEN}`;
  return { text, values: [...write.values, ...kept] };
}

/** The values of a row. NULL is nothing between two commas; an empty text is quoted. Not by one pattern, as values may be large. */
function parseRecord(text: string): TextRow {
  const values: (string | null)[] = [];
  let position = 1;
  while (position < text.length) {
    const isQuoted = text[position] === '"';
    const end = isQuoted ? endOfQuoted(text, position + 1) : endOfBare(text, position);
    const written = text.slice(position, end);
    const after = text[end];
    if ((after !== ',' && after !== ')') || (!isQuoted && /["\\()]/.test(written))) throw malformed();
    values.push(isQuoted ? unquote(written) : written || null);
    position = end + 1;
  }
  return values;
}

/** Behind the closing quote: one inside is doubled. */
function endOfQuoted(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote >= 0 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2);
  if (quote < 0) throw malformed();
  return quote + 1;
}

function endOfBare(text: string, from: number): number {
  const comma = text.indexOf(',', from);
  return comma < 0 ? text.length - 1 : comma;
}

function unquote(quoted: string): string {
  return quoted.slice(1, -1).replaceAll('""', '"').replaceAll('\\\\', '\\');
}

function malformed(): TypeError {
  return new TypeError('A row was kept in a form that PostgreSQL does not write.');
}
