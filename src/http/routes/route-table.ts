/** The routes of an application as a table for people. */
import type { ResourcePlan } from '../../plan/resource-plan.js';
import type { RouteInfo } from './route-info.js';

const HEADINGS = ['METHOD', 'PATH', 'OPERATION', 'PAGINATION', 'FILTERABLE', 'SORTABLE'];
const NOTHING = '-';

/** One line a route: what it is, and of a list how it is paged, filtered and sorted. */
export function describeRouteTable(routes: readonly RouteInfo[], plans: readonly ResourcePlan[]): string {
  const byName = new Map(plans.map((plan) => [plan.name, plan]));
  const rows = routes.map((route) => [
    route.method,
    route.path,
    // A route that a subclass added is known by its method.
    route.operation ?? `${route.resource}.${route.handler}`,
    ...listCells(route.operation === 'list' ? byName.get(route.resource) : undefined),
  ]);
  return formatTable([HEADINGS, ...rows]);
}

function listCells(plan: ResourcePlan | undefined): string[] {
  if (!plan) return [NOTHING, NOTHING, NOTHING];
  const { pagination, pageSize, filters, sortable } = plan;
  return [
    `${pagination} ${pageSize.default}/${pageSize.max}`,
    [...filters.keys()].join(',') || NOTHING,
    sortable.join(',') || NOTHING,
  ];
}

/** Columns as wide as what is in them; no blanks at the ends of lines. */
function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = HEADINGS.map((_heading, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}
