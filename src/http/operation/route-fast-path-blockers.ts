/** Why a route must take the general path: what the user plugged in that the fast path would pass by. */
import type { Endpoint } from '../../metadata/crud-options.js';
import { sequelizeProblem } from '../../persistence/customization/internals-trial.js';
import { modelFastPathBlockers } from '../../persistence/customization/model-fast-path-blockers.js';
import { isPlainRepository } from '../../persistence/records/repository.js';
import { readableAttributes } from '../../schema/derive-read-class.js';
import { hasTransform } from '../../schema/model-decorators.js';
import { declaredParameters } from '../resources/controller-metadata.js';
import { CrudController } from '../resources/crud-controller.js';
import { type GeneratedRoute, generatedRouteOf } from '../resources/generated-routes.js';
import type { Resource } from '../resources/resource.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';
import type { RoutingOptions } from '../resources/routing-options.js';

/** What of an application's options decides about the path. */
export interface PathSettings {
  readonly fastPath: boolean;
  readonly routing: RoutingOptions;
}

/** The reasons; none when the route takes the fast path. `lineage` are the user's classes that the controller is made of. */
export function routeFastPathBlockers(
  resource: Resource,
  method: string,
  lineage: readonly object[],
  settings: PathSettings,
): readonly string[] {
  const route = generatedRouteOf(method);
  if (!route) return Object.freeze(['the route is hand-written']);
  const { plan } = resource;
  const problem = sequelizeProblem();
  const readable = readableAttributes(plan.info, plan.exposure);
  return Object.freeze([
    ...(settings.fastPath ? [] : ['fastPath is false']),
    ...routingReasons(settings.routing),
    ...controllerReasons(resource, route),
    ...decoratorReasons(method, lineage),
    ...schemaReasons(resource, route.operation),
    ...(problem ? [problem] : modelFastPathBlockers(plan.info, route.operation, readable)),
  ]);
}

/** What of the whole application sees results, or runs after an answer. */
function routingReasons({ interceptors = [], middlewares = [] }: RoutingOptions): string[] {
  const after = routingStorage().middlewares.filter(
    ({ target, type }) => type === 'after' && (middlewares as readonly unknown[]).includes(target),
  );
  return [
    ...(interceptors.length > 0 ? ['the application has interceptors'] : []),
    ...(after.length > 0 ? ['the application has middlewares that run after an answer'] : []),
  ];
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

/** Decorators of routing-controllers on the user's subclass that concern results; those that run before are passed. */
function decoratorReasons(method: string, lineage: readonly object[]): string[] {
  if (lineage.length === 0) return [];
  const { useInterceptors, responseHandlers, uses } = routingStorage();
  const concerns = (args: { target: unknown; method?: string }): boolean =>
    lineage.includes(args.target as object) && (args.method === undefined || args.method === method);
  const isDecorated = declaredParameters(lineage, method).length > 0;
  return [
    ...(useInterceptors.some(concerns) ? ['the controller has interceptors'] : []),
    ...(responseHandlers.some(concerns) ? ['decorators change the answer'] : []),
    ...(uses.some((use) => use.afterAction && concerns(use)) ? ['a middleware runs after the answer'] : []),
    ...(isDecorated ? ['its parameters are decorated'] : []),
  ];
}

function schemaReasons({ plan }: Resource, operation: Endpoint): string[] {
  const { explicitSchemas, info, exposure } = plan;
  const answersRecords = operation !== 'delete';
  const readable = readableAttributes(info, exposure);
  const transformed = readable.filter(({ name }) => hasTransform(info, name, 'read'));
  const kind = operation === 'create' || operation === 'update' ? operation : undefined;
  return [
    ...(answersRecords && explicitSchemas.read ? ['it has a readSchema'] : []),
    ...(kind && explicitSchemas[kind] ? [`it has a ${kind}Schema`] : []),
    ...(answersRecords ? transformed.map(({ name }) => `${name} has a @Transform`) : []),
    ...(plan.idKind === 'custom' && operation !== 'list' && operation !== 'create'
      ? ['idType is a function']
      : []),
    ...(operation === 'create' && !readable.includes(info.primaryKey) ? ['the primary key is hidden'] : []),
  ];
}
