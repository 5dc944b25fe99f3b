/** A row that was kept as the answer of a request: what marks it, and its values. */

import { hash } from 'node:crypto';
import { parseRecord } from '../execute/rows/record-text.js';
import type { TextRow } from '../postgres/index.js';

/** No JSON begins so. */
const SIGN = '=';

const marks = new WeakMap<readonly string[], string>();

/** Stands before a row with these columns: another deployment may answer with others. */
export function markOf(columns: readonly string[]): string {
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
