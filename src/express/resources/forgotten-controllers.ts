/**
 * Subclasses of generated controllers that were given to no application. All that they check is then checked nowhere, while
 * the generated routes of the model are open.
 */
import type { ModelClass } from '../../declare/crud-options.js';
import { lineageOf } from './controller-metadata.js';
import { CrudController, controllerSource, requestedControllers } from './crud-controller.js';
import { routingStorage } from './routing-controllers-internals.js';

/** Classes that an application of this process was given, and those that they extend. */
const given = new WeakSet<object>();

/** Notes that an application was given a subclass of a generated controller. */
export function noteController(controller: object): void {
  for (const target of lineageOf(controller, CrudController)) given.add(target);
}

/**
 * One line for each subclass that no application was given, for a model with a generated controller. Decorators leave a
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
