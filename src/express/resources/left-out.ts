/**
 * Controllers and models that no application has. The checks of such a controller never run, while the generated
 * routes of its model are open. A model that is missing in the list of `models` would be a 404, without a reason.
 */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { currentRecords } from '../../declare/crud.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { ownModel } from '../../describe/record.js';
import { tablesRead } from '../../inspect/index-advice.js';
import { lineageOf } from './controller-metadata.js';
import { CrudController, controllerSource, requestedControllers } from './crud-controller.js';
import { routingStorage } from './routing-controllers-internals.js';

/** Classes that an application of this process has, and those that they extend. */
const given = new WeakSet<object>();

/** Notes that an application has a subclass of a generated controller. */
export function noteController(controller: object): void {
  for (const target of lineageOf(controller, CrudController)) given.add(target);
}

/**
 * One line for each subclass that no application has, for a model with a generated controller. Decorators leave a
 * trace of a class; without any, the call of `crudController` does.
 */
export function forgottenControllers(model: ModelClass): string[] {
  const subclasses = decoratedSubclasses().filter(
    (target) => !given.has(target) && controllerSource(target)?.repository.model === model,
  );
  const traced = new Set(subclasses.flatMap((target) => lineageOf(target, CrudController)));
  const bases = requestedControllers(model).filter((base) => !given.has(base) && !traced.has(base));
  return [
    ...subclasses.map(
      ({ name }) =>
        `${name} extends crudController(${model.name}) and is not in controllers: what it checks and adds does nothing, and ` +
        `the generated routes are served; pass controllers: [${name}].`,
    ),
    ...(bases.length > 0
      ? [
          `crudController(${model.name}) was called, and no controller that extends it is in controllers: what it checks ` +
            'and adds does nothing, and the generated routes are served; pass it in controllers.',
        ]
      : []),
  ];
}

type NamedClass = abstract new () => object;

/** Classes with any decorator of routing-controllers that extend a generated one. */
function decoratedSubclasses(): NamedClass[] {
  const storage = routingStorage();
  const { controllers, actions, uses, useInterceptors, responseHandlers, params } = storage;
  const targets: unknown[] = [
    ...[controllers, actions, uses, useInterceptors, responseHandlers].flatMap((each) =>
      (each as readonly { readonly target: unknown }[]).map(({ target }) => target),
    ),
    ...params.map(({ object }) => object.constructor),
  ];
  return [...new Set(targets)].filter(
    (target): target is NamedClass => typeof target === 'function' && controllerSource(target) !== undefined,
  );
}

/** Models with routes, of all applications and routers of this process. */
const served = new WeakSet<object>();

/** Notes that the models of these plans have routes. */
export function noteServed(plans: readonly ResourcePlan[]): void {
  for (const { model } of plans) served.add(ownModel(model));
}

/**
 * A line about the models with `@Crud` that are in the databases of these plans and have no routes. Those that a relation of the
 * plans leads to may be meant for that alone.
 */
export function unservedWarnings(plans: readonly ResourcePlan[]): string[] {
  const databases = new Set(plans.map(({ model }) => model.sequelize));
  const related = new Set<ModelClass>(plans.flatMap(tablesRead).map(({ model }) => ownModel(model)));
  const models = new Set(currentRecords().map(({ model }) => model));
  const names = [...models]
    .filter((model) => model.sequelize && databases.has(model.sequelize))
    .filter((model) => !served.has(model) && !related.has(model))
    .map(({ name }) => name);
  if (names.length === 0) return [];
  const [have, them] = names.length === 1 ? ['has', 'it'] : ['have', 'them'];
  return [
    `${names.join(', ')} ${have} @Crud and no routes, as the option models of bootstrap lacks ${them}; add ${them} there, or remove the ` +
      'decorator.',
  ];
}
