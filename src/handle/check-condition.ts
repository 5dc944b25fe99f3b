/**
 * Checks that a record still has the state that a client has seen, and keeps it so until the transaction has ended: for writes
 * that are not one statement of ours, which has the condition in itself.
 */
import type { Request } from 'express';
import type { Action } from 'routing-controllers';
import type { EntityTagPlan } from '../compile/resource-plan.js';
import { baseOf, type Endpoint } from '../declare/endpoint.js';
import { storedText } from '../execute/customization/hydrate-record.js';
import { whyUnwritten } from '../execute/executor.js';
import type { Id } from '../execute/records/repository-operations.js';
import type { Resource } from '../express/resources/resource.js';
import { isInState } from '../features/entity-tag.js';
import { writesGone } from '../features/soft-delete/deletion.js';
import type { RequestArguments } from '../request/parse-request.js';
import { parsePathId } from '../request/read-id.js';
import { compileStateReader } from './read-state.js';
import { argumentsOf, contextOf, type MethodRunner } from './run-method.js';

const CHANGES: readonly Endpoint[] = ['update', 'delete'];

/** True where a request may have a condition. */
export function hasCondition({ headers }: Request): boolean {
  return (headers['if-match'] ?? headers['if-none-match']) !== undefined;
}

/**
 * Has a method run only where the condition of its request holds. The record is locked before, in the session of the running code.
 *
 * @throws NotFoundError @throws RefusedRequestError 412 with the tag that the record has
 */
export function inCondition(resource: Resource, operation: Endpoint, runMethod: MethodRunner): MethodRunner {
  const { plan, access, features } = resource;
  const { entityTag, info } = plan;
  if (operation !== 'replace' && (entityTag === null || !CHANGES.includes(baseOf(operation))))
    return runMethod;
  const { absentFor, readHeaders } = features[operation];
  const stateOf = compileStateReader(resource);
  const wantedBy = async ({ request }: Action, input: RequestArguments | null) => {
    if (input) return { ...input.query, form: input.access.form };
    const granted = await access(request, operation);
    const id = parsePathId(plan, request);
    const { form } = granted;
    return { ...readHeaders(request, absentFor(form), granted, id), form };
  };
  const currentState = async (record: object, { kind, attribute }: EntityTagPlan) => {
    const state =
      kind === 'version'
        ? storedText(info, record, attribute)
        : await stateOf?.(storedText(info, record, info.primaryKey.name) ?? null);
    if (state !== undefined) return state;
    throw new TypeError(`A ${info.name} was read without its ${attribute}, so If-Match cannot be checked.`);
  };
  const check = async (action: Action, input: RequestArguments | null): Promise<void> => {
    const { ifMatch: states, onlyNew, form } = await wantedBy(action, input);
    const isReplaced = operation === 'replace';
    // Any state will do: but for a replacement, which could create the record.
    if (!onlyNew && (states === undefined || (states === null && !isReplaced))) return;
    const id = (input ? input.id : parsePathId(plan, action.request)) as Id;
    const { repository } = contextOf(resource, action);
    const isOfDeleted = writesGone(operation);
    const record = isReplaced ? await repository.findLocked(id) : await repository.getLocked(id, isOfDeleted);
    const state = record && entityTag && (await currentState(record, entityTag));
    const holds = onlyNew ? !record : record && isInState(states ?? null, state);
    if (holds) return;
    const write = { info, endpoint: operation, entityTag, onlyNew, ifMatch: states, form };
    throw whyUnwritten(write, record && { state, isDeleted: isOfDeleted });
  };
  return async (action, given) => {
    const input = argumentsOf(given);
    const isAsked = input
      ? (input.query.onlyNew ?? input.query.ifMatch) !== undefined
      : hasCondition(action.request);
    if (isAsked) await check(action, input);
    return runMethod(action, given);
  };
}
