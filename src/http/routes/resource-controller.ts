/** Resource -> a controller class for routing-controllers: the user's routes, and the generated ones. */
import { type Action, getFromContainer } from 'routing-controllers';
import { checkOwner } from '../../persistence/session/model-owners.js';
import { type AnswerDraft, isShapedByUser, shapeAnswer } from '../answer/answer.js';
import { releaseJson } from '../answer/guard-json.js';
import { checkJson, jsonReplacer } from '../answer/json-answer.js';
import { compileFastActions } from '../operation/fast-action.js';
import { type PathSettings, routeFastPathBlockers } from '../operation/route-fast-path-blockers.js';
import { type Controller, runInRequestSession } from '../operation/run-in-request-session.js';
import { refuseCondition } from '../request/parse-request.js';
import { setRequestResource } from '../request/request-resource.js';
import { existingSessions } from '../request/request-sessions.js';
import {
  type ActionArgs,
  type ActionRunner,
  applicationClass,
  declaredActions,
  declaredParameters,
  lineageOf,
  type RegisteredController,
  registerActions,
} from '../resources/controller-metadata.js';
import type { CrudContext } from '../resources/crud-context.js';
import { CrudController } from '../resources/crud-controller.js';
import {
  GENERATED_ROUTES,
  type GeneratedRoute,
  generatedRouteOf,
  routePath,
} from '../resources/generated-routes.js';
import type { Resource } from '../resources/resource.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';
import type { ResultShaper } from './express-driver.js';

/** Registers the controller of a resource. */
export function registerResourceController(
  resource: Resource,
  shaper: ResultShaper,
  settings: PathSettings,
): RegisteredController {
  const { plan } = resource;
  const storage = routingStorage();
  const controller = applicationClass(resource.controller);
  // Without a class of the user's nothing is declared, and nothing has to be looked for among all other resources.
  const lineage = resource.isGenerated ? [] : lineageOf(resource.controller, CrudController);
  const declared = declaredActions(lineage);
  const actions = [...declared, ...generatedActions(resource, declared)].map(inWireForm);
  storage.uses.push({ target: controller, middleware: rememberResource(resource), afterAction: false });
  const reasons = new Map(
    actions.map(({ method }) => [method, routeFastPathBlockers(resource, method, lineage, settings)]),
  );
  registerActions(actions, lineage, controller, createRunner(resource, shaper, reasons));
  for (const { method } of actions) addGeneratedMetadata(resource, method, controller, lineage);
  for (const middleware of plan.dependencies) {
    storage.uses.push({ target: controller, middleware, afterAction: false });
  }
  storage.controllers.push({
    target: controller,
    route: plan.prefix,
    type: 'json',
    options: {},
  });
  const routes = actions.map(({ type, route, method }) => ({
    verb: type,
    path: fullPath(plan.prefix, route),
    method,
    generalPathReasons: reasons.get(method) ?? [],
  }));
  return { controller, routes };
}

/** What a generated route sends is in wire form already; class-transformer would walk it again. */
function inWireForm(action: ActionArgs): ActionArgs {
  if (!generatedRouteOf(action.method)) return action;
  return { ...action, options: { ...action.options, transformResponse: false } };
}

function rememberResource({ plan }: Resource) {
  const { model } = plan;
  const { sequelize } = model;
  return (request: Action['request'], _response: unknown, next: () => void): void => {
    checkOwner(model, sequelize);
    setRequestResource(request, plan);
    next();
  };
}

function conditionGuard({ plan }: Resource) {
  return (request: Action['request'], _response: unknown, next: () => void): void => {
    refuseCondition(plan, request);
    next();
  };
}

/**
 * The generated routes, after the user's: `/stats` must be asked before `/:id`. A method that the user gave a route of
 * his own keeps that one.
 */
function generatedActions({ plan, controller }: Resource, declared: readonly ActionArgs[]): ActionArgs[] {
  const taken = new Set(declared.map(({ method }) => method));
  return GENERATED_ROUTES.filter(
    ({ operation, method }) => plan.endpoints.has(operation) && !taken.has(method),
  ).map((route) => ({
    target: controller,
    type: route.verb,
    method: route.method,
    route: routePath(plan.prefix, route).slice(plan.prefix.length),
    options: {},
  }));
}

/** Parameters and status of a generated route, where the user's decorators say nothing else. */
function addGeneratedMetadata(
  resource: Resource,
  method: string,
  controller: new () => object,
  lineage: readonly object[],
): void {
  const storage = routingStorage();
  const route = generatedRouteOf(method);
  if (!route) return;
  const object = controller.prototype;
  const declared = declaredParameters(lineage, method);
  if (declared.length > 0) {
    if (route.verb !== 'get') {
      // The parameters would read the body and begin a unit of work before the parser is asked.
      storage.uses.push({
        target: controller,
        method,
        middleware: conditionGuard(resource),
        afterAction: false,
      });
    }
    const indexes = new Set(declared.map(({ index }) => index));
    route.parameters.forEach((parameter, index) => {
      if (indexes.has(index)) return;
      const transform = parameterReader(resource, route, parameter);
      const options = { type: 'custom-converter', parse: false, required: false } as const;
      storage.params.push({ ...options, object, method, index, transform });
    });
  }
  if (route.operation === 'create') {
    storage.responseHandlers.push({ target: controller, method, type: 'success-code', value: 201 });
  }
  if (route.operation === 'delete') {
    storage.responseHandlers.push({ target: controller, method, type: 'on-undefined', value: 204 });
  }
}

/** For a method of which the user has decorated some parameters: routing-controllers reads those, and asks for the others. */
function parameterReader(
  resource: Resource,
  { operation }: GeneratedRoute,
  parameter: GeneratedRoute['parameters'][number],
): (action: Action) => unknown {
  if (parameter === 'context') return (action) => contextOf(resource, action);
  return async ({ request }) => (await resource.parseOnce[operation](request))[parameter];
}

function contextOf({ repository }: Resource, { request, response }: Action): CrudContext {
  return Object.freeze({ request, response, repository });
}

/** Calls the controller's method and shapes its result, before what it wrote is committed; or answers by the fast path. */
function createRunner(
  resource: Resource,
  shaper: ResultShaper,
  reasons: ReadonlyMap<string, readonly string[]>,
): ActionRunner {
  const instance = createInstanceSource(resource);
  const fastRoutes = GENERATED_ROUTES.filter(({ method }) => reasons.get(method)?.length === 0);
  const fastActions = compileFastActions(
    resource,
    fastRoutes.map(({ operation }) => operation),
  );
  const isShaped = isShapedByUser(resource.plan);
  return async (metadata, action, params) => {
    const { method, params: declared } = metadata;
    const route = generatedRouteOf(method);
    const { request, response } = action;
    if (!route) {
      const call = () => instance(action)[method]?.(...params);
      shaper.guard(response);
      return runInRequestSession(action, call, (result) => shaper.shape(result, metadata, action));
    }
    const decorated = declared.length;
    const readArguments = decorated > 0 ? () => resource.parseOnce[route.operation](request) : undefined;
    const args = readArguments ? {} : await resource.parsers[route.operation](request);
    const fast = fastActions.get(route.operation);
    const answer = fast?.isOpen(request, response) ? await fast.answer(args, request) : null;
    if (answer) return answer;
    const values = readArguments
      ? params
      : route.parameters.map((name) => (name === 'context' ? contextOf(resource, action) : args[name]));
    const call = () => instance(action)[method]?.(...values);
    if (!resource.isGenerated) shaper.guard(response);
    const context = { request, readArguments: readArguments ?? (() => args) };
    const draft = await runInRequestSession<AnswerDraft | null>(
      action,
      call,
      async (result) => {
        // A method may have answered by itself, and returned nothing.
        if (result === response || (result === undefined && response.headersSent)) return null;
        releaseJson(response);
        const { body, location } = await shapeAnswer(resource, route.operation, result, context);
        if (existingSessions(request)?.hasWrites) checkJson(body, response);
        return { body, location };
      },
      { resource, route, isShapedByUser: isShaped || jsonReplacer(response) !== undefined },
    );
    // What routing-controllers takes for "the method answers itself".
    if (draft === null) return response;
    if (draft.location !== undefined) response.setHeader('Location', draft.location);
    // An override's page may hold more than the records that were shaped.
    if (resource.isGenerated) shaper.settle(draft.body, metadata);
    return draft.body;
  };
}

/** The user's class comes from his container, under its own name; the generated one needs nothing injected. */
function createInstanceSource({ controller, isGenerated }: Resource): (action: Action) => Controller {
  const concrete = controller as unknown as new () => object;
  if (!isGenerated) return (action) => getFromContainer(concrete, action) as Controller;
  const instance = new concrete() as Controller;
  return () => instance;
}

function fullPath(prefix: string, route: string | RegExp): string | RegExp {
  return route instanceof RegExp ? route : `${prefix}${route}` || '/';
}
