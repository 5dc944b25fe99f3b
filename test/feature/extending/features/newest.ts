/** `GET /newest`: the list, the newest rows first. Off for models without an endpoint `list`. */
import { compileHandler } from '../../../../src/handle/handle.js';
import type { HandledRoute } from '../../../../src/handle/handled-route.js';
import type { FeatureFactory } from '../../../../src/operation/feature.js';
import { type RoutePlan, USUAL } from '../../../../src/operation/route-spec.js';
import { then } from '../../../../src/util/promises.js';

const NEWEST: HandledRoute = {
  ...USUAL.list,
  method: 'newest.list',
  path: '/newest',
  parameters: [],
  words: { ...USUAL.list.words, verb: 'List the newest' },
  single: USUAL.list,
  compile({ resource, decisions, rows, shaper }) {
    const sort = [{ attribute: resource.plan.info.primaryKey[0]?.name ?? '', descending: true }];
    return compileHandler(resource, USUAL.list, decisions, rows, shaper, (request) =>
      then(resource.parsers.list(request), (input) => ({ ...input, query: { ...input.query, sort } })),
    );
  },
};

export const newest: FeatureFactory = Object.assign(() => null, {
  routes: ({ endpoints }: RoutePlan) => (endpoints.has('list') ? [NEWEST] : []),
});
