/** Groups of the records of a list, at `GET /cities/aggregate`: the option `aggregate`. */
import type { SubresourcePlan } from '../../compile/resource-plan.js';
import { choiceProblem } from '../../describe/hooks-and-scopes-internals.js';
import { isPlainRepository } from '../../execute/records/repository.js';
import { isOverridden } from '../../express/resources/crud-controller.js';
import type { Resource } from '../../express/resources/resource.js';
import type { HandledRoute, RouteContext } from '../../handle/handled-route.js';
import type { DescribedRoute } from '../../openapi/described-route.js';
import type { Feature, FeatureContext, FeatureFactory } from '../../operation/feature.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import { decideSubresource, subresourceOf } from '../sub-resources/sub-resources.js';
import {
  type AggregatePlan,
  aggregateIndexes,
  aggregatePlan,
  checkAggregate,
  compileAggregate,
} from './aggregate-options.js';
import { aggregateSchemas, describeAggregate, WORDS } from './describe-aggregate.js';
import { compileAggregateHandler, decideAggregate } from './handle-aggregate.js';
import { relatedProblem } from './related-group.js';

/** A route for the resources that have the option, and below each record that has them as a sub-resource. */
export const aggregate: FeatureFactory = Object.assign(hintsOf, {
  resourceOptions: { aggregate: compileAggregate },
  check: checkAggregate,
  indexes: aggregateIndexes,
  routes(plan: RoutePlan) {
    const own = aggregatePlan(plan);
    const below = [...plan.relations.subresources.values()].flatMap((each) => {
      const target = aggregatePlan(each.target);
      return target ? routeOf(target, each) : [];
    });
    return own ? [routeOf(own, null), ...below] : below;
  },
});

/** Other interfaces have the values of an attribute at the list. */
function hintsOf({ plan }: Pick<FeatureContext, 'plan'>): Feature | null {
  const own = aggregatePlan(plan);
  if (!own) return null;
  const distinct = `For the distinct values of an attribute, send group=… to ${plan.prefix}/${own.word}.`;
  return { hints: { distinct } };
}

function routeOf(plan: AggregatePlan, below: SubresourcePlan | null): HandledRoute & DescribedRoute {
  const subresource = (context: RouteContext) => below && subresourceOf(below, context);
  const usual: HandledRoute & DescribedRoute = {
    ...USUAL.list,
    endpoint: 'aggregate',
    method: below ? `${below.method}.aggregate` : 'aggregate.groups',
    path: `${below?.path ?? ''}/${plan.word}`,
    parameters: [],
    words: WORDS,
    mend: (name) => `name another word with aggregate.path of ${name}`,
    compile: (context) => compileAggregateHandler(plan, context, subresource(context)),
    describe: (mounted) => describeAggregate(plan, mounted, below),
  };
  if (below)
    return {
      ...usual,
      executes: [{ operation: 'read' }, { plan: below.target, operation: 'list' }],
      decide: (context) => decideSubresource(subresourceOf(below, context), context),
    };
  return {
    ...usual,
    ...(plan.isWordNamed ? {} : { wordOption: 'aggregate.path' }),
    // Guards of the list decide about the same rows.
    single: USUAL.list,
    problems: (resource) => [
      ...problems(resource),
      ...filterProblems(plan, resource),
      ...groupProblems(plan, resource),
    ],
    decide: decideAggregate,
    schemas: (resource) => aggregateSchemas(plan, resource),
  };
}

function filterProblems({ requireFilter }: AggregatePlan, { plan }: Resource): string[] {
  const { name, filters, relations } = plan;
  if (requireFilter?.length !== 0 || filters.size > 0 || relations.filters.size > 0) return [];
  return [
    `${name}: aggregate.requireFilter demands a q, and filterAllow names nothing that it could be about; name an attribute there.`,
  ];
}

function groupProblems({ groups }: AggregatePlan, { plan }: Resource): string[] {
  const related = [...groups.values()].filter(({ attribute }) => !plan.info.attributes.has(attribute));
  return related.flatMap(({ name }) => {
    const problem = relatedProblem(plan, name);
    return problem === undefined ? [] : `${plan.name}: aggregate.group names '${name}', ${problem}`;
  });
}

/** Code that decides about the rows of lists, and that a group would not call. */
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
