/** The routes that a resource can have, as data. */

import type { ResourcePlan } from '../../compile/resource-plan.js';
import {
  BULK_ENDPOINTS,
  type BulkEndpoint,
  type Endpoint,
  OPERATIONS,
  SINGLE_OF,
} from '../../declare/endpoint.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { CrudController } from './crud-controller.js';

/** One generated route. */
export interface GeneratedRoute {
  readonly operation: Endpoint;
  /** The method of a controller that serves it. */
  readonly method: keyof CrudController;
  readonly verb: 'get' | 'post' | 'patch' | 'delete' | 'put';
  /** True where the path goes on with `/{id}` after the prefix. */
  readonly isItem: boolean;
  /** Path behind the id. */
  readonly action?: 'restore' | 'purge';
  /** The method's parameters, in order. */
  readonly parameters: readonly (keyof RequestArguments | 'context')[];
}

/** In the order they are mounted. */
export const GENERATED_ROUTES: readonly GeneratedRoute[] = [
  { operation: 'list', method: 'list', verb: 'get', isItem: false, parameters: ['query', 'context'] },
  { operation: 'create', method: 'create', verb: 'post', isItem: false, parameters: ['values', 'context'] },
  { operation: 'read', method: 'read', verb: 'get', isItem: true, parameters: ['id', 'query', 'context'] },
  {
    operation: 'update',
    method: 'update',
    verb: 'patch',
    isItem: true,
    parameters: ['id', 'values', 'context'],
  },
  { operation: 'delete', method: 'remove', verb: 'delete', isItem: true, parameters: ['id', 'context'] },
  {
    operation: 'restore',
    method: 'restore',
    verb: 'post',
    isItem: true,
    action: 'restore',
    parameters: ['id', 'context'],
  },
  {
    operation: 'purge',
    method: 'purge',
    verb: 'delete',
    isItem: true,
    action: 'purge',
    parameters: ['id', 'context'],
  },
  {
    operation: 'replace',
    method: 'replace',
    verb: 'put',
    isItem: true,
    parameters: ['id', 'values', 'context'],
  },
];

/** The generated route that a method of this name can serve. */
export function routeNamed(method: string): GeneratedRoute | undefined {
  return GENERATED_ROUTES.find((route) => route.method === method);
}

/** A route for many records. */
export interface BulkRoute {
  readonly endpoint: BulkEndpoint;
  /** Key in the place of a method's name: `bulk.createMany`. No method has a dot. */
  readonly method: string;
  /** Route for one record, whose method is called for each. */
  readonly single: GeneratedRoute;
}

/** In the order they are mounted. */
export const BULK_ROUTES: readonly BulkRoute[] = BULK_ENDPOINTS.map((endpoint) => ({
  endpoint,
  method: `bulk.${endpoint}`,
  single: GENERATED_ROUTES.find(({ operation }) => operation === SINGLE_OF[endpoint]) as GeneratedRoute,
}));

/** The route for many records that has this name in the place of a method's, if it is one. */
export function bulkRouteOf(method: string): BulkRoute | undefined {
  return BULK_ROUTES.find((route) => route.method === method);
}

/**
 * The generated route that a method of a resource serves, if it is one of them. A method such as `restore` is code of the user's
 * where the resource does not name the endpoint.
 */
export function generatedRouteOf(
  method: string,
  { endpoints }: Pick<ResourcePlan, 'endpoints'>,
): GeneratedRoute | undefined {
  const route = routeNamed(method);
  return route && (isUsual(route) || endpoints.has(route.operation)) ? route : undefined;
}

/** True for a route that all resources without `endpoints` have. */
export function isUsual({ operation }: GeneratedRoute): boolean {
  return OPERATIONS.some((each) => each === operation);
}

/** The path of a generated route. An empty path would match nothing, so the root of a router is `/`. */
export function routePath(prefix: string, { isItem, action }: GeneratedRoute): string {
  if (action) return `${prefix}/:id/${action}`;
  return isItem ? `${prefix}/:id` : prefix || '/';
}
