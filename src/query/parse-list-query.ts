/** Query parameters of a list -> `ListQuery`. Pure: what a client wants is decided before any connection is taken. */
import type { ResourcePlan } from '../plan/resource-plan.js';
import type { RequestIssue } from '../schema/request-issue.js';
import type { CursorCodec, CursorScope } from './cursor-codec.js';
import { InvalidQueryError } from './invalid-query-error.js';
import type { Keyset } from './keyset.js';
import type { ListQuery } from './list-query.js';
import { parseFields } from './parse-fields.js';
import { parseFilter } from './parse-filter.js';
import { parseSort } from './parse-sort.js';
import { type QueryString, quote } from './query-string.js';
import { parameterIssues } from './unknown-parameters.js';

const POSITIVE_INTEGER = /^[1-9][0-9]*$/;
/** The largest page number. Far beyond any table, and its product with a size is still an exact integer. */
export const MAX_PAGE = 2_147_483_647;

/** The parameters of a list, by its pagination. */
export const LIST_PARAMETERS = Object.freeze({
  offset: Object.freeze(['page', 'size', 'sort', 'q', 'fields']),
  cursor: Object.freeze(['after', 'before', 'size', 'sort', 'q', 'fields']),
});

const NO_PLACES = Object.freeze({ after: null, before: null });

/** What reading a list's parameters needs. */
export interface ListContext {
  readonly plan: ResourcePlan;
  /** The properties of the read schema. */
  readonly readable: readonly string[];
  readonly cursors: CursorCodec;
}

/**
 * Reads the parameters of a list.
 *
 * @throws InvalidQueryError naming each wrong parameter, what it got and what it accepts
 */
export function parseListQuery(context: ListContext, queryString: QueryString): ListQuery {
  const { plan, readable } = context;
  const { parameters } = queryString;
  const issues = parameterIssues(plan, queryString, LIST_PARAMETERS[plan.pagination]);
  const { default: fallback, max } = plan.pageSize;
  const isOffset = plan.pagination === 'offset';
  const page = isOffset ? parseInteger(parameters, 'page', { fallback: 1, max: MAX_PAGE }, issues) : 1;
  const criteria = {
    size: parseInteger(parameters, 'size', { fallback, max }, issues),
    filter: parseFilter(plan, parameters.get('q'), issues),
    sort: parseSort(plan, parameters.get('sort'), issues),
    fields: parseFields(readable, parameters.get('fields'), issues),
  };
  const places = isOffset ? NO_PLACES : parsePlaces(context, parameters, { plan, ...criteria }, issues);
  return finish({ kind: plan.pagination, page, ...places, ...criteria }, issues);
}

function finish(query: ListQuery, issues: readonly RequestIssue[]): ListQuery {
  if (issues.length > 0) throw new InvalidQueryError(issues);
  return Object.freeze(query);
}

function parseInteger(
  parameters: QueryString['parameters'],
  parameter: string,
  { fallback, max }: { fallback: number; max: number },
  issues: RequestIssue[],
): number {
  const raw = parameters.get(parameter);
  if (raw === undefined) return fallback;
  const value = POSITIVE_INTEGER.test(raw) ? Number(raw) : Number.NaN;
  if (value <= max) return value;
  issues.push({
    parameter,
    code: 'range',
    detail: `Parameter '${parameter}' is ${quote(raw)}; it accepts an integer from 1 to ${max}.`,
  });
  return fallback;
}

function parsePlaces(
  { cursors }: ListContext,
  parameters: QueryString['parameters'],
  scope: CursorScope,
  issues: RequestIssue[],
): { readonly after: Keyset | null; readonly before: Keyset | null } {
  if (parameters.has('after') && parameters.has('before')) {
    issues.push({
      parameter: 'before',
      code: 'exclusive',
      detail: "Parameters 'after' and 'before' exclude each other.",
    });
    return NO_PLACES;
  }
  // A cursor belongs to one order and filter; when something is wrong with these, there is nothing to compare it with.
  if (issues.length > 0) return NO_PLACES;
  const read = (parameter: 'after' | 'before'): Keyset | null => {
    const cursor = parameters.get(parameter);
    return cursor === undefined ? null : cursors.decode(cursor, scope, parameter);
  };
  return { after: read('after'), before: read('before') };
}
