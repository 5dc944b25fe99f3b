/** The handler of `GET /cities/aggregate`: the story of a read whose result is groups. */
import type { Request } from 'express';
import type { Action } from 'routing-controllers';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { checkChoice } from '../../describe/hooks-and-scopes-internals.js';
import { modelFastPathBlockers } from '../../execute/customization/model-fast-path-blockers.js';
import { openTest } from '../../execute/customization/plain-queries.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import type { Resource } from '../../express/resources/resource.js';
import { decideRows, type RouteDecisions } from '../../handle/decide-route.js';
import { compileValueHandler } from '../../handle/handle-values.js';
import type { HandlerContext, RouteContext } from '../../handle/handled-route.js';
import type { Access } from '../../operation/access.js';
import type { ResourceFeatures } from '../../operation/compile-features.js';
import type { ListOperation } from '../../operation/operation.js';
import { allOf, scopedRows, sqlCondition } from '../../operation/predicates.js';
import { USUAL } from '../../operation/route-spec.js';
import type { StatementTarget } from '../../postgres/index.js';
import { compileWorkParser, type RequestArguments } from '../../request/parse-request.js';
import type { Filter } from '../../request/query/predicate.js';
import { type Maybe, then } from '../../util/promises.js';
import { compileSubresourceParser } from '../sub-resources/parse-subresource.js';
import { compileParentReader, type Subresource } from '../sub-resources/run-subresource.js';
import { aggregateInputs, ROW_INPUTS, readAggregateInputs } from './aggregate-inputs.js';
import type { AggregateOperation } from './aggregate-operation.js';
import type { AggregatePlan } from './aggregate-options.js';
import { AGGREGATES, checkEstimate, checkFilter } from './limit-aggregates.js';
import { estimateRows, runAggregate } from './run-aggregate.js';

/** Decides about the route: no record is made, so that only settings and queries of the user's keep our SQL away. */
export function decideAggregate(context: RouteContext): RouteDecisions {
  const { resource } = context;
  return decideRows(resource, USUAL.list, context, () =>
    modelFastPathBlockers(resource.plan.info, 'list', false),
  );
}

/** The inputs of a resource's aggregates. */
export function inputsOf(
  plan: AggregatePlan,
  resource: { readonly plan: ResourcePlan; readonly features: ResourceFeatures },
) {
  return resource.features.listInputs(ROW_INPUTS, aggregateInputs(plan, resource.plan));
}

/** Compiles the handler of the groups of all records, or of those below another one. */
export function compileAggregateHandler(
  plan: AggregatePlan,
  context: HandlerContext,
  below: Subresource | null,
): ActionRunner {
  if (!below) {
    const { resource } = context;
    const parse = compileWorkParser(resource, 'aggregate', inputsOf(plan, resource));
    return compileStory(plan, context, { resource, parse, isOpen: () => true, locate: null });
  }
  const { parent, target } = below;
  const { isOpen, byRows, byMethod } = compileParentReader(below);
  return compileStory(plan, context, {
    resource: target,
    parse: compileSubresourceParser(parent, target, below.plan, 'aggregate', inputsOf(plan, target)),
    isOpen,
    async locate(input, action, on) {
      const key = await (on ? byRows(input, on) : byMethod(action, input));
      return key === null ? null : input.access.under(key);
    },
  });
}

interface Located<I extends RequestArguments> {
  /** The resource whose records are grouped. */
  readonly resource: Resource;
  parse(request: Request): Maybe<I>;
  /** True where our SQL may find the rows now. */
  isOpen(): boolean;
  /** Finds the rows of a record; null where it can have none. Null is the access of the request. */
  readonly locate: ((input: I, action: Action, on: StatementTarget | null) => Promise<Access | null>) | null;
}

function compileStory<I extends RequestArguments>(
  plan: AggregatePlan,
  context: HandlerContext,
  { resource, parse, isOpen, locate }: Located<I>,
): ActionRunner {
  const { info, model, name } = resource.plan;
  const isPlain = openTest(info, 'list', false);
  return compileValueHandler<I>(context, {
    resources: context.resource === resource ? [resource] : [context.resource, resource],
    parse: (request) =>
      then(parse(request), (input) => {
        const { filter = null, search = null } = input.query;
        checkFilter(plan, filter, search as Filter | null);
        return input;
      }),
    isOpen: () => isPlain() && isOpen(),
    read: (input, action, on) =>
      AGGREGATES.run(async () => {
        checkChoice(model, `${name} cannot be aggregated`);
        const found = locate ? await locate(input, action, on) : input.access;
        const access = found ?? input.access;
        const list = resource.features.list.operation(input.query, access) as ListOperation;
        const operation: AggregateOperation = {
          ...readAggregateInputs(input.query, info),
          where: found ? allOf(list.where, scopedRows(info)) : NO_ROWS,
        };
        if (plan.maxEstimate !== null)
          checkEstimate(plan, await estimateRows(info, operation, access.slots, on));
        return runAggregate(info, operation, access.slots, on);
      }),
  });
}

const NO_ROWS = sqlCondition`false`;
