/** A hand-written controller of the user's, registered so that its methods run in the sessions they ask for. */
import { type Action, getFromContainer } from 'routing-controllers';
import type { Class } from '../../metadata/crud-options.js';
import type { ResultShaper } from '../answer/result-shaper.js';
import type { PathSettings } from '../operation/decide-route.js';
import { addedRouteHandler } from '../operation/handle-added-route.js';
import type { Controller } from '../operation/run-method.js';
import {
  applicationClass,
  declaredActions,
  lineageOf,
  type RegisteredController,
  registerActions,
} from '../resources/controller-metadata.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';
import { askSettings } from './ask-settings.js';

/** Registers a controller that extends no generated one. */
export function registerPlainController(
  base: Class,
  shaper: ResultShaper,
  settings: PathSettings,
): RegisteredController {
  const storage = routingStorage();
  const lineage = lineageOf(base);
  const controller = applicationClass(base);
  const controllerFor = (action: Action) => getFromContainer(base as new () => object, action) as Controller;
  const actions = declaredActions(lineage);
  registerActions(actions, lineage, controller, () => addedRouteHandler(controllerFor, shaper, settings));
  for (const { method } of actions) askSettings(controller, method, settings, true);
  const declared = storage.controllers.filter(({ target }) => target === base);
  storage.controllers.push(...declared.map((args) => ({ ...args, target: controller })));
  return { controller, routes: [] };
}
