/** Reads the query string of a list: `?size=20&after=7&category=x&total=true`. */
import type { PageQuery } from './statements.js';

/** Parses the parameters; null where a number is wrong. */
export function readPageQuery(parameters: {
  readonly size?: unknown;
  readonly after?: unknown;
  readonly category?: unknown;
  readonly total?: unknown;
}): (PageQuery & { readonly isCounted: boolean }) | null {
  const size = Number(parameters.size ?? 20);
  const after = parameters.after === undefined ? null : Number(parameters.after);
  if (!(Number.isInteger(size) && size > 0 && size <= 1_000)) return null;
  if (after !== null && !Number.isInteger(after)) return null;
  const category = typeof parameters.category === 'string' ? parameters.category : null;
  return { size, after, category, isCounted: parameters.total === 'true' };
}

/** Removes the additional row, and adds the beginning of the next page. */
export function toPage<Row extends { readonly id: number }>(
  rows: readonly Row[],
  size: number,
): { readonly items: readonly Row[]; readonly next: number | null } {
  if (rows.length <= size) return { items: rows, next: null };
  const items = rows.slice(0, size);
  return { items, next: items.at(-1)?.id ?? null };
}
