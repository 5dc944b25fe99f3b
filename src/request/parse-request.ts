/**
 * A request -> the arguments of a controller's method. Cheap checks come first and each stops the rest: the query
 * string, then the id, then the body, which is only read when everything before it is right.
 */

import type { Request } from 'express';
import type { RequestAccess } from '../access/evaluate-rules.js';
import { accessToWrite, checkScopedValues } from '../access/reference-access.js';
import { compileWantedRelations, evaluateRelated } from '../access/related-access.js';
import { isPlain } from '../compile/compile-options.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { Endpoint } from '../declare/crud-options.js';
import type { RuledWork, RuleName } from '../declare/endpoint.js';
import { valuesOfId } from '../describe/row-key.js';
import {
  type Access,
  type AccessForm,
  closedAttributes,
  OPEN_ACCESS,
  perForm,
  withGiven,
} from '../operation/access.js';
import type { BodyForms, TakenMembers } from '../operation/body-forms.js';
import type { BodyMembers } from '../operation/body-members.js';
import {
  type Asked,
  type InputReaders,
  NO_INPUTS,
  NOTHING_ASKED,
  type ResourceFeatures,
} from '../operation/compile-features.js';
import type { Input, Inputs } from '../operation/feature.js';
import { patchTypes } from '../schema/body-json-schema.js';
import { type BodySchema, bodySchema, parseBody } from '../schema/body-schema.js';
import type { BodyValues } from '../schema/body-values.js';
import type { BodyKind } from '../schema/derive-class.js';
import { MemberBudget } from '../schema/json-value.js';
import { InvalidBodyError, type RequestIssue } from '../schema/request-issue.js';
import { all, isPromise, type Maybe, then } from '../util/promises.js';
import { without } from '../util/without.js';
import { parseReplacement, replacementSchema } from './parse-replacement.js';
import { parseQueryString } from './query/query-string.js';
import { type BodyLimits, readBody, sentBody } from './read-body.js';
import { parseNewId, parsePathId } from './read-id.js';
import { setToldNames } from './request-notes.js';

/** The arguments, as far as the operation has them. */
export interface RequestArguments {
  /** Parsed inputs; of a list its `ListQuery`. */
  readonly query: Inputs;
  /** Attributes and rows that the request may see and write. */
  readonly access: Access;
  readonly id?: unknown;
  readonly values?: Readonly<BodyValues>;
}

/** Reads the arguments of one operation. Only a request with a body takes time. */
export type RequestParser = (request: Request) => RequestArguments | Promise<RequestArguments>;

/** Settings that the parsers of a resource need. */
export interface ParserSettings {
  readonly plan: ResourcePlan;
  readonly features: ResourceFeatures;
  readonly access: RequestAccess;
  /** Bytes; undefined for the default. */
  readonly bodyLimit: number | undefined;
}

const JSON_TYPES = ['application/json'];

/** The same parser for several callers: a request is parsed once. */
export function parseOnce<T>(parse: (request: Request) => T | Promise<T>): (request: Request) => Promise<T> {
  // A property, not a WeakMap, whose entries would keep bodies that are long over from the young generation of the garbage collector.
  const parsed = Symbol('parsed');
  return (request: Request & { [parsed]?: Promise<T> }) => {
    request[parsed] ??= Promise.resolve().then(() => parse(request));
    return request[parsed];
  };
}

/**
 * The parser of one operation of a resource.
 *
 * @param others query parameters that an override reads by itself
 */
export function compileParser(
  { plan, features, access: evaluateAccess, bodyLimit }: ParserSettings,
  operation: Endpoint,
  others: readonly string[] = [],
): RequestParser {
  const isReplaced = operation === 'replace';
  // A record that is there is changed.
  const endpoint = isReplaced && !plan.isKeyGiven ? 'update' : operation;
  const readers = features[endpoint];
  // A resource without rules has one access, which nothing has to evaluate.
  const accessOf = plan.access === null ? () => OPEN_ACCESS : evaluateAccess;
  const hasId = operation !== 'list' && operation !== 'create';
  const readId = endpoint === 'replace' ? parseNewId : parsePathId;
  const readHead = compileHead(readers, others, (request) => (hasId ? readId(plan, request) : undefined));
  if (operation !== 'create' && operation !== 'update' && operation !== 'replace')
    return compileQueryParser({ plan, access: evaluateAccess }, operation, readers, readHead);
  const limits = bodyLimits(plan, isReplaced ? 'create' : operation, bodyLimit);
  const { prepareBody, forms, bodyMembers } = features[operation];
  const parseValues = withMembers(bodyMembers, (names) =>
    isReplaced ? compileReplacement(plan, names) : compileValuesParser(plan, operation, forms, null, names),
  );
  return async (request) => {
    // Node parses the body behind the head in this turn, so that it mostly has come whole when it is read.
    const access = await accessOf(request, endpoint);
    const { query, id } = readHead(request, access);
    const read = readBody(request, limits);
    let body = isPromise(read) ? await read : read;
    for (const prepare of prepareBody) body = prepare(request, access.form, body);
    const parsed = parseValues(request, access, body, undefined, id);
    const { access: granted, values, query: own } = isPromise(parsed) ? await parsed : parsed;
    return { query: own ? Object.freeze({ ...query, ...own }) : query, access: granted, id, values };
  };
}

/** Reads query string, id and headers, of a request whose rules were evaluated. */
type HeadReader = (request: Request, access: Access, asked?: Asked) => RequestArguments;

function compileHead(
  { readQuery, readHeaders }: InputReaders,
  others: readonly string[],
  readId: (request: Request) => unknown,
): HeadReader {
  return (request, access, asked) => {
    const query = readQuery(request.url, access, others, asked);
    const id = readId(request);
    return { query: readHeaders(request, query, access, id), access, id };
  };
}

/** The parser of requests without a body. */
function compileQueryParser(
  { plan, access: evaluateAccess }: Pick<ParserSettings, 'plan' | 'access'>,
  work: RuledWork,
  { inputs }: InputReaders,
  readHead: HeadReader,
): RequestParser {
  const hasFilter = inputs.some(({ member }) => member === 'filter');
  const evaluateNamed = compileNamedRules({ plan, access: evaluateAccess }, inputs, hasFilter);
  const isOpen = plan.access === null;
  if (isOpen && !evaluateNamed) return (request) => readHead(request, OPEN_ACCESS);
  const accessOf = isOpen ? () => OPEN_ACCESS : evaluateAccess;
  return (request) => {
    if (isOpen && !request.url.includes('?')) return readHead(request, OPEN_ACCESS);
    return then(accessOf(request, work), (access) =>
      then(evaluateNamed?.(request, access.form) ?? NOTHING_ASKED, (asked) =>
        readHead(request, access, asked),
      ),
    );
  };
}

/**
 * The parser of a route that an option makes, and that is about the rows of a list.
 *
 * @param work whose rules hold
 * @param readers of its inputs, made by `listInputs` of the features
 */
export function compileWorkParser(
  settings: Pick<ParserSettings, 'plan' | 'access'>,
  work: RuledWork,
  readers: InputReaders,
): RequestParser {
  const readHead = compileHead(readers, [], () => undefined);
  return compileQueryParser(settings, work, readers, readHead);
}

/** The parser of a record that takes the place of another one. */
function compileReplacement(plan: ResourcePlan, members: readonly string[]): ValuesParser {
  const schemaFor = perForm((form) => ({ ...replacementSchema(plan, form), members }));
  const kind = plan.isKeyGiven ? 'create' : 'update';
  return async (request, access, body, _budget, id) => {
    if (plan.access?.fields.size) setToldNames(request, access.form, body);
    const values = await parseReplacement(plan, schemaFor(access.form), body, id, access);
    const { create, update } = access.given;
    const written = { ...create, ...update, ...values, ...valuesOfId(plan.info.address, id) };
    return { access: await accessToWrite(request, plan.model, access, written, kind), values };
  };
}

/** Limits of the body of a write. */
export function bodyLimits(plan: ResourcePlan, kind: BodyKind, limit: number | undefined): BodyLimits {
  return { limit, ...(kind === 'create' ? { mediaTypes: JSON_TYPES } : patchTypes(plan)) };
}

/** Arguments that one record is written with. */
export interface ParsedValues extends Required<Pick<RequestArguments, 'access' | 'values'>> {
  /** Inputs that members of the body make. Default: none. */
  readonly query?: Inputs;
}

/**
 * Reads it, and evaluates the rules of rows that its values may refer to.
 *
 * @param budget that of the request, where it has more than one record
 * @param id that of the path
 */
export type ValuesParser = (
  request: Request,
  access: Access,
  body: unknown,
  budget?: MemberBudget,
  id?: unknown,
) => Maybe<ParsedValues>;

/** The same with members of the body that are no attributes. All that is wrong is told at once. */
export function withMembers(
  members: readonly BodyMembers[],
  compileValues: (names: readonly string[]) => ValuesParser,
): ValuesParser {
  const names = members.flatMap((each) => each.names);
  const parseValues = compileValues(names);
  if (names.length === 0) return parseValues;
  const parseBoth: ValuesParser = async (request, access, sent, budget, id) => {
    const body = sent as Readonly<Record<string, unknown>>;
    const issues: RequestIssue[] = [];
    const collect = async <T>(work: () => Maybe<T>): Promise<T | undefined> => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof InvalidBodyError)) throw error;
        issues.push(...error.errors);
        return undefined;
      }
    };
    const whole = budget ?? new MemberBudget(sentBody(request).length);
    const parts = members.filter((each) => each.names.some((name) => Object.hasOwn(body, name)));
    const query: Record<string, unknown> = {};
    for (const each of parts)
      Object.assign(query, await collect(() => each.parse(request, access, body, whole)));
    const parsed = await collect(() => parseValues(request, access, without(body, names), whole, id));
    if (!parsed || issues.length > 0) throw new InvalidBodyError(issues);
    if (query['touch'] !== 'change') return { ...parsed, query };
    return { ...parsed, values: withGiven(parsed.values, parsed.access, 'update', true), query };
  };
  return (request, access, sent, budget, id) => {
    const isNamed = isPlain(sent) && names.some((name) => Object.hasOwn(sent as object, name));
    return (isNamed ? parseBoth : parseValues)(request, access, sent, budget, id);
  };
}

/**
 * The parser of one record's values.
 *
 * @param forms that these may have. Default: none but those of columns
 * @param given attributes that the server sets in a record that is not that of the request. Default: it is
 * @param members that a body may have as well, and that others parse
 */
export function compileValuesParser(
  plan: ResourcePlan,
  kind: BodyKind,
  forms: BodyForms | null = null,
  given: readonly string[] | null = null,
  members: readonly string[] = [],
): ValuesParser {
  const schemaFor = perForm((form) => ({
    ...bodySchema(plan, kind, new Set([...closedAttributes(form, kind), ...(given ?? [])])),
    members,
  }));
  const isRuled = given === null && Boolean(plan.access?.fields.size);
  const isScoped = Boolean(plan.access?.scope.size);
  const isGiven = Boolean(plan.access?.set.size);
  return (request, access, body, budget) => {
    if (isRuled) setToldNames(request, access.form, body);
    const schema = schemaFor(access.form);
    const taken = forms?.take(body, schema.properties, access.form);
    return then(taken ? parseRest(schema, taken, budget) : parseBody(schema, body, budget), (sent) => {
      if (isScoped) checkScopedValues(kind, sent, access, given ?? []);
      const values = isGiven ? withGiven(sent, access, kind) : sent;
      const granted = accessToWrite(request, plan.model, access, values, kind);
      return then(granted, (own) => ({ access: own, values }));
    });
  };
}

/** Parses a body that values of other forms were taken out of, and adds these. @throws InvalidBodyError with the problems of both */
async function parseRest(
  schema: BodySchema,
  { rest, values, issues }: TakenMembers,
  budget?: MemberBudget,
): Promise<BodyValues> {
  try {
    const parsed = await parseBody(schema, rest, budget);
    if (issues.length === 0) return { ...parsed, ...values };
  } catch (error) {
    throw error instanceof InvalidBodyError ? new InvalidBodyError([...issues, ...error.errors]) : error;
  }
  throw new InvalidBodyError(issues);
}

/** Arguments that a route of the user's takes of its resource. */
export interface WantedArguments {
  /** The generated operation in whose place it is; null where it is in none. */
  readonly operation: Endpoint | undefined;
  readonly hasId: boolean;
  readonly hasList: boolean;
  /** Query parameters that the route reads by itself. */
  readonly others: readonly string[];
}

/** The parser of the inputs of a route of the user's. */
export function compileWantedParser(
  { plan, features, access: evaluateAccess }: Omit<ParserSettings, 'bodyLimit'>,
  { operation, hasId, hasList, others }: WantedArguments,
): RequestParser {
  const { inputs, readQuery, readHeaders } = features.list;
  const own = inputs.filter(({ name }) => !others.includes(name));
  const evaluateNamed = hasList ? compileNamedRules({ plan, access: evaluateAccess }, own) : null;
  return async (request) => {
    const access = await evaluateAccess(request, operation);
    const asked = await evaluateNamed?.(request, access.form);
    const read = () => readQuery(request.url, access, others, asked);
    const query = hasList ? readHeaders(request, read(), access) : NO_INPUTS;
    return { query, access, id: hasId ? parsePathId(plan, request) : undefined };
  };
}

/** Evaluates the rules of the names in the query string of a request: inputs with a rule, and relations. */
export type NamedRules = (request: Request, form?: AccessForm) => Maybe<Asked>;

/**
 * Compiles them; null where no input has a rule, and nothing names a relation.
 *
 * @param hasFilter true where there may be a `q` of its own
 */
export function compileNamedRules(
  { plan, access }: Pick<ParserSettings, 'plan' | 'access'>,
  inputs: readonly Input[],
  hasFilter = true,
): NamedRules | null {
  const ruled = inputs.flatMap(({ name, rule }) => (rule === undefined ? [] : [{ name, rule }]));
  const ordered = inputs.flatMap(({ name, namesKeys }) => (namesKeys ? name : []));
  const relations = compileWantedRelations(plan, ordered, hasFilter);
  if (ruled.length === 0 && !relations) return null;
  return (request, form) => {
    const { url } = request;
    if (!url.includes('?')) return NOTHING_ASKED;
    const rules = ruled.length > 0 ? namedRules(url, ruled) : [];
    const wanted = relations?.(url, form) ?? [];
    if (rules.length === 0 && wanted.length === 0) return NOTHING_ASKED;
    return then(all(rules.map((rule) => access.allows(request, rule))), (answers) => {
      const allowed = new Set(rules.filter((_, index) => answers[index]));
      return then(evaluateRelated(request, wanted), (related) => ({ related, allowed }));
    });
  };
}

/** The rules of the parameters that are named, and no others. */
function namedRules(
  url: string,
  ruled: readonly { readonly name: string; readonly rule: RuleName }[],
): readonly RuleName[] {
  // Names may be percent-encoded.
  if (!ruled.some(({ name }) => url.includes(name)) && !url.includes('%')) return [];
  const { parameters, issues } = parseQueryString(url);
  const isNamed = (name: string) =>
    parameters.has(name) || issues.some((issue) => 'parameter' in issue && issue.parameter === name);
  return ruled.flatMap(({ name, rule }) => (isNamed(name) ? rule : []));
}
