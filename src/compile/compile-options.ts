/** Checks of the single options of `@Crud`, each returning a value and adding to a list of problems. */
import {
  BULK_ENDPOINTS,
  type BulkEndpoint,
  type CrudOptions,
  ENDPOINTS,
  type Endpoint,
  OPERATIONS,
  type Operation,
} from '../declare/crud-options.js';
import type { AttributeInfo, ModelInfo, RecordInfo } from '../describe/model-info.js';
import { isLeftOut } from '../describe/sequelize-internals.js';
import { didYouMean, showValue } from '../util/option-problems.js';
import { isComparable } from './filter-operators.js';
import type { Exposure, PageSize, SortTerm } from './resource-plan.js';

const DEFAULT_PAGE_SIZE: PageSize = Object.freeze({ default: 20, max: 100 });
/** The most columns an order may name. */
export const MAX_SORT_TERMS = 5;

/** Input of the checks of one model's options, and the report that they write to. */
export interface OptionCheck {
  readonly info: ModelInfo;
  readonly exposure: Exposure;
  readonly options: CrudOptions;
  report(problem: string): void;
}

/** Compiles an option of `@Crud` that a feature declares, where it is given. */
export type ResourceOptionCompiler = (value: unknown, check: OptionCheck) => unknown;

/** The same for attributes, those of models behind relations, too. */
export interface AttributeCheck extends Pick<OptionCheck, 'info' | 'exposure' | 'report'> {
  /** The model that has the option. Default: that of the attribute. */
  readonly owner?: string;
  /** Prefix of the attribute's name, such as `country.`. Default: nothing. */
  readonly prefix?: string;
}

/** Segments of letters, digits and `-._~`: what needs no encoding and means nothing to a router (RFC 3986, 2.3). */
const PREFIX = /^(?:\/[A-Za-z0-9\-._~]+)+$/;

/** `BlogPosts` -> `blog-posts`, `HTTPRequests` -> `http-requests`. */
export function kebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .replace(/[_\s]+/g, '-')
    .toLowerCase();
}

/** The prefix as given, or the kebab-case plural of the model's name. A trailing slash is dropped. */
export function compilePrefix({ info, options, report }: OptionCheck): string {
  const given = options.prefix ?? `/${kebabCase(info.pluralName)}`;
  const prefix = String(given).replace(/\/$/, '');
  if (prefix !== '' && !PREFIX.test(prefix)) {
    report(
      `${info.name}: prefix ${showValue(given)} is not a plain path; ` +
        "use '/segments' of letters, digits, '-', '.', '_' and '~'.",
    );
  }
  return prefix;
}

const ALL_ENDPOINTS: readonly string[] = [...ENDPOINTS, ...BULK_ENDPOINTS];

/** The operations on one record, or a page of them, that get a route. */
export function compileEndpoints({ info, options, report }: OptionCheck): ReadonlySet<Endpoint> {
  const endpoints = new Set<Endpoint>();
  for (const name of options.endpoints ?? OPERATIONS) {
    if (!ALL_ENDPOINTS.includes(name)) {
      report(
        `${info.name}: endpoints has ${showValue(name)}; use ${ALL_ENDPOINTS.map((known) => `'${known}'`).join(', ')}.` +
          didYouMean(typeof name === 'string' ? name : '', ALL_ENDPOINTS),
      );
    } else if ((name === 'restore' || name === 'purge') && !info.paranoid) {
      report(
        `${info.name}: endpoints has '${name}', and a delete removes the rows; make the model paranoid, or leave it out.`,
      );
    } else if (!isBulk(name)) endpoints.add(name);
  }
  return endpoints;
}

/** True where an endpoint writes many records at once. */
export function isBulk(name: Operation): name is BulkEndpoint {
  return (BULK_ENDPOINTS as readonly Operation[]).includes(name);
}

/** Rows per page; a given maximum below 20 lowers the default too. */
export function compilePageSize({ info, options, report }: OptionCheck): PageSize {
  const { default: size, max, ...others } = options.pageSize ?? {};
  for (const name of Object.keys(others)) {
    report(`${info.name}: pageSize has no '${name}'; use default and max.`);
  }
  for (const [name, value] of Object.entries({ default: size, max })) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    report(`${info.name}: pageSize.${name} is ${showValue(value)}; use an integer from 1.`);
    return DEFAULT_PAGE_SIZE;
  }
  const highest = max ?? DEFAULT_PAGE_SIZE.max;
  const usual = size ?? Math.min(DEFAULT_PAGE_SIZE.default, highest);
  if (usual > highest) {
    report(
      `${info.name}: pageSize.default is ${usual}, above pageSize.max ${highest}; ` +
        `raise it: pageSize: { default: ${usual}, max: ${usual} }.`,
    );
  }
  return Object.freeze({ default: usual, max: highest });
}

/** The attributes a client may sort by. */
export function compileSortable(check: OptionCheck): readonly string[] {
  const { info, exposure, options } = check;
  const { name: key, type } = info.primaryKey;
  const byDefault = exposure.unreadable.has(key) || !isComparable(type) || !isSpelled(key) ? [] : [key];
  const allow = options.sortAllow ?? byDefault;
  return Object.freeze(
    [...new Set(allow.map(String))].filter((name) => {
      const attribute = sortableAttribute(check, 'sortAllow', name);
      if (attribute && !isSpelled(name)) {
        check.report(
          `${info.name}: sortAllow names '${name}', which sort cannot spell; rename it, or remove it.`,
        );
      }
      return attribute;
    }),
  );
}

/** True where `sort` parses a name unchanged: signs before it and blanks around it are no part of a name there. */
function isSpelled(name: string): boolean {
  return parseSortTerm(name.trim()).attribute === name;
}

/** The order of a list that names none: total, because the primary key is appended when absent. */
export function compileDefaultSort(check: OptionCheck): readonly SortTerm[] {
  const { info, options, report } = check;
  const key = info.primaryKey.name;
  if (options.defaultSort === undefined) return totalOrder([], key);
  const terms: SortTerm[] = [];
  for (const item of String(options.defaultSort).split(',')) {
    const term = parseSortTerm(item.trim());
    if (!sortableAttribute(check, 'defaultSort', term.attribute)) continue;
    if (terms.some(({ attribute }) => attribute === term.attribute)) {
      report(`${info.name}: defaultSort names '${term.attribute}' twice; name it once.`);
    }
    terms.push(term);
  }
  if (terms.length > MAX_SORT_TERMS) {
    report(
      `${info.name}: defaultSort names ${terms.length} attributes; at most ${MAX_SORT_TERMS} are allowed.`,
    );
  }
  return totalOrder(terms, key);
}

/** `-name` is descending; `name` and `+name` are ascending. */
export function parseSortTerm(item: string): SortTerm {
  const descending = item.startsWith('-');
  return Object.freeze({ attribute: item.replace(/^[-+]/, ''), descending });
}

/** Appends the primary key, in the direction of the last term, so that no two rows compare equal. */
export function totalOrder(terms: readonly SortTerm[], primaryKey: string): readonly SortTerm[] {
  if (terms.some(({ attribute }) => attribute === primaryKey)) return Object.freeze([...terms]);
  const descending = terms.at(-1)?.descending ?? false;
  return Object.freeze([...terms, Object.freeze({ attribute: primaryKey, descending })]);
}

function sortableAttribute(check: OptionCheck, option: string, name: string): AttributeInfo | undefined {
  const attribute = visibleAttribute(check, option, name);
  if (!attribute || isComparable(attribute.type)) return attribute;
  check.report(
    `${check.info.name}: ${option} names '${name}', of type ${attribute.type.kind}, which has no order; remove it.`,
  );
  return undefined;
}

/** The mechanism that keeps an attribute out of answers. */
export function hiddenBy({ model }: RecordInfo, name: string): string {
  return isLeftOut(model, name) ? 'the default scope' : '@Exclude()';
}

/** Filtering or sorting by a hidden attribute would tell its values, one comparison at a time. */
export function visibleAttribute(
  { info, exposure, report, owner = info.name, prefix = '' }: AttributeCheck,
  option: string,
  name: string,
  others: readonly string[] = [],
): AttributeInfo | undefined {
  const attribute = info.attributes.get(name);
  if (!attribute) {
    const readable = [...info.attributes.keys()].filter((known) => !exposure.unreadable.has(known));
    report(
      `${owner}: ${option} names '${prefix}${name}', which is not an attribute${prefix && ` of ${info.name}`}.` +
        `${didYouMean(name, [...readable, ...others])} The attributes are ${readable.join(', ')}.`,
    );
    return undefined;
  }
  if (exposure.unreadable.has(name)) {
    report(
      `${owner}: ${option} names '${prefix}${name}', which ${hiddenBy(info, name)} hides from answers; ` +
        'remove it, or its values can be guessed by comparing.',
    );
    return undefined;
  }
  return attribute;
}
