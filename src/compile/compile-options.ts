/** The single options of `@Crud`: each check returns a value, and reports problems. */

import {
  BULK_ENDPOINTS,
  type CrudOptions,
  ENDPOINTS,
  OPERATIONS,
  type Operation,
} from '../declare/crud-options.js';
import {
  isWrite,
  OPTION_ROUTE_NAMES,
  PAST_ENDPOINTS,
  type RuledWork,
  SWITCHED_ROUTES,
} from '../declare/endpoint.js';
import { namedForm } from '../declare/named-types.js';
import { isLeftOut } from '../describe/hooks-and-scopes-internals.js';
import type { AttributeInfo, ModelInfo, RecordInfo } from '../describe/model-info.js';
import { relationNames } from '../describe/relations.js';
import { didYouMean, showValue, unknownOptions } from '../util/option-problems.js';
import type { Exposure, PageSize, ResourcePlan } from './resource-plan.js';

/** Records of a page, where no option has other sizes. */
export const DEFAULT_PAGE_SIZE: PageSize = Object.freeze({ default: 20, max: 100 });

/** Input of the checks of one model's options, and the report that they write to. */
export interface OptionCheck {
  readonly info: ModelInfo;
  readonly exposure: Exposure;
  /** Attributes that no answer shows. */
  readonly hidden: ReadonlySet<string>;
  readonly options: CrudOptions;
  /** Reports a problem, as the sentence behind the name of the model. */
  report(problem: string): void;
}

/** Compiles an option of `@Crud` that a feature declares, where it is set. */
export type ResourceOptionCompiler = (value: unknown, check: OptionCheck) => unknown;

/** The same for attributes, those of models behind relations, too. */
export interface AttributeCheck extends Pick<OptionCheck, 'info' | 'exposure' | 'report'> {
  /** Prefix of the attribute's name, such as `country.`. Default: nothing. */
  readonly prefix?: string;
}

/** Segments of letters, digits and `-._~`, which need no encoding and mean nothing to a router (RFC 3986, 2.3). */
const PREFIX = /^(?:\/[A-Za-z0-9\-._~]+)+$/;

/** `BlogPosts` -> `blog-posts`, `HTTPRequests` -> `http-requests`. */
export function kebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .replace(/[_\s]+/g, '-')
    .toLowerCase();
}

/** The prefix of the options, or the kebab-case plural of the model's name. A trailing slash is dropped. */
export function compilePrefix({ info, options, report }: OptionCheck): string {
  const given = options.prefix ?? `/${kebabCase(info.pluralName)}`;
  const prefix = String(given).replace(/\/$/, '');
  if (prefix !== '' && !PREFIX.test(prefix)) {
    report(
      `prefix ${showValue(given)} is not a plain path; ` +
        "use '/segments' of letters, digits, '-', '.', '_' and '~'.",
    );
  }
  return prefix;
}

const ALL_ENDPOINTS: readonly string[] = [...ENDPOINTS, ...BULK_ENDPOINTS, ...PAST_ENDPOINTS];
/** Names that `endpoints` may have. */
const NAMES: readonly string[] = [...ALL_ENDPOINTS, ...SWITCHED_ROUTES];

/** The endpoints that `readOnly: true` leaves. */
const READS: readonly Operation[] = ['list', 'read'];

/** The endpoints that get a route. */
export function compileEndpoints({ options, report }: OptionCheck): ReadonlySet<Operation> {
  const endpoints = new Set<Operation>();
  const isReadOnly = options.readOnly === true;
  const named = options.endpoints as Iterable<Operation> | undefined;
  for (const name of named ?? (isReadOnly ? READS : OPERATIONS)) {
    if (!ALL_ENDPOINTS.includes(name)) {
      report(
        `endpoints has ${showValue(name)}; use ${NAMES.map((known) => `'${known}'`).join(', ')}.` +
          didYouMean(typeof name === 'string' ? name : '', NAMES),
      );
    } else if (isReadOnly && isWrite(name as RuledWork))
      report(`readOnly is true, and endpoints has '${name}', which writes; remove one of the two.`);
    else endpoints.add(name);
  }
  for (const name of OPTION_ROUTE_NAMES)
    if (isReadOnly && isWrite(name) && options[name])
      report(`readOnly is true, and ${name} writes; remove one of the two.`);
  return endpoints;
}

/** Checks options that are facts of the table: `only`, and the attributes that `readOnly` leaves to it. */
export function checkTableOptions(
  check: OptionCheck,
  { endpoints, access }: Pick<ResourcePlan, 'endpoints' | 'access'>,
): void {
  const { info, options, report } = check;
  const { readOnly } = options;
  const creates = ['create', 'createMany', 'replace'].some((each) => endpoints.has(each as Operation));
  const names: readonly string[] = typeof readOnly === 'object' ? [...new Set(readOnly.map(String))] : [];
  for (const name of names) {
    const attribute = knownAttribute(check, 'readOnly', name);
    if (!attribute) continue;
    const { create = null, update = null } = access?.fields.get(name) ?? {};
    if (attribute.role === 'version' && attribute.isReadOnly)
      report(`readOnly names '${name}', which counts changes for etag; leave it out, as no body may set it.`);
    else if (attribute.role === 'timestamp' || attribute.role === 'version')
      report(
        `readOnly names '${name}', which Sequelize writes; leave it out, as no body may set it, or turn it off in @Table (such as ` +
          `updatedAt: false) and declare the attribute with @Column, so that only the table writes it.`,
      );
    else if (creates && access?.scope.has(name))
      report(`readOnly names '${name}', which scope sets in new records; remove one of the two.`);
    else if (create !== null || update !== null)
      report(`readOnly names '${name}', and fields has a rule for writing it; remove one of the two.`);
  }
  if ((options.only ?? false) !== (info.leavesHeirs ?? false))
    report(
      'only is another one than in @Crud of the model, and is a fact of its table; write it there alone.',
    );
  const known = [...info.attributes.values()].filter(
    ({ isReadOnly, role }) => isReadOnly && role !== 'version',
  );
  const isSame = names.every((name) => info.attributes.get(name)?.isReadOnly || !info.attributes.has(name));
  if (isSame && (readOnly === true || known.every(({ name }) => names.includes(name)))) return;
  report(
    `readOnly is another one than in @Crud of the model, and is a fact of its table; write it there alone.`,
  );
}

/** Rows per page. A maximum below 20 lowers the default too. */
export function compilePageSize({ options, report }: OptionCheck): PageSize {
  return compileSize('pageSize', options.pageSize, DEFAULT_PAGE_SIZE, report);
}

/** Compiles an option of the items of a page. @param ceiling the largest page that an application may have */
export function compileSize(
  option: string,
  given: Partial<PageSize> | null | undefined,
  absent: PageSize,
  report: OptionCheck['report'],
  ceiling?: number,
): PageSize {
  const { default: size, max, ...others } = given ?? {};
  for (const name of Object.keys(others)) {
    report(`${option} has no '${name}'; use default and max.`);
  }
  const range = ceiling === undefined ? 'from 1' : `from 1 to ${ceiling}`;
  for (const [name, value] of Object.entries({ default: size, max })) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1 && value <= (ceiling ?? value)))
      continue;
    report(`${option}.${name} is ${showValue(value)}; use an integer ${range}.`);
    return absent;
  }
  const highest = max ?? absent.max;
  const usual = size ?? Math.min(absent.default, highest);
  if (usual > highest) {
    report(
      `${option}.default is ${usual}, above ${option}.max ${highest}; ` +
        `raise it: { default: ${usual}, max: ${usual} }.`,
    );
  }
  return Object.freeze({ default: usual, max: highest });
}

/** The mechanism that keeps an attribute out of answers. */
export function hiddenBy({ model, attributes }: RecordInfo, name: string): string {
  const type = attributes.get(name)?.type;
  if (type?.kind === 'named' && namedForm(type.name).isHidden) return `its type ${type.name}`;
  return isLeftOut(model, name) ? 'the default scope' : '@Exclude()';
}

/** Options that take `'*'` in the place of a list. */
const TAKING_ALL: readonly string[] = ['filterAllow', 'sortAllow'];

/** An attribute that an option names; undefined for any other name, which is reported. @param shown names to choose from */
export function knownAttribute(
  { info, report, prefix = '' }: Pick<AttributeCheck, 'report' | 'prefix'> & { readonly info: RecordInfo },
  option: string,
  name: string,
  shown: readonly string[] = [...info.attributes.keys()],
  others: readonly string[] = [],
): AttributeInfo | undefined {
  const attribute = info.attributes.get(name);
  if (!attribute) {
    const isAll = name === '*' && prefix === '' && TAKING_ALL.includes(option);
    const guess = isAll ? ` Write ${option}: '*', without a list.` : didYouMean(name, [...shown, ...others]);
    const owner = prefix && ` of ${info.name}`;
    const fault = relationNames(info.model).includes(name)
      ? `which is a relation${owner} and not an attribute.`
      : `which is not an attribute${owner}.${guess}`;
    report(`${option} names '${prefix}${name}', ${fault} The attributes are ${shown.join(', ')}.`);
  }
  return attribute;
}

/** An attribute that answers show. Filtering or sorting by a hidden one would reveal its values, one comparison at a time. */
export function visibleAttribute(
  check: AttributeCheck,
  option: string,
  name: string,
  others: readonly string[] = [],
): AttributeInfo | undefined {
  const { info, exposure, report, prefix = '' } = check;
  const readable = [...info.attributes.keys()].filter((known) => !exposure.unreadable.has(known));
  const attribute = knownAttribute(check, option, name, readable, others);
  if (!attribute || !exposure.unreadable.has(name)) return attribute;
  report(
    `${option} names '${prefix}${name}', which ${hiddenBy(info, name)} hides from answers; ` +
      'remove it, or its values can be guessed by comparing.',
  );
  return undefined;
}

/** A choice among texts, of which the first is the default. */
export function compileChoice<const C extends readonly [string, ...string[]]>(
  { report }: Pick<OptionCheck, 'report'>,
  option: string,
  given: unknown,
  choices: C,
): C[number] {
  const value = given ?? choices[0];
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) {
    const guess = didYouMean(typeof value === 'string' ? value : '', choices);
    report(
      `${option} is ${showValue(value)}; use ${choices.map((choice) => `'${choice}'`).join(' or ')}.${guess}`,
    );
  }
  return chosen ?? choices[0];
}

/** Middleware that runs before each route. */
export function compileDependencies({ options, report }: OptionCheck): ResourcePlan['dependencies'] {
  const dependencies = Object.freeze([...(options.dependencies ?? [])]);
  for (const [index, dependency] of (dependencies as readonly unknown[]).entries()) {
    if (typeof dependency === 'function' && !isBareClass(dependency)) continue;
    report(
      `dependencies[${index}] is ${showValue(dependency)}; use an Express handler or a routing-controllers middleware class` +
        `${typeof dependency === 'function' ? ', which has a method use(request, response, next)' : ''}.`,
    );
  }
  return dependencies;
}

/** True for a class that routing-controllers takes for a handler, and cannot call. */
function isBareClass(dependency: object): boolean {
  const { prototype } = dependency as { readonly prototype?: Partial<Record<'use' | 'error', unknown>> };
  return (
    !prototype?.use && !prototype?.error && /^class\b/.test(Function.prototype.toString.call(dependency))
  );
}

/** The options of `@Crud` that features declare, and that are not undefined. */
export function compileResourceOptions(
  check: OptionCheck,
  compilers: Readonly<Record<string, ResourceOptionCompiler>>,
): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = { ...check.options };
  const given = Object.entries(compilers).filter(([name]) => values[name] !== undefined);
  return Object.freeze(
    Object.fromEntries(given.map(([name, compile]) => [name, compile(values[name], check)])),
  );
}

interface Shape {
  readonly fits: (value: unknown) => boolean;
  /** The end of a sentence that begins with "use". */
  readonly text: string;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const isIterable = (value: unknown): boolean => isObject(value) && Symbol.iterator in (value as object);
/** An object of names, and no list or map of them. */
export const isPlain = (value: unknown): boolean => isObject(value) && !isIterable(value);

/** All options but those of features; null is one whose values are checked where it is compiled. */
const OPTIONS: Readonly<Partial<Record<keyof CrudOptions, Shape | null>>> = {
  prefix: null,
  tags: { fits: Array.isArray, text: 'a list of names' },
  description: { fits: (value) => typeof value === 'string', text: 'a text' },
  endpoints: { fits: isIterable, text: 'a list of operations' },
  readOnly: {
    fits: (value) => typeof value === 'boolean' || Array.isArray(value),
    text: 'true, or a list of attributes that only the table fills',
  },
  only: { fits: (value) => typeof value === 'boolean', text: 'true or false' },
  pagination: null,
  pageSize: { fits: isObject, text: 'an object such as { default: 20, max: 100 }' },
  count: null,
  filterAllow: {
    fits: (value) => value === '*' || isObject(value),
    text: "a list of attributes, an object of attributes and operators, or '*'",
  },
  sortAllow: {
    fits: (value) => value === '*' || Array.isArray(value) || isPlain(value),
    text: "a list of attributes, an object of attributes and their orders, or '*'",
  },
  defaultSort: null,
  readSchema: null,
  createSchema: null,
  updateSchema: null,
  dependencies: { fits: Array.isArray, text: 'a list of Express handlers and middleware classes' },
  id: null,
  idType: null,
  unknownQuery: null,
  etag: null,
  ifMatch: null,
  include: { fits: isPlain, text: 'an object of relations, such as { reviews: true }' },
  subresources: {
    fits: isObject,
    text: 'a list of relations, or an object of them such as { reviews: true }',
  },
  scope: { fits: isPlain, text: 'an object of attributes and functions of the request' },
  visible: null,
  can: { fits: isPlain, text: 'an object of operations and functions of the request' },
  fields: { fits: isPlain, text: 'an object of attributes and rules such as { read: isStaff }' },
  set: { fits: isPlain, text: 'an object of attributes and functions of the request' },
};

/**
 * The options without those of a wrong shape, each of which is reported; unknown ones are reported, too.
 *
 * @param others names of options that features compile
 */
export function checkOptionShapes(
  options: CrudOptions,
  others: readonly string[],
  report: (problem: string) => void,
): CrudOptions {
  const entries = Object.entries(options).filter(([name, value]) => {
    const shape = Object.hasOwn(OPTIONS, name) ? OPTIONS[name as keyof CrudOptions] : null;
    if (!shape || value === undefined || value === null || shape.fits(value)) return true;
    report(`${name} is ${showValue(value)}; use ${shape.text}.`);
    return false;
  });
  unknownOptions(`@Crud`, options, [...Object.keys(OPTIONS), ...others]).forEach(report);
  return Object.fromEntries(entries);
}
