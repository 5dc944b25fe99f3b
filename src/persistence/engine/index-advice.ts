/** Which orders and filters no index can serve: on a large table each of them reads all rows. */
import type { ResourcePlan, SortTerm } from '../../plan/resource-plan.js';
import { identifier } from '../sql/sql-fragment.js';
import { quotedTable } from '../sql/table-sql.js';

/** One key column of an index. */
interface IndexKey {
  readonly column: string;
  readonly descending: boolean;
}

/** An index, as far as its use is concerned. */
interface IndexInfo {
  readonly method: string;
  readonly keys: readonly IndexKey[];
}

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
function readIndex({ method, columns, options }: IndexRow): IndexInfo {
  const keys: IndexKey[] = [];
  for (const [position, column] of columns.entries()) {
    const option = options[position];
    if (column === null || (option !== ASCENDING && option !== DESCENDING)) break;
    keys.push({ column, descending: option === DESCENDING });
  }
  return { method, keys };
}

/** One line for each order and filter of a resource that no index serves, with the index that would. */
export function adviseIndexes(plan: ResourcePlan, rows: readonly IndexRow[]): string[] {
  const indexes = rows.map(readIndex);
  const key = plan.info.primaryKey.name;
  const orders = [
    ...plan.sortable.map((attribute) => ({ option: 'sortAllow', terms: [{ attribute, descending: false }] })),
    { option: 'defaultSort', terms: plan.defaultSort },
  ];
  const needs = [
    ...orders
      .filter(({ terms }) => !indexes.some((index) => servesOrder(plan, index, terms)))
      .map(({ option, terms }) => {
        const names = terms.map(({ attribute, descending }) => `${descending ? '-' : ''}${attribute}`);
        const isTotal = terms.some(({ attribute }) => attribute === key);
        return {
          need: `the order '${names.join(',')}' (${option})`,
          keys: isTotal ? terms : [...terms, { attribute: key, descending: false }],
        };
      }),
    ...[...plan.filters.keys()]
      .filter((attribute) => !indexes.some(({ keys }) => keys[0]?.column === columnOf(plan, attribute)))
      .map((attribute) => ({
        need: `a filter by '${attribute}' (filterAllow)`,
        keys: [attribute, key].map((name) => ({ attribute: name, descending: false })),
      })),
  ];
  // An attribute may be both sortable and filterable; one index serves both.
  const lines = new Map<string, string>();
  for (const { need, keys } of needs) {
    const columns = keys.map(
      ({ attribute, descending }) => `${identifier(columnOf(plan, attribute))}${descending ? ' DESC' : ''}`,
    );
    const index = `${quotedTable(plan.model)} (${columns.join(', ')})`;
    if (!lines.has(index))
      lines.set(index, `${plan.name}: no index serves ${need}; CREATE INDEX ON ${index};`);
  }
  return [...lines.values()];
}

/** A B-tree whose first keys are the terms, walked forward or backward. Behind a unique prefix the rest is sorted. */
function servesOrder(plan: ResourcePlan, { method, keys }: IndexInfo, terms: readonly SortTerm[]): boolean {
  const needed = terms.filter(({ attribute }) => attribute !== plan.info.primaryKey.name);
  const wanted = needed.length > 0 ? needed : terms.slice(0, 1);
  if (method !== 'btree') return false;
  const matches = (reverse: boolean): boolean =>
    wanted.every(({ attribute, descending }, position) => {
      const key = keys[position];
      return key?.column === columnOf(plan, attribute) && key.descending === (descending !== reverse);
    });
  return matches(false) || matches(true);
}

function columnOf({ info }: ResourcePlan, attribute: string): string {
  return info.attributes.get(attribute)?.column ?? attribute;
}
