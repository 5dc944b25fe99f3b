/** `bootstrap`: the phases in their order, one call a line. */

import type { Express } from 'express';
import { RowSecurity } from './access/row-security.js';
import { compilePlan } from './compile/compile-plan.js';
import { IS_RENAMED } from './describe/minified-names.js';
import { writeExactly } from './execute/customization/exact-types.js';
import { admitRequests } from './express/connection/open-connection.js';
import { declareResources } from './express/resources/declare-resources.js';
import { noteServed, unservedWarnings } from './express/resources/left-out.js';
import { createResources } from './express/resources/resource.js';
import { type ResourceOptions, resolveSettings } from './express/resources/settings.js';
import { mountResources } from './express/routes/mount-resources.js';
import { LOOSE, mountBelow, pathMatching } from './express/routes/path-matching.js';
import {
  describePaths,
  describeRoutes,
  describeRouteTable,
  type RouteInfo,
} from './express/routes/route-info.js';
import { dispatchBySegment } from './express/routes/segment-dispatch.js';
import { listenWithClasses } from './express/server/express-server.js';
import { sealedTagWarnings } from './features/entity-tag.js';
import { FEATURES, type FeatureOptions } from './features/features.js';
import type { SharingFeature } from './handle/handled-route.js';
import { type HealthOptions, healthProblems } from './health/health-options.js';
import { healthRouterFor } from './health/health-router.js';
import { CatalogueGate } from './inspect/catalogue-gate.js';
import { RowSecurityCheck } from './inspect/check-row-security.js';
import { describeSql } from './inspect/describe-sql.js';
import { prepareTables } from './inspect/own-tables.js';
import { landingLinks, listHints } from './landing/landing.js';
import { hasOwnRoute, landingConflicts, landingRouter } from './landing/landing-router.js';
import {
  hiddenByMetrics,
  metricsConflicts,
  metricsPath,
  OBSERVE_OPTIONS,
  type ObserveOptions,
  observeProblems,
} from './observe/observe-options.js';
import { observeRequests } from './observe/observe-requests.js';
import {
  type DocsOptions,
  docsConflicts,
  docsHidden,
  docsProblems,
  type ResolvedDocs,
  resolveDocsOptions,
} from './openapi/docs-options.js';
import { docsRouter, lazyDocument } from './openapi/docs-router.js';
import { writeDocument } from './openapi/openapi-document.js';
import type { OpenAPIObject } from './openapi/openapi-object.js';
import { MANY_RESOURCES } from './openapi/page-style.js';
import { compileFeatureOptions, resourceOptionsOf } from './operation/compile-features.js';
import { everyRoute } from './operation/route-spec.js';
import { prepareConnections } from './postgres/index.js';
import { sealedCursorWarnings } from './request/query/cursor-codec.js';
import { writtenFilterProblems } from './request/query/rule-filters.js';
import { rememberRoutes, setLogger } from './request/request-log.js';
import { addServedPlans } from './request/request-notes.js';
import { installLastHandler } from './respond/exception-handler.js';
import { ownProblemOption, setProblemOption } from './respond/send-problem.js';
import { DECORATORS } from './schema/attribute-decorators.js';
import { ConfigError, throwProblems } from './util/config-error.js';
import { isForCommand, isOffline } from './util/offline.js';
import { applicationProblems, flagProblems, objectProblems } from './util/option-problems.js';

/** Options of `bootstrap`. */
export interface BootstrapOptions extends ResourceOptions, FeatureOptions, ObserveOptions {
  /** The health routes; `false` mounts none. Their prefix is not under `routePrefix`. Default: `/health`, 5 seconds. */
  health?: HealthOptions | false;
  /** The OpenAPI document and its page; `false` mounts neither. Not under `routePrefix`. Default: `/docs`. */
  docs?: DocsOptions | false;
  /**
   * True where a path that no route has answered is a problem of status 404 and not the page of Express: true for all
   * paths of the application. Routes that are mounted later come before. Default: for paths below `routePrefix`,
   * where there is one.
   */
  notFound?: boolean;
  /**
   * True where `GET` of the place where the API is, `routePrefix` or `/`, lists the resources, their operations, and
   * the places of documentation and health. Browsers get a page, and other clients JSON. A route of yours for that
   * path is a `ConfigError`, and comes first where it is added later. Default: false.
   */
  landing?: boolean;
  /**
   * True where one warning at the start names the indexes that orders, filters and relations of clients would need,
   * and the tables do not have. `npx crud-controllers sql` prints them, too. Default: true.
   */
  indexAdvice?: boolean;
  /**
   * True where a column of another type than its attribute is a `ConfigError`: BOOLEAN over `smallint`, or labels of an
   * enum that differ. Default: false, one warning for each at the start.
   */
  strictTypes?: boolean;
}

/** The mounted application: its routes and its documentation. */
export interface CrudApplication {
  /**
   * Every route of every resource, in the order of matching. Described at the moment it is read, because hooks and default
   * scopes, which keep a route off the fast path, can be added at any time.
   */
  readonly routes: readonly RouteInfo[];
  /** The OpenAPI 3.1 document of all that was mounted, also where `docs` is off. */
  openapi(): OpenAPIObject;
}

/**
 * Mounts a resource for every `@Crud` model, or for `options.models` only. It checks everything, and synthesizes schemas and
 * controllers. Then it mounts the routes, the health routes, the OpenAPI document with its page, and the error handling, in this
 * order. The routes are mounted when the call returns its promise. The promise waits for the checks of the database, which
 * refuse wrong keys and log missing tables, columns and indexes, and for tables of the library. From then on `app.listen` makes its server with
 * `requestClasses`.
 *
 * @example
 * ```ts
 * const app = express();
 * await using engine = await engineLifespan(dsn, { createAll: true })(app);
 * await bootstrap(app, { routePrefix: '/api', controllers: [ArticleController] });
 * ```
 * @throws ConfigError with all problems of models, options and controllers, with those of their tables once these are read, and where the application has the same routes already
 */
export async function bootstrap(app: Express, options: BootstrapOptions = {}): Promise<CrudApplication> {
  throwProblems([
    ...applicationProblems('bootstrap', app),
    ...objectProblems('The second argument of bootstrap', options, 'an object of options, or leave it out'),
  ]);
  const matching = pathMatching(app);
  const {
    settings,
    warnings,
    plans,
    router,
    start,
    health,
    docs,
    landing,
    closed,
    document,
    paths,
    ...described
  } = buildApplication(options, FEATURES, matching);
  const { application } = described;
  if (landing && hasOwnRoute(app, 'GET', landing.path)) {
    throw new ConfigError([`The application answers GET ${landing.path} by itself; leave landing out.`]);
  }
  if (settings.problem && (ownProblemOption(app) ?? settings.problem) !== settings.problem) {
    throw new ConfigError([
      'problem is not that of the bootstrap before on this application, which has one form of errors; give both calls the same function.',
    ]);
  }
  claimRoutes(app, [...paths, ...(landing ? [{ method: 'GET', path: landing.path }] : [])]);
  const hidden = docs ? claimDocs(app, docs, settings.routePrefix) : [];
  setLogger(app, settings.logger);
  addServedPlans(app, plans);
  if (settings.problem) setProblemOption(app, settings.problem);
  admitRequests(app);
  observeRequests(app, options, plans, settings.logger);
  rememberRoutes(app, settings.routePrefix, router);
  const surroundings = { home: landing ? landing.path : undefined, isByTag: plans.length > MANY_RESOURCES };
  const routers = [
    ...(health ? [healthRouterFor(health, matching)] : []),
    ...(docs ? [docsRouter(docs, surroundings, document.soon, matching)] : []),
    ...(landing ? [landingRouter(landing, document.soon, matching)] : []),
  ];
  const prefix = settings.routePrefix;
  mountBelow(app, prefix, dispatchBySegment(router, { prefix, routers, matching }));
  for (const each of routers) app.use(each);
  installLastHandler(app, settings.logger, closed);
  listenWithClasses(app);
  for (const line of [...warnings, ...hidden, ...(settings.isScan ? [] : unservedWarnings(plans))])
    settings.logger.warn(line);
  for (const { model } of plans) {
    writeExactly(model);
    if (model.sequelize) prepareConnections(model.sequelize);
  }
  if (!isOffline()) await start();
  if (isForCommand()) LOADED.push({ ...described, app });
  return application;
}

/** The routes of an Express application. */
const MOUNTED = new WeakMap<Express, Set<string>>();

/** A second router with the same routes would never be reached. */
function claimRoutes(app: Express, routes: readonly Pick<RouteInfo, 'method' | 'path'>[]): void {
  const known = MOUNTED.get(app) ?? new Set();
  const added = routes.map(({ method, path }) => `${method} ${path}`);
  const twice = added.filter((route) => known.has(route));
  if (twice.length > 0) {
    throw new ConfigError([
      `bootstrap was called on this application before, and serves ${twice[0]} already; call it once, with all models and ` +
        'controllers, or give each call another routePrefix.',
    ]);
  }
  MOUNTED.set(app, new Set([...known, ...added]));
}

/** A second document at the place of one before is never answered. */
function claimDocs(app: Express, { path, documentPath }: ResolvedDocs, routePrefix: string): string[] {
  const known = MOUNTED.get(app) ?? new Set();
  const taken = [documentPath, path].find((each) => known.has(`GET ${each}`));
  MOUNTED.set(app, new Set([...known, `GET ${path}`, `GET ${documentPath}`]));
  if (taken === undefined) return [];
  return [
    `The application answers GET ${taken} already, so that the documentation of this call of bootstrap is hidden; give it a place of ` +
      `its own, such as docs: { path: '${routePrefix || '/other'}/docs' }, or leave it out with docs: false.`,
  ];
}

/** Parts of an application that the command line prints. */
export interface DescribedApplication {
  readonly application: CrudApplication;
  /** A table of the routes, as text. */
  routeTable(): string;
  /**
   * Tables and indexes that the application needs beside its models, as SQL.
   *
   * @param given options of `bootstrap` whose tables are in it, null for all. Default: those of the application
   */
  sql(given?: object | null): string;
  /** Work that has to be done now and then, on the tables that the application needs beside its models. @returns lines about the finished work */
  maintain(): Promise<readonly string[]>;
}

/** An application that was bootstrapped on an application of Express. */
export interface LoadedApplication extends DescribedApplication {
  readonly app: Express;
}

/** Applications of the command line, in the order of their start. */
const LOADED: LoadedApplication[] = [];

/** The applications that were bootstrapped for a command so far. */
export function loadedApplications(): readonly LoadedApplication[] {
  return LOADED;
}

/** Everything up to the mounting. */
export function buildApplication(options: BootstrapOptions, features = FEATURES, matching = LOOSE) {
  const {
    health = {},
    docs = {},
    notFound,
    landing = false,
    indexAdvice = true,
    strictTypes = false,
    ...resourceOptions
  } = options;
  const problemsOfFeatures: string[] = [];
  const featureOptions = compileFeatureOptions(features, options, problemsOfFeatures);
  const featureNames = features.flatMap((feature) => Object.keys(feature.options ?? {}));
  const settings = resolveSettings(
    resourceOptions,
    [
      ...featureNames,
      'health',
      'docs',
      'notFound',
      'landing',
      'indexAdvice',
      'strictTypes',
      ...OBSERVE_OPTIONS,
    ],
    [
      ...problemsOfFeatures,
      ...(health ? healthProblems(health) : []),
      ...(docs ? docsProblems(docs) : []),
      ...observeProblems(options),
      ...flagProblems('notFound', notFound ?? false),
      ...flagProblems('landing', landing),
      ...flagProblems('indexAdvice', indexAdvice),
      ...flagProblems('strictTypes', strictTypes),
    ],
  );
  const { declarations, handWritten, problems, warnings } = declareResources(settings, everyRoute(features));
  const plans = compilePlan(
    declarations,
    { ...DECORATORS, ...resourceOptionsOf(features) },
    problems,
    settings.access,
  );
  const documentation = resolveDocsOptions(docs || {}, settings.problem !== null);
  const { routePrefix } = settings;
  throwProblems([
    ...(docs ? docsConflicts(documentation, plans, routePrefix) : []),
    ...metricsConflicts(metricsPath(options), plans, routePrefix),
    ...writtenFilterProblems(plans),
  ]);
  noteServed(plans);
  const resources = createResources(plans, declarations, {
    ...settings,
    features,
    application: featureOptions,
  });
  const shared = (features as readonly Partial<SharingFeature>[]).flatMap(
    (each) => each.shared?.(resources, featureOptions) ?? [],
  );
  const rowSecurity = settings.rls && new RowSecurityCheck(plans, settings.logger);
  const added = features.flatMap((each) => each.settings?.(plans, featureOptions, settings.logger) ?? []);
  const hasSettings = settings.rls !== null || added.length > 0;
  const rls = hasSettings ? new RowSecurity(settings.rls, rowSecurity, added) : null;
  const catalogue = new CatalogueGate(plans, { logger: settings.logger, features, indexAdvice, strictTypes });
  const { router, ...mounted } = mountResources({
    ...settings,
    rls,
    catalogue,
    resources,
    shared,
    controllers: handWritten,
    matching,
  });
  throwProblems([
    ...(docs ? docsHidden(documentation, mounted.routes, routePrefix) : []),
    ...hiddenByMetrics(metricsPath(options), mounted.routes, routePrefix),
  ]);
  const landingPath = routePrefix || '/';
  if (landing) {
    const taken = { docs: docs ? documentation.path : null, metrics: metricsPath(options) };
    throwProblems(landingConflicts(landingPath, mounted, routePrefix, taken));
  }
  const document = lazyDocument(
    () =>
      writeDocument({
        ...documentation,
        ...mounted,
        routePrefix,
        routing: settings.routing,
        health,
        isProblemOwn: settings.problem !== null,
      }),
    () => catalogue.version,
  );
  // Written at once where a minifier has renamed classes, because it refuses minified names of schemas.
  if (docs && IS_RENAMED) document.now();
  const application: CrudApplication = Object.freeze({
    get routes() {
      return describeRoutes(routePrefix, mounted.routes);
    },
    openapi: document.now,
  });
  const routeTable = () => describeRouteTable(application.routes, plans);
  const sql = (given: object | null = options) => describeSql(plans, features, given);
  const maintain = async () => {
    const lines = await Promise.all(features.map((feature) => feature.maintain?.(plans) ?? []));
    return lines.flat();
  };
  return {
    settings,
    warnings: [
      ...warnings,
      ...sealedTagWarnings(plans, options.cursorSecret),
      ...sealedCursorWarnings(plans, options.cursorSecret),
    ],
    plans,
    router,
    start: async () => {
      await rowSecurity?.start();
      await catalogue.start();
      await prepareTables(plans, features, options, settings.logger);
    },
    health,
    docs: docs && documentation,
    landing: landing && {
      path: landingPath,
      links: landingLinks(docs && documentation, health),
      hints: listHints(plans, routePrefix),
    },
    closed: closedPath(notFound, routePrefix),
    document,
    paths: describePaths(routePrefix, mounted.routes),
    application,
    routeTable,
    sql,
    maintain,
  };
}

/** Below which path unknown ones are a problem; null: below none. */
function closedPath(notFound: boolean | undefined, routePrefix: string): string | null {
  if (notFound) return '';
  return notFound === undefined && routePrefix !== '' ? routePrefix : null;
}
