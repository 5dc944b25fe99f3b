/** The routes for many records: `POST /`, `PATCH /` and `DELETE /`, guarded as the methods that they call for each record. */
import { noteOperation } from '../../diagnostics/channels.js';
import type { RouteDecisions } from '../../handle/decide-route.js';
import { compileBulkHandler } from '../../handle/handle-bulk.js';
import type { RowRunner } from '../../handle/run-rows.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { type BulkParser, isForMany } from '../../request/parse-bulk.js';
import { parseOnce, type RequestArguments } from '../../request/parse-request.js';
import { BULK_ROUTES, type BulkRoute, bulkRouteOf } from '../resources/bulk-route.js';
import {
  type ActionArgs,
  type ActionRunner,
  copyGuards,
  declaredParameters,
  isGuarded,
  lineageOf,
} from '../resources/controller-metadata.js';
import { CrudController } from '../resources/crud-controller.js';
import type { Resource } from '../resources/resource.js';
import type { ResultShaper } from '../resources/result-shaper.js';
import { withoutSlash } from './path-matching.js';

/**
 * The routes of a resource as routing-controllers records them. Where a route takes a new record at the same path, it takes
 * many, too.
 */
export function bulkActions({ plan, controller }: Resource, others: readonly ActionArgs[]): ActionArgs[] {
  const isRoot = ({ route }: ActionArgs) => typeof route === 'string' && withoutSlash(route || '/') === '/';
  const isShared = ({ single }: BulkRoute) =>
    others.some((each) => each.method === single.method && each.type === 'post' && isRoot(each));
  return BULK_ROUTES.filter((route) => plan.bulk?.endpoints.has(route.endpoint) && !isShared(route)).map(
    ({ method, single }) => ({
      target: controller,
      type: single.verb,
      method,
      route: plan.prefix === '' ? '/' : '',
      options: { transformResponse: false },
    }),
  );
}

/** The route for many records that is answered where this method is. */
export function sharedRoute(
  { plan }: Resource,
  method: string,
  bulk: readonly ActionArgs[],
): BulkRoute | undefined {
  return BULK_ROUTES.find(
    ({ endpoint, method: own, single }) =>
      single.method === method &&
      plan.bulk?.endpoints.has(endpoint) &&
      !bulk.some((each) => each.method === own),
  );
}

/** Copies the guards of the method of one record to the route of many. */
export function guardBulkActions(
  actions: readonly ActionArgs[],
  lineage: readonly object[],
  controller: new () => object,
): void {
  for (const { method } of actions) {
    const route = bulkRouteOf(method);
    if (route) copyGuards(lineage, route.single.method, method, controller);
  }
}

/** Compiles the handler of a route for many records alone. */
export function bulkHandler(
  resource: Resource,
  { endpoint, single }: BulkRoute,
  decisions: RouteDecisions,
  rows: RowRunner | null,
  shaper: ResultShaper,
): ActionRunner {
  const parse = resource.compileBulk(endpoint, false);
  const handle = compileBulkHandler(resource, single, decisions, rows, shaper);
  const isListGuarded = isGuarded(lineageOf(resource.controller, CrudController), 'list');
  return async (metadata, action) => {
    const input = await parse(action.request);
    if (!isForMany(input)) throw new TypeError('A route for many records has read a request for one.');
    // A count by conditions shows as much as a list.
    if (input.inputs.filter && isListGuarded) {
      throw new RefusedRequestError(
        403,
        `This request may not find records of ${resource.plan.name} by q; send an array of them.`,
      );
    }
    return handle(metadata, action, input);
  };
}

/**
 * Compiles the handler of a route for one record or many.
 *
 * @param compileSingle compiles the handler of a single one
 */
export function sharedHandler(
  resource: Resource,
  { endpoint, single }: BulkRoute,
  decisions: RouteDecisions,
  rows: RowRunner | null,
  shaper: ResultShaper,
  compileSingle: (resource: Resource) => ActionRunner,
): ActionRunner {
  const parse = parseOnce(resource.compileBulk(endpoint, true));
  // It is asked for what is no array alone.
  const parseSingle = async (request: Parameters<BulkParser>[0]) =>
    (await parse(request)) as RequestArguments;
  const parsers = { ...resource.parsers, [single.operation]: parseSingle };
  const handle = compileBulkHandler(resource, single, decisions, rows, shaper);
  const handleSingle = compileSingle({ ...resource, parsers });
  return async (metadata, action, params) => {
    const input = await parse(action.request);
    if (!isForMany(input)) return handleSingle(metadata, action, params);
    noteOperation(action.request, { operation: endpoint });
    return handle(metadata, action, input);
  };
}

/** Problems of a controller with routes for many records: guards that `q` passes by, and parameters of a method. */
export function bulkProblems({ plan, controller }: Resource): string[] {
  const lineage = lineageOf(controller, CrudController);
  const isPassed = plan.bulk?.endpoints.has('deleteMany') && isGuarded(lineage, 'list');
  const passed = isPassed
    ? [
        `${controller.name}.list has decorators that guard it, and endpoints has 'deleteMany', whose q finds records without them; ` +
          'guard the class, or use can.list, or leave one of both out.',
      ]
    : [];
  const called = BULK_ROUTES.flatMap(({ endpoint, single: { method } }) => {
    if (!plan.bulk?.endpoints.has(endpoint) || declaredParameters(lineage, method).length === 0) return [];
    return [
      `${controller.name}.${method} has decorated parameters, which are read once for a request, and endpoints has '${endpoint}', ` +
        'which calls it for each record; read them from context.request in the method, or leave one of both out.',
    ];
  });
  return [...passed, ...called];
}
