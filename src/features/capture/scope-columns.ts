/** The columns that the condition of a default scope reads: images of rows must have them to be judged. */
import type { AttributeInfo, RecordInfo } from '../../describe/model-info.js';
import { storedAttributes } from '../../execute/customization/hydrate-record.js';
import { scopedRows } from '../../operation/predicates.js';
import { keptIn } from '../../util/memo.js';

/** Comments, texts of any kind, types of casts, and names with their table: what a condition in SQL is made of, beside its operators. */
const TOKEN =
  /--[^\n]*|\/\*.*?\*\/|\be'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|(\$(?:[a-z_]\w*)?\$).*?\1|::\s*(?:"[^"]*"|\w+)|((?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\w$]*)(?:\s*\.\s*(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\w$]*|\*))*)|./gisu;

const PART = /"(?:[^"]|"")*"|[^\s."]+/g;

/** The columns that a condition on rows of a table named as its model may read; null where it may read a row as a whole. */
export function columnsRead(info: Pick<RecordInfo, 'name' | 'attributes'>, text: string): string[] | null {
  const columns = new Set(storedAttributes(info).map(({ column }) => column));
  const read = new Set<string>();
  let before = '';
  for (const [token, , names] of text.matchAll(TOKEN)) {
    // An end of a text that is missing, or an identifier with escapes.
    if (/["']/.test(token) && (token.length === 1 || (before === '&' && names))) return null;
    if (names !== undefined) {
      const [first = '', second] = (names.match(PART) ?? []).map(folded);
      const isOwn = first === info.name;
      // A function may be written as a column is.
      if (isOwn && (second === undefined || !columns.has(second))) return null;
      const name = isOwn || second === undefined ? (second ?? first) : null;
      if (name !== null && columns.has(name)) read.add(name);
    }
    before = token;
  }
  return [...read];
}

/** A name as PostgreSQL reads it. */
function folded(part: string): string {
  return part.startsWith('"') ? part.slice(1, -1) : part.toLowerCase();
}

const known = new WeakMap<RecordInfo, readonly AttributeInfo[] | 'all'>();

/** The attributes that the default scope of a model reads, as it is at the first call; `all` where it may read a row as a whole. */
export function scopeAttributes(info: RecordInfo): readonly AttributeInfo[] | 'all' {
  if (!info.model.sequelize) return [];
  return keptIn(known, info, () => {
    const columns = columnsRead(info, scopedRows(info)?.text ?? '');
    return columns ? storedAttributes(info).filter(({ column }) => columns.includes(column)) : 'all';
  });
}
