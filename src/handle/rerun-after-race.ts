/** Two requests create the same record: the later one finds that of the other, and replaces it. */
import type { Endpoint } from '../declare/crud-options.js';
import { describeFault } from '../errors/database-fault.js';
import type { Id } from '../execute/records/repository-operations.js';
import { joinableSession, runInSavepoint } from '../execute/records/unit-of-work.js';
import type { Resource } from '../express/resources/resource.js';
import { parsePathId } from '../request/read-id.js';
import { argumentsOf, contextOf, type MethodRunner } from './run-method.js';

/**
 * Has the method of a replacement run once more, in the session of the running code, where it fails on a unique value and the record
 * is there by now. Before that it is undone.
 */
export function inRace(resource: Resource, operation: Endpoint, runMethod: MethodRunner): MethodRunner {
  if (operation !== 'replace') return runMethod;
  const { plan } = resource;
  return async (action, given) => {
    const session = plan.model.sequelize && joinableSession(plan.model.sequelize, 'write');
    if (!session) return runMethod(action, given);
    try {
      return await runInSavepoint(session, 'replacement', () => runMethod(action, given));
    } catch (error) {
      if (describeFault(error)?.kind !== 'unique') throw error;
      const id = argumentsOf(given)?.id ?? parsePathId(plan, action.request);
      const record = await contextOf(resource, action).repository.findLocked(id as Id);
      if (!record) throw error;
    }
    return runMethod(action, given);
  };
}
