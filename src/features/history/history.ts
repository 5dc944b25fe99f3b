/** The past of a record: `GET /cities/{id}/history`, and `POST /cities/{id}/revert`, which goes back. */
import type { ResourceCheck } from '../../compile/compile-resource.js';
import { choiceProblem } from '../../describe/hooks-and-scopes-internals.js';
import { modelFastPathBlockers } from '../../execute/customization/model-fast-path-blockers.js';
import { Repository } from '../../execute/records/repository.js';
import { isOverridden } from '../../express/resources/crud-controller.js';
import { parameterProblems } from '../../express/resources/method-problems.js';
import type { Resource } from '../../express/resources/resource.js';
import { decideRows, type PathSettings } from '../../handle/decide-route.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import type { DescribedRoute } from '../../openapi/described-route.js';
import type { FeatureFactory } from '../../operation/feature.js';
import { type RoutePlan, USUAL } from '../../operation/route-spec.js';
import { historyOf } from '../capture/capture-options.js';
import {
  describeHistory,
  describeRevert,
  HISTORY_WORDS,
  pastSchemas,
  REVERT_WORDS,
} from './describe-history.js';
import { compileHistoryHandler } from './handle-history.js';
import { recordHook } from './past-record.js';
import { compileRevertHandler } from './revert.js';

/** Routes for the resources that name the endpoints. */
export const history: FeatureFactory = Object.assign(() => null, {
  check: checkEndpoints,
  routes: ({ endpoints }: RoutePlan) => [HISTORY, REVERT].filter(({ endpoint }) => endpoints.has(endpoint)),
});

const HISTORY: HandledRoute & DescribedRoute & { readonly endpoint: 'history' } = {
  ...USUAL.read,
  endpoint: 'history',
  // No method has a dot in its name.
  method: 'history.list',
  path: '/:id/history',
  parameters: [],
  words: HISTORY_WORDS,
  single: USUAL.read,
  decide: (context) =>
    decideRows(context.resource, USUAL.read, context, () =>
      modelFastPathBlockers(context.resource.plan.info, 'read', false),
    ),
  compile: compileHistoryHandler,
  problems,
  describe: describeHistory,
  schemas: pastSchemas,
};

const REVERT: HandledRoute & DescribedRoute & { readonly endpoint: 'revert' } = {
  ...USUAL.update,
  endpoint: 'revert',
  method: 'history.revert',
  verb: 'post',
  path: '/:id/revert',
  parameters: [],
  status: 200,
  words: REVERT_WORDS,
  single: USUAL.update,
  compile: (context) => compileRevertHandler(REVERT, context),
  problems: (resource, settings) => [
    ...problems(resource, settings),
    ...parameterProblems(
      resource,
      ['update'],
      "and endpoints has 'revert', which calls it with values of its own",
    ),
  ],
  describe: describeRevert,
};

function checkEndpoints(plan: Parameters<ResourceCheck>[0]): string[] {
  const { endpoints, access, info } = plan;
  const named = (['history', 'revert'] as const).filter((each) => endpoints.has(each));
  const option = historyOf(plan);
  return named.flatMap((each) => [
    ...(option
      ? []
      : [
          `endpoints has '${each}', and the changes of records are not stored; set history: true, or leave it out.`,
        ]),
    ...(access?.can.has('history')
      ? []
      : [
          `endpoints has '${each}', which shows values of the past, and can has no rule for history; give it a function of the request, or ` +
            'true for everybody.',
        ]),
    ...(each === 'revert' && option?.images === 'changed'
      ? [
          "endpoints has 'revert', which needs whole states, and history.images is 'changed'; use 'row', or leave one of both out.",
        ]
      : []),
    ...(each === 'revert' && info.attributes.has('skipped')
      ? [
          "endpoints has 'revert', whose answer has the names of lost values as 'skipped', and so has the model; leave it out.",
        ]
      : []),
  ]);
}

/** Code that decides about records that are read, and that a history would pass by; and policies that judge no stored image. */
function problems({ controller, repository, plan }: Resource, { rls }: PathSettings): string[] {
  const { name } = controller;
  const { get, find } = Repository.prototype;
  const hook = recordHook(plan);
  const choice = choiceProblem(plan.model);
  const reasons = [
    ...(isOverridden(controller, 'read') ? [`${name} has a method read`] : []),
    ...(repository.get === get && repository.find === find
      ? []
      : ['its repository has a method get or find']),
    ...(hook ? [hook] : []),
  ];
  const isJudged = plan.access !== null && (plan.access.scope.size > 0 || plan.access.visible !== null);
  return [
    ...reasons.map(
      (reason) =>
        `${name}: a history would show what reads may hide, because ${reason}; write the condition as scope or visible, or leave history and ` +
        'revert out of endpoints.',
    ),
    ...(choice === null ? [] : [`${name}: a history cannot be, because ${choice}`]),
    ...(!rls?.isSecured || isJudged
      ? []
      : [
          `${name}: bootstrap has rls, whose policies judge rows and no stored changes, and endpoints has history or revert; give ${plan.name} a scope ` +
            'or visible, or leave them out.',
        ]),
  ];
}
