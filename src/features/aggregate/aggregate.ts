/** Groups of the records of a list, at `GET /cities/aggregate`: the option `aggregate`. */

import { isPlainRepository } from '../../execute/records/repository.js';
import { isOverridden } from '../../express/resources/crud-controller.js';
import type { Resource } from '../../express/resources/resource.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import { type DescribedRoute, inputParameter, operationOf } from '../../openapi/described-route.js';
import { jsonContent } from '../../openapi/openapi-object.js';
import type { FeatureFactory } from '../../operation/feature.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import { aggregateInputs, ROW_INPUTS } from './aggregate-inputs.js';
import { type AggregatePlan, aggregatePlan, compileAggregate } from './aggregate-options.js';
import { compileAggregateHandler, decideAggregate } from './handle-aggregate.js';

/** A route for the resources that have the option. */
export const aggregate: FeatureFactory = Object.assign(() => null, {
  resourceOptions: { aggregate: compileAggregate },
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
    ...(plan.isWordNamed ? {} : { wordOption: 'aggregate.path' }),
    // Its guards decide about the same rows.
    single: USUAL.list,
    mend: (name) => `name another word with aggregate.path of ${name}`,
    problems,
    decide: decideAggregate,
    compile: (context) => compileAggregateHandler(plan, context),
    describe: ({ resource, action }) =>
      operationOf(resource, action, {
        operationId: `aggregate${resource.names.many}`,
        summary: `Group ${resource.names.phrases}`,
        description: 'Groups of records, and how many each has.',
        parameters: resource.features
          .listInputs(ROW_INPUTS, aggregateInputs(plan))
          .inputs.flatMap(inputParameter),
        answers: { 200: { description: 'A page of groups.', content: jsonContent({ type: 'object' }) } },
        problems: resource.features.list.problems,
      }),
  };
}

/** Code of a controller that decides about the rows of its list, and that no group would ask. */
function problems({ controller, repository }: Resource): string[] {
  const { name } = controller;
  const reasons = [
    ...(isOverridden(controller, 'list') ? [`${name} has a method list`] : []),
    ...(isPlainRepository(repository) ? [] : ['its repository is one of your own']),
  ];
  return reasons.map(
    (reason) =>
      `${name}: aggregate would count rows that the list may hide, because ${reason}; write the condition as scope or visible, or leave aggregate out.`,
  );
}
