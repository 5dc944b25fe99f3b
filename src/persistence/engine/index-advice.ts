/** Which orders and filters no index can serve: on a large table each of them reads all rows. */
import type { ResourcePlan, SortTerm } from '../../plan/resource-plan.js';
import { quotedTable } from '../sql/quoted-table.js';
import { identifier } from '../sql/sql-fragment.js';
import { columnOf, type IndexInfo, type IndexKey, servesOrder, startsWith } from '../sql/table-indexes.js';

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
  const scope = [...(plan.access?.scope.keys() ?? [])];
  const orders = [
    ...plan.sortable.map((attribute) => ({ option: 'sortAllow', terms: [{ attribute, descending: false }] })),
    { option: 'defaultSort', terms: plan.defaultSort },
  ];
  const lines = [
    ...orders
      .filter(({ terms }) => !indexes.some((index) => servesOrder(plan.info, index, scope, terms)))
      .map(({ option, terms }) => orderLine(plan, scope, option, terms)),
    ...[...plan.filters.keys()]
      .filter((attribute) => !indexes.some(({ keys }) => servesFilter(plan, keys, scope, attribute)))
      .map((attribute) => filterLine(plan, scope, attribute)),
  ];
  // An attribute may be both sortable and filterable; one index serves both.
  const advised = new Set<string>();
  return lines.filter(({ index }) => !advised.has(index) && advised.add(index)).map(({ text }) => text);
}

interface Advice {
  readonly text: string;
  readonly index: string;
}

function orderLine(
  plan: ResourcePlan,
  scope: readonly string[],
  option: string,
  terms: readonly SortTerm[],
): Advice {
  const key = plan.info.primaryKey.name;
  const keys = terms.some(({ attribute }) => attribute === key)
    ? terms
    : [...terms, { attribute: key, descending: false }];
  const columns = keys
    .filter(({ attribute }) => !scope.includes(attribute))
    .map(
      ({ attribute, descending }) =>
        `${identifier(columnOf(plan.info, attribute))}${descending ? ' DESC' : ''}`,
    );
  const names = terms.map(({ attribute, descending }) => `${descending ? '-' : ''}${attribute}`).join(',');
  return line(plan, `no index serves the order '${names}' (${option})${within(scope)}`, [
    ...leading(plan, scope),
    ...columns,
  ]);
}

function filterLine(plan: ResourcePlan, scope: readonly string[], attribute: string): Advice {
  const columns = [...new Set([...scope, attribute, plan.info.primaryKey.name])];
  return line(
    plan,
    `no index serves a filter by '${attribute}' (filterAllow)${within(scope)}`,
    columns.map((name) => identifier(columnOf(plan.info, name))),
  );
}

function servesFilter(
  { info }: ResourcePlan,
  keys: readonly IndexKey[],
  scope: readonly string[],
  attribute: string,
): boolean {
  if (scope.includes(attribute)) return startsWith(info, keys, scope);
  return startsWith(info, keys, scope) && keys[scope.length]?.column === columnOf(info, attribute);
}

function within(scope: readonly string[]): string {
  return scope.length > 0 ? ` within the scope of ${scope.join(', ')}` : '';
}

function leading({ info }: ResourcePlan, scope: readonly string[]): string[] {
  return scope.map((name) => identifier(columnOf(info, name)));
}

function line({ name, model }: ResourcePlan, problem: string, columns: readonly string[]): Advice {
  const index = `${quotedTable(model)} (${columns.join(', ')})`;
  return { text: `${name}: ${problem}; CREATE INDEX ON ${index};`, index };
}
