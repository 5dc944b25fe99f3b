/** Indexes of a table, and the orders that they serve. */

import { areNullsFirst, isOfAttribute } from '../../compile/compile-sort.js';
import type { SortKey, SortTerm } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import type { NullPlace } from '../../declare/sort-options.js';
import type { ModelInfo, RecordInfo } from '../../describe/model-info.js';
import { bareColumnsOf } from './predicate-sql.js';
import { directionSql, keySql } from './sort-sql.js';
import { identifier } from './sql-fragment.js';

/** One key column of an index. */
export interface IndexKey {
  readonly column: string;
  readonly descending: boolean;
  /** Default: as orders have it. */
  readonly nulls?: NullPlace | undefined;
}

/** An index, as far as its use is concerned. */
export interface IndexInfo {
  readonly method: string;
  readonly keys: readonly IndexKey[];
}

const known = new WeakMap<ModelClass, readonly IndexInfo[]>();

/** Remembers the indexes that a table was seen to have, if it was seen. */
export function setIndexes(model: ModelClass, indexes: readonly IndexInfo[] | undefined): void {
  if (indexes) known.set(model, indexes);
}

/** The indexes of a table; undefined until the catalogue was read. */
export function indexesOf(model: ModelClass): readonly IndexInfo[] | undefined {
  return known.get(model);
}

/**
 * True where an index returns the rows with one value in each of some columns in an order, and reads no others. That is a
 * B-tree whose first keys are these columns, and its next keys are the terms, read forward or backward. Behind a unique
 * prefix the rest is sorted.
 */
export function servesOrder(
  info: ModelInfo,
  { method, keys }: IndexInfo,
  equal: readonly string[],
  terms: readonly SortTerm[],
): boolean {
  if (method !== 'btree' || !startsWith(info, keys, equal)) return false;
  const wanted = neededTerms(info, equal, terms);
  const matches = (reverse: boolean): boolean =>
    wanted.every((term, position) => {
      const found = keys[equal.length + position];
      return (
        found?.column === indexedAs(info, term) &&
        found.descending === (term.descending !== reverse) &&
        areNullsFirst(found) === (areNullsFirst(term) !== reverse)
      );
    });
  return matches(false) || matches(true);
}

/** The terms that an index has to have: terms behind the whole key, and a part of the key at the end, need no index. */
function neededTerms(
  { primaryKey }: ModelInfo,
  equal: readonly string[],
  terms: readonly SortTerm[],
): readonly SortTerm[] {
  const key = primaryKey.map(({ name }) => name).filter((name) => !equal.includes(name));
  const wanted = terms.filter((term) => !equal.some((name) => isOfAttribute(term, name)));
  const others = wanted.findLastIndex((term) => !key.some((name) => isOfAttribute(term, name)));
  if (others >= 0) return wanted.slice(0, others + 1);
  return wanted.length > 0 ? wanted : key.map((attribute) => ({ attribute, descending: false }));
}

/** True where the first keys are these attributes, in any order. */
export function startsWith(
  info: RecordInfo,
  keys: readonly IndexKey[],
  attributes: readonly string[],
): boolean {
  const first = keys.slice(0, attributes.length).map(({ column }) => column);
  return attributes.every((name) => first.includes(columnOf(info, name)));
}

/** The column of an attribute. */
export function columnOf({ attributes }: RecordInfo, attribute: string): string {
  return attributes.get(attribute)?.column ?? attribute;
}

/** Name of a term among the keys of an index: its column, or its expression. */
export function indexedAs(info: RecordInfo, term: SortKey): string {
  return term.value ? expressionKey(expressionOf(info, term)) : columnOf(info, term.attribute);
}

/** An expression without the parts that PostgreSQL adds when it writes it. */
export function expressionKey(text: string): string {
  return `(${text.replaceAll(/[\s"()]|::text/g, '')})`;
}

function expressionOf(info: RecordInfo, term: SortKey): string {
  return keySql(term, bareColumnsOf(info)).texts.join('');
}

/** The columns of an index, as `CREATE INDEX` has them. */
export function indexColumns(info: RecordInfo, terms: readonly SortTerm[]): string {
  const keys = terms.map((term) => {
    const { attribute, value } = term;
    return `${value ? `(${expressionOf(info, term)})` : identifier(columnOf(info, attribute))}${directionSql(term)}`;
  });
  return keys.join(', ');
}
