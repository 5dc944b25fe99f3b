/** Groups of the records of a list, at `GET /cities/aggregate`: the option `aggregate`. */
import { choiceProblem } from '../../describe/hooks-and-scopes-internals.js';
import { isPlainRepository } from '../../execute/records/repository.js';
import { isOverridden } from '../../express/resources/crud-controller.js';
import type { Resource } from '../../express/resources/resource.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import type { DescribedRoute } from '../../openapi/described-route.js';
import type { FeatureFactory } from '../../operation/feature.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import {
  type AggregatePlan,
  aggregateIndexes,
  aggregatePlan,
  checkAggregate,
  compileAggregate,
} from './aggregate-options.js';
import { aggregateSchemas, describeAggregate, WORDS } from './describe-aggregate.js';
import { compileAggregateHandler, decideAggregate } from './handle-aggregate.js';

/** A route for the resources that have the option. */
export const aggregate: FeatureFactory = Object.assign(() => null, {
  resourceOptions: { aggregate: compileAggregate },
  check: checkAggregate,
  indexes: aggregateIndexes,
  routes(plan: RoutePlan) {
    const own = aggregatePlan(plan);
    return own ? [routeOf(own)] : [];
  },
});

function routeOf(plan: AggregatePlan): HandledRoute & DescribedRoute {
  return {
    ...USUAL.list,
    endpoint: 'aggregate',
    method: 'aggregate.groups',
    path: `/${plan.word}`,
    parameters: [],
    words: WORDS,
    ...(plan.isWordNamed ? {} : { wordOption: 'aggregate.path' }),
    // Its guards decide about the same rows.
    single: USUAL.list,
    mend: (name) => `name another word with aggregate.path of ${name}`,
    problems,
    decide: decideAggregate,
    compile: (context) => compileAggregateHandler(plan, context),
    describe: (mounted) => describeAggregate(plan, mounted),
    schemas: (resource) => aggregateSchemas(plan, resource),
  };
}

/** Code that decides about the rows of lists, and that no group would ask. */
function problems({ controller, repository, plan: { model } }: Resource): string[] {
  const { name } = controller;
  const choice = choiceProblem(model);
  const reasons = [
    ...(isOverridden(controller, 'list') ? [`${name} has a method list`] : []),
    ...(isPlainRepository(repository) ? [] : ['its repository is one of your own']),
  ];
  return [
    ...reasons.map(
      (reason) =>
        `${name}: aggregate would count rows that the list may hide, because ${reason}; write the condition as scope or visible, or leave aggregate out.`,
    ),
    ...(choice === null ? [] : [`${name}: aggregate cannot be, because ${choice}`]),
  ];
}
