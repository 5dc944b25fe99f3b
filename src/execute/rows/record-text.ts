/**
 * The text form of a row, as PostgreSQL writes a composite value.
 * https://www.postgresql.org/docs/current/rowtypes.html
 */
import type { TextRow } from '../../postgres/index.js';

/** The values of a row. NULL is nothing between two commas; an empty text is quoted. Not by one pattern, as values may be large. */
export function parseRecord(text: string): TextRow {
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
