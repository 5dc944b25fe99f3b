/** Two requests create the same record: the later one finds that of the other, and replaces it. */
import type { Action } from 'routing-controllers';
import type { Endpoint } from '../declare/crud-options.js';
import { describeFault } from '../errors/database-fault.js';
import type { Id } from '../execute/records/repository-operations.js';
import { joinableSession, runInSavepoint } from '../execute/records/unit-of-work.js';
import type { Resource } from '../express/resources/resource.js';
import type { RequestArguments } from '../request/parse-request.js';
import { parsePathId } from '../request/read-id.js';
import { contextOf } from './run-method.js';

/**
 * Runs work in the session of the running code. Where it fails on a unique value, and the record is there by now, it is undone and
 * runs once more.
 *
 * @param input null where decorators of the user's read the parameters
 */
export type RaceRunner = <T>(
  action: Action,
  input: RequestArguments | null,
  work: () => Promise<T>,
) => Promise<T>;

/** The runner of an operation; null where two requests cannot create the same record. */
export function compileRaceRunner(resource: Resource, operation: Endpoint): RaceRunner | null {
  if (operation !== 'replace') return null;
  const { plan } = resource;
  return async (action, input, work) => {
    const session = plan.model.sequelize && joinableSession(plan.model.sequelize, 'write');
    if (!session) return work();
    try {
      return await runInSavepoint(session, 'replacement', work);
    } catch (error) {
      if (describeFault(error)?.kind !== 'unique') throw error;
      const id = input ? input.id : parsePathId(plan, action.request);
      const record = await contextOf(resource, action).repository.findLocked(id as Id);
      if (!record) throw error;
    }
    return work();
  };
}
