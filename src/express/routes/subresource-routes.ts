/** The routes of sub-resources: the list of another resource, under each record of this one. */

import type { ModelClass } from '../../declare/crud-options.js';
import { sequelizeProblem } from '../../execute/customization/internals-trial.js';
import { modelFastPathBlockers } from '../../execute/customization/model-fast-path-blockers.js';
import { isPlainRepository } from '../../execute/records/repository.js';
import { readSessions } from '../../handle/commit-request.js';
import {
  answerChanges,
  answerReasons,
  fastPathReasons,
  type PathSettings,
} from '../../handle/decide-route.js';
import { compileOperationHandler } from '../../handle/handle.js';
import {
  compileSubresourceMethod,
  compileSubresourceRows,
  type Subresource,
} from '../../handle/run-subresource.js';
import { compileShape } from '../../handle/shape-answer.js';
import { USUAL } from '../../operation/route-spec.js';
import { compileSubresourceParser } from '../../request/parse-subresource.js';
import type { ActionArgs, ActionRunner } from '../resources/controller-metadata.js';
import type { Resource } from '../resources/resource.js';
import type { ResultShaper } from '../resources/result-shaper.js';

/** The sub-resources of a resource, by what stands in the place of their methods. */
export function subresourcesOf(
  parent: Resource,
  resourceOf: (model: ModelClass) => Resource,
): ReadonlyMap<string, Subresource> {
  const plans = [...parent.plan.relations.subresources.values()];
  return new Map(
    plans.map((plan) => [plan.method, { plan, parent, target: resourceOf(plan.relation.target) }]),
  );
}

/** Their routes, as routing-controllers records them. What a list sends is in wire form already. */
export function subresourceActions(
  subresources: ReadonlyMap<string, Subresource>,
  target: new () => object,
): ActionArgs[] {
  return [...subresources.values()].map(({ plan: { method, path } }) => ({
    target,
    type: 'get',
    method,
    route: path,
    options: { transformResponse: false },
  }));
}

/** Why Sequelize runs the SQL of a sub-resource; none when we do. */
export function subresourceReasons(
  { parent, target }: Subresource,
  settings: PathSettings,
): readonly string[] {
  const problem = sequelizeProblem();
  const reasonsOf = ({ plan: { name, info } }: Resource, endpoint: 'list' | 'read', isOfRecords: boolean) =>
    modelFastPathBlockers(info, endpoint, isOfRecords).map((reason) => `${name}: ${reason}`);
  return Object.freeze([
    ...fastPathReasons(settings),
    ...(problem
      ? [problem]
      : [
          ...reasonsOf(parent, 'read', !isReadByKey(parent)),
          ...reasonsOf(target, 'list', target.rowView.isOfRecords),
        ]),
  ]);
}

/** True where the parent can be read without its repository. */
function isReadByKey({ repository, plan }: Resource): boolean {
  return isPlainRepository(repository) && plan.idKind !== 'custom';
}

/**
 * Compiles what answers a sub-resource.
 *
 * @param reasons why Sequelize runs its SQL
 */
export function subresourceHandler(
  subresource: Subresource,
  shaper: ResultShaper,
  settings: PathSettings,
  lineage: readonly object[],
  reasons: readonly string[],
): ActionRunner {
  const { plan, parent, target } = subresource;
  const parse = compileSubresourceParser(parent, target, plan);
  const isOurs = reasons.length === 0 && isReadByKey(parent);
  return compileOperationHandler(
    {
      resource: parent,
      verb: 'get',
      parse,
      parseOnce: parse,
      rows: isOurs ? compileSubresourceRows(subresource) : null,
      runMethod: compileSubresourceMethod(subresource, shaper),
      shape: compileShape(target, USUAL.list, {
        isMethodAsked: true,
        isChanged: answerChanges(plan.method, lineage, settings).length > 0,
        isRuled: true,
      }),
      findAround: null,
      sessions: readSessions([parent, target], settings),
    },
    {
      answer: answerReasons(plan.method, lineage, settings).length > 0 ? 'values' : 'text',
      isShapedByUser: target.rowView.runsUserCode,
      settings,
    },
    shaper,
  );
}
