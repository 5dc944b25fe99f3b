/**
 * A place in a list -> the rows that follow it, as conditions that an index can answer.
 *
 * The usual `a > x OR (a = x AND b > y)` cannot be a range of an index, and costs as much as the rows it skips. Here the
 * rows after a place are cut into ranges that follow one another. Each is one range scan. They are read in
 * turn, and usually the first one fills the page. NULL is no value of a comparison, so it is a range of its own, before or
 * behind the values, and only for columns that can be null.
 */

import { areNullsFirst, totalOrder } from '../../compile/compile-sort.js';
import type { SortTerm } from '../../compile/resource-plan.js';
import { NULL_PLACES } from '../../declare/sort-options.js';
import type { ModelInfo } from '../../describe/model-info.js';
import type { Value } from '../../request/query/predicate.js';
import { showValue } from '../../util/option-problems.js';
import type { ColumnSql } from './predicate-sql.js';
import { keySql, type PlacedTerm } from './sort-sql.js';
import { joinSql, type SqlFragment, sql } from './sql-fragment.js';

/** One column of an order, as far as ranges depend on it. */
export interface KeyTerm extends SortTerm, PlacedTerm {
  readonly nullable: boolean;
}

/** A keyset, as far as ranges depend on it. Null is NULL. */
export interface KeysetValues {
  readonly values: readonly (Value | null)[];
  readonly isInclusive: boolean;
}

/** The total order of a model's rows that begins with these terms. @throws TypeError for a place that NULLs cannot have */
export function keyTerms({ primaryKey, attributes }: ModelInfo, sort: readonly SortTerm[] = []): KeyTerm[] {
  return totalOrder(sort, primaryKey).map((term) => {
    const { attribute, nulls } = term;
    if (nulls !== undefined && !NULL_PLACES.includes(nulls))
      throw new TypeError(
        `The order by '${attribute}' has nulls: ${showValue(nulls)}; use 'first' or 'last'.`,
      );
    const { nullable = true, found } = attributes.get(attribute) ?? {};
    const isKey = primaryKey.some(({ name }) => name === attribute);
    // The column may have rows without a value where the model allows none.
    return { ...term, nullable: nullable || (!isKey && found?.notNull === false) };
  });
}

/** The rows after a place, as ranges in their order. None when nothing can follow. */
export function rangesAfter(
  terms: readonly KeyTerm[],
  { values, isInclusive }: KeysetValues,
  column: ColumnSql,
): SqlFragment[] {
  const start = rowComparisonStart(terms, values);
  const ranges: SqlFragment[] = [];
  const tail = terms.slice(start);
  if (tail.length > 0) {
    const prefix = equalPrefix(terms, values, start, column);
    ranges.push(allOf([...prefix, compareRows(tail, values.slice(start), isInclusive, column)]));
    ranges.push(...nullRange(tail[0] as KeyTerm, column).map((range) => allOf([...prefix, range])));
  } else if (isInclusive) ranges.push(allOf(equalPrefix(terms, values, terms.length, column)));
  for (let level = start - 1; level >= 0; level -= 1) {
    const prefix = equalPrefix(terms, values, level, column);
    const strictly = strictlyAfter(terms[level] as KeyTerm, values[level] ?? null, column);
    ranges.push(...strictly.map((range) => allOf([...prefix, range])));
  }
  return ranges;
}

/** True in SQL for the row that a place was made from: the order is total, so no other has the same values. */
export function rowAt(terms: readonly KeyTerm[], { values }: KeysetValues, column: ColumnSql): SqlFragment {
  return allOf(equalPrefix(terms, values, terms.length, column));
}

/**
 * The first column from which the rest is one row comparison, `(a, b) > (x, y)`. An index answers that as one exact range. The
 * columns need the same direction, one table, and no NULL in the place. Only the first of them can be null.
 */
function rowComparisonStart(terms: readonly KeyTerm[], values: KeysetValues['values']): number {
  let start = terms.length;
  while (start > 0) {
    const term = terms[start - 1] as KeyTerm;
    const next = terms[start];
    if (values[start - 1] === null) break;
    if (next && (next.nullable || next.descending !== term.descending || next.source !== term.source)) break;
    start -= 1;
  }
  return start;
}

function compareRows(
  terms: readonly KeyTerm[],
  values: KeysetValues['values'],
  isInclusive: boolean,
  column: ColumnSql,
): SqlFragment {
  const columns = joinSql(
    terms.map((term) => keySql(term, column)),
    ', ',
  );
  const places = joinSql(
    values.map((value) => sql`${value ?? ''}`),
    ', ',
  );
  const left = terms.length === 1 ? columns : sql`(${columns})`;
  const right = terms.length === 1 ? places : sql`(${places})`;
  if (terms[0]?.descending) return isInclusive ? sql`${left} <= ${right}` : sql`${left} < ${right}`;
  return isInclusive ? sql`${left} >= ${right}` : sql`${left} > ${right}`;
}

/** NULLs, where they follow all values. */
function nullRange(term: KeyTerm, column: ColumnSql): SqlFragment[] {
  return term.nullable && !areNullsFirst(term) ? [sql`${keySql(term, column)} IS NULL`] : [];
}

function strictlyAfter(term: KeyTerm, value: Value | null, column: ColumnSql): SqlFragment[] {
  const key = keySql(term, column);
  if (value === null) return areNullsFirst(term) ? [sql`${key} IS NOT NULL`] : [];
  const beyond = term.descending ? sql`${key} < ${value}` : sql`${key} > ${value}`;
  return [beyond, ...nullRange(term, column)];
}

function equalPrefix(
  terms: readonly KeyTerm[],
  values: KeysetValues['values'],
  length: number,
  column: ColumnSql,
): SqlFragment[] {
  return terms.slice(0, length).map((term, index) => {
    const value = values[index] ?? null;
    const key = keySql(term, column);
    return value === null ? sql`${key} IS NULL` : sql`${key} = ${value}`;
  });
}

function allOf(conditions: readonly SqlFragment[]): SqlFragment {
  return joinSql(conditions, ' AND ');
}

/** The same order walked the other way. NULLs change sides with it. */
export function reversed<T extends SortTerm>(terms: readonly T[]): T[] {
  return terms.map(({ descending, nulls, ...term }) => {
    const others = nulls === undefined ? {} : { nulls: nulls === 'first' ? 'last' : 'first' };
    return { ...term, descending: !descending, ...others } as unknown as T; // the members of T, with other values
  });
}
