/** The routes of an application, for people and programs to look at. */
import type { Endpoint } from '../../metadata/crud-options.js';
import { sequelizeProblem } from '../../persistence/customization/internals-trial.js';
import { presentModelBlockers } from '../../persistence/customization/model-fast-path-blockers.js';
import { generatedRouteOf } from '../resources/generated-routes.js';
import type { MountedRouter } from './mount-resources.js';

/** One route. */
export interface RouteInfo {
  /** `GET`, `POST` … */
  readonly method: string;
  /** With the route prefix, such as `/api/cities/:id`. */
  readonly path: string;
  /** The model's name. */
  readonly resource: string;
  /** The generated operation, or null for a route that a subclass added. */
  readonly operation: Endpoint | null;
  /** The controller's method that answers. */
  readonly handler: string;
  /** Why it does not run our SQL now but Sequelize's, such as `the model has a hook beforeFind`; none when it does. */
  readonly generalPathReasons: readonly string[];
}

/** Describes what was mounted, as it is now. */
export function describeRoutes(routePrefix: string, routes: MountedRouter['routes']): readonly RouteInfo[] {
  return Object.freeze(
    routes.flatMap(({ resource, registered }) =>
      registered.routes.map(({ verb, path, method, generalPathReasons }) => {
        const operation = generatedRouteOf(method)?.operation ?? null;
        const { name, info } = resource.plan;
        const isFixed = operation === null || sequelizeProblem() !== undefined;
        const present = isFixed ? [] : presentModelBlockers(info, operation);
        return Object.freeze({
          method: verb.toUpperCase(),
          path: `${routePrefix}${path}`,
          resource: name,
          operation,
          handler: method,
          generalPathReasons: Object.freeze([...new Set([...generalPathReasons, ...present])]),
        });
      }),
    ),
  );
}
