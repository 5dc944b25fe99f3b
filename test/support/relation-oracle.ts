/** Answers to a list or a read with relations, computed in memory from the rows of random models. */
import type { CountMode } from '../../src/index.js';
import {
  type AnyCount,
  type AnyModel,
  type AnyPlace,
  type AnyRelation,
  attributesOf,
  PAGE_SIZE,
  type Row,
  relationOf,
} from './any-model.js';
import type { AnyFilter } from './relation-filters.js';
import { isVisible, meets, relatedRows } from './relation-rows.js';

/** The query for the records at one place. */
export interface AnyQuery {
  readonly q?: AnyFilter | undefined;
  readonly sort?: readonly string[] | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly size?: number | undefined;
  readonly count?: CountMode | undefined;
}

/** Queries of relations, by path. Relations without one are not included. */
export type AnyInclude = ReadonlyMap<string, AnyQuery>;

/** The rows of one record, of those of a list. */
export interface Under {
  readonly row: Row;
  readonly relation: AnyRelation;
  readonly isRuled: boolean;
}

/** The rows of a list, in their order. @param under null is all */
export function listed(model: AnyModel, { q, sort }: AnyQuery, under: Under | null = null): readonly Row[] {
  const rows = under
    ? relatedRows(under.row, under.relation, under.isRuled)
    : model.rows.filter((row) => isVisible(model, row));
  return ordered(
    model,
    rows.filter((row) => meets(model, q, row)),
    sort,
  );
}

/** The envelope of the page that begins at a place, without items and cursors. */
export function envelope(
  model: AnyModel,
  rows: readonly Row[],
  start: number,
  { size = PAGE_SIZE, count }: AnyQuery,
): object {
  const isLast = start + size >= rows.length;
  const isOffset = model.pagination === 'offset';
  const areAllKnown = isLast && (start === 0 || (isOffset && start < rows.length));
  const mode = model.count ? (count ?? usualCount(model.count, isOffset ? 'exact' : 'none')) : 'exact';
  const totals = totalsOf(rows.length, areAllKnown, mode, model.count?.cap);
  const shown = model.count ? totals : isOffset ? { total: rows.length } : {};
  if (!isOffset) return { ...shown, has_next: !isLast, has_prev: start > 0 };
  const pages = totals.total_is === 'exact' ? Math.ceil(rows.length / size) : null;
  // An empty list has no page before.
  const isPreceded = start > 0 && (pages === null || rows.length > 0);
  return { ...shown, page: start / size + 1, size, pages, has_next: !isLast, has_prev: isPreceded };
}

function usualCount({ default: wanted, allow }: AnyCount, usual: CountMode): CountMode {
  return wanted ?? (allow.includes(usual) ? usual : (allow[0] as CountMode));
}

function totalsOf(length: number, areAllKnown: boolean, mode: CountMode, cap = Number.POSITIVE_INFINITY) {
  if (areAllKnown || mode === 'exact' || (mode === 'capped' && length <= cap))
    return { total: length, total_is: 'exact' };
  return mode === 'none' ? { total: null, total_is: 'none' } : { total: cap, total_is: 'at_least' };
}

/** The JSON of a record with its included relations. */
export function shown(
  model: AnyModel,
  row: Row,
  { fields }: AnyQuery,
  include: AnyInclude,
  root = model,
  before = '',
): object {
  const own = attributesOf(model)
    .filter((name) => fields === undefined || fields.includes(name))
    .map((name) => [name, jsonOf(model, name, row[name] ?? null)]);
  const related = [...root.include].flatMap(([path, place]) => {
    const name = path.slice(before.length);
    const query = include.get(path);
    if (!query || !path.startsWith(before) || name.includes('.')) return [];
    const relation = relationOf(model, name);
    const { target } = relation;
    const rows = listed(target, query, { row, relation, isRuled: place.isRuled });
    const show = (each: Row) => shown(target, each, query, include, root, `${path}.`);
    return [[name, place.size ? manyOf(rows, show, query, place) : rows[0] ? show(rows[0]) : null]];
  });
  return Object.fromEntries([...own, ...related]);
}

function manyOf(
  rows: readonly Row[],
  show: (row: Row) => object,
  { size: wanted, count }: AnyQuery,
  { size: sizes, count: options }: AnyPlace,
): object {
  const size = wanted ?? sizes?.default ?? 0;
  const isCut = rows.length > size;
  const mode = options && (count ?? usualCount(options, 'none'));
  const totals = mode ? totalsOf(rows.length, !isCut, mode, options?.cap) : {};
  return { items: rows.slice(0, size).map(show), has_next: isCut, ...totals };
}

/** The JSON of a column's text. */
const WIRE: Readonly<Record<string, (text: string) => unknown>> = {
  INTEGER: Number,
  'DOUBLE PRECISION': Number,
  BOOLEAN: (text) => text === 'true',
  DATE: (text) => new Date(text).toISOString(),
  TIME: (text) => text + '00:00:00'.slice(text.length),
  UUID: (text) => text.toLowerCase(),
  ARRAY: (text) => JSON.parse(`[${text.slice(1, -1)}]`),
};

function jsonOf({ attributes }: AnyModel, name: string, text: string | null): unknown {
  const type = attributes.find((each) => each.name === name)?.kind.type as { key?: string } | undefined;
  return text === null ? null : (WIRE[type?.key ?? '']?.(text) ?? text);
}

/** Rows in the order of the query, else in the default one; equal rows by their key. */
function ordered(
  model: AnyModel,
  rows: readonly Row[],
  sort: readonly string[] = model.defaultSort.split(','),
): Row[] {
  const terms = sort.map((term) => ({ name: term.replace('-', ''), isDown: term.startsWith('-') }));
  if (!terms.some(({ name }) => name === 'id'))
    terms.push({ name: 'id', isDown: terms.at(-1)?.isDown ?? false });
  return [...rows].sort((first, second) => {
    for (const { name, isDown } of terms) {
      const sign = compare(model, name, first[name] ?? null, second[name] ?? null);
      if (sign !== 0) return isDown ? -sign : sign;
    }
    return 0;
  });
}

/** NULL is the largest. */
function compare(
  { attributes }: AnyModel,
  name: string,
  first: string | null,
  second: string | null,
): number {
  if (first === null || second === null) return Number(first === null) - Number(second === null);
  return attributes.find((each) => each.name === name)?.kind.compare(first, second) ?? 0;
}
