/** What is decided about a route when it is compiled: who runs its SQL, and who is given its answer. */
import type { Endpoint } from '../../metadata/crud-options.js';
import { sequelizeProblem } from '../../persistence/customization/internals-trial.js';
import { modelFastPathBlockers } from '../../persistence/customization/model-fast-path-blockers.js';
import { isPlainRepository } from '../../persistence/records/repository.js';
import { CrudController } from '../resources/crud-controller.js';
import { type GeneratedRoute, generatedRouteOf } from '../resources/generated-routes.js';
import type { Resource } from '../resources/resource.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';
import type { RoutingOptions } from '../resources/routing-options.js';

/** What of an application's options decides. */
export interface PathSettings {
  readonly fastPath: boolean;
  readonly routing: RoutingOptions;
}

/** Why a route does not run our SQL; none when it does. */
export function sequelizeReasons(
  resource: Resource,
  method: string,
  { fastPath }: PathSettings,
): readonly string[] {
  const route = generatedRouteOf(method);
  if (!route) return Object.freeze(['the route is hand-written']);
  const { operation } = route;
  const { info } = resource.plan;
  const problem = sequelizeProblem();
  return Object.freeze([
    ...(fastPath ? [] : ['fastPath is false']),
    ...controllerReasons(resource, route),
    ...argumentReasons(resource, operation),
    ...(problem ? [problem] : modelFastPathBlockers(info, operation, resource.rowView.runsUserCode)),
  ]);
}

function controllerReasons({ controller, repository }: Resource, { method }: GeneratedRoute): string[] {
  const isOverridden = controller.prototype[method] !== CrudController.prototype[method];
  return [
    ...(isOverridden ? [`${controller.name} overrides ${method}`] : []),
    ...(isPlainRepository(repository)
      ? []
      : [`the repository is not a plain one (${repository.constructor.name})`]),
  ];
}

/** Values that code of the user's has made may be of any type. */
function argumentReasons({ plan }: Resource, operation: Endpoint): string[] {
  const kind = operation === 'create' || operation === 'update' ? operation : undefined;
  const hasId = operation !== 'list' && operation !== 'create';
  return [
    ...(kind && plan.explicitSchemas[kind] ? [`it has a ${kind}Schema`] : []),
    ...(plan.idKind === 'custom' && hasId ? ['idType is a function'] : []),
  ];
}

/**
 * Whether code of the user's is given the answer of a route as values, or comes after it: interceptors, decorators of the
 * answer, and middlewares behind it. Decorators whose code runs before are passed.
 */
export function isAnswerSeen(
  method: string,
  lineage: readonly object[],
  { fastPath, routing: { interceptors = [], middlewares = [] } }: PathSettings,
): boolean {
  const { useInterceptors, responseHandlers, uses, middlewares: all } = routingStorage();
  const concerns = (args: { target: unknown; method?: string }): boolean =>
    lineage.includes(args.target as object) && (args.method === undefined || args.method === method);
  return (
    !fastPath ||
    interceptors.length > 0 ||
    all.some(
      ({ target, type }) => type === 'after' && (middlewares as readonly unknown[]).includes(target),
    ) ||
    useInterceptors.some(concerns) ||
    responseHandlers.some(concerns) ||
    uses.some((use) => use.afterAction && concerns(use))
  );
}
