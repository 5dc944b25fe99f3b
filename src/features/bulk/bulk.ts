/** Writes of many records: `POST /many`, `PATCH /` and `DELETE /`, guarded as the methods that they call for each record. */
import { BULK_ENDPOINTS, type BulkEndpoint, SINGLE_OF } from '../../declare/endpoint.js';
import { guardProblems, parameterProblems } from '../../express/resources/method-problems.js';
import type { Resource } from '../../express/resources/resource.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import type { DescribedRoute } from '../../openapi/described-route.js';
import type { FeatureFactory } from '../../operation/feature.js';
import { type RoutePlan, type RouteSpec, USUAL } from '../../operation/route-spec.js';
import { checkBulk, compileMax } from './bulk-options.js';
import { bulkOperation, bulkSchemas, mentionMany, WORDS } from './describe-bulk.js';
import { joinedHandler, manyHandler } from './handle-bulk.js';

/** The routes for many records. Their rules, inputs and operations are those of the endpoints for one. */
export const bulk: FeatureFactory = Object.assign(() => null, {
  resourceOptions: { bulk: compileMax },
  check: checkBulk,
  routes: ({ endpoints }: RoutePlan) => ROUTES.filter(({ endpoint }) => endpoints.has(endpoint)),
});

/** An operation of OpenAPI takes one record or many. So creates of many have a path of their own, and the path of the list takes them, too. */
const PATHS: Readonly<Record<BulkEndpoint, Pick<RouteSpec, 'path' | 'joins'>>> = {
  createMany: { path: '/many', joins: '' },
  updateMany: { path: '' },
  deleteMany: { path: '' },
};

/** Routes, in the order they are mounted. */
const ROUTES = BULK_ENDPOINTS.map((endpoint) => {
  const single: RouteSpec = USUAL[SINGLE_OF[endpoint]];
  return {
    ...single,
    endpoint,
    // No method has a dot in its name.
    method: `bulk.${endpoint}`,
    ...PATHS[endpoint],
    parameters: [],
    words: WORDS[endpoint],
    single,
    compile: (context) =>
      context.compileJoined
        ? joinedHandler({ endpoint, single }, context, context.compileJoined)
        : manyHandler({ endpoint, single }, context),
    problems: (resource) => problemsOf(endpoint, resource),
    describe: ({ resource, action }) => bulkOperation(resource, endpoint, action),
    describeJoined: mentionMany,
    schemas: (resource) => bulkSchemas(endpoint, resource),
  } satisfies HandledRoute & DescribedRoute;
});

/** Problems of a controller with a route for many records: guards that `q` passes by, and parameters of a method. */
function problemsOf(endpoint: BulkEndpoint, resource: Resource): string[] {
  return [
    ...guardProblems(
      resource,
      endpoint === 'deleteMany' ? ['list'] : [],
      "endpoints has 'deleteMany', whose q finds records without them",
      'guard the class, or use can.list, or leave one of both out',
    ),
    ...parameterProblems(
      resource,
      [USUAL[SINGLE_OF[endpoint]].method],
      `which are read once for a request, and endpoints has '${endpoint}', which calls it for each record`,
    ),
  ];
}
