/** `sortAllow` and `defaultSort` of a resource -> the keys that its rows are sorted by. */
import { NULL_PLACES, type NullPlace } from '../declare/sort-options.js';
import { typeWord } from '../describe/column-type.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { showValue, unknownOptions } from '../util/option-problems.js';
import { type OptionCheck, visibleAttribute } from './compile-options.js';
import { isComparable } from './filter-operators.js';
import type { ResourcePlan, SortKey, SortTerm } from './resource-plan.js';

/** The most names an order may have. */
export const MAX_SORT_TERMS = 5;

/** Options that an entry of `sortAllow` may have. */
const SORT_OPTIONS = ['nulls'];

/** Compiles both options. */
export function compileSort(check: OptionCheck): Pick<ResourcePlan, 'sortable' | 'sortKeys' | 'defaultSort'> {
  const sortKeys = new Map<string, readonly SortKey[]>();
  const sortable = sortEntries(check).filter(([name, wanted]) => {
    const attribute = sortableAttribute(check, 'sortAllow', name);
    if (!attribute) return false;
    if (!isSpelled(name))
      check.report(`sortAllow names '${name}', which sort cannot spell; rename it, or remove it.`);
    const key = compileKey(check, attribute, wanted);
    if (key.nulls) sortKeys.set(name, Object.freeze([key]));
    return true;
  });
  const names = Object.freeze([...new Set(sortable.map(([name]) => name))]);
  return { sortable: names, sortKeys, defaultSort: compileDefaultSort(check, sortKeys) };
}

/** Entries of `sortAllow`, written as a list or as an object. */
function sortEntries({ info, exposure, options }: OptionCheck): (readonly [name: string, wanted: unknown])[] {
  const { sortAllow } = options;
  // An index of several columns serves an order by the first of them.
  const byDefault = info.primaryKey
    .slice(0, 1)
    .filter(({ name, type }) => !exposure.unreadable.has(name) && isComparable(type) && isSpelled(name));
  if (sortAllow && typeof sortAllow === 'object' && !Array.isArray(sortAllow))
    return Object.entries(sortAllow);
  const names = (sortAllow ?? byDefault.map(({ name }) => name)) as readonly unknown[];
  return names.map((name) => [String(name), true]);
}

function compileKey({ report }: OptionCheck, attribute: AttributeInfo, wanted: unknown): SortKey {
  const { name, nullable } = attribute;
  const option = `sortAllow.${name}`;
  if (wanted === true) return { attribute: name };
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) {
    report(`${option} is ${showValue(wanted)}; use true, or an object such as { nulls: 'last' }.`);
    return { attribute: name };
  }
  unknownOptions(option, wanted, SORT_OPTIONS).forEach(report);
  const { nulls } = wanted as { readonly nulls?: NullPlace };
  if (nulls !== undefined && !NULL_PLACES.includes(nulls))
    report(`${option}.nulls is ${showValue(nulls)}; use 'first' or 'last'.`);
  // An index of a column without NULLs serves no order that names their place.
  return Object.freeze({ attribute: name, ...(nullable && nulls ? { nulls } : {}) });
}

/** True where `sort` parses a name unchanged: signs before it and blanks around it are no part of a name there. */
export function isSpelled(name: string): boolean {
  return parseSortName(name.trim()).name === name;
}

/** The order of a list that names none: total, because the primary key is appended when absent. */
function compileDefaultSort(check: OptionCheck, sortKeys: ResourcePlan['sortKeys']): readonly SortTerm[] {
  const { info, options, report } = check;
  const { primaryKey } = info;
  if (options.defaultSort === undefined) return totalOrder([], primaryKey);
  const named = new Set<string>();
  const terms = String(options.defaultSort)
    .split(',')
    .flatMap((item) => {
      const { name, descending } = parseSortName(item.trim());
      if (!sortableAttribute(check, 'defaultSort', name)) return [];
      if (named.has(name)) report(`defaultSort names '${name}' twice; name it once.`);
      named.add(name);
      return termsOf({ sortKeys }, name, descending);
    });
  if (named.size > MAX_SORT_TERMS) {
    report(`defaultSort names ${named.size} attributes; at most ${MAX_SORT_TERMS} are allowed.`);
  }
  return totalOrder(terms, primaryKey);
}

/** `-name` is descending; `name` and `+name` are ascending. */
export function parseSortName(item: string): { readonly name: string; readonly descending: boolean } {
  return { name: item.replace(/^[-+]/, ''), descending: item.startsWith('-') };
}

/** The terms of an order by a name. */
export function termsOf(
  { sortKeys }: Pick<ResourcePlan, 'sortKeys'>,
  name: string,
  descending: boolean,
): readonly SortTerm[] {
  const keys: readonly SortKey[] = sortKeys.get(name) ?? [{ attribute: name }];
  return keys.map(({ attribute, ...others }) => Object.freeze({ attribute, descending, ...others }));
}

/** Appends what is missing of the primary key, in the direction of the last term, so that no two rows compare equal. */
export function totalOrder(
  terms: readonly SortTerm[],
  primaryKey: readonly Pick<AttributeInfo, 'name'>[],
): readonly SortTerm[] {
  const descending = terms.at(-1)?.descending ?? false;
  const missing = primaryKey.filter(({ name }) => !terms.some(({ attribute }) => attribute === name));
  const appended = missing.map(({ name }) => Object.freeze({ attribute: name, descending }));
  return Object.freeze([...terms, ...appended]);
}

/** The same for two orders only if they are one. */
export function orderShape(order: readonly SortTerm[]): string {
  let shape = '';
  for (const { attribute, descending, nulls } of order) {
    shape += `${descending ? '-' : '+'}${attribute}\0`;
    if (nulls) shape += `${nulls}\0`;
  }
  return shape;
}

/** Direction of an order, and of a key of an index. */
export interface Direction {
  readonly descending: boolean;
  readonly nulls?: NullPlace | undefined;
}

/** True where rows without a value come first: by default NULL is the largest value, as PostgreSQL has it. */
export function areNullsFirst({ descending, nulls }: Direction): boolean {
  return nulls === undefined ? descending : nulls === 'first';
}

function sortableAttribute(check: OptionCheck, option: string, name: string): AttributeInfo | undefined {
  const attribute = visibleAttribute(check, option, name);
  if (!attribute || isComparable(attribute.type)) return attribute;
  check.report(
    `${option} names '${name}', of type ${typeWord(attribute.type)}, which has no order; remove it.`,
  );
  return undefined;
}
