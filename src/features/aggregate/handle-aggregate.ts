/** The handler of `GET /cities/aggregate`: the story of a read whose result is groups. */
import type { Sequelize } from 'sequelize';
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
import type { ListOperation } from '../../operation/operation.js';
import { allOf, scopedRows } from '../../operation/predicates.js';
import { USUAL } from '../../operation/route-spec.js';
import { currentTarget } from '../../postgres/index.js';
import { compileWorkParser, type RequestArguments } from '../../request/parse-request.js';
import { aggregateInputs, aggregateInputsOf, ROW_INPUTS } from './aggregate-inputs.js';
import type { AggregateOperation, GroupOrder } from './aggregate-operation.js';
import type { AggregatePlan } from './aggregate-options.js';
import { type AggregateResult, runAggregate } from './run-aggregate.js';

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

/** Compiles the handler. */
export function compileAggregateHandler(
  plan: AggregatePlan,
  { resource, decisions, shaper }: HandlerContext,
): ActionRunner {
  const { answer, settings } = decisions;
  const { info, model, name } = resource.plan;
  const sequelize = model.sequelize as Sequelize;
  const readers = resource.features.listInputs(ROW_INPUTS, aggregateInputs(plan));
  const isPlain = openTest(info, 'list', false);
  const isByRows = () => decisions.runner === 'rows' && isPlain();
  const operationOf = ({ query, access }: RequestArguments): AggregateOperation => {
    const problem = choiceProblem(model);
    if (problem !== null) throw new TypeError(`${name} cannot be aggregated: ${problem}`);
    const { where } = resource.features.list.operation(query, access) as ListOperation;
    const { group, page, size } = aggregateInputsOf(query);
    const order = group.map((each): GroupOrder => ({ name: each.name, descending: false }));
    return {
      kind: 'aggregate',
      where: allOf(where, scopedRows(info)),
      group,
      order,
      window: { page, size },
    };
  };
  const story: Story<RequestArguments, AggregateResult> = {
    parse: compileWorkParser(resource, 'aggregate', readers),
    around: null,
    aloneTarget: compileAloneTarget(sequelize, settings, decisions.runner === 'rows'),
    plan: ({ request }) => (isByRows() && isAlone(sequelize, request) ? 'alone' : 'session'),
    runAlone: (_action, input, _around, on) => runAggregate(info, operationOf(input), input.access.slots, on),
    shape: (result, _input, format, { response }) => ({
      status: response.statusCode,
      headers: {},
      body: format === 'text' ? JSON.stringify(result) : result,
    }),
    sessions: readSessions([resource], settings),
    async runWithin(action, input) {
      const on = isByRows() ? ((await sessionTarget(sequelize, 'get')) ?? currentTarget(sequelize)) : null;
      const result = await runAggregate(info, operationOf(input), input.access.slots, on);
      return story.shape(result, input, 'values', action);
    },
  };
  return answerWith(story, answer, shaper);
}
