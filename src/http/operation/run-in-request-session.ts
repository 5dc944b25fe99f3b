/**
 * Runs a controller's method and shapes what it returns: in the database session of its request, and so that whatever is
 * thrown is an error.
 */
import type { Action } from 'routing-controllers';
import { hasPlainQueries, hasWriteHooks } from '../../persistence/customization/plain-queries.js';
import { isPlainRepository, Repository } from '../../persistence/records/repository.js';
import { type RequestSessions, requestSessions } from '../request/request-sessions.js';
import { CrudController } from '../resources/crud-controller.js';
import type { GeneratedRoute } from '../resources/generated-routes.js';
import type { Resource } from '../resources/resource.js';

/** A controller, as far as it is called. */
export type Controller = Record<string, (...args: unknown[]) => unknown>;

/** What a generated operation is about. */
export interface GeneratedCall {
  readonly resource: Resource;
  readonly route: GeneratedRoute;
  /** Whether code of the user's takes part in the answer. */
  readonly isShapedByUser: boolean;
}

/**
 * Runs a method and shapes its result; the session of both is committed when this resolves, and rolled back when it rejects.
 */
export async function runInRequestSession<T>(
  action: Action,
  call: () => unknown,
  shape: (result: unknown) => T | Promise<T>,
  generated?: GeneratedCall,
): Promise<T> {
  const work = requestSessions(action.request, action.response);
  try {
    const result = await runInSession(work, async () => shape(await call()), generated);
    await work.commit();
    return result;
  } catch (thrown) {
    const error = toError(thrown);
    await work.rollback(error);
    throw work.explain(error);
  }
}

function runInSession<T>(work: RequestSessions, call: () => T, generated?: GeneratedCall): T {
  if (!generated) return work.runAdded(call);
  const { resource, route, isShapedByUser } = generated;
  const { sequelize } = resource.plan.model;
  if (!sequelize) throw new TypeError(`${resource.plan.name} has lost its Sequelize instance.`);
  if (route.verb === 'get') {
    return isSeen(resource) ? work.runRead(sequelize, call) : work.runPlainRead(sequelize, call);
  }
  const isShaped = isShapedByUser && route.operation !== 'delete';
  return isShaped || runsUserCode(resource, route) ? work.runWrite(sequelize, call) : work.runAdded(call);
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
