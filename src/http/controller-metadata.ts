/**
 * Resource -> routing-controllers metadata, on a class made for this application alone. routing-controllers compares
 * metadata by `=== target` and so loses the parameters and middlewares of inherited methods; and its storage is one
 * for the whole process. Each application therefore gets a fresh subclass with complete metadata of its own, which is
 * taken out of the storage again as soon as the routes are built.
 */
import {
  type Action,
  getFromContainer,
  getMetadataArgsStorage,
  type MetadataArgsStorage,
} from 'routing-controllers';
import { type SerializerRegistry, serializeResult } from '../response/result-serializer.js';
import { shapeAnswer } from './answer.js';
import type { CrudContext } from './crud-context.js';
import { CrudController, type CrudControllerClass } from './crud-controller.js';
import { GENERATED_ROUTES, type GeneratedRoute, generatedRouteOf, routePath } from './generated-routes.js';
import type { RequestArguments } from './parse-request.js';
import { setRequestResource } from './request-resource.js';
import type { Resource } from './resource.js';

type Args<K extends keyof MetadataArgsStorage> = MetadataArgsStorage[K] extends (infer T)[] ? T : never;
type ActionArgs = Args<'actions'>;
type Controller = Record<string, (...args: unknown[]) => unknown>;

/** A route of a resource, generated or added by a subclass. */
export interface ResourceRoute {
  /** `get`, `post` … */
  readonly verb: string;
  /** From the root of the router. A regular expression is the user's. */
  readonly path: string | RegExp;
  /** The controller's method. */
  readonly method: string;
}

/** A controller ready for routing-controllers. */
export interface RegisteredController {
  readonly controller: new () => object;
  readonly routes: readonly ResourceRoute[];
}

/** Registers the controller of a resource. */
export function registerController(
  resource: Resource,
  serializers: SerializerRegistry,
): RegisteredController {
  const storage = getMetadataArgsStorage();
  const base = resource.controller as unknown as new () => object;
  const controller = class extends base {};
  const lineage = lineageOf(resource.controller);
  const actions = [...userActions(storage, lineage), ...generatedActions(storage, resource, lineage)];
  const run = createRunner(resource, serializers);
  for (const action of actions) {
    const generated = generatedRouteOf(action.method);
    // What a generated route sends is in wire form already; class-transformer would walk it again.
    const options = generated ? { ...action.options, transformResponse: false } : action.options;
    storage.actions.push({ ...action, options, target: controller, methodOverride: run });
    copyActionMetadata(storage, lineage, action.method, controller);
    if (generated) addGeneratedMetadata(storage, resource, generated, controller);
  }
  copyClassMetadata(storage, lineage, controller);
  for (const middleware of resource.plan.dependencies) {
    storage.uses.push({ target: controller, middleware, afterAction: false });
  }
  storage.controllers.push({
    target: controller,
    route: resource.plan.prefix,
    type: 'json',
    options: {},
  });
  const routes = actions.map(({ type, route, method }) => ({
    verb: type,
    path: fullPath(resource, route),
    method,
  }));
  return { controller, routes };
}

/** Takes the metadata of registered controllers out of the storage that all applications of the process share. */
export function forgetControllers(controllers: ReadonlySet<unknown>): void {
  const storage = getMetadataArgsStorage();
  const isOther = ({ target }: { target: unknown }): boolean => !controllers.has(target);
  storage.controllers = storage.controllers.filter(isOther);
  storage.actions = storage.actions.filter(isOther);
  storage.uses = storage.uses.filter(isOther);
  storage.useInterceptors = storage.useInterceptors.filter(isOther);
  storage.responseHandlers = storage.responseHandlers.filter(isOther);
  storage.params = storage.params.filter(({ object }) => !controllers.has(object.constructor));
}

/** The user's classes, nearest first, without the library's own base. */
function lineageOf(controller: CrudControllerClass): object[] {
  const lineage: object[] = [];
  for (let target: object = controller; target !== CrudController; target = Object.getPrototypeOf(target)) {
    lineage.push(target);
  }
  return lineage;
}

/** Routes that the user's classes declare; a nearer class's declaration of a method hides a farther one's. */
function userActions(storage: MetadataArgsStorage, lineage: readonly object[]): ActionArgs[] {
  const actions: ActionArgs[] = [];
  for (const target of lineage) {
    const hidden = new Set(actions.map(({ method }) => method));
    actions.push(
      ...storage.actions.filter((action) => action.target === target && !hidden.has(action.method)),
    );
  }
  return actions;
}

/**
 * The generated routes, after the user's: `/stats` must be asked before `/:id`. A method that the user gave a route of
 * his own keeps that one.
 */
function generatedActions(
  storage: MetadataArgsStorage,
  { plan, controller }: Resource,
  lineage: readonly object[],
): ActionArgs[] {
  const declared = new Set(userActions(storage, lineage).map(({ method }) => method));
  return GENERATED_ROUTES.filter(
    ({ operation, method }) => plan.endpoints.has(operation) && !declared.has(method),
  ).map((route) => ({
    target: controller,
    type: route.verb,
    method: route.method,
    route: routePath(plan.prefix, route).slice(plan.prefix.length),
    options: {},
  }));
}

/** Parameters come from the nearest class that declares any; middlewares and settings from all of them. */
function copyActionMetadata(
  storage: MetadataArgsStorage,
  lineage: readonly object[],
  method: string,
  controller: new () => object,
): void {
  const declaring = lineage.find((target) =>
    storage.params.some((param) => param.object.constructor === target && param.method === method),
  );
  const parameters = storage.params.filter(
    (param) => declaring && param.object.constructor === declaring && param.method === method,
  );
  storage.params.push(...parameters.map((param) => ({ ...param, object: controller.prototype })));
  copyTargeted(storage, lineage, method, controller);
}

function copyClassMetadata(
  storage: MetadataArgsStorage,
  lineage: readonly object[],
  controller: new () => object,
): void {
  copyTargeted(storage, lineage, undefined, controller);
}

function copyTargeted(
  storage: MetadataArgsStorage,
  lineage: readonly object[],
  method: string | undefined,
  controller: new () => object,
): void {
  // Farther classes first: what a base class requires happens before what a subclass adds.
  for (const target of [...lineage].reverse()) {
    const isOurs = (args: { target: unknown; method?: string }): boolean =>
      args.target === target && args.method === method;
    storage.uses.push(...storage.uses.filter(isOurs).map((args) => ({ ...args, target: controller })));
    storage.useInterceptors.push(
      ...storage.useInterceptors.filter(isOurs).map((args) => ({ ...args, target: controller })),
    );
    storage.responseHandlers.unshift(
      ...storage.responseHandlers.filter(isOurs).map((args) => ({ ...args, target: controller })),
    );
  }
}

/** Parameters and status of a generated route, where the user's decorators say nothing else. */
function addGeneratedMetadata(
  storage: MetadataArgsStorage,
  resource: Resource,
  { operation, method, parameters }: GeneratedRoute,
  controller: new () => object,
): void {
  const declared = new Set(
    storage.params
      .filter((param) => param.object === controller.prototype && param.method === method)
      .map(({ index }) => index),
  );
  const parse = shareParsing(resource, operation);
  parameters.forEach((parameter, index) => {
    if (declared.has(index)) return;
    const transform =
      parameter === 'context'
        ? (action: Action): CrudContext => contextOf(resource, action)
        : async (action: Action): Promise<unknown> => (await parse(action.request))[parameter];
    storage.params.push({
      type: 'custom-converter',
      object: controller.prototype,
      method,
      index,
      parse: false,
      required: false,
      transform,
    });
  });
  if (operation === 'create') {
    storage.responseHandlers.push({ target: controller, method, type: 'success-code', value: 201 });
  }
  if (operation === 'delete') {
    storage.responseHandlers.push({ target: controller, method, type: 'on-undefined', value: 204 });
  }
}

/** routing-controllers asks for each parameter on its own and at the same time; a request is parsed once, in order. */
function shareParsing(
  { parsers }: Resource,
  operation: GeneratedRoute['operation'],
): (request: Action['request']) => Promise<RequestArguments> {
  const parsed = new WeakMap<object, Promise<RequestArguments>>();
  return (request) => {
    const known = parsed.get(request) ?? parsers[operation](request);
    parsed.set(request, known);
    return known;
  };
}

function contextOf({ repository }: Resource, { request, response }: Action): CrudContext {
  return Object.freeze({ request, response, repository });
}

/** Calls the controller's method and shapes its result. */
function createRunner(
  resource: Resource,
  serializers: SerializerRegistry,
): NonNullable<ActionArgs['methodOverride']> {
  const instance = createInstanceSource(resource);
  return async ({ method }, action, params) => {
    setRequestResource(action.request, resource.plan);
    const result = await instance(action)[method]?.(...params);
    // What routing-controllers takes for "the method answers itself".
    if (result === action.response) return result;
    const route = generatedRouteOf(method);
    return route
      ? shapeAnswer(resource, route.operation, result, action)
      : serializeResult(result, serializers);
  };
}

/** The user's class comes from his container, under its own name; the generated one needs nothing injected. */
function createInstanceSource({ controller, isGenerated }: Resource): (action: Action) => Controller {
  const concrete = controller as unknown as new () => object;
  if (!isGenerated) return (action) => getFromContainer(concrete, action) as Controller;
  const instance = new concrete() as Controller;
  return () => instance;
}

function fullPath({ plan }: Resource, route: string | RegExp): string | RegExp {
  return route instanceof RegExp ? route : `${plan.prefix}${route}` || '/';
}
