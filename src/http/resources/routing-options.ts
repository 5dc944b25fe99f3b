/** The `routing` option: what `bootstrap` passes on to routing-controllers. */
import type { RoutingControllersOptions } from 'routing-controllers';

/** The options of routing-controllers that are the user's to set. */
export type RoutingOptions = Omit<
  RoutingControllersOptions,
  'controllers' | 'routePrefix' | 'defaultErrorHandler'
>;
