/** Links between records: `PUT` and `DELETE /users/1/groups/7`, `POST` and `PUT /users/1/groups`. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { modelFastPathBlockers } from '../../execute/customization/model-fast-path-blockers.js';
import { isPlainRepository } from '../../execute/records/repository.js';
import { isOverridden } from '../../express/resources/crud-controller.js';
import type { Resource } from '../../express/resources/resource.js';
import type { ActingFeature } from '../../handle/around.js';
import { decideRows } from '../../handle/decide-route.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import type { DescribedRoute } from '../../openapi/described-route.js';
import type { FeatureContext, FeatureFactory } from '../../operation/feature.js';
import type { RowWork } from '../../operation/route-settings.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import { subresourceOf } from '../sub-resources/sub-resources.js';
import { describeLinks, WORDS } from './describe-links.js';
import { compileLinkHandler } from './handle-links.js';
import {
  checkLinks,
  compileLinks,
  describePairs,
  linkedRelations,
  listLinked,
  relateLinks,
  tableProblems,
} from './link-options.js';
import type { LinkWork } from './parse-links.js';
import { shownLinks } from './shown-links.js';

type Relation = ReturnType<typeof linkedRelations>[number];

/** Routes for the relations that `links` names, and the attributes of the links in their lists. */
export const links: FeatureFactory = Object.assign(
  ({ plan }: FeatureContext): ActingFeature | null => {
    const all = linkedRelations(plan);
    if (all.length === 0) return null;
    return {
      memberBelow: (name: string) => shownLinks(all, name),
      works: ({ method }) =>
        all.flatMap((each) =>
          WORKS.flatMap((work) => (methodOf(work, each) === method ? worksOf(work, each) : [])),
        ),
    };
  },
  {
    resourceOptions: { links: compileLinks },
    check: checkLinks,
    relate: relateLinks,
    listsBelow: listLinked,
    inspectTable: (plan: ResourcePlan) => ({ problems: tableProblems(plan), warnings: [] }),
    routes: (plan: RoutePlan) =>
      linkedRelations(plan).flatMap((each) => WORKS.map((work) => routeOf(work, each))),
  },
);

const WORKS: readonly LinkWork[] = ['link', 'unlink', 'add', 'replace'];

const VERBS = { link: 'put', unlink: 'delete', add: 'post', replace: 'put' } as const;

/** No method of a controller has a dot in its name. */
function methodOf(work: LinkWork, { below }: Relation): string {
  return `${below.relation.name}.${work}`;
}

/** The rows of a join model are made and removed, and those of children changed. */
function worksOf(work: LinkWork, { below: { relation } }: Relation): readonly RowWork[] {
  const { target, through } = relation;
  if (!through) return [{ model: target, operation: 'update' }];
  const added = work === 'unlink' ? [] : (['create', 'update'] as const);
  const removed = work === 'unlink' || work === 'replace' ? (['delete'] as const) : [];
  return [...added, ...removed].map((operation) => ({ model: through.model, operation }));
}

function routeOf(work: LinkWork, relation: Relation): HandledRoute & DescribedRoute {
  const { below, link } = relation;
  const { name } = below.relation;
  const method = methodOf(work, relation);
  const route: HandledRoute & DescribedRoute = {
    ...USUAL.update,
    endpoint: 'links',
    method,
    verb: VERBS[work],
    path: work === 'link' || work === 'unlink' ? `${below.path}/:target` : below.path,
    parameters: [],
    status: work === 'unlink' ? 204 : 200,
    words: WORDS[work],
    // Its guards decide about the record.
    single: USUAL.update,
    executes: [{ operation: 'update' }],
    mend: (owner) => `leave '${name}' out of the links of ${owner}`,
    problems: (resource) => (work === 'link' ? problems(resource, relation) : []),
    decide: (context) =>
      decideRows(context.resource, { ...USUAL.update, method }, context, () => blockers(relation)),
    compile: (context) => {
      const { plan: _, ...sides } = subresourceOf(below, context);
      return compileLinkHandler({ below, link, ...sides }, work, route, context);
    },
    describe: (mounted) => describeLinks(work, relation, mounted),
  };
  return route;
}

/** Why Sequelize writes the rows of a join model, one by one. */
function blockers({ below }: Relation): readonly string[] {
  if (!below.through) return [];
  const info = describePairs(below);
  const found = (['create', 'update', 'delete'] as const).flatMap((each) =>
    modelFastPathBlockers(info, each, false),
  );
  return [...new Set(found)].map((reason) => `${info.name}: ${reason}`);
}

/** Code that decides about the record, and that links would pass by. A rule of the relation takes its place. */
function problems({ controller, repository, plan }: Resource, { below, link }: Relation): string[] {
  if (link.can.add !== null && link.can.remove !== null) return [];
  const { name } = below.relation;
  const reasons = [
    ...(['read', 'update'] as const)
      .filter((each) => isOverridden(controller, each))
      .map((each) => `${controller.name} has a method ${each}`),
    ...(isPlainRepository(repository) ? [] : ['its repository is one of your own']),
  ];
  return reasons.map(
    (reason) =>
      `${plan.name}: links.${name} would change what its own code may refuse, because ${reason}; give it can: { add, remove } with rules of the request, or leave it out.`,
  );
}
