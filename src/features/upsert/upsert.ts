/** Upserts: `POST /?on_conflict=code` changes the record that has the key of the body, or creates one. */

import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { noteOperation } from '../../diagnostics/channels.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import { guardProblems, parameterProblems } from '../../express/resources/method-problems.js';
import { compileAround, compileCompletions } from '../../handle/around.js';
import { operationSessions } from '../../handle/commit-request.js';
import { decideRoute } from '../../handle/decide-route.js';
import { compileOperationHandler } from '../../handle/handle.js';
import type { HandledRoute, HandlerContext } from '../../handle/handled-route.js';
import { compileShape } from '../../handle/shape-answer.js';
import type { DescribedRoute } from '../../openapi/described-route.js';
import type { FeatureContext, FeatureFactory } from '../../operation/feature.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import { parseOnce, type RequestArguments } from '../../request/parse-request.js';
import { handleMany } from '../bulk/handle-bulk.js';
import { type BulkArguments, isForMany } from '../bulk/parse-bulk.js';
import { describeUpsert } from './describe-upsert.js';
import { compileUpsertParser, namesConflict } from './parse-upsert.js';
import { compileRewrite, compileUpsertMethod, compileUpsertRows } from './run-upsert.js';
import { checkUpsert, compileKeys, tableProblems, type UpsertInputs } from './upsert-options.js';
import { compileUpsertTogether } from './upsert-together.js';

/** A route at the path of creates. Requests that name a key are its own. */
const UPSERT: HandledRoute & DescribedRoute = {
  endpoint: 'upsert',
  operation: 'upsert',
  // No method has a dot in its name.
  method: 'upsert.record',
  verb: 'post',
  path: '',
  joins: '',
  parameters: [],
  words: {
    verb: 'Create or change',
    success: 'The record after the change.',
    description: () => 'Changes the record that has the key of the body, or creates one.',
  },
  single: USUAL.create,
  compile: upsertHandler,
  problems: (resource) => [
    ...guardProblems(
      resource,
      ['update'],
      "endpoints has 'upsert', which would go past them",
      'guard the class, or leave it out',
    ),
    ...parameterProblems(
      resource,
      ['create', 'update'],
      "and endpoints has 'upsert', which calls it with values of its own",
    ),
  ],
  describeJoined: describeUpsert,
};

/** The feature of resources that name the endpoint. */
export const upsert: FeatureFactory = Object.assign(
  ({ plan }: FeatureContext) =>
    plan.features['upsert'] === undefined ? null : { rewrite: { upsert: compileRewrite(plan) } },
  {
    resourceOptions: { upsert: compileKeys },
    check: checkUpsert,
    inspectTable: (plan: ResourcePlan) => ({ problems: tableProblems(plan), warnings: [] }),
    routes: ({ endpoints }: RoutePlan) => (endpoints.has('upsert') ? [UPSERT] : []),
  },
);

function upsertHandler(context: HandlerContext): ActionRunner {
  const { resource, lineage, settings, shaper, compileJoined } = context;
  // Decorators of answers are those of the method that creates.
  const decisions = decideRoute(resource, { ...UPSERT, method: USUAL.create.method }, lineage, settings);
  const parse = parseOnce(compileUpsertParser(resource));
  const rows = decisions.runner === 'rows' ? compileUpsertRows(resource) : null;
  const runMethod = compileUpsertMethod(resource, shaper);
  const { shapedBy } = decisions;
  const shape = compileShape(resource, UPSERT, shapedBy);
  // Arrays go elsewhere.
  const parseSingle = parse as (request: Parameters<typeof parse>[0]) => Promise<RequestArguments>;
  const single = compileOperationHandler(
    {
      resource,
      verb: UPSERT.verb,
      parse: parseSingle,
      parseOnce: parseSingle,
      rows,
      runMethod: (action, input) => runMethod(action, input as RequestArguments),
      completions: compileCompletions(resource, 'upsert'),
      shape,
      around: compileAround(resource, UPSERT, { shape, shapedBy, shaper }),
      sessions: operationSessions(resource, UPSERT, settings),
    },
    decisions,
    shaper,
  );
  const many = handleMany({ ...UPSERT, status: 200 }, { ...context, decisions, rows }, parse, {
    runMethod,
    keyOf: ({ query }) => ((query as UpsertInputs).onConflict as ModelInfo).address,
    write: rows && compileUpsertTogether(resource),
  });
  const other = compileJoined?.();
  return async (metadata, action, params) => {
    const { request } = action;
    if (other && !namesConflict(request)) return other(metadata, action, params);
    const input: BulkArguments | RequestArguments = await parse(request);
    noteOperation(request, { operation: UPSERT.endpoint });
    return (isForMany(input) ? many : single)(metadata, action, params);
  };
}
