/** Parts that all statements of a list share, for each page. */

import type { SortTerm } from '../../compile/resource-plan.js';
import type { ColumnKind } from '../../describe/column-type.js';
import { type KeyTerm, keyTerms } from './keyset-sql.js';
import { type SqlFragment, sql } from './sql-fragment.js';
import type { SelectionSql, TableSql } from './table-sql.js';

/** Columns whose text in a result is the one that `::text` gives. */
const SELF_TEXT: ReadonlySet<ColumnKind> = new Set([
  'integer',
  'bigint',
  'decimal',
  'float',
  'date',
  'dateonly',
  'time',
  'uuid',
]);

/** A selection in an order. */
export interface ListSql {
  readonly number: number;
  readonly selection: SelectionSql;
  /** The total order. */
  readonly terms: readonly KeyTerm[];
  /** The values that rows are sorted by, where they are not selected as such. */
  readonly keyColumns: readonly SqlFragment[];
  /** Where each of the values that rows are sorted by is found in a row: the key columns follow the selected ones. */
  readonly keyPositions: readonly number[];
}

/** Describes a list. */
export function describeList(
  { info, column }: TableSql,
  selection: SelectionSql,
  order: readonly SortTerm[],
  number: number,
): ListSql {
  const { attributes } = selection;
  const terms = keyTerms(info, order);
  const keyColumns: SqlFragment[] = [];
  const keyPositions = terms.map(({ attribute }) => {
    const known = attributes.findIndex(({ name, type }) => name === attribute && SELF_TEXT.has(type.kind));
    if (known >= 0) return known;
    return attributes.length + keyColumns.push(sql`${column(attribute)}::text`) - 1;
  });
  return { number, selection, terms, keyColumns, keyPositions };
}
