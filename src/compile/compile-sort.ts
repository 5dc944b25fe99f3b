/** `sortAllow` and `defaultSort` of a resource -> the keys that its rows are sorted by. */
import type { CrudOptions } from '../declare/crud-options.js';
import { NULL_PLACES, type NullPlace, type SortOptions } from '../declare/sort-options.js';
import { isJsonb, typeWord } from '../describe/column-type.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { flagProblems, showValue, unknownOptions } from '../util/option-problems.js';
import { isRelated } from './compile-filters.js';
import { type OptionCheck, visibleAttribute } from './compile-options.js';
import { isComparable } from './filter-operators.js';
import type { RelatedPlan, ResourcePlan, SortKey, SortTerm, SortValue } from './resource-plan.js';

/** The most names an order may have. */
export const MAX_SORT_TERMS = 5;

/**
 * Compiles both options, without the keys of names behind relations, which are compiled when all resources are.
 *
 * @param isServed false where no relations of the model are compiled
 */
export function compileSort(
  check: OptionCheck,
  isServed: boolean,
): Pick<ResourcePlan, 'sortable' | 'sortKeys' | 'defaultSort'> {
  const sortKeys = new Map<string, readonly SortKey[]>();
  const sortable = allowedNames(check).filter(([name, wanted]) => {
    if (isRelatedName(check, name)) return isServed;
    const keys = compileKeys(check, name, wanted);
    if (keys === null) return false;
    if (!isSpelled(name))
      check.report(`sortAllow names '${name}', which sort cannot spell; rename it, or remove it.`);
    if (keys.some(({ nulls, value }) => nulls || value)) sortKeys.set(name, Object.freeze(keys));
    return true;
  });
  const names = Object.freeze([...new Set(sortable.map(([name]) => name))]);
  return { sortable: names, sortKeys, defaultSort: compileDefaultSort(check, sortKeys) };
}

/** Entries of `sortAllow`, written as a list or as an object; `'*'` has none by name. */
export function sortEntries(allow: CrudOptions['sortAllow']): (readonly [name: string, wanted: unknown])[] {
  if (typeof allow !== 'object' || allow === null) return [];
  return Array.isArray(allow) ? allow.map((name) => [String(name), true]) : Object.entries(allow);
}

/** True for a name of an attribute behind a relation. */
export function isRelatedName(of: Pick<OptionCheck, 'info'>, name: string): boolean {
  return name.includes('.') && isRelated(of, name);
}

/** The same with the default. */
function allowedNames({
  info,
  exposure,
  options,
}: OptionCheck): (readonly [name: string, wanted: unknown])[] {
  const { sortAllow } = options;
  // An index of several columns serves an order by the first of them.
  const byDefault = info.primaryKey
    .slice(0, 1)
    .filter(({ name, type }) => !exposure.unreadable.has(name) && isComparable(type) && isSpelled(name));
  return sortEntries(sortAllow ?? byDefault.map(({ name }) => name as never));
}

/** The keys of a name; null where there is no such order, which is reported. */
function compileKeys(check: OptionCheck, name: string, wanted: unknown): readonly SortKey[] | null {
  const [first = '', ...rest] = name.split('.');
  const { attributes } = check.info;
  if (rest.length > 0 && !attributes.has(name) && attributes.has(first))
    return jsonKeys(check, first, name, wanted);
  const attribute = sortableAttribute(check, 'sortAllow', name);
  if (!attribute) return null;
  const { nulls, ignoreCase } = sortOptionsOf(
    check.report,
    name,
    wanted,
    ['nulls', 'ignoreCase'],
    "{ nulls: 'last' }",
  );
  if (ignoreCase !== undefined)
    for (const problem of flagProblems(`sortAllow.${name}.ignoreCase`, ignoreCase)) check.report(problem);
  const isText = attribute.type.kind === 'string';
  if (ignoreCase === true && !isText)
    check.report(`sortAllow.${name} has ignoreCase, and '${name}' is no text; remove it.`);
  const place = placeOf(nulls);
  if (ignoreCase !== true) return [Object.freeze({ attribute: name, ...place })];
  return [Object.freeze({ attribute: name, ...place, value: LOWER }), Object.freeze({ attribute: name })];
}

const LOWER = Object.freeze({ kind: 'lower' } as const);

/** A value inside of an attribute. */
function jsonKeys(
  check: OptionCheck,
  attribute: string,
  name: string,
  wanted: unknown,
): readonly SortKey[] | null {
  if (!visibleAttribute(check, 'sortAllow', attribute)) return null;
  const dataType = check.info.model.getAttributes()[attribute]?.type;
  if (!dataType || !isJsonb(dataType)) {
    check.report(
      `sortAllow names '${name}', and ${attribute} is no column of JSONB, which has values inside; remove it.`,
    );
    return null;
  }
  const { nulls, json } = sortOptionsOf(check.report, name, wanted, ['json', 'nulls'], "{ json: ['city'] }");
  const isPath = Array.isArray(json) && json.length > 0 && json.every(isJsonKey);
  if (!isPath) {
    check.report(
      `sortAllow.${name} has json: ${showValue(json)}; use the keys that lead to the value, such as { json: ['city'] }.`,
    );
    return null;
  }
  const value = Object.freeze({ kind: 'json', attribute, path: Object.freeze([...json]) } as const);
  return [Object.freeze({ attribute: name, ...placeOf(nulls), value })];
}

/** A key of JSONB: no text of PostgreSQL has a NUL. */
function isJsonKey(key: unknown): boolean {
  return typeof key === 'string' && key !== '' && !key.includes('\0');
}

/** The member of a key. */
export function placeOf(nulls: NullPlace | undefined): Pick<SortKey, 'nulls'> {
  return nulls ? { nulls } : {};
}

/** Options of an entry as they may be in JavaScript; all that a type would refuse is reported. */
export function sortOptionsOf(
  report: OptionCheck['report'],
  name: string,
  wanted: unknown,
  known: readonly string[],
  example: string,
): { readonly nulls?: NullPlace; readonly ignoreCase?: unknown; readonly json?: unknown } {
  const option = `sortAllow.${name}`;
  if (wanted === true) return {};
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) {
    report(`${option} is ${showValue(wanted)}; use true, or an object such as ${example}.`);
    return {};
  }
  unknownOptions(option, wanted, known).forEach(report);
  const { nulls } = wanted as SortOptions;
  if (nulls !== undefined && !NULL_PLACES.includes(nulls))
    report(`${option}.nulls is ${showValue(nulls)}; use 'first' or 'last'.`);
  return wanted;
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
      if (isRelatedName(check, name)) {
        report(
          `defaultSort names '${name}', which is in another table, so that no index serves it; have clients send sort=${item.trim()}.`,
        );
        return [];
      }
      if (!sortKeys.has(name) && !sortableAttribute(check, 'defaultSort', name)) return [];
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

/** Appends the missing parts of the primary key, in the direction of the last term, so that no two rows compare equal. */
export function totalOrder(
  terms: readonly SortTerm[],
  primaryKey: readonly Pick<AttributeInfo, 'name'>[],
): readonly SortTerm[] {
  const descending = terms.at(-1)?.descending ?? false;
  const missing = primaryKey.filter(({ name }) => !terms.some((term) => isOfAttribute(term, name)));
  const appended = missing.map(({ name }) => Object.freeze({ attribute: name, descending }));
  return Object.freeze([...terms, ...appended]);
}

/** True for a term by an attribute itself, and not by another value that is made of it. */
export function isOfAttribute({ attribute, value }: SortKey, name: string): boolean {
  return attribute === name && value === undefined;
}

/** The attribute that a request has to read for an order by a key. */
export function sortedAttribute({ attribute, value }: SortKey): string {
  if (value?.kind === 'related') return value.related.relation.parentKey;
  return value?.kind === 'json' ? value.attribute : attribute;
}

/** True where rows are sorted by others behind relations. */
export function followsRelation(order: readonly SortTerm[]): boolean {
  return order.some(({ value }) => value?.kind === 'related');
}

/** The relations that an order follows. @param names of a text of `sort`. Default: all names */
export function sortRelations(
  { sortKeys }: Pick<ResourcePlan, 'sortKeys'>,
  names: readonly string[] = [...sortKeys.keys()],
): readonly RelatedPlan[] {
  const keys = names.flatMap((item) => sortKeys.get(parseSortName(item.trim()).name) ?? []);
  return [...new Set(keys.flatMap(({ value }) => (value?.kind === 'related' ? value.related : [])))];
}

/** The value of a key as plain data. A relation is its name. */
export function valueShape(value: SortValue): unknown {
  // Its text is in the shape of the lifted order.
  if (value.kind === 'rank') return [value.kind, value.among];
  if (value.kind !== 'related') return value;
  const { attribute, nulls = null, value: inner } = value.key;
  return [value.related.relation.name, attribute, nulls, inner ? valueShape(inner) : null];
}

/** An order as a request writes it. One by two values of an attribute has its name once. */
export function orderNames(order: readonly SortTerm[]): string {
  return [...new Set(order.map(({ attribute, descending }) => `${descending ? '-' : ''}${attribute}`))].join(
    ',',
  );
}

/** The same for two orders only if they are one. */
export function orderShape(order: readonly SortTerm[]): string {
  let shape = '';
  for (const { attribute, descending, nulls, value } of order) {
    shape += `${descending ? '-' : '+'}${attribute}\0`;
    if (nulls) shape += `${nulls}\0`;
    if (value) shape += `${JSON.stringify(valueShape(value))}\0`;
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
