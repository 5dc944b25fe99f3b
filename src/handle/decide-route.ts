/** Decisions about a route when it is compiled: the code that runs its SQL, and the code that receives its answer. */

import type { AccessRules } from '../access/reference-access.js';
import type { RowSecurity } from '../access/row-security.js';
import { sequelizeProblem } from '../execute/customization/internals-trial.js';
import { modelFastPathBlockers } from '../execute/customization/model-fast-path-blockers.js';
import { isPlainRepository } from '../execute/records/repository.js';
import { CrudController } from '../express/resources/crud-controller.js';
import { type GeneratedRoute, generatedRouteOf } from '../express/resources/generated-routes.js';
import type { Resource } from '../express/resources/resource.js';
import { routingStorage } from '../express/resources/routing-controllers-internals.js';
import type { RoutingOptions } from '../express/resources/settings.js';
import type { CatalogueGate } from '../inspect/catalogue-gate.js';
import type { AroundFactory } from './around.js';

/** Options of an application that decide the path of a route. */
export interface PathSettings {
  readonly fastPath: boolean;
  readonly routing: RoutingOptions;
  /** Holds requests back until their tables are known. */
  readonly catalogue: CatalogueGate;
  /** Null where the application has none. */
  readonly rls: RowSecurity | null;
  /** Rules of access; null where the application has none. */
  readonly access: AccessRules | null;
  /** Work of features around the operations. */
  readonly around: readonly AroundFactory[];
}

/**
 * Why Sequelize runs the SQL of a route; none when we do. Where a method of the user's decides what runs, this is about the
 * methods of a plain repository, which it may call.
 */
export function sequelizeReasons(
  resource: Resource,
  method: string,
  { fastPath }: PathSettings,
): readonly string[] {
  const { plan, rowView } = resource;
  const route = generatedRouteOf(method, plan);
  if (!route) return Object.freeze(['the route is hand-written']);
  const needsRecords = rowView.isOfRecords || isMethodAsked(resource, route);
  const problem = sequelizeProblem();
  return Object.freeze([
    ...(fastPath ? [] : ['fastPath is false']),
    ...(problem ? [problem] : modelFastPathBlockers(plan.info, route.operation, needsRecords)),
  ]);
}

/**
 * True where the controller's method has to be called: it is the user's, or its repository is, or its arguments were
 * made by code of the user's and may be of any type.
 */
export function isMethodAsked(
  { controller, repository, plan }: Resource,
  { method, operation }: GeneratedRoute,
): boolean {
  const methods = operation === 'replace' ? (['create', 'update', 'replace'] as const) : [method];
  const isOverridden = methods.some((each) => controller.prototype[each] !== CrudController.prototype[each]);
  const isBodyRead = methods.some(
    (each) => (each === 'create' || each === 'update') && plan.explicitSchemas[each],
  );
  const isIdRead = plan.idKind === 'custom' && operation !== 'list' && operation !== 'create';
  return isOverridden || !isPlainRepository(repository) || isBodyRead || isIdRead;
}

/** True where an answer is made of values: code of the user's receives it, or the route takes the general path. */
export function isAnswerSeen(method: string, lineage: readonly object[], settings: PathSettings): boolean {
  return !settings.fastPath || isAnswerChanged(method, lineage, settings);
}

/**
 * True where code of the user's receives the answer of a route as values, or comes after it: interceptors, decorators
 * of the answer, and middlewares behind it. Decorators whose code runs before are passed.
 */
export function isAnswerChanged(
  method: string,
  lineage: readonly object[],
  { routing: { interceptors = [], middlewares = [] } }: PathSettings,
): boolean {
  const { useInterceptors, responseHandlers, uses, middlewares: all } = routingStorage();
  const concerns = (args: { target: unknown; method?: string }): boolean =>
    lineage.includes(args.target as object) && (args.method === undefined || args.method === method);
  return (
    interceptors.length > 0 ||
    all.some(
      ({ target, type }) => type === 'after' && (middlewares as readonly unknown[]).includes(target),
    ) ||
    useInterceptors.some(concerns) ||
    responseHandlers.some(concerns) ||
    uses.some((use) => use.afterAction && concerns(use))
  );
}
