/** Routes that features answer. They are beside the methods of a controller, and join the route of a method with the same path. */
import type { RequestHandler, Router } from 'express';
import type { ModelClass } from '../declare/crud-options.js';
import type { ActionRunner } from '../express/resources/controller-metadata.js';
import type { Resource } from '../express/resources/resource.js';
import type { ResultShaper } from '../express/resources/result-shaper.js';
import type { FeatureFactory } from '../operation/feature.js';
import type { RouteSpec } from '../operation/route-spec.js';
import type { RequestParser } from '../request/parse-request.js';
import type { PathSettings, RouteDecisions } from './decide-route.js';
import type { RowRunner } from './run-rows.js';

/** The resource of a route, and the settings of its application. */
export interface RouteContext {
  readonly resource: Resource;
  resourceOf(model: ModelClass): Resource;
  readonly shaper: ResultShaper;
  readonly settings: PathSettings;
  /** The user's classes of the controller. */
  readonly lineage: readonly object[];
}

/** Decided parts of a route. */
export interface HandlerContext extends RouteContext {
  readonly decisions: RouteDecisions;
  /** Executes the operation with our SQL; null where Sequelize does, or code of the user's decides. */
  readonly rows: RowRunner | null;
  /**
   * Compiles the handler of the route that is joined; null where none is.
   *
   * @param parse in the place of its own parser
   */
  readonly compileJoined: ((parse?: RequestParser) => ActionRunner) | null;
}

/** A generated route with the code that answers it. */
export interface HandledRoute extends RouteSpec {
  /** Compiles the handler. Default: the story of one operation. */
  compile?(context: HandlerContext): ActionRunner;
  /** Decides about it. Default: as for the method of `single`, or its own. */
  decide?(context: RouteContext): RouteDecisions;
  /** Parts of a controller that prevent the route. Default: none. */
  problems?(resource: Resource, settings: PathSettings): readonly string[];
  /** End of the message where a hand-written route is in its way. */
  mend?(name: string): string;
}

/** A route that is of several resources, `GET` at a path of its own. */
export interface SharedRoute {
  /** Under the prefix of all routes. */
  readonly path: string;
  /** @param router with the routes of all resources */
  handler(router: Router): RequestHandler;
}

/** A feature with such routes. */
export interface SharingFeature extends FeatureFactory {
  /** @param application options of `bootstrap` that features have compiled, by name @throws ConfigError */
  shared(
    resources: readonly Resource[],
    application: Readonly<Record<string, unknown>>,
  ): readonly SharedRoute[];
}
