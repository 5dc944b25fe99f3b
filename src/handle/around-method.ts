/**
 * Work around the method of a controller: the state of its record, the condition of its request, and a second run after a race. One
 * statement of ours needs none of it, because it has all of it in itself.
 */

import type { Request } from 'express';
import type { Action } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import { checkSentNames } from '../access/reference-access.js';
import type { EntityTagPlan } from '../compile/resource-plan.js';
import { type Endpoint, ROW_RULE_NAMES, RULES_OF } from '../declare/endpoint.js';
import { isOfKey } from '../describe/row-key.js';
import { type DatabaseFault, describeFault } from '../errors/database-fault.js';
import { refusedAttributes } from '../errors/refused-attributes.js';
import { storedText } from '../execute/customization/hydrate-record.js';
import { whyUnwritten } from '../execute/executor.js';
import { refuseUnlessAllowed } from '../execute/records/refused-row.js';
import type { Id } from '../execute/records/repository-operations.js';
import { SqlExecutor } from '../execute/rows/sql-executor.js';
import { joinableSession, runInSavepoint } from '../execute/session/savepoint.js';
import { keySlots, slotsOfTexts } from '../execute/sql/encode-parameter.js';
import type { Slots } from '../execute/sql/statement.js';
import type { Resource } from '../express/resources/resource.js';
import type { ResultShaper } from '../express/resources/result-shaper.js';
import { isInState } from '../features/entity-tag.js';
import { writesGone } from '../features/soft-delete/deletion.js';
import type { ReadOperation } from '../operation/operation.js';
import { byKey } from '../operation/predicates.js';
import type { RouteSpec } from '../operation/route-spec.js';
import type { RequestArguments } from '../request/parse-request.js';
import { parsePathId } from '../request/read-id.js';
import { refuseUnsafeKeys } from '../schema/json-value.js';
import type { ActingFeature } from './around.js';
import type { RouteDecisions } from './decide-route.js';
import { argumentsOf, compileMethod, contextOf, type MethodRunner } from './run-method.js';
import { sessionTarget } from './run-rows.js';

/** Compiles the method of a route with all that goes around it. */
export function compileGuardedMethod(
  resource: Resource,
  route: RouteSpec,
  { isDecorated }: Pick<RouteDecisions, 'isDecorated'>,
  shaper: ResultShaper,
): MethodRunner {
  const { operation, verb } = route;
  const method = withState(resource, route, compileMethod(resource, route, shaper));
  const guarded = inRace(resource, operation, inCondition(resource, operation, method));
  return isDecorated && verb !== 'get' ? withSentNames(resource, operation, guarded) : guarded;
}

/** Checks the body that decorators have read past the parser, which refuses such names elsewhere. */
function withSentNames(
  { plan, access }: Resource,
  operation: Endpoint,
  runMethod: MethodRunner,
): MethodRunner {
  const hasRules = plan.access !== null && plan.access.fields.size + plan.access.set.size > 0;
  return async (action, input) => {
    const { body } = action.request;
    // Bytes have no names.
    if (ArrayBuffer.isView(body)) return runMethod(action, input);
    refuseUnsafeKeys(body);
    if (hasRules) checkSentNames(body, (await access(action.request, operation)).form);
    return runMethod(action, input);
  };
}

/**
 * Compiles the reader of a state, by the key of its row, in the transaction of the running code. Null where records have their state: it
 * may be in a system column, which Sequelize does not read, or a moment, of which records keep milliseconds.
 */
function compileStateReader({ plan: { info, entityTag } }: Resource) {
  if (!entityTag || entityTag.kind === 'version') return null;
  const executor = new SqlExecutor(info);
  const operation: ReadOperation = Object.freeze({
    kind: 'read',
    where: byKey(info.address),
    select: Object.freeze({ columns: Object.freeze([entityTag.attribute]) }),
    isFresh: true,
  });
  return async (key: Slots | null): Promise<string | null> => {
    if (key === null) return null;
    const on = await sessionTarget(info.model.sequelize as Sequelize, 'post');
    const { rows } = await executor.run(operation, key, on);
    return rows[0]?.[0] ?? null;
  };
}

/** Adds the state of its record to the result of a method. */
function withState(
  resource: Resource,
  { operation, verb }: RouteSpec,
  runMethod: MethodRunner,
): MethodRunner {
  const read = compileStateReader(resource);
  if (!read || operation === 'list' || operation === 'delete') return runMethod;
  const { plan } = resource;
  const { address } = plan.info;
  return async (action, input) => {
    const isRead = verb === 'get';
    const id = isRead ? (argumentsOf(input)?.id ?? parsePathId(plan, action.request)) : undefined;
    // Before the record: a tag that is older than it only refuses, and a newer one would let a change be overwritten.
    const before = isRead ? await read(keySlots(address, id)) : null;
    const found = await runMethod(action, input);
    if (!found) return null;
    const state = isRead ? before : await read(slotsOfTexts(address, ({ name }) => found.stored(name)));
    return {
      ...found,
      stored: (name) => (name === plan.entityTag?.attribute ? state : found.stored(name)),
    };
  };
}

/** True where a request may have a condition. */
export function hasCondition({ headers }: Request): boolean {
  return (headers['if-match'] ?? headers['if-none-match']) !== undefined;
}

/**
 * Runs a method only where the request may change the record, and the condition of the request holds. The record is locked before, in
 * the session of the running code.
 *
 * @throws NotFoundError @throws RefusedRequestError 403, or 412 with the tag that the record has
 */
export function inCondition(resource: Resource, operation: Endpoint, method: MethodRunner): MethodRunner {
  const { plan, access, features } = resource;
  const acting: readonly ActingFeature[] = features.all;
  const runMethod = acting.reduce(
    (run, { aroundMethod }) => aroundMethod?.(resource, operation, run) ?? run,
    method,
  );
  const { entityTag, info } = plan;
  const { inputs, absentFor, readHeaders } = features[operation];
  const isRuled = ROW_RULE_NAMES.some(
    (rule) => RULES_OF[operation].includes(rule) && typeof plan.access?.can.get(rule) === 'function',
  );
  const isConditional = inputs.some(({ member }) => member === 'ifMatch' || member === 'onlyNew');
  if (!isConditional && !isRuled) return runMethod;
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
        : await stateOf?.(slotsOfTexts(info.address, ({ name }) => storedText(info, record, name)));
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
  // Before code of the user's, which may change the row.
  const refuseRow = async (action: Action, input: RequestArguments | null): Promise<void> => {
    const { allowed } = input?.access ?? (await access(action.request, operation));
    const id = (input ? input.id : parsePathId(plan, action.request)) as Id;
    if (allowed) await refuseUnlessAllowed(contextOf(resource, action).repository, allowed, id, operation);
  };
  return async (action, given) => {
    const input = argumentsOf(given);
    if (isRuled) await refuseRow(action, input);
    const isAsked = input
      ? (input.query.onlyNew ?? input.query.ifMatch) !== undefined
      : hasCondition(action.request);
    if (isAsked) await check(action, input);
    return runMethod(action, given);
  };
}

/**
 * Runs the method of a replacement once more, in the session of the running code, where another request has outrun its create. The first
 * run is undone before.
 */
function inRace(resource: Resource, operation: Endpoint, runMethod: MethodRunner): MethodRunner {
  if (operation !== 'replace') return runMethod;
  const { plan } = resource;
  const { info } = plan;
  // `CrudController.replace` sets the status before its create. Other creates fail on the key.
  const mayBeOutrun = (fault: DatabaseFault, { response }: Action): boolean => {
    const refused = refusedAttributes(info, fault);
    const isOfAddress = refused.length > 0 && refused.every((name) => isOfKey(info.address, name));
    return fault.kind === 'unique' && (response.statusCode === 201 || isOfAddress);
  };
  return async (action, given) => {
    const session = plan.model.sequelize && joinableSession(plan.model.sequelize, 'write');
    if (!session) return runMethod(action, given);
    try {
      return await runInSavepoint(session, 'write', () => runMethod(action, given));
    } catch (error) {
      const fault = describeFault(error);
      if (!fault || !mayBeOutrun(fault, action)) throw error;
      const id = argumentsOf(given)?.id ?? parsePathId(plan, action.request);
      const record = await contextOf(resource, action).repository.findLocked(id as Id);
      if (!record) throw error;
    }
    return runMethod(action, given);
  };
}
