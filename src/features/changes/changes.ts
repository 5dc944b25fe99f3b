/** Changes in order and without gaps, at `GET /cities/changes`: the option `changes`, and the endpoint of this name. */
import { choiceProblem } from '../../describe/hooks-and-scopes-internals.js';
import { isPlainRepository } from '../../execute/records/repository.js';
import { isOverridden } from '../../express/resources/crud-controller.js';
import type { Resource } from '../../express/resources/resource.js';
import type { PathSettings } from '../../handle/decide-route.js';
import type { HandledRoute, SharedRoute, SharingFeature } from '../../handle/handled-route.js';
import type { DescribedRoute } from '../../openapi/described-route.js';
import type { Feature, FeatureContext } from '../../operation/feature.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import { throwProblems } from '../../util/config-error.js';
import { GAUGES } from '../../util/gauges.js';
import { changesOf, historyOf } from '../capture/capture-options.js';
import { changeTables } from '../capture/change-table.js';
import { changesSchemas, describeChanges, WORDS } from './describe-changes.js';
import { FEEDS } from './feed.js';
import { compileFeedSettings, type FeedSettings, USUAL_SETTINGS } from './feed-options.js';
import { changesHandler } from './handle-changes.js';
import { jointHandler } from './joint-feed.js';

/** The settings of an application, as the features of its resources hold them. */
interface FedFeature extends Feature {
  readonly feed: FeedSettings;
}

function makeFeature({ plan, application }: FeatureContext): FedFeature | null {
  if (!changesOf(plan)) return null;
  return {
    feed: (application?.['changes'] as FeedSettings | undefined) ?? USUAL_SETTINGS,
    causes: { 503: 'Too many streams of changes may be open.' },
  };
}

/** A route for the resources that have the option, and one for several of them. */
export const changes: SharingFeature = Object.assign(makeFeature, {
  options: { changes: compileFeedSettings },
  routes: (plan: RoutePlan) => (changesOf(plan) ? [routeOf(plan)] : []),
  shared,
});

function routeOf(plan: RoutePlan): HandledRoute & DescribedRoute {
  const { word = '', isWordNamed = false } = changesOf(plan) ?? {};
  return {
    ...USUAL.list,
    endpoint: 'changes',
    // No method has a dot in its name.
    method: 'changes.list',
    path: `/${word}`,
    parameters: [],
    words: WORDS,
    ...(isWordNamed ? {} : { wordOption: 'changes.path' }),
    // Its guards decide about the same rows.
    single: USUAL.list,
    mend: (name) => `name another path with changes.path of ${name}`,
    problems,
    compile: (context) => changesHandler(context, settingsOf(context.resource)),
    describe: (mounted) => describeChanges(mounted, settingsOf(mounted.resource)),
    schemas: changesSchemas,
  };
}

function settingsOf({ features }: Pick<Resource, 'features'>): FeedSettings {
  const own = features.all.find((each): each is FedFeature => 'feed' in each);
  return own?.feed ?? USUAL_SETTINGS;
}

/** Code that decides about rows of lists, and that no event would go through. */
function problems({ controller, repository, plan }: Resource, { rls }: PathSettings): string[] {
  const { name } = plan;
  const { scope, visible = null } = plan.access ?? {};
  const choice = choiceProblem(plan.model);
  const passed = [
    ...(isOverridden(controller, 'list') ? [`${controller.name} has a method list`] : []),
    ...(isPlainRepository(repository) ? [] : ['its repository is one of your own']),
  ];
  return [
    ...passed.map(
      (reason) =>
        `${name}: changes would name records that the list may hide, because ${reason}; write the condition as scope or visible, or leave changes out.`,
    ),
    ...(choice === null ? [] : [`${name}: changes cannot be, because ${choice}`]),
    ...(rls?.isSecured && !scope?.size && visible === null
      ? [
          `${name}: changes needs scope or visible beside rls, because the policies of PostgreSQL judge rows, and not the images of rows that it stores.`,
        ]
      : []),
    ...(historyOf(plan)?.images === 'changed'
      ? [`${name}: changes needs whole images to judge them; leave out history.images, or changes.`]
      : []),
  ];
}

/** The stream of several resources. Their events are in one table, so that one place is in all of them. */
function shared(
  resources: readonly Resource[],
  application: Readonly<Record<string, unknown>>,
): readonly SharedRoute[] {
  const { path = null } = (application['changes'] as FeedSettings | undefined) ?? {};
  if (path === null) return [];
  const fed = resources.filter(({ plan }) => changesOf(plan));
  const [first] = fed;
  const away = fed.find(
    ({ plan }) =>
      plan.model.sequelize !== first?.plan.model.sequelize ||
      (first && tableOf(plan) !== tableOf(first.plan)),
  );
  const taken = resources.find(({ plan }) => plan.prefix === path || plan.prefix === '');
  throwProblems([
    ...(first
      ? []
      : ['changes.path has no resource to stream; give one the option changes, or leave path out.']),
    ...(first && away
      ? [
          `changes.path streams ${first.plan.name} and ${away.plan.name}, whose changes are in two tables; leave path out.`,
        ]
      : []),
    ...(taken
      ? [
          `changes.path is '${path}', where ${taken.plan.name} may answer; use another path, such as '/all-changes'.`,
        ]
      : []),
  ]);
  return [{ path, handler: (router) => jointHandler(fed, router) }];
}

function tableOf({ model }: Pick<Resource['plan'], 'model'>): string {
  return changeTables(model).changes;
}

GAUGES.push({
  name: 'crud_changes_lag_seconds',
  help: 'Time since the last moment whose changes are known.',
  read: () => Math.max(0, ...[...FEEDS].map(({ lag }) => lag / 1_000)),
});
GAUGES.push({
  name: 'crud_changes_streams',
  help: 'Open streams of changes, and requests that wait for an event.',
  read: () => total(({ subscribers }) => subscribers.size),
});
GAUGES.push({
  name: 'crud_changes_pending',
  help: 'Streams that have not got all changes yet, because they read them or their client takes nothing.',
  read: () => total(({ subscribers }) => [...subscribers].filter(({ isBusy }) => isBusy).length),
});

function total(count: (feed: typeof FEEDS extends Set<infer F> ? F : never) => number): number {
  return [...FEEDS].reduce((sum, feed) => sum + count(feed), 0);
}
