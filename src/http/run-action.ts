/** Runs a controller's method: in the database session of its request, and so that whatever it throws is an error. */
import type { Action } from 'routing-controllers';
import { hasWriteHooks } from '../persistence/model-hooks.js';
import { hasPlainQueries } from '../persistence/plain-queries.js';
import { isPlainRepository, Repository } from '../persistence/repository.js';
import { CrudController } from './crud-controller.js';
import type { GeneratedRoute } from './generated-routes.js';
import { type RequestWork, requestWork } from './request-work.js';
import type { Resource } from './resource.js';

/** A controller, as far as it is called. */
export type Controller = Record<string, (...args: unknown[]) => unknown>;

/** What a generated operation is about; a route that the user added has no `route`. */
export interface GeneratedCall {
  readonly resource: Resource;
  readonly route: GeneratedRoute | undefined;
}

/** Runs a method; its session is committed when this resolves, and rolled back when it rejects. */
export async function runAction(
  action: Action,
  call: () => unknown,
  generated?: GeneratedCall,
): Promise<unknown> {
  const work = requestWork(action.request, action.response);
  try {
    const result = await runInSession(work, call, generated);
    await work.commit();
    return result;
  } catch (thrown) {
    const error = toError(thrown);
    await work.rollback(error);
    throw error;
  }
}

function runInSession(work: RequestWork, call: () => unknown, generated?: GeneratedCall): unknown {
  if (!generated?.route) return work.runAdded(call);
  const { resource, route } = generated;
  const { sequelize } = resource.plan.model;
  if (!sequelize) throw new TypeError(`${resource.plan.name} has lost its Sequelize instance.`);
  if (route.verb === 'get') {
    return isSeen(resource) ? work.runRead(sequelize, call) : work.runPlainRead(sequelize, call);
  }
  return runsUserCode(resource, route) ? work.runWrite(sequelize, call) : work.runAdded(call);
}

/** Whether code of the user's runs in a read: it may query, and must not write. */
function isSeen({ isGenerated, repository, plan }: Resource): boolean {
  return !isGenerated || !isPlainRepository(repository) || !hasPlainQueries(plan.model, 'read');
}

/** Whether a write may do more than write its one row, so that all of it has to happen together. */
function runsUserCode({ controller, repository, plan }: Resource, { method }: GeneratedRoute): boolean {
  const isOverridden = controller.prototype[method] !== CrudController.prototype[method];
  return isOverridden || repository.constructor !== Repository || hasWriteHooks(plan.model);
}

/** Express takes null, 'route' and 'router' for "no error, go on". */
function toError(thrown: unknown): object {
  if (typeof thrown === 'object' && thrown !== null) return thrown;
  return new TypeError('A controller threw something that is not an error.');
}
