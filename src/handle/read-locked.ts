/** Reads the record that a request writes, as a read shows it, before the write: in the transaction of the write, and locked. */
import type { Request } from 'express';
import type { Action } from 'routing-controllers';
import type { RequestAccess } from '../access/evaluate-rules.js';
import type { Id } from '../execute/records/repository-operations.js';
import { lineageOf } from '../express/resources/controller-metadata.js';
import { CrudController, isOverridden } from '../express/resources/crud-controller.js';
import type { Resource } from '../express/resources/resource.js';
import type { ResultShaper } from '../express/resources/result-shaper.js';
import type { Access } from '../operation/access.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import { USUAL } from '../operation/route-spec.js';
import { answerChanges } from './decide-route.js';
import { contextOf, outcomeOf } from './run-method.js';
import { compileShape, type Format } from './shape-answer.js';

/** The record as text or values; null where there is none that the request may write, undefined where it may not read it. */
type ReadLocked = (action: Action, id: Id, format: Format, isDeleted?: boolean) => Promise<unknown>;

/** The access of the request to a read, or to a list; null where its rules refuse one. */
export async function accessToRead(
  access: RequestAccess,
  request: Request,
  endpoint: 'read' | 'list' = 'read',
): Promise<Access | null> {
  try {
    return await access(request, endpoint);
  } catch (error) {
    if (error instanceof RefusedRequestError) return null;
    throw error;
  }
}

/** Compiles it; null where code of the user's takes part in reads of a record, which would be passed by. */
export function compileReadLocked(resource: Resource, shaper: ResultShaper): ReadLocked | null {
  const { plan, access, features, controller } = resource;
  const { method } = USUAL.read;
  const changes = answerChanges(method, lineageOf(controller, CrudController), { routing: {} });
  if (!plan.endpoints.has('read') || isOverridden(controller, method) || changes.length > 0) return null;
  const shape = compileShape(resource, USUAL.read);
  return async (action, id, format, isDeleted = false) => {
    const granted = await accessToRead(access, action.request);
    if (!granted) return undefined;
    const { repository } = contextOf(resource, action);
    const record = await repository.findLocked(id, isDeleted);
    if (!record) return null;
    await shaper.ready(record, action);
    const query = features.read.absentFor(granted.form);
    return shape(outcomeOf(resource, 'read', record), { query, access: granted }, format, action).body;
  };
}
