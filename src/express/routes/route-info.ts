/** The routes of an application, for people and programs to read. */

import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { Endpoint, Operation } from '../../declare/crud-options.js';
import type { OptionRoute } from '../../declare/endpoint.js';
import { sequelizeProblem } from '../../execute/customization/internals-trial.js';
import { presentModelBlockers } from '../../execute/customization/model-fast-path-blockers.js';
import type { MountedRouter } from './mount-resources.js';

/** A route. */
export interface RouteInfo {
  /** `GET`, `POST` … */
  readonly method: string;
  /** Path with the route prefix, such as `/api/cities/:id`. */
  readonly path: string;
  /** The name of the model; of a sub-resource, of that whose records are listed. */
  readonly resource: string;
  /** The generated operation, or null for a route that a subclass added. A sub-resource is a list. */
  readonly operation: Operation | OptionRoute | null;
  /** The operations that it executes as well, such as `createMany` for an array and `upsert` with `on_conflict`. */
  readonly joined: readonly (Operation | OptionRoute)[];
  /** The controller's method that answers; of a sub-resource its option, such as `subresources.reviews`. */
  readonly handler: string;
  /** Why it does not run our SQL now but Sequelize's, such as `the model has a hook beforeFind`; none when it does. */
  readonly generalPathReasons: readonly string[];
}

/** The paths of the routes, without the reasons for their executors. */
export function describePaths(
  routePrefix: string,
  routes: MountedRouter['routes'],
): readonly Pick<RouteInfo, 'method' | 'path'>[] {
  return routes.flatMap(({ registered }) =>
    registered.routes.map(({ verb, path }) => ({
      method: verb.toUpperCase(),
      path: `${routePrefix}${path}`,
    })),
  );
}

/** Describes the mounted routes, as they are now. */
export function describeRoutes(routePrefix: string, routes: MountedRouter['routes']): readonly RouteInfo[] {
  return Object.freeze(
    routes.flatMap(({ resource, registered }) =>
      registered.routes.map(({ verb, path, method, spec, joined, generalPathReasons }) => {
        const { plan } = resource;
        const executes = (spec?.executes ?? (spec ? [spec] : [])).map(({ operation, ...of }) => ({
          operation,
          plan: ('plan' in of && of.plan) || plan,
        }));
        const isFixed = sequelizeProblem() !== undefined;
        const present = isFixed ? [] : presentReasons(executes);
        return Object.freeze({
          method: verb.toUpperCase(),
          path: `${routePrefix}${path}`,
          resource: (executes.at(-1)?.plan ?? plan).name,
          operation: spec?.endpoint ?? null,
          joined: Object.freeze(joined.map(({ endpoint }) => endpoint)),
          handler: method,
          generalPathReasons: Object.freeze([...new Set([...generalPathReasons(), ...present])]),
        });
      }),
    ),
  );
}

function presentReasons(
  executes: readonly { readonly plan: ResourcePlan; readonly operation: Endpoint }[],
): readonly string[] {
  return executes.flatMap(({ plan: { info, name }, operation }) =>
    presentModelBlockers(info, operation).map((reason) =>
      executes.length > 1 ? `${name}: ${reason}` : reason,
    ),
  );
}

const HEADINGS = ['METHOD', 'PATH', 'OPERATION', 'PAGINATION', 'FILTERABLE', 'SORTABLE', 'GENERAL PATH'];
const NOTHING = '-';

/** One line a route: its method and path, the paging, filters and orders of a list, and the reason that Sequelize runs its SQL. */
export function describeRouteTable(routes: readonly RouteInfo[], plans: readonly ResourcePlan[]): string {
  const byName = new Map(plans.map((plan) => [plan.name, plan]));
  const rows = routes.map((route) => [
    route.method,
    route.path,
    // A route that a subclass added is named by its method.
    [route.operation ?? `${route.resource}.${route.handler}`, ...route.joined].join(','),
    ...listCells(route.operation === 'list' ? byName.get(route.resource) : undefined),
    route.generalPathReasons.join('; ') || NOTHING,
  ]);
  return formatTable([HEADINGS, ...rows]);
}

function listCells(plan: ResourcePlan | undefined): string[] {
  if (!plan) return [NOTHING, NOTHING, NOTHING];
  const { pagination, pageSize, filters, sortable, relations } = plan;
  return [
    `${pagination} ${pageSize.default}/${pageSize.max}`,
    [...filters.keys(), ...relations.filters.keys()].join(',') || NOTHING,
    sortable.join(',') || NOTHING,
  ];
}

/** Columns as wide as their cells; no blanks at the ends of lines. */
function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = HEADINGS.map((_heading, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}
