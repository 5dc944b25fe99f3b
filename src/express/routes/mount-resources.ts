/** Resources -> one Express router, built by routing-controllers. */
import express, { type RequestHandler, type Router } from 'express';
import { createServer, type RoutingControllersOptions } from 'routing-controllers';
import type { RowSecurity } from '../../access/row-security.js';
import type { SharedAccess } from '../../compile/compile-access.js';
import type { Class, ModelClass } from '../../declare/crud-options.js';
import { warnOfInternals } from '../../execute/customization/internals-trial.js';
import { type FollowedModels, followModels } from '../../execute/records/run-records.js';
import type { PathSettings } from '../../handle/decide-route.js';
import type { HandledRoute, SharedRoute } from '../../handle/handled-route.js';
import type { CatalogueGate } from '../../inspect/catalogue-gate.js';
import { setWarningLogger } from '../../postgres/index.js';
import { exceptionHandler } from '../../respond/exception-handler.js';
import { ConfigError, throwProblems } from '../../util/config-error.js';
import { accessOfApplication } from '../resources/application-access.js';
import {
  forgetControllers,
  type HandWrittenRoute,
  lineageOf,
  type RegisteredController,
} from '../resources/controller-metadata.js';
import { CrudController } from '../resources/crud-controller.js';
import { passedGuards } from '../resources/method-problems.js';
import { type Resource, serializersOf } from '../resources/resource.js';
import { withMetadataIndex } from '../resources/routing-controllers-internals.js';
import type { RouterSettings } from '../resources/settings.js';
import { STRICT_VALIDATION } from '../resources/untyped-parameters.js';
import { closePaths } from './allowed-methods.js';
import { declaredMethods } from './answers.js';
import { describeAction } from './describe-action.js';
import { SafeExpressDriver } from './express-driver.js';
import { compareOwnRoutes, narrowPaths, putFirst, type ResourceRoute } from './own-routes.js';
import { LOOSE, leaveOtherPaths, type PathMatching, pathShape } from './path-matching.js';
import { registerPlainController, registerResourceController } from './resource-controller.js';

interface MountPlan extends Pick<RouterSettings, 'bodyLimit' | 'routing' | 'fastPath' | 'logger'> {
  readonly resources: readonly Resource[];
  /** Routes that are of several of them. Default: none. */
  readonly shared?: readonly SharedRoute[];
  /** Hand-written controllers of the user's. */
  readonly controllers: readonly Class[];
  readonly access: SharedAccess;
  readonly catalogue: CatalogueGate;
  /** Null where the application has none. */
  readonly rls: RowSecurity | null;
  /** Null for a router, whose application is only in its requests. */
  readonly matching: PathMatching | null;
}

/** A router with all routes, and the list of those of the resources. */
export interface MountedRouter {
  readonly router: Router;
  readonly routes: readonly { readonly resource: Resource; readonly registered: RegisteredController }[];
  /** Routes of the user's controllers that have no resource. */
  readonly handWritten: readonly {
    readonly controller: Class;
    readonly routes: readonly HandWrittenRoute[];
  }[];
}

/**
 * Builds the router.
 *
 * @throws ConfigError when a resource would have two routes for the same method and path
 */
export function mountResources(plan: MountPlan): MountedRouter {
  const { resources, controllers, routing, fastPath, logger, access, catalogue, rls, shared = [] } = plan;
  const matching = plan.matching ?? LOOSE;
  const served = new Map<object, Resource>(resources.map((resource) => [resource.plan.model, resource]));
  const router = express.Router(matching);
  const driver = new SafeExpressDriver(
    router,
    serializersOf(served),
    (routing.interceptors ?? []).length > 0,
    plan.bodyLimit,
  );
  const rules = accessOfApplication(resources, access);
  const followed: FollowedModels = new Map(
    resources.map((each) => [each.plan.model, (endpoint) => each.features[endpoint].afterWrite]),
  );
  followModels(followed);
  const settings = { fastPath, routing, catalogue, rls, access: rules, followed };
  // The plan has checked that it is served.
  const resourceOf = (model: ModelClass) => served.get(model) as Resource;
  const routes = resources.map((resource) => ({
    resource,
    registered: registerResourceController(resource, driver, settings, resourceOf),
  }));
  const plain = controllers.map((controller) => registerPlainController(controller, driver, settings));
  const handWritten = plain.map((each, index) => ({ ...each, controller: controllers[index] as Class }));
  const classes = [...routes.map(({ registered }) => registered), ...plain].map(
    ({ controller }) => controller,
  );
  if (!plan.matching) router.use(leaveOtherPaths(literalRoutes(routes)));
  try {
    checkRoutes(routes, matching, settings);
    withMetadataIndex(() =>
      createServer(driver, {
        validation: STRICT_VALIDATION,
        ...routing,
        // The application mounts the router below its prefix.
        routePrefix: '',
        controllers: onlyThese(classes),
        middlewares: onlyThese(routing.middlewares ?? []),
        interceptors: onlyThese(routing.interceptors ?? []),
        // The built-in handler answers with every property of an error, SQL and parameters included, and answers twice.
        defaultErrorHandler: false,
      }),
    );
  } finally {
    forgetControllers(new Set(classes));
  }
  const bases = new Map(plain.map(({ controller }, index) => [controller as unknown, controllers[index]]));
  const own = driver.routes.flatMap((route) => {
    const base = bases.get(route.target);
    return base ? [{ ...route, owner: `${base.name}.${route.method}` }] : [];
  });
  const { first, closed, problems } = compareOwnRoutes(own, resourceRoutes(routes), matching);
  throwProblems([...problems, ...guardedPublicProblems(resources, controllers)]);
  putFirst(router, first);
  for (const { path, handler } of shared) router.get(path, handler(router));
  const narrow = routes.flatMap(({ resource: { plan }, registered }) =>
    narrowPaths(registered.routes, matching, (wider, path) => {
      const isRecord = wider.path === `${plan.prefix}/:id`;
      return !isRecord || mayBeId(plan, path.slice(plan.prefix.length + 1));
    }),
  );
  closePaths(
    router,
    [
      ...closed,
      ...narrow,
      ...shared.map(({ path }) => ({ verb: 'get' as const, path })),
      ...routes.flatMap(({ registered }) => registered.routes),
    ],
    matching,
  );
  router.use(stopAfterAnswer, exceptionHandler(logger));
  warnOfInternals(logger);
  for (const { model } of resources.map((resource) => resource.plan)) {
    if (model.sequelize) setWarningLogger(model.sequelize, logger);
  }
  return { router, routes, handWritten };
}

/** Routes that `@Answers` calls public, and `@Authorized` guards: a document could say only one of both. */
function guardedPublicProblems(resources: readonly Resource[], controllers: readonly Class[]): string[] {
  const own = resources.filter(({ isGenerated }) => !isGenerated);
  const lineages = [
    ...own.map(({ controller }) => ({ controller, lineage: lineageOf(controller, CrudController) })),
    ...controllers.map((controller) => ({ controller, lineage: lineageOf(controller) })),
  ];
  return lineages.flatMap(({ controller, lineage }) => {
    const methods = new Set(lineage.flatMap((target) => declaredMethods(target)));
    return [...methods].flatMap((method) => {
      const { declared, refusedStatus } = describeAction(lineage, method);
      if (!declared.details.public || refusedStatus === undefined) return [];
      return `${controller.name}.${method} has @Answers({ public: true }) and @Authorized(); remove one of them.`;
    });
  });
}

/** routing-controllers goes on after it has answered; a "not found" handler of the application would answer again. */
const stopAfterAnswer: RequestHandler = (_request, response, next) => {
  if (!response.headersSent && !response.destroyed) next();
};

type ClassList = NonNullable<RoutingControllersOptions['controllers']>;

/** A list for routing-controllers, for which an empty list means every class ever decorated in this process. */
function onlyThese(classes: readonly (ClassList[number] | Class)[]): ClassList {
  return (classes.length > 0 ? [...classes] : [class Nothing {}]) as ClassList;
}

/** The routes of resources, as hand-written ones may be in their way. */
function resourceRoutes(routes: MountedRouter['routes']): ResourceRoute[] {
  return routes.flatMap(({ resource: { plan }, registered }) =>
    registered.routes.map(({ verb, path, method, spec }): ResourceRoute => {
      const { name } = plan;
      return {
        verb,
        path,
        owner: `${name}.${method}`,
        mend: spec ? mendOf(spec, name) : 'leave one of them out',
      };
    }),
  );
}

function mendOf({ endpoint, mend, compile }: HandledRoute, name: string): string {
  if (mend) return mend(name);
  return `leave '${endpoint}' out of the endpoints of ${name}${compile ? '' : ', override the method'}`;
}

function literalRoutes(routes: MountedRouter['routes']) {
  return routes.flatMap(({ registered }) =>
    registered.routes.flatMap(({ verb, path }) => (typeof path === 'string' ? { verb, path } : [])),
  );
}

function checkRoutes(routes: MountedRouter['routes'], matching: PathMatching, settings: PathSettings): void {
  const problems = routes.flatMap(({ resource, registered }) => {
    const seen = new Map<string, string>();
    return registered.routes.flatMap(({ verb, path, method, spec }) => {
      const shape = typeof path === 'string' ? pathShape(path, matching) : String(path);
      const key = `${verb} ${shape}`;
      // A wider route would answer in the place of one that is no method which it could call.
      const isApart = spec !== null && 'compile' in spec;
      const first = seen.get(key) ?? (isApart ? widerRoute(seen, verb, shape) : undefined);
      seen.set(key, first ?? method);
      return first === undefined
        ? []
        : [
            `${resource.plan.name}: '${first}' and '${method}' both answer ${verb.toUpperCase()} ${path}; give one another path.`,
          ];
    });
  });
  problems.push(...routes.flatMap(({ resource }) => problemsOfRoutes(resource, settings)));
  problems.push(...routes.flatMap(wordProblems));
  if (problems.length > 0) throw new ConfigError(problems);
}

function problemsOfRoutes(resource: Resource, settings: PathSettings): readonly string[] {
  const routes: readonly HandledRoute[] = resource.routes;
  return routes.flatMap(({ endpoint, guardedAs, problems }) => [
    ...(guardedAs ? passedGuards(resource, endpoint, [guardedAs]) : []),
    ...(problems?.(resource, settings) ?? []),
  ]);
}

/** Words of paths that may be ids of records, which could not be read then. */
function wordProblems({
  resource: { plan },
  registered: { routes },
}: MountedRouter['routes'][number]): string[] {
  const { name, prefix } = plan;
  return routes.flatMap(({ verb, path, spec }) => {
    const isTaken = routes.some((each) => each.verb === verb && each.path === `${prefix}/:id`);
    if (!spec?.wordOption || !isTaken) return [];
    const word = spec.path.slice(1);
    if (!mayBeId(plan, word)) return [];
    return `${name}: ${verb.toUpperCase()} ${path} may be the path of a record with the id '${word}', which could not be read; set ${spec.wordOption} to a word that no id is, such as 'all-${word}'.`;
  });
}

/** True where the word of a path may be the id of a record. */
export function mayBeId({ idKind, idParts, parseId }: Resource['plan'], word: string): boolean {
  return (idKind === 'custom' && idParts.length === 1) || parseId(word).kind === 'id';
}

/** Route that answers a verb for every path of this shape, if there is one. @param seen routes, by verb and shape */
function widerRoute(seen: ReadonlyMap<string, string>, verb: string, shape: string): string | undefined {
  const segments = shape.split('/');
  const isWider = (path: string): boolean => {
    const others = path.split('/');
    const isRest = others.at(-1)?.startsWith('*') === true;
    return (
      (isRest ? others.length <= segments.length : others.length === segments.length) &&
      others.every((each, index) => each === ':' || each.startsWith('*') || each === segments[index])
    );
  };
  return [...seen].find(([key]) => {
    const [other, path = ''] = key.split(' ');
    return (other === verb || other === 'all') && isWider(path);
  })?.[1];
}
