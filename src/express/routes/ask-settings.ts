/** Has routes ask for the settings of row security before anything else of a request is looked at. */
import type { PathSettings } from '../../handle/decide-route.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';

/**
 * Registers what asks, behind all that the user's decorators put before the method so far.
 *
 * @param isAmbient whether code of the user's takes part in the route
 */
export function askSettings(
  controller: new () => object,
  method: string,
  { rls }: PathSettings,
  isAmbient: () => boolean,
): void {
  if (!rls) return;
  const middleware = rls.handler(isAmbient());
  routingStorage().uses.push({ target: controller, method, middleware, afterAction: false });
}
