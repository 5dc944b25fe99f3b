/** The handler of `GET /cities/aggregate`: the story of a read whose result is groups. */
import type { Sequelize } from 'sequelize';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { choiceProblem } from '../../describe/hooks-and-scopes-internals.js';
import { sequelizeProblem } from '../../execute/customization/internals-trial.js';
import { modelFastPathBlockers } from '../../execute/customization/model-fast-path-blockers.js';
import { openTest } from '../../execute/customization/plain-queries.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import { readSessions } from '../../handle/commit-request.js';
import { decideRoute, fastPathReasons, type RouteDecisions } from '../../handle/decide-route.js';
import { answerWith, isAlone, type Story } from '../../handle/handle.js';
import type { HandlerContext, RouteContext } from '../../handle/handled-route.js';
import { compileAloneTarget, sessionTarget } from '../../handle/run-rows.js';
import type { ResourceFeatures } from '../../operation/compile-features.js';
import type { ListOperation } from '../../operation/operation.js';
import { allOf, scopedRows } from '../../operation/predicates.js';
import { USUAL } from '../../operation/route-spec.js';
import { currentTarget, type StatementTarget } from '../../postgres/index.js';
import { compileWorkParser, type RequestArguments } from '../../request/parse-request.js';
import { then } from '../../util/promises.js';
import { aggregateInputs, ROW_INPUTS, readAggregateInputs } from './aggregate-inputs.js';
import { type AggregateOperation, totalGroupOrder } from './aggregate-operation.js';
import type { AggregatePlan } from './aggregate-options.js';
import { checkEstimate, checkFilter, runLimited } from './limit-aggregates.js';
import { type AggregateResult, estimateRows, runAggregate } from './run-aggregate.js';

/** Decides about the route: no record is made, so that only settings and queries of the user's keep our SQL away. */
export function decideAggregate({ resource, lineage, settings }: RouteContext): RouteDecisions {
  const list = decideRoute(resource, USUAL.list, lineage, settings);
  const problem = sequelizeProblem();
  const records = [
    ...fastPathReasons(settings),
    ...(problem ? [problem] : modelFastPathBlockers(resource.plan.info, 'list', false)),
  ];
  return Object.freeze({
    ...list,
    runner: records.length === 0 ? 'rows' : 'records',
    reasons: Object.freeze({ ...list.reasons, records: Object.freeze(records), user: [] }),
  });
}

/** The inputs of a resource's aggregates. */
export function inputsOf(
  plan: AggregatePlan,
  { plan: { info }, features }: { readonly plan: ResourcePlan; readonly features: ResourceFeatures },
) {
  return features.listInputs(ROW_INPUTS, aggregateInputs(plan, info));
}

/** Compiles the handler. */
export function compileAggregateHandler(
  plan: AggregatePlan,
  { resource, decisions, shaper }: HandlerContext,
): ActionRunner {
  const { answer, settings } = decisions;
  const { info, model } = resource.plan;
  const sequelize = model.sequelize as Sequelize;
  const parse = compileWorkParser(resource, 'aggregate', inputsOf(plan, resource));
  const isPlain = openTest(info, 'list', false);
  const isByRows = () => decisions.runner === 'rows' && isPlain();
  const run = async (input: RequestArguments, on: StatementTarget | null): Promise<AggregateResult> => {
    const operation = operationOf(resource, input);
    const { slots } = input.access;
    return runLimited(async () => {
      if (plan.maxEstimate !== null) checkEstimate(plan, await estimateRows(info, operation, slots, on));
      return runAggregate(info, operation, slots, on);
    });
  };
  const story: Story<RequestArguments, AggregateResult> = {
    parse: (request) =>
      then(parse(request), (input) => {
        checkFilter(plan, input.query.filter ?? null);
        return input;
      }),
    around: null,
    aloneTarget: compileAloneTarget(sequelize, settings, decisions.runner === 'rows'),
    plan: ({ request }) => (isByRows() && isAlone(sequelize, request) ? 'alone' : 'session'),
    runAlone: (_action, input, _around, on) => run(input, on),
    shape: (result, _input, format, { response }) => ({
      status: response.statusCode,
      headers: {},
      body: format === 'text' ? JSON.stringify(result) : result,
    }),
    sessions: readSessions([resource], settings),
    async runWithin(action, input) {
      const on = isByRows() ? ((await sessionTarget(sequelize, 'get')) ?? currentTarget(sequelize)) : null;
      return story.shape(await run(input, on), input, 'values', action);
    },
  };
  return answerWith(story, answer, shaper);
}

/** The operation of a request: the rows of its list, grouped. */
function operationOf(
  { plan: { info, model, name }, features }: Pick<HandlerContext['resource'], 'plan' | 'features'>,
  { query, access }: RequestArguments,
): AggregateOperation {
  const problem = choiceProblem(model);
  if (problem !== null) throw new TypeError(`${name} cannot be aggregated: ${problem}`);
  const { where } = features.list.operation(query, access) as ListOperation;
  const { group, sort, page, size, ...inputs } = readAggregateInputs(query, info);
  return {
    kind: 'aggregate',
    where: allOf(where, scopedRows(info)),
    group,
    ...inputs,
    order: totalGroupOrder(sort, group),
    window: { page, size },
  };
}
