/** Reads parameters of the user's methods from their resource: the id, the record and the list query of a request. */
import type { Action } from 'routing-controllers';
import { accessSource } from '../access/reference-access.js';
import { guardRecords } from '../execute/records/guarded-record.js';
import type { Id } from '../execute/records/repository-operations.js';
import type { Resource } from '../express/resources/resource.js';
import {
  ownQueryParameters,
  type ResourceParameter,
  resourceParameters,
} from '../express/resources/resource-parameters.js';
import { routeNamed, USUAL } from '../operation/route-spec.js';
import { compileWantedParser, parseOnce, type RequestParser } from '../request/parse-request.js';
import { requestSessions, SAFE_METHODS } from '../request/request-sessions.js';
import { operationSessions } from './commit-request.js';
import type { PathSettings } from './decide-route.js';
import { contextOf } from './run-method.js';

/** Arguments that a method takes of its resource. */
export interface ResourceArguments {
  readonly parameters: ReadonlySet<ResourceParameter>;
  /** Reads its part of the request, once for each. */
  readonly parse: RequestParser;
  /** Returns the value of a parameter. */
  read(parameter: ResourceParameter, action: Action): Promise<unknown>;
}

/** Compiles what a method takes of its resource; undefined where that is nothing. */
export function compileArguments(
  resource: Resource,
  lineage: readonly object[],
  method: string,
  settings: PathSettings,
): ResourceArguments | undefined {
  const parameters = resourceParameters(lineage, method);
  if (parameters.size === 0) return undefined;
  const parse = parseOnce(
    compileWantedParser(resource, {
      operation: routeNamed(resource.routes, method)?.operation,
      hasId: parameters.has('id') || parameters.has('record'),
      hasList: parameters.has('listQuery'),
      others: ownQueryParameters(lineage, method),
    }),
  );
  const findRecord = recordFinder(resource, settings);
  return {
    parameters,
    parse,
    async read(parameter, action) {
      const { id, query } = await parse(action.request);
      if (parameter === 'record') return findRecord(id as Id, action);
      return parameter === 'id' ? id : query;
    },
  };
}

/**
 * Finds a record as the generated read does. Where the request may write it is locked, in the transaction that the method's
 * writes are part of. A session of another parameter has begun by then.
 */
function recordFinder(resource: Resource, settings: PathSettings) {
  const reading = operationSessions(resource, USUAL.read, settings).session;
  const writing = operationSessions(resource, USUAL.update, settings).transaction;
  const { plan, access } = resource;
  return async (id: Id, action: Action): Promise<object> => {
    const { request, response } = action;
    const { repository } = contextOf(resource, action);
    const sessions = requestSessions(request, response);
    if (!SAFE_METHODS.has(request.method)) return writing(sessions, () => repository.getLocked(id));
    const record = await reading(sessions, () => repository.get(id));
    // The method runs elsewhere, and may write.
    return guardRecords(record, accessSource(request, plan.model, plan.access && access));
  };
}
