/** The story of a request to a route that the user wrote: run, shape, commit; routing-controllers sends. */
import type { Action } from 'routing-controllers';
import type { ResultShaper } from '../answer/result-shaper.js';
import type { ActionRunner } from '../resources/controller-metadata.js';
import { commitRequest, inAddedSession } from './commit-request.js';
import type { Controller } from './run-method.js';

/** What answers such a route. */
export function addedRouteHandler(
  controllerFor: (action: Action) => Controller,
  shaper: ResultShaper,
): ActionRunner {
  return (metadata, action, params) => {
    shaper.guard(action.response);
    return commitRequest(action, inAddedSession, async () => {
      const result = await controllerFor(action)[metadata.method]?.(...params);
      return shaper.shape(result, metadata, action);
    });
  };
}
