/** `crudRouter`: one resource as a router of its own. */
import type { Router } from 'express';
import type { Model } from 'sequelize';
import type { CrudOptions } from '../../metadata/crud-options.js';
import { crudRecords } from '../../metadata/registry.js';
import type { Repository } from '../../persistence/records/repository.js';
import { resolveSource, type Source } from '../../persistence/records/resolve-source.js';
import { takeoverProblems } from '../../persistence/session/model-owners.js';
import { compilePlan } from '../../plan/compile-plan.js';
import { flagProblems } from '../../plan/flag-problems.js';
import { createCursorCodec } from '../../query/cursor-codec.js';
import { classProperties } from '../../schema/class-properties.js';
import { describeExposure } from '../../schema/model-decorators.js';
import { adaptLogger } from '../../util/adapt-logger.js';
import { collectProblems } from '../../util/config-error.js';
import { defaultLogger } from '../../util/default-logger.js';
import type { Logger } from '../../util/logger.js';
import { setLogger } from '../request/application-logger.js';
import { parseBodyLimit } from '../resources/body-limit.js';
import { parseSecrets } from '../resources/cursor-secret.js';
import type { Declaration } from '../resources/declare-resources.js';
import { createResources } from '../resources/resource.js';
import type { RoutingOptions } from '../resources/routing-options.js';
import { mountResources } from './mount-resources.js';

/** Options of `crudRouter`: those of `@Crud`, and those of `bootstrap` that concern a single resource. */
export interface CrudRouterOptions<M extends Model = Model> extends CrudOptions<M> {
  /** Bytes, or a text such as `'100kb'`, which is the default. */
  bodyLimit?: string | number;
  /** Signs cursors; see `bootstrap`. */
  cursorSecret?: string | readonly string[];
  /** Whether routes may take the fast path; see `bootstrap`. Default: true. */
  fastPath?: boolean;
  /** Default: warnings and errors as JSON lines on standard error. */
  logger?: Logger;
  /** Options of routing-controllers: `authorizationChecker`, `interceptors` … */
  routing?: RoutingOptions;
}

/**
 * The routes of one model, to be mounted anywhere. Options come on top of those of the model's `@Crud`; the prefix is
 * empty unless given here.
 *
 * @example
 * ```ts
 * app.use('/articles', crudRouter(Article, { endpoints: ['list', 'read'] }));
 * ```
 * @throws ConfigError with everything that is wrong with the model or an option
 */
export function crudRouter<M extends Model>(source: Source<M>, options: CrudRouterOptions<M> = {}): Router {
  const {
    bodyLimit,
    cursorSecret,
    fastPath = true,
    logger: given = defaultLogger,
    routing = {},
    ...crud
  } = options;
  const repository = resolveSource(source) as unknown as Repository;
  const { model } = repository;
  const record = crudRecords().findLast((known) => known.model === model);
  const declaration: Declaration = {
    model,
    options: { ...record?.options, prefix: '', ...(crud as unknown as CrudOptions) },
    repository,
    controller: undefined,
  };
  const problems = [...flagProblems('fastPath', fastPath), ...takeoverProblems([model])];
  const logger = collectProblems(problems, () => adaptLogger(given), defaultLogger);
  const settings = {
    bodyLimit: collectProblems(problems, () => parseBodyLimit(bodyLimit), 0),
    cursors: createCursorCodec(collectProblems(problems, () => parseSecrets(cursorSecret), [])),
  };
  const plan = compilePlan([declaration], { describeExposure, classProperties }, problems);
  const resources = createResources(plan, [declaration], settings);
  if (given !== defaultLogger) for (const resource of resources) setLogger(resource.plan, logger);
  return mountResources({ resources, controllers: [], routing, fastPath, logger }).router;
}
