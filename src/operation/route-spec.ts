/** The generated routes of a resource, as data: those of every resource, and those that features add. */
import type { RelationLister } from '../compile/compile-resource.js';
import { noRelations, type ResourcePlan } from '../compile/resource-plan.js';
import { ENDPOINTS, type Endpoint, type OPERATIONS, type Operation } from '../declare/crud-options.js';
import { type OptionRoute, tableWritesOf } from '../declare/endpoint.js';
import { tableFacts } from '../describe/table-facts.js';

/** A generated route. */
export interface RouteSpec {
  /** Name of the route: in `endpoints`, or of the option that makes it; in the route table and in traces. */
  readonly endpoint: Operation | OptionRoute;
  /** The operation whose features, rules and arguments it has. */
  readonly operation: Endpoint;
  /** The endpoint whose body it takes. Default: `operation`. */
  readonly parses?: Endpoint;
  /** The method of a controller that serves it. A name with a dot is none. */
  readonly method: string;
  readonly verb: 'get' | 'post' | 'patch' | 'delete' | 'put';
  /** Behind the prefix: `/:id/restore`. Empty is the prefix itself. */
  readonly path: string;
  /** The method's parameters, in order. */
  readonly parameters: readonly ('id' | 'query' | 'values' | 'context')[];
  /** Status of success, in the place of the response's. Default: that of the response. */
  readonly status?: number;
  readonly words: RouteWords;
  /** The route whose guards and decisions it has: that for one record, or the list. Default: none. */
  readonly single?: RouteSpec;
  /** The method whose guards a request to it must not go past, and which it does not call. Default: none. */
  readonly guardedAs?: string;
  /**
   * The option that names another word for its path: `aggregate.path`. Left out where the application has chosen the word. A record whose
   * id is the word cannot be read then, so that the word has to be chosen where ids are texts.
   */
  readonly wordOption?: string;
  /** A second path of it, or its only one, as `path`; where `single` has that one, `single` answers both. Default: none. */
  readonly joins?: string;
  /** The operations that it executes, where they are several. Its answer is that of the last one. Default: `operation`. */
  readonly executes?: readonly { readonly plan?: ResourcePlan; readonly operation: Endpoint }[];
}

/** A route whose operation, and method, have its name. */
export function routeOf<R extends Partial<RouteSpec> & Omit<RouteSpec, 'endpoint' | 'operation' | 'method'>>(
  endpoint: Endpoint,
  rest: R,
): RouteSpec & NoInfer<R> {
  return { endpoint, operation: endpoint, method: endpoint, ...rest };
}

/** Texts of a route in the document. */
export interface RouteWords {
  /** Begins the summary: `Restore`. */
  readonly verb: string;
  /** Describes the answer. */
  readonly success: string;
  description(plan: ResourcePlan): string;
}

/** The part of a plan that decides which routes there are. */
export type RoutePlan = Pick<ResourcePlan, 'endpoints' | 'relations' | 'isKeyGiven' | 'features'>;

/** A source of routes, as a feature is. */
export interface RouteSource {
  /** Routes that it adds to a resource. Evaluated at the start. */
  routes?(plan: RoutePlan): readonly RouteSpec[];
  /** Relations that have a list under each record because of its option, as those of `subresources`. */
  readonly listsBelow?: RelationLister;
}

/** The routes of all resources that name no endpoints, in the order they are mounted. */
export const USUAL: Readonly<Record<(typeof OPERATIONS)[number], RouteSpec>> = {
  list: routeOf('list', {
    verb: 'get',
    path: '',
    parameters: ['query', 'context'],
    words: {
      verb: 'List',
      success: 'A page.',
      description({ description, pagination }) {
        const paging =
          pagination === 'offset' ? 'Pages have numbers.' : 'Pages are followed by their cursors.';
        return description === null ? paging : `${description}\n\n${paging}`;
      },
    },
  }),
  create: routeOf('create', {
    verb: 'post',
    path: '',
    parameters: ['values', 'context'],
    status: 201,
    words: {
      verb: 'Create',
      success: 'The new record.',
      description: () =>
        'What may be null is null where it is absent; a property that is not described is an error.',
    },
  }),
  read: routeOf('read', {
    verb: 'get',
    path: '/:id',
    parameters: ['id', 'query', 'context'],
    words: {
      verb: 'Read',
      success: 'The record.',
      description: ({ relations }) =>
        relations.include.size === 0
          ? 'The whole record, or the properties that `fields` names.'
          : 'The whole record, or the properties that `fields` names, and the relations that `include` names.',
    },
  }),
  update: routeOf('update', {
    verb: 'patch',
    path: '/:id',
    parameters: ['id', 'values', 'context'],
    words: {
      verb: 'Change',
      success: 'The record after the change.',
      description: () =>
        'A merge patch (RFC 7396): absent properties stay as they are, null sets null, and `{}` changes nothing.',
    },
  }),
  delete: routeOf('delete', {
    method: 'remove',
    verb: 'delete',
    path: '/:id',
    parameters: ['id', 'context'],
    status: 204,
    words: {
      verb: 'Delete',
      success: 'The record is deleted.',
      description: ({ info }) =>
        info.softDelete ? 'The record is kept, and is missing from then on.' : 'The record is removed.',
    },
  }),
};

/**
 * The routes that the methods of a resource can serve. A method such as `restore` is code of the user's where the resource does
 * not name the endpoint; the usual ones never are.
 */
export function routesOf(plan: RoutePlan, features: readonly RouteSource[]): readonly RouteSpec[] {
  const added = features.flatMap(({ routes }) => routes?.(plan) ?? []);
  return Object.freeze([...Object.values(USUAL), ...added]);
}

/** The routes that the methods of any resource can serve: for checks that come before all plans. */
export function everyRoute(features: readonly RouteSource[]): readonly RouteSpec[] {
  const plan = { endpoints: new Set(ENDPOINTS), relations: noRelations(), isKeyGiven: true, features: {} };
  return routesOf(plan, features);
}

/** True for a route that all resources without `endpoints` have. */
export function isUsual({ endpoint }: RouteSpec): boolean {
  return endpoint in USUAL;
}

/** The route that a method serves; undefined for a method that serves none. */
export function routeNamed<R extends RouteSpec>(routes: readonly R[], method: string): R | undefined {
  return routes.find((route) => route.method === method);
}

/** True for a route whose writes PostgreSQL refuses for every row; undefined as long as the catalogue was not read. */
export function isRefused(
  { model, info }: Pick<ResourcePlan, 'model' | 'info'>,
  { operation }: Pick<RouteSpec, 'operation'>,
): boolean | undefined {
  const facts = tableFacts(model);
  return facts && tableWritesOf(operation, info.softDelete !== null).some((each) => !facts.writes.has(each));
}

/** The path of a route. An empty path would match nothing, so the root of a router is `/`. */
export function routePath(prefix: string, { path }: RouteSpec): string {
  return `${prefix}${path}` || '/';
}
