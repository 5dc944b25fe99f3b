/** Resources and hand-written controllers -> controller classes for routing-controllers. */

import { type Action, getFromContainer } from 'routing-controllers';
import { setAccessRules } from '../../access/reference-access.js';
import type { Class, ModelClass } from '../../declare/crud-options.js';
import { isWrite } from '../../declare/endpoint.js';
import { ofTables } from '../../describe/table-facts.js';
import { operationChannel, traceOperation } from '../../diagnostics/channels.js';
import { worksOf } from '../../handle/around.js';
import {
  answerChanges,
  answerReasons,
  decideRoute,
  type PathSettings,
  type RouteDecisions,
} from '../../handle/decide-route.js';
import { addedRouteHandler, compileHandler } from '../../handle/handle.js';
import type { HandledRoute, HandlerContext, RouteContext } from '../../handle/handled-route.js';
import { compileArguments, type ResourceArguments } from '../../handle/resource-arguments.js';
import { type Controller, controllerFor } from '../../handle/run-method.js';
import { compileRowRunners } from '../../handle/run-rows.js';
import { listShaper, pageShaper } from '../../handle/shape-page.js';
import { isRefused, isUsual, type RouteSpec, routeNamed, routePath } from '../../operation/route-spec.js';
import { checkOwner } from '../../postgres/index.js';
import type { RequestParser } from '../../request/parse-request.js';
import { describePath } from '../../request/request-log.js';
import { setRequestResource } from '../../request/request-notes.js';
import { keptIn, lazy } from '../../util/memo.js';
import { isPromise } from '../../util/promises.js';
import {
  type ActionArgs,
  type ActionRunner,
  applicationClass,
  copyGuards,
  declaredActions,
  declaredParameters,
  type HandWrittenRoute,
  lineageOf,
  type RegisteredController,
  registerActions,
} from '../resources/controller-metadata.js';
import { CrudController } from '../resources/crud-controller.js';
import type { Resource } from '../resources/resource.js';
import type { ResultShaper } from '../resources/result-shaper.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';
import { ownMiddleware } from './express-driver.js';
import { closeRoute } from './own-arguments.js';
import { isCovered } from './own-routes.js';
import { LOOSE, pathShape, withoutSlash } from './path-matching.js';
import { addGeneratedMetadata, bindArguments, evaluateSettings } from './route-metadata.js';

/** Registers the controller of a resource: the user's routes, and the generated ones. */
export function registerResourceController(
  resource: Resource,
  shaper: ResultShaper,
  settings: PathSettings,
  resourceOf: (model: ModelClass) => Resource,
): RegisteredController {
  const { plan } = resource;
  const storage = routingStorage();
  const controller = applicationClass(resource.controller);
  // Without a class of the user's nothing is declared, so the other resources need no search.
  const lineage = resource.isGenerated ? [] : lineageOf(resource.controller, CrudController);
  const declared = declaredActions(lineage);
  const methods = narrowFirst([...declared, ...generatedActions(resource, declared)]);
  const { apart, joined } = routesApart(resource, methods);
  const isGenerated = ({ method }: ActionArgs) => !declared.some((each) => each.method === method);
  const actions = apart
    .map((route) => actionOf(resource, route))
    .reduce((sorted, action) => putNarrow(action, sorted, isGenerated), methods);
  const takes = new Map(
    actions.flatMap(({ method }) => {
      const given = compileArguments(resource, lineage, method, settings);
      return given ? [[method, given] as const] : [];
    }),
  );
  storage.uses.push({
    target: controller,
    middleware: rememberResource(resource, settings, plan.dependencies.length === 0),
    afterAction: false,
  });
  const context = { resource, resourceOf, shaper, settings, lineage };
  const specs: readonly HandledRoute[] = resource.routes;
  const routesByMethod = new Map(
    actions.map(({ method }) => {
      const spec = routeNamed(specs, method) ?? null;
      const decide = spec && lazy(() => decisionsOf(spec, context));
      return [method, { spec, joined: joined.get(method) ?? [], decide }] as const;
    }),
  );
  const handlerFor = lazy(() => compileHandlers(context, takes));
  registerActions(
    actions.map((action) => inWireForm(resource, action, takes.get(action.method))),
    lineage,
    controller,
    ({ method }) => {
      const route = routesByMethod.get(method) as MountedMethod;
      return compiledAtFirst(() => handlerFor()(method, route), plan.name, operationName(method, route.spec));
    },
  );
  for (const { single, method } of apart) if (single) copyGuards(lineage, single.method, method, controller);
  for (const method of routesByMethod.keys()) {
    const { spec, decide } = routesByMethod.get(method) as MountedMethod;
    // A list query refuses other names itself.
    if (!spec && !takes.get(method)?.parameters.has('listQuery'))
      closeRoute(controller, method, declaredParameters(lineage, method), plan.unknownQuery);
    const isUserCodeRun = () => !spec || Boolean(spec.compile) || decide?.().runsUserCode === true;
    evaluateSettings(controller, method, settings, () => ({
      plan,
      operation: `${plan.name}.${operationName(method, spec)}`,
      verb: spec?.verb ?? null,
      works: spec ? worksOf(resource, spec) : [],
      isAmbient: isUserCodeRun(),
    }));
    addGeneratedMetadata(resource, method, controller, lineage);
  }
  for (const [method, given] of takes) bindArguments(resource, method, given, controller, lineage);
  for (const middleware of plan.dependencies) {
    storage.uses.push({ target: controller, middleware, afterAction: false });
  }
  if (plan.dependencies.length > 0) {
    storage.uses.push({
      target: controller,
      middleware: awaitCatalogue(resource, settings),
      afterAction: false,
    });
  }
  for (const [method, { spec }] of routesByMethod) {
    if (spec && isWrite(spec.operation))
      storage.uses.push({
        target: controller,
        method,
        middleware: skipRefused(resource, spec),
        afterAction: false,
      });
  }
  storage.controllers.push({ target: controller, route: plan.prefix, type: 'json', options: {} });
  const routes = actions.map(({ type, route, method }) => {
    const { spec, joined: other, decide } = routesByMethod.get(method) as MountedMethod;
    return {
      verb: type,
      path: route instanceof RegExp ? route : `${plan.prefix}${route}` || '/',
      method,
      spec,
      joined: other,
      generalPathReasons: () => decide?.().reasons.records ?? HAND_WRITTEN,
      isRefused: () => spec !== null && isRefused(plan, spec),
    };
  });
  return { controller, routes };
}

const HAND_WRITTEN: readonly string[] = Object.freeze(['the route is hand-written']);

interface MountedMethod {
  /** Null for a route of the user's. */
  readonly spec: HandledRoute | null;
  /** The routes of features that it answers as well. A later one is matched first. */
  readonly joined: readonly HandledRoute[];
  readonly decide: (() => RouteDecisions) | null;
}

function decisionsOf(route: HandledRoute, context: RouteContext): RouteDecisions {
  const { resource, lineage, settings } = context;
  return route.decide?.(context) ?? decideRoute(resource, route.single ?? route, lineage, settings);
}

/** The routes of features that no method serves, at their paths; and those that the route of a method answers as well. */
function routesApart({ routes }: Resource, methods: readonly ActionArgs[]) {
  const apart: HandledRoute[] = [];
  const joined = new Map<string, HandledRoute[]>();
  for (const route of routes as readonly HandledRoute[]) {
    const { single, joins, verb, path, compile } = route;
    if (!compile) continue;
    // A route without a path of its own only joins.
    if (joins !== path) apart.push(route);
    if (!single || joins === undefined) continue;
    const isJoined = ({ type, route: other, method }: ActionArgs) =>
      method === single.method &&
      type === verb &&
      typeof other === 'string' &&
      withoutSlash(other || '/') === (joins || '/');
    if (methods.some(isJoined)) keptIn(joined, single.method, () => []).push(route);
    else apart.push({ ...route, path: joins });
  }
  return { apart, joined };
}

/** Routes in their order, but that `/stats` comes before a `/:id` that was declared first. */
function narrowFirst(actions: readonly ActionArgs[]): readonly ActionArgs[] {
  return actions.reduce<readonly ActionArgs[]>((sorted, action) => putNarrow(action, sorted), []);
}

/** Puts a route before the first one that is wider, of those that may come behind it. */
function putNarrow(
  action: ActionArgs,
  sorted: readonly ActionArgs[],
  mayFollow: (other: ActionArgs) => boolean = () => true,
): readonly ActionArgs[] {
  const wider = sorted.findIndex((each) => mayFollow(each) && isNarrower(action, each));
  return sorted.toSpliced(wider < 0 ? sorted.length : wider, 0, action);
}

/** True where another route matches all requests of a route, and more. */
function isNarrower({ type, route }: ActionArgs, other: ActionArgs): boolean {
  if (typeof route === 'object' || typeof other.route === 'object') return false;
  const [shape, wide] = [route, other.route].map((path = '') => pathShape(path, LOOSE)) as [string, string];
  const isSameVerb = type === other.type || other.type === 'all';
  return isSameVerb && shape !== wide && isCovered(shape.split('/'), wide.split('/'));
}

/** Answers of lists and of generated routes are in wire form already; class-transformer would walk them again. */
function inWireForm(
  { routes }: Resource,
  action: ActionArgs,
  given: ResourceArguments | undefined,
): ActionArgs {
  if (!routeNamed(routes, action.method) && !given?.parameters.has('listQuery')) return action;
  return { ...action, options: { ...action.options, transformResponse: false } };
}

/** @param awaits also holds a request back as `awaitCatalogue` does, which saves a middleware */
function rememberResource(resource: Resource, settings: PathSettings, awaits: boolean) {
  const { plan } = resource;
  const { model } = plan;
  const { access } = settings;
  const { sequelize } = model;
  const goOn = awaits ? awaitCatalogue(resource, settings) : null;
  return ownMiddleware((request, response, next) => {
    if (model.sequelize !== sequelize) checkOwner(model, sequelize);
    setRequestResource(request, plan);
    if (access) setAccessRules(request, access);
    if (goOn) goOn(request, response, next);
    else next();
  });
}

/** Holds a request back until the catalogue of its resource is read: behind the dependencies, which refuse some before any query. */
function awaitCatalogue({ plan }: Resource, { catalogue }: PathSettings) {
  return ownMiddleware((_request, _response, next) => {
    const passed = catalogue.pass(plan);
    if (isPromise(passed)) passed.then(() => next(), next);
    else next();
  });
}

/** Skips a route whose writes PostgreSQL refuses: its path answers as for a method that it does not have. */
function skipRefused({ plan }: Resource, route: HandledRoute) {
  const isSkipped = ofTables(() => isRefused(plan, route));
  return ownMiddleware((_request, _response, next) => {
    if (isSkipped()) next('route');
    else next();
  });
}

/**
 * The generated routes, after the user's: `/stats` must be matched before `/:id`. A method with a route of the user's
 * keeps that route.
 */
function generatedActions(resource: Resource, declared: readonly ActionArgs[]): ActionArgs[] {
  const taken = new Set(declared.map(({ method }) => method));
  const isOn = (route: HandledRoute) =>
    !route.compile && (!isUsual(route) || resource.plan.endpoints.has(route.operation));
  return resource.routes
    .filter((route) => isOn(route) && !taken.has(route.method))
    .map((route) => actionOf(resource, route));
}

function actionOf({ plan, controller }: Resource, route: RouteSpec): ActionArgs {
  return {
    target: controller,
    type: route.verb,
    method: route.method,
    route: routePath(plan.prefix, route).slice(plan.prefix.length),
    options: {},
  };
}

/** Name of a route for subscribers of operations: one that executes several is no endpoint of its resource. */
function operationName(method: string, spec: RouteSpec | null): string {
  return spec && !spec.executes ? spec.endpoint : method;
}

/**
 * A handler that is compiled at its first request: most applications have routes that are hardly ever used. Subscribers of operations may
 * come and go while it works.
 */
function compiledAtFirst(compile: () => ActionRunner, resource: string, operation: string): ActionRunner {
  let handler: ActionRunner | null = null;
  return (metadata, action, params) => {
    handler ??= compile();
    const run = handler;
    if (!operationChannel.hasSubscribers) return run(metadata, action, params);
    const { request, response } = action;
    const message = { resource, operation, route: describePath(request), request, response };
    return traceOperation(message, async () => run(metadata, action, params));
  };
}

function compileHandlers(
  context: RouteContext,
  takes: ReadonlyMap<string, ResourceArguments>,
): (method: string, route: MountedMethod) => ActionRunner {
  const { resource, shaper, settings, lineage } = context;
  const rowRunner = lazy(() => compileRowRunners(resource));
  return (method, { spec, joined, decide }) => {
    if (!spec || !decide) {
      const given = takes.get(method);
      const isText = answerReasons(method, lineage, settings).length === 0;
      const isChanged = answerChanges(method, lineage, settings).length > 0;
      const shapePage = given?.parameters.has('listQuery')
        ? listShaper(resource, method, given, { isText, isChanged })
        : pageShaper(resource, method);
      return addedRouteHandler(controllerFor(resource), shaper, settings, shapePage);
    }
    const decisions = decide();
    const isByRows = decisions.runner === 'rows' && (!spec.compile || spec.single);
    const rows = isByRows ? rowRunner()(spec.operation) : null;
    const handlerContext = { ...context, decisions, rows };
    if (spec.compile) return spec.compile({ ...handlerContext, compileJoined: null });
    const compile = (parse?: RequestParser) => compileHandler(resource, spec, decisions, rows, shaper, parse);
    const compileAll = joined.reduce<NonNullable<HandlerContext['compileJoined']>>(
      (inner, route) => (parse) =>
        route.compile?.({ ...handlerContext, compileJoined: inner }) ?? inner(parse),
      compile,
    );
    return compileAll();
  };
}

/** Registers a controller that extends no generated one, so that its methods run in the sessions of their parameters. */
export function registerPlainController(
  base: Class,
  shaper: ResultShaper,
  settings: PathSettings,
): Pick<RegisteredController, 'controller'> & { readonly routes: readonly HandWrittenRoute[] } {
  const storage = routingStorage();
  const lineage = lineageOf(base);
  const controller = applicationClass(base);
  const instanceFor = (action: Action) => getFromContainer(base as new () => object, action) as Controller;
  const actions = declaredActions(lineage);
  registerActions(actions, lineage, controller, () => addedRouteHandler(instanceFor, shaper, settings));
  const { access } = settings;
  if (access) {
    const middleware = (request: Action['request'], _response: unknown, next: () => void): void => {
      setAccessRules(request, access);
      next();
    };
    storage.uses.push({ target: controller, middleware, afterAction: false });
  }
  for (const { method } of actions) {
    closeRoute(controller, method, declaredParameters(lineage, method), 'reject');
    evaluateSettings(controller, method, settings, () => ({
      plan: null,
      operation: `${base.name}.${method}`,
      verb: null,
      works: [],
      isAmbient: true,
    }));
  }
  const declared = storage.controllers.filter(({ target }) => target === base);
  storage.controllers.push(...declared.map((args) => ({ ...args, target: controller })));
  const routes = declared.flatMap(({ route: prefix = '' }) =>
    actions.map(({ type, route = '', method }) => ({
      verb: type,
      path: route instanceof RegExp ? route : `${prefix}${route}` || '/',
      method,
    })),
  );
  return { controller, routes };
}
