/** Which orders and filters no index can serve: on a large table each of them reads all rows. */
import type { ResourcePlan, SortTerm } from '../../plan/resource-plan.js';
import { quotedTable } from '../sql/quoted-table.js';
import {
  columnOf,
  type IndexInfo,
  type IndexKey,
  indexColumns,
  servesOrder,
  startsWith,
} from '../sql/table-indexes.js';

/** An index, as the catalog has it. */
export interface IndexRow {
  readonly table: string;
  readonly method: string;
  readonly columns: readonly (string | null)[];
  readonly options: readonly number[];
}

/** Valid indexes over all rows of the tables, with their columns in order; an expression has no column name. */
export const INDEXES = `
  SELECT t.name AS "table", am.amname AS "method",
         ARRAY(SELECT a.attname::text FROM unnest(ix.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
               LEFT JOIN pg_attribute a ON a.attrelid = ix.indrelid AND a.attnum = k.attnum
               WHERE k.n <= ix.indnkeyatts ORDER BY k.n) AS "columns",
         ix.indoption::int2[] AS "options"
  FROM unnest($1::text[]) AS t(name)
  JOIN pg_index ix ON ix.indrelid = to_regclass(t.name)
  JOIN pg_class c ON c.oid = ix.indexrelid
  JOIN pg_am am ON am.oid = c.relam
  WHERE ix.indisvalid AND ix.indpred IS NULL`;

/** `indoption` of an ascending key with NULLs last, and of a descending one with NULLs first: what ORDER BY means. */
const ASCENDING = 0;
const DESCENDING = 3;

/** The usable part of an index: it ends at an expression, or at a key whose NULLs are on the other side. */
export function readIndex({ method, columns, options }: IndexRow): IndexInfo {
  const keys: IndexKey[] = [];
  for (const [position, column] of columns.entries()) {
    const option = options[position];
    if (column === null || (option !== ASCENDING && option !== DESCENDING)) break;
    keys.push({ column, descending: option === DESCENDING });
  }
  return { method, keys };
}

/**
 * One line for each order and filter of a resource that no index serves, with the index that would. Where the rows are scoped, an
 * index begins with the columns of the scope.
 */
export function adviseIndexes(plan: ResourcePlan, indexes: readonly IndexInfo[]): string[] {
  const { info, access } = plan;
  const key = info.primaryKey.name;
  const scope = [...(access?.scope.keys() ?? [])];
  const within = scope.length > 0 ? ` within the scope of ${scope.join(', ')}` : '';
  const orders = [
    ...plan.sortable.map((attribute) => ({ option: 'sortAllow', terms: [{ attribute, descending: false }] })),
    { option: 'defaultSort', terms: plan.defaultSort },
  ];
  const needs = [
    ...orders
      .filter(({ terms }) => !indexes.some((index) => servesOrder(info, index, scope, terms)))
      .map(({ option, terms }) => {
        const names = terms.map(({ attribute, descending }) => `${descending ? '-' : ''}${attribute}`);
        return { need: `the order '${names.join(',')}' (${option})`, terms };
      }),
    ...[...plan.filters.keys()]
      .filter((attribute) => !indexes.some(({ keys }) => servesFilter(plan, keys, scope, attribute)))
      .map((attribute) => ({
        need: `a filter by '${attribute}' (filterAllow)`,
        terms: [{ attribute, descending: false }],
      })),
  ];
  // An attribute may be both sortable and filterable; one index serves both.
  const lines = new Map<string, string>();
  for (const { need, terms } of needs) {
    const ordered = terms.filter(({ attribute }) => !scope.includes(attribute));
    const isTotal = [...scope, ...ordered.map(({ attribute }) => attribute)].includes(key);
    const keys = [...scope.map(ascending), ...ordered, ...(isTotal ? [] : [ascending(key)])];
    const index = `${quotedTable(plan.model)} (${indexColumns(info, keys)})`;
    if (!lines.has(index))
      lines.set(index, `${plan.name}: no index serves ${need}${within}; CREATE INDEX ON ${index};`);
  }
  return [...lines.values()];
}

function ascending(attribute: string): SortTerm {
  return { attribute, descending: false };
}

function servesFilter(
  { info }: ResourcePlan,
  keys: readonly IndexKey[],
  scope: readonly string[],
  attribute: string,
): boolean {
  if (!startsWith(info, keys, scope)) return false;
  return scope.includes(attribute) || keys[scope.length]?.column === columnOf(info, attribute);
}
