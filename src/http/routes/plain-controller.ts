/** A hand-written controller of the user's, registered so that its methods run in the sessions they ask for. */
import { getFromContainer } from 'routing-controllers';
import type { Class } from '../../metadata/crud-options.js';
import { type Controller, runInRequestSession } from '../operation/run-in-request-session.js';
import {
  applicationClass,
  declaredActions,
  lineageOf,
  type RegisteredController,
  registerActions,
} from '../resources/controller-metadata.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';
import type { ResultShaper } from './express-driver.js';

/** Registers a controller that extends no generated one. */
export function registerPlainController(base: Class, shaper: ResultShaper): RegisteredController {
  const storage = routingStorage();
  const lineage = lineageOf(base);
  const controller = applicationClass(base);
  registerActions(declaredActions(lineage), lineage, controller, async (metadata, action, params) => {
    const call = () =>
      (getFromContainer(base as new () => object, action) as Controller)[metadata.method]?.(...params);
    shaper.guard(action.response);
    return runInRequestSession(action, call, (result) => shaper.shape(result, metadata, action));
  });
  const declared = storage.controllers.filter(({ target }) => target === base);
  storage.controllers.push(...declared.map((args) => ({ ...args, target: controller })));
  return { controller, routes: [] };
}
