/**
 * The parameters of a raw query string. Not the framework's parser: those turn repeated names into arrays, brackets
 * into objects and broken UTF-8 into U+FFFD, each of which changes the request of the client.
 */
import type { Request } from 'express';
import { type ResourcePlan, restrictedNames } from '../../compile/resource-plan.js';
import { isStructured } from '../../schema/json-value.js';
import { MAX_ISSUES, type RequestIssue } from '../../schema/request-issue.js';
import { didYouMean } from '../../util/option-problems.js';

/** Characters of a request's text that an answer repeats at most. */
const QUOTED_LENGTH = 40;

/** A query string, decoded. */
export interface QueryString {
  /** Values by name, in the order of the text. Those of a list of names are joined by commas. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Parameters that may occur once and occur twice, or are not percent-encoded UTF-8. */
  readonly issues: readonly RequestIssue[];
}

/** A value from the request, short enough to be repeated in a message. */
export function quote(value: string): string {
  return `'${value.length > QUOTED_LENGTH ? `${value.slice(0, QUOTED_LENGTH).toWellFormed()}…` : value}'`;
}

const NO_QUERY: QueryString = Object.freeze({ parameters: new Map(), issues: Object.freeze([]) });

/** Parameters whose values are lists of names, also those of a relation, as `reviews.sort`. They may be repeated. */
const LIST = /(?:^|\.)(?:sort|fields|include)$/;

/** The same as axios and PHP write them: `sort[]`, `sort[0]`. */
const BRACKETS = /^(.+)\[(\d*)\]$/s;

/**
 * Decodes the query string of a request target such as `/cities?page=2`.
 *
 * @param skipped names that other code reads
 */
export function parseQueryString(target: string, skipped: readonly string[] = []): QueryString {
  const start = target.indexOf('?');
  if (start < 0) return NO_QUERY;
  const parameters = new Map<string, string>();
  const issues: RequestIssue[] = [];
  const counts = new Map<string, number>();
  for (const pair of target.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const separator = pair.indexOf('=');
    const rawName = separator < 0 ? pair : pair.slice(0, separator);
    const given = decode(rawName);
    const name = given?.endsWith(']') ? withoutBrackets(given, counts) : given;
    const value = decode(separator < 0 ? '' : pair.slice(separator + 1));
    if (name !== undefined && skipped.includes(name)) continue;
    if (name === undefined || value === undefined) issues.push(encodingIssue(name ?? rawName));
    else if (!parameters.has(name)) parameters.set(name, value);
    else if (LIST.test(name)) parameters.set(name, `${parameters.get(name)},${value}`);
    else issues.push(repeatedIssue(name));
  }
  return { parameters, issues };
}

/**
 * The name of a list without its brackets. Numbers in them have to count from 0: the order of the names is that of the request.
 *
 * @param counts numbers that each name has had
 */
function withoutBrackets(given: string, counts: Map<string, number>): string {
  const [, name = '', index] = BRACKETS.exec(given) ?? [];
  if (!LIST.test(name)) return given;
  const count = counts.get(name) ?? 0;
  if (index !== '' && index !== String(count)) return given;
  if (index !== '') counts.set(name, count + 1);
  return name;
}

/** Parameters that the parsers of Express, `simple` and `extended`, read of a query string. They drop the others. */
const MAX_PARSED = 1_000;

/** Issue of the first parameter that Express has dropped; null where it has dropped none. */
export function droppedParameter({ url, query }: Request): RequestIssue | null {
  const start = url.indexOf('?');
  // Each takes one character at least.
  if (start < 0 || url.length - start <= MAX_PARSED) return null;
  const pair = url.slice(start + 1).split('&')[MAX_PARSED];
  // A parser of the application's own may have read more.
  if (pair === undefined || countTexts(query) > MAX_PARSED) return null;
  const [name = ''] = pair.split('=', 1);
  const detail = `The query string has more than ${MAX_PARSED} parameters; send fewer.`;
  return { parameter: decode(name) ?? name, code: 'tooMany', detail };
}

function countTexts(parsed: unknown): number {
  if (!isStructured(parsed)) return 1;
  return Object.values(parsed).reduce<number>((sum, each) => sum + countTexts(each), 0);
}

const ENCODED = /[%+]/;

/** `application/x-www-form-urlencoded`: a plus is a space. Undefined for a text that is not percent-encoded UTF-8. */
function decode(text: string): string | undefined {
  if (!ENCODED.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function encodingIssue(name: string): RequestIssue {
  return {
    parameter: name,
    code: 'encoding',
    detail: `Parameter ${quote(name)} is not valid percent-encoded UTF-8.`,
  };
}

/** Issue of a repeated parameter. */
export function repeatedIssue(parameter: string): RequestIssue {
  return { parameter, code: 'repeated', detail: `Parameter ${quote(parameter)} may be given once.` };
}

/**
 * Problems of a query string before its values are parsed: repeated or not decodable parameters, and parameters that
 * the route does not read. Where the resource ignores the latter, their problems are left out.
 *
 * @param hints sentences for some of those, by name
 */
export function parameterIssues(
  plan: ResourcePlan,
  { parameters, issues }: QueryString,
  accepted: readonly string[],
  hints: Readonly<Record<string, string>> = {},
): RequestIssue[] {
  if (parameters.size === 0 && issues.length === 0) return [];
  if (plan.unknownQuery === 'ignore') {
    return issues.filter((issue) => 'parameter' in issue && accepted.includes(issue.parameter));
  }
  const unknown = [...parameters.keys()].filter((name) => !accepted.includes(name));
  if (unknown.length === 0) return [...issues];
  // Others are left out.
  const told = unknown.slice(0, MAX_ISSUES + 1).map((name) => {
    const hint = Object.hasOwn(hints, name) ? ` ${hints[name]}` : filterHint(plan, name, accepted);
    return unknownParameter(name, accepted, hint);
  });
  return [...issues, ...told];
}

/** Issue of a parameter that a route does not read. */
export function unknownParameter(name: string, accepted: readonly string[], hint = ''): RequestIssue {
  const choices = accepted.length > 0 ? `It accepts ${accepted.join(', ')}.` : 'It accepts none.';
  const detail = `This route has no parameter ${quote(name)}.${hint || didYouMean(name, accepted)} ${choices}`;
  return { parameter: name, code: 'unknown', detail };
}

/** Hint for `?title=Hello`. Attributes that only some requests may read are not named. */
function filterHint({ filters, access }: ResourcePlan, name: string, accepted: readonly string[]): string {
  const filter = filters.get(name);
  if (!filter || !accepted.includes('q') || restrictedNames(access).has(filter.attribute)) return '';
  return ` To filter by it, send q=${name}${filter.operators[0]}value.`;
}
