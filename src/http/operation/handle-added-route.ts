/** The story of a request to a route that the user wrote: run, shape, commit; routing-controllers sends. */
import type { Action } from 'routing-controllers';
import type { ResultShaper } from '../answer/result-shaper.js';
import { hasAccessRules } from '../resources/application-access.js';
import type { ActionRunner } from '../resources/controller-metadata.js';
import { commitRequest, inAddedSession, onPath } from './commit-request.js';
import type { PathSettings } from './decide-route.js';
import type { Controller } from './run-method.js';

/** What answers such a route. */
export function addedRouteHandler(
  controllerFor: (action: Action) => Controller,
  shaper: ResultShaper,
  settings: PathSettings,
): ActionRunner {
  const inSession = onPath(inAddedSession, settings);
  return (metadata, action, params) => {
    shaper.guard(action.response);
    return commitRequest(action, inSession, async () => {
      const result = await controllerFor(action)[metadata.method]?.(...params);
      if (hasAccessRules(action.request)) await shaper.ready(result, action);
      return shaper.shape(result, metadata, action);
    });
  };
}
