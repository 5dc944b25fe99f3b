/** All that a route of the user's reads from a request by its parameters, with all that is wrong with them at once. */
import type { Request } from 'express';
import type { Action, ActionMetadata, ParamMetadata } from 'routing-controllers';
import { isInjected } from '../../handle/inject.js';
import { droppedParameter, parseQueryString, unknownParameter } from '../../request/query/query-string.js';
import { hasBody, missingBody } from '../../request/read-body.js';
import { MAX_GUESSES, unknownProperty } from '../../schema/body-schema.js';
import {
  bodyPointer,
  InvalidBodyError,
  InvalidQueryError,
  InvalidRequestError,
  MAX_ISSUES,
  notAnObject,
  type RequestIssue,
} from '../../schema/request-issue.js';
import type { ParameterArgs } from '../resources/controller-metadata.js';
import { isJson, isObject, type OwnParameter, ownParameter, type ParameterDriver } from './own-parameter.js';

/** Parts of requests that only the parameters of a route read. */
interface ClosedRoute {
  /** Names in the query string; null where others are ignored. */
  readonly query: readonly string[] | null;
}

/** By controller and method. */
const CLOSED = new WeakMap<object, Map<string, ClosedRoute>>();

const OPEN: ReadonlySet<ParameterArgs['type']> = new Set([
  'request',
  'context',
  'queries',
  'custom-converter',
]);

/** Makes a route refuse unknown names in the query string and in the body, where only its parameters can read them. */
export function closeRoute(
  controller: object,
  method: string,
  parameters: readonly ParameterArgs[],
  unknownQuery: 'reject' | 'ignore',
): void {
  if (parameters.some((each) => OPEN.has(each.type) && !isInjected(each))) return;
  const ordered = parameters.toSorted((first, second) => first.index - second.index);
  const names = ordered.flatMap(({ type, name }) => (type === 'query' && name ? name : []));
  const known = CLOSED.get(controller) ?? new Map<string, ClosedRoute>();
  CLOSED.set(controller, known.set(method, { query: unknownQuery === 'reject' ? names : null }));
}

/** Finds the value that routing-controllers has for a parameter. */
type Find = (action: Action, param: ParamMetadata) => unknown;

/** The arguments of a route. */
export class OwnArguments {
  readonly #parameters: readonly (readonly [ParamMetadata, OwnParameter])[];
  readonly #closed: ClosedRoute | undefined;
  /** True where a parameter is of the query string. */
  readonly #isOfQuery: boolean;
  /** Names of the members of the body that are parameters; null where they are none, or the body is one. */
  readonly #members: readonly string[] | null;
  readonly #find: Find;
  readonly #read = new WeakMap<object, ReadonlyMap<ParamMetadata, unknown>>();

  constructor(method: ActionMetadata, driver: ParameterDriver, find: Find) {
    const { params, target, isJsonTyped } = method;
    // Decorators run from the last one to the first.
    const ordered = params.toSorted((first, second) => first.index - second.index);
    this.#parameters = ordered.flatMap((param) => {
      const own = ownParameter(param, driver);
      return own ? [[param, own] as const] : [];
    });
    this.#closed = isJsonTyped ? CLOSED.get(target)?.get(method.method) : undefined;
    this.#isOfQuery = params.some(({ type }) => type === 'query' || type === 'queries');
    const members = ordered.flatMap(({ type, name }) => (type === 'body-param' ? name : []));
    const isByMember = isJsonTyped && members.length > 0 && params.every(({ type }) => type !== 'body');
    this.#members = isByMember ? members : null;
    this.#find = find;
  }

  get isEmpty(): boolean {
    const isOpen = this.#closed === undefined && this.#members === null && !this.#isOfQuery;
    return isOpen && this.#parameters.length === 0;
  }

  /**
   * Reads them.
   *
   * @throws InvalidQueryError for all that is wrong outside of the body, and else @throws InvalidBodyError, or any other error
   */
  async read(action: Action): Promise<void> {
    const request: Request = action.request;
    const dropped = this.#isOfQuery ? droppedParameter(request) : null;
    if (dropped) throw new InvalidQueryError([dropped]);
    const { query = null } = this.#closed ?? {};
    const unknown = query === null ? [] : queryIssues(request, query);
    const read = await Promise.allSettled(
      this.#parameters.map(async ([param, own]) => own.read(this.#find(action, param), request)),
    );
    const errors = read.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    const ofQuery = errors.flatMap((error) => (error instanceof InvalidQueryError ? error.errors : []));
    if (unknown.length + ofQuery.length > 0) throw new InvalidQueryError([...unknown, ...ofQuery]);
    const other = errors.find((error) => !(error instanceof InvalidBodyError));
    if (other !== undefined) throw other;
    const whole = this.#members === null ? [] : this.#bodyIssues(request, this.#members, errors.length > 0);
    const ofBody = errors.flatMap((error) => (error instanceof InvalidRequestError ? error.errors : []));
    if (whole.length + ofBody.length > 0) throw new InvalidBodyError([...whole, ...ofBody]);
    const values = read.map((each) => (each.status === 'fulfilled' ? each.value : undefined));
    this.#read.set(
      request,
      new Map(this.#parameters.map(([param], index) => [param, values[index]] as const)),
    );
  }

  /** Issues of a body whose members are parameters. */
  #bodyIssues(request: Request, members: readonly string[], isIncomplete: boolean): readonly RequestIssue[] {
    const { body } = request as { readonly body: unknown };
    if (!hasBody(request)) {
      if (isIncomplete) throw missingBody();
      return [];
    }
    if (!isJson(request)) return [];
    if (!isObject(body)) throw notAnObject();
    if (!this.#closed) return [];
    const unknown = Object.keys(body).filter((name) => !members.includes(name));
    return unknown
      .slice(0, MAX_ISSUES + 1)
      .map((name) => unknownProperty(bodyPointer(name), name, members, unknown.length < MAX_GUESSES));
  }

  valuesOf(request: object): ReadonlyMap<ParamMetadata, unknown> | undefined {
    return this.#read.get(request);
  }
}

function queryIssues({ url, query }: Request, names: readonly string[]): readonly RequestIssue[] {
  if (!url.includes('?')) return [];
  const { parameters, issues } = parseQueryString(url);
  // A list repeats its name; that of a single value is refused where it is read.
  const broken = issues.filter((issue) => issue.code === 'encoding');
  // Express reads `ids[]` as `ids`, where its parser is `extended`.
  const isKnown = (name: string): boolean => {
    const [plain = name] = name.split('[');
    return names.includes(name) || (names.includes(plain) && Object.hasOwn(query, plain) && plain !== name);
  };
  const unknown = [...parameters.keys()].filter((name) => !isKnown(name));
  return [...broken, ...unknown.map((name) => unknownParameter(name, names))];
}
