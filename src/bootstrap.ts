/** `bootstrap`: the phases in their order, one call a line. */
import type { Express } from 'express';
import { type HealthOptions, healthProblems } from './health/health-options.js';
import { healthRouter } from './health/health-router.js';
import { setLogger } from './http/application-logger.js';
import { declareResources } from './http/declare-resources.js';
import { exceptionHandler } from './http/exception-handler.js';
import { mountResources } from './http/mount-resources.js';
import { createResources } from './http/resource.js';
import { describeRoutes, type RouteInfo } from './http/route-info.js';
import { dispatchBySegment } from './http/segment-dispatch.js';
import { type ResourceOptions, resolveSettings } from './http/settings.js';
import { warnMissingIndexes } from './http/warn-missing-indexes.js';
import { compilePlan } from './plan/compile-plan.js';
import { classProperties } from './schema/class-properties.js';
import { describeExposure } from './schema/model-decorators.js';

/** Options of `bootstrap`. */
export interface BootstrapOptions extends ResourceOptions {
  /** The health routes; `false` mounts none. Their prefix is not under `routePrefix`. Default: `/health`, 5 seconds. */
  health?: HealthOptions | false;
}

/** What `bootstrap` made. */
export interface CrudApplication {
  /** Every route of every resource, in the order they are asked. */
  readonly routes: readonly RouteInfo[];
}

/**
 * Mounts a resource for every `@Crud` model, or for `options.models` only: checks everything, synthesizes schemas and
 * controllers, mounts the routes, then the health routes, then the error handling. The routes are mounted when the call
 * returns its promise; what is awaited is only a look at the indexes, which warns of orders and filters that none
 * serves.
 *
 * @example
 * ```ts
 * const app = express();
 * await using engine = await engineLifespan(dsn, { createAll: true })(app);
 * await bootstrap(app, { routePrefix: '/api', controllers: [ArticleController] });
 * ```
 * @throws ConfigError with everything that is wrong with any model, option or controller
 */
export async function bootstrap(app: Express, options: BootstrapOptions = {}): Promise<CrudApplication> {
  const { health = {}, ...resourceOptions } = options;
  const settings = resolveSettings(resourceOptions, ['health'], health ? healthProblems(health) : []);
  const { declarations, handWritten, problems } = declareResources(settings);
  const plan = compilePlan(declarations, { describeExposure, classProperties }, problems);
  const resources = createResources(plan, declarations, settings);
  setLogger(app, settings.logger);
  const { router, routes } = mountResources({ ...settings, resources, controllers: handWritten });
  app.use(settings.routePrefix || '/', dispatchBySegment(router));
  if (health) app.use(healthRouter(health));
  app.use(exceptionHandler(settings.logger));
  await warnMissingIndexes(resources, settings.logger);
  return Object.freeze({ routes: describeRoutes(settings.routePrefix, routes) });
}
