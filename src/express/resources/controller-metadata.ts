/**
 * routing-controllers' metadata of a class, copied to a subclass made for one application. routing-controllers compares
 * metadata by `=== target` and so loses the parameters and middlewares of inherited methods; and its storage is one for
 * the whole process. Each application therefore gets a fresh subclass with complete metadata of its own, which is taken
 * out of the storage again as soon as the routes are built.
 */
import type { MetadataArgsStorage } from 'routing-controllers';
import type { RouteSpec } from '../../operation/route-spec.js';
import { routingStorage } from './routing-controllers-internals.js';

type Args<K extends keyof MetadataArgsStorage> = MetadataArgsStorage[K] extends (infer T)[] ? T : never;

/** A route as routing-controllers records it. */
export type ActionArgs = Args<'actions'>;

/** A decorated parameter of a method, as routing-controllers records it. */
export type ParameterArgs = Args<'params'>;

/** Calls a controller's method, in place of routing-controllers. */
export type ActionRunner = NonNullable<ActionArgs['methodOverride']>;

/** A route of a mounted controller. */
export interface ControllerRoute {
  /** `get`, `post` … */
  readonly verb: string;
  /** From the root of the router. A regular expression is the user's. */
  readonly path: string | RegExp;
  readonly method: string;
  /** Null for a route of the user's. */
  readonly spec: RouteSpec | null;
  /** The routes of features that it answers as well. */
  readonly joined: readonly RouteSpec[];
  /** Why it does not run our SQL; none when it does. */
  generalPathReasons(): readonly string[];
  /** True where PostgreSQL refuses its writes; undefined as long as the catalogue was not read. */
  isRefused(): boolean | undefined;
}

/** A route of a controller that extends no generated one. */
export type HandWrittenRoute = Pick<ControllerRoute, 'verb' | 'path' | 'method'>;

/** A controller ready for routing-controllers. */
export interface RegisteredController {
  readonly controller: new () => object;
  readonly routes: readonly ControllerRoute[];
}

/** A subclass for one application, without any metadata yet. */
export function applicationClass(base: unknown): new () => object {
  return class extends (base as new () => object) {};
}

/** The user's classes, nearest first, up to a base class that is not his. */
export function lineageOf(controller: object, base: object = Function.prototype): readonly object[] {
  const lineage: object[] = [];
  for (let target = controller; target !== base; target = Object.getPrototypeOf(target)) lineage.push(target);
  return lineage;
}

/** Routes that the user's classes declare; a nearer class's declaration of a method hides a farther one's. */
export function declaredActions(lineage: readonly object[]): ActionArgs[] {
  const storage = routingStorage();
  const actions: ActionArgs[] = [];
  for (const target of lineage) {
    const hidden = new Set(actions.map(({ method }) => method));
    actions.push(
      ...storage.actions.filter((action) => action.target === target && !hidden.has(action.method)),
    );
  }
  return actions;
}

/** Registers routes on a subclass, each with the metadata of the user's decorators on its method, and on the class. */
export function registerActions(
  actions: readonly ActionArgs[],
  lineage: readonly object[],
  controller: new () => object,
  runnerOf: (action: ActionArgs) => ActionRunner,
): void {
  const storage = routingStorage();
  for (const action of actions) {
    storage.actions.push({ ...action, target: controller, methodOverride: runnerOf(action) });
  }
  // A method may have several routes.
  for (const method of new Set(actions.map((action) => action.method))) {
    const parameters = declaredParameters(lineage, method);
    storage.params.push(...parameters.map((param) => ({ ...param, object: controller.prototype })));
    copyTargeted(lineage, method, controller);
  }
  copyTargeted(lineage, undefined, controller);
}

/** Parameters of a method by the user's decorators: those of the nearest class that declares any. */
export function declaredParameters(lineage: readonly object[], method: string): ParameterArgs[] {
  const storage = routingStorage();
  for (const target of lineage) {
    const parameters = storage.params.filter(
      (param) => param.object.constructor === target && param.method === method,
    );
    if (parameters.length > 0) return parameters;
  }
  return [];
}

/**
 * Copies the decorators of a method to a route: middlewares, interceptors and settings come from all classes.
 *
 * @param method undefined for those of the classes themselves
 */
function copyTargeted(
  lineage: readonly object[],
  method: string | undefined,
  controller: new () => object,
  route = method,
  responseHandlers = routingStorage().responseHandlers,
): void {
  const storage = routingStorage();
  // Farther classes first: requirements of a base class come before additions of a subclass.
  for (const target of [...lineage].reverse()) {
    const copies = <T extends { target: unknown; method?: string }>(all: readonly T[]): T[] =>
      all
        .filter((args) => args.target === target && args.method === method)
        .map((args) => ({ ...args, target: controller, method: route }));
    storage.uses.push(...copies(storage.uses));
    storage.useInterceptors.push(...copies(storage.useInterceptors));
    storage.responseHandlers.unshift(...copies(responseHandlers));
  }
}

/** Puts the middlewares and interceptors of a method before and around a route beside it. */
export function copyGuards(
  lineage: readonly object[],
  method: string,
  route: string,
  controller: new () => object,
): void {
  copyTargeted(lineage, method, controller, route, authorizations());
}

/** The decorators `@Authorized()`. */
export function authorizations(): MetadataArgsStorage['responseHandlers'] {
  return routingStorage().responseHandlers.filter(({ type }) => (type as string) === 'authorized');
}

/** True where decorators of the user's put code before or around a method. */
export function isGuarded(lineage: readonly object[], method: string): boolean {
  const { uses, useInterceptors } = routingStorage();
  return [...uses, ...useInterceptors, ...authorizations()].some(
    (each) => each.method === method && lineage.includes(each.target),
  );
}

/** Takes the metadata of registered controllers out of the storage that all applications of the process share. */
export function forgetControllers(controllers: ReadonlySet<unknown>): void {
  const storage = routingStorage();
  const isOther = ({ target }: { target: unknown }): boolean => !controllers.has(target);
  storage.controllers = storage.controllers.filter(isOther);
  storage.actions = storage.actions.filter(isOther);
  storage.uses = storage.uses.filter(isOther);
  storage.useInterceptors = storage.useInterceptors.filter(isOther);
  storage.responseHandlers = storage.responseHandlers.filter(isOther);
  storage.params = storage.params.filter(({ object }) => !controllers.has(object.constructor));
}
