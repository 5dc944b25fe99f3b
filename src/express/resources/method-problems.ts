/** Problems of methods that a route calls, or passes by, without a request to their own route. */
import { declaredParameters, isGuarded, lineageOf } from './controller-metadata.js';
import { CrudController, isOverridden } from './crud-controller.js';
import type { Resource } from './resource.js';

/** A sentence for each method with decorated parameters, which only its own route reads. @param call of the route, as a clause */
export function parameterProblems(
  { controller }: Resource,
  methods: readonly string[],
  call: string,
  mend = 'leave one of both out',
): string[] {
  return methods
    .filter((method) => declaredParameters(lineageOf(controller, CrudController), method).length > 0)
    .map(
      (method) =>
        `${controller.name}.${method} has decorated parameters, ${call}; read them from context.request in the method, or ${mend}.`,
    );
}

/** A sentence for each method with decorators that guard it, and that a route passes by. @param route its name, and its work */
export function guardProblems(
  { controller }: Resource,
  methods: readonly string[],
  route: string,
  mend: string,
): string[] {
  return methods
    .filter((method) => isGuarded(lineageOf(controller, CrudController), method))
    .map((method) => `${controller.name}.${method} has decorators that guard it, and ${route}; ${mend}.`);
}

/** The same for a route with a method of its own, which takes decorators itself where the user has written it. */
export function passedGuards(resource: Resource, endpoint: string, methods: readonly string[]): string[] {
  const { controller } = resource;
  if (isOverridden(controller, endpoint) || isGuarded(lineageOf(controller, CrudController), endpoint))
    return [];
  return guardProblems(
    resource,
    methods,
    `endpoints has '${endpoint}', which would go past them`,
    `override ${endpoint} with the decorators that it needs, or leave it out`,
  );
}
