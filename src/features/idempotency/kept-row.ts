/** A row that is kept as the answer of a request, by the statement that writes it. */

import { hash } from 'node:crypto';
import { parseRecord } from '../../execute/rows/record-text.js';
import type { Slots, Statement, StatementExtension } from '../../execute/sql/statement.js';
import type { OwnTable } from '../../operation/feature.js';
import type { TextRow } from '../../postgres/index.js';
import type { Slot } from '../../request/query/predicate.js';
import type { RequestKey } from './key-table.js';

/** No JSON begins so. */
const SIGN = '=';

const marks = new WeakMap<readonly string[], string>();

/** Stands before a row with these columns: another deployment may answer with others. */
function markOf(columns: readonly string[]): string {
  const known = marks.get(columns) ?? `${SIGN}${hash('sha1', JSON.stringify(columns), 'base64url')}`;
  marks.set(columns, known);
  return known;
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

/** Under what an answer is kept. */
export interface AnswerKey extends RequestKey {
  readonly table: OwnTable;
  readonly status: number;
}

const KEPT: readonly Slot[] = ['scope', 'key', 'fingerprint', 'status', 'mark'].map((name) =>
  Object.freeze({ slot: `key.${name}` }),
);

/**
 * The part of a statement that keeps its row under a key. The statement fails with 23505 where the key is taken.
 *
 * @param columns of the row; none where the answer is empty
 */
export function rowKeeping(
  { scope, key, fingerprint, status, table }: AnswerKey,
  columns: readonly string[] | null,
): StatementExtension {
  const slots: Slots = {
    'key.scope': scope,
    'key.key': key,
    'key.fingerprint': fingerprint,
    'key.status': String(status),
    'key.mark': columns ? markOf(columns) : '',
  };
  return { slots, extend: (write) => keepingRow(write, table, columns === null) };
}

/** No column has such a name, which would be taken for the column. */
const WRITTEN = '"crud:written"';

/** The texts of the values are those of PostgreSQL's output functions, so that the writers of rows can read them again. */
function keepingRow(write: Statement, { name }: OwnTable, isEmpty: boolean): Statement {
  const first = write.values.length + 1;
  const [scope, key, fingerprint, status, mark] = KEPT.map((_, index) => `$${first + index}`);
  const answer = isEmpty ? "''" : `${mark}::text || ${WRITTEN}::text`;
  const text =
    `WITH ${WRITTEN} AS (${write.text}${isEmpty ? ' RETURNING NULL' : ''}), kept AS (INSERT INTO ${name} ` +
    `(scope, key, fingerprint, status, answer) SELECT ${scope}, ${key}, ${fingerprint}, ${status}::smallint, ${answer} ` +
    `FROM ${WRITTEN}) SELECT * FROM ${WRITTEN}`;
  return { text, values: [...write.values, ...(isEmpty ? KEPT.slice(0, -1) : KEPT)] };
}
