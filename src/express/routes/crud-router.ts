/** `crudRouter`: one resource as a router of its own. */

import type { Router } from 'express';
import type { Model } from 'sequelize';
import { RowSecurity } from '../../access/row-security.js';
import { compilePlan } from '../../compile/compile-plan.js';
import type { CrudOptions } from '../../declare/crud-options.js';
import { declaredOptions } from '../../describe/record.js';
import { refusedModelOptions } from '../../execute/customization/refused-options.js';
import type { Repository } from '../../execute/records/repository.js';
import { resolveSource, type Source } from '../../execute/records/repository-source.js';
import { FEATURES } from '../../features/features.js';
import { CatalogueGate } from '../../inspect/catalogue-gate.js';
import { resourceOptionsOf } from '../../operation/compile-features.js';
import { takeoverProblems } from '../../postgres/index.js';
import { writtenFilterProblems } from '../../request/query/rule-filters.js';
import { setLogger } from '../../request/request-log.js';
import { DECORATORS } from '../../schema/attribute-decorators.js';
import { throwProblems } from '../../util/config-error.js';
import { admitThenGoOn } from '../connection/open-connection.js';
import { type Declaration, repositoryGuards } from '../resources/declare-resources.js';
import { noteServed } from '../resources/left-out.js';
import { createResources } from '../resources/resource.js';
import { type RouterOptions, resolveRouterOptions } from '../resources/settings.js';
import { mountResources } from './mount-resources.js';

/** Options of `crudRouter`: those of `@Crud`, and those of `bootstrap` that concern a single resource. */
export interface CrudRouterOptions<M extends Model = Model> extends CrudOptions<M>, RouterOptions {}

/**
 * The routes of one model, to be mounted anywhere. Options come on top of those of the model's `@Crud`; the prefix is
 * empty unless they have one.
 *
 * @example
 * ```ts
 * app.use('/articles', crudRouter(Article, { endpoints: ['list', 'read'] }));
 * ```
 * @throws ConfigError with everything that is wrong with the model or an option
 */
export function crudRouter<M extends Model>(source: Source<M>, options: CrudRouterOptions<M> = {}): Router {
  const {
    bodyLimit: _bodyLimit,
    cursorSecret: _cursorSecret,
    fastPath: _fastPath,
    logger,
    routing: _routing,
    ...crud
  } = options;
  const repository = resolveSource(source) as unknown as Repository;
  const { model } = repository;
  const declaration: Declaration = {
    model,
    options: { ...declaredOptions(model), prefix: '', ...(crud as unknown as CrudOptions) },
    repository,
    controller: undefined,
    guards: repositoryGuards(repository),
    readGuards: [],
    writeGuards: [],
  };
  const problems: string[] = [];
  const settings = resolveRouterOptions(options, problems);
  problems.push(...takeoverProblems([model]), ...refusedModelOptions([model]));
  const plans = compilePlan([declaration], { ...DECORATORS, ...resourceOptionsOf(FEATURES) }, problems);
  throwProblems(writtenFilterProblems(plans));
  noteServed(plans);
  const resources = createResources(plans, [declaration], {
    ...settings,
    features: FEATURES,
  });
  if (logger) for (const resource of resources) setLogger(resource.plan, settings.logger);
  const catalogue = new CatalogueGate(plans, {
    logger: settings.logger,
    features: FEATURES,
    indexAdvice: false,
  });
  const added = FEATURES.flatMap((each) => each.settings?.(plans, {}, settings.logger) ?? []);
  const rls = added.length > 0 ? new RowSecurity(null, null, added) : null;
  const none = { controllers: [], access: {}, rls, matching: null };
  const { router } = mountResources({ ...settings, ...none, catalogue, resources });
  router.use(admitThenGoOn);
  router.stack.unshift(...router.stack.splice(-1));
  return router;
}
