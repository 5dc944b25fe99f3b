/** The story of a request to a route that the user wrote: run, shape, commit; routing-controllers sends. */
import type { Action } from 'routing-controllers';
import { hasAccessRules } from '../express/resources/application-access.js';
import type { ActionRunner } from '../express/resources/controller-metadata.js';
import type { ResultShaper } from '../express/resources/result-shaper.js';
import { existingSessions } from '../request/request-sessions.js';
import { checkJson } from '../respond/json-answer.js';
import { commitRequest, inAddedSession, onPath } from './commit-request.js';
import type { PathSettings } from './decide-route.js';
import { send } from './handle.js';
import type { Controller } from './run-method.js';
import type { PageShaper } from './shape-page.js';

/** Handler of a route that the user has added to a controller. */
export function addedRouteHandler(
  controllerFor: (action: Action) => Controller,
  shaper: ResultShaper,
  settings: PathSettings,
  shapePage?: PageShaper,
): ActionRunner {
  const inSession = onPath(inAddedSession, settings);
  return async (metadata, action, params) => {
    const { request, response } = action;
    shaper.guard(response);
    const sendAnswer = await commitRequest(metadata, action, inSession, async () => {
      const result = await controllerFor(action)[metadata.method]?.(...params);
      if (hasAccessRules(request)) await shaper.ready(result, action);
      const answer = shapePage ? await shapePage(result, action) : { result };
      if (!('draft' in answer)) {
        const shown = shaper.shape(answer.result, metadata, action);
        return () => shown;
      }
      const { draft } = answer;
      if (existingSessions(request)?.hasWrites && typeof draft.body === 'object')
        checkJson(draft.body, response);
      return () => send(draft, response, metadata, shaper);
    });
    return sendAnswer();
  };
}
