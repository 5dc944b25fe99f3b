/**
 * Writes many records in one transaction, one by one as single requests would: overrides, hooks and rules see each. All happens or
 * nothing, unless each record is independent, in a savepoint of its own.
 */

import type { Response } from 'express';
import type { Action } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelInfo, RowKey } from '../../describe/model-info.js';
import { keyNames, keyText } from '../../describe/row-key.js';
import { NotFoundError, noSuchRecord } from '../../errors/errors.js';
import { refusedRow } from '../../execute/executor.js';
import type { Repository } from '../../execute/records/repository.js';
import type { RequestUnit } from '../../execute/records/unit-of-work.js';
import { textsOfId } from '../../execute/sql/encode-parameter.js';
import type { Resource } from '../../express/resources/resource.js';
import type { ResultShaper } from '../../express/resources/result-shaper.js';
import { compileCompletions, completeInSession } from '../../handle/around.js';
import { inCondition } from '../../handle/around-method.js';
import type { Outcome } from '../../handle/outcome.js';
import { compileMethod, contextOf, outcomeOf } from '../../handle/run-method.js';
import { type RowRunner, sessionTarget } from '../../handle/run-rows.js';
import { withKeys } from '../../operation/predicates.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { RouteSpec } from '../../operation/route-spec.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Filter } from '../../request/query/predicate.js';
import { setCurrentItem, setToldNames } from '../../request/request-notes.js';
import { requestSessions } from '../../request/request-sessions.js';
import { requestProblem } from '../../respond/exception-handler.js';
import type { Problem } from '../../respond/problem.js';
import { InvalidBodyError } from '../../schema/request-issue.js';
import { counted } from '../../util/with-article.js';
import { mostAffected } from './bulk-options.js';
import type { BulkArguments } from './parse-bulk.js';
import { type BulkItem, repeatedItems, repeatedKey } from './parse-item.js';

/** Result of a record: the item as it is shown, or the problem that refused it. */
export type BulkResult<T> =
  | { readonly item: T; readonly problem?: never; readonly key?: unknown }
  | { readonly item?: never; readonly problem: Problem; readonly key?: unknown };

/**
 * Runs the writes of a request, in the session of the running code.
 *
 * @param show the part of a record that is kept
 */
type BulkRunner = <T>(
  action: Action,
  input: BulkArguments,
  show: (outcome: Outcome, input: RequestArguments, index: number) => T,
) => Promise<readonly BulkResult<T>[]>;

type SingleRunner = (action: Action, input: RequestArguments) => Promise<Outcome>;

/** Parts of an endpoint that has no method of its own. */
export interface SingleWork {
  /** Writes one record by code of the user's, or by Sequelize. Default: the method of the endpoint. */
  readonly runMethod?: (action: Action, input: RequestArguments) => Promise<Outcome | null>;
  /** The attributes by which a record of the body is found. Default: those that address it. */
  readonly keyOf?: (input: RequestArguments) => RowKey;
}

/** Compiles the runner of an endpoint. */
export function compileBulkRunner(
  resource: Resource,
  single: RouteSpec,
  rows: RowRunner | null,
  shaper: ResultShaper,
  {
    runMethod = inCondition(resource, single.operation, compileMethod(resource, single, shaper)),
    keyOf = () => resource.plan.info.address,
  }: SingleWork = {},
): BulkRunner {
  const { plan } = resource;
  const { operation } = single;
  const sequelize = plan.model.sequelize as Sequelize;
  const isRuled = Boolean(plan.access?.fields.size);
  const completions = compileCompletions(resource, operation);
  const runSingle = compileSingle(resource, single, rows, runMethod);
  const runFound = operation === 'delete' ? unlessGone(resource, runSingle) : runSingle;
  return async (action, input, show) => {
    const { request, response } = action;
    const { items, inputs, access } = input;
    const targets = items ?? (await findTargets(resource, action, input));
    const isLocked = items && (operation === 'update' || operation === 'upsert');
    const written =
      isLocked && !(await lockTargets(resource, action, items, keyOf)) ? new Map<string, number>() : null;
    if (items && items.length > 1) {
      const inputs = items.flatMap((item) => item.input ?? []);
      for (const { lockAll } of completions) await lockAll?.(inputs);
    }
    const order = operation === 'upsert' ? byKey(targets, keyOf) : [...targets.keys()];
    const unit = inputs.isAtomic ? null : await requestSessions(request, response).unit(sequelize);
    const run = items ? runSingle : runFound;
    const results: BulkResult<ReturnType<typeof show>>[] = [];
    for (const index of order) {
      const { input: wanted, problem, body } = targets[index] as BulkItem;
      // A row that `q` has found is no item of the body.
      if (items) setCurrentItem(request, index);
      if (isRuled && items) setToldNames(request, access.form, body);
      const key =
        items || keyNames(plan.info.address).some((name) => plan.exposure.unreadable.has(name))
          ? {}
          : { key: wanted?.id };
      const write = async () => {
        if (!wanted) throw problem ?? new TypeError('An item has neither values nor a problem.');
        const place = { request, sequelize, verb: single.verb };
        const outcome = await completeInSession(completions, await run(action, wanted), wanted, place);
        const before = written && writtenBefore(plan.info.address, outcome, index, written);
        if (before === null || before === undefined) return show(outcome, wanted, index);
        if (unit) throw new InvalidBodyError([repeatedKey(keyOf(wanted), before)]);
        setCurrentItem(request, null);
        throw new InvalidBodyError(
          repeatedItems(keyOf(wanted), Math.min(before, index), Math.max(before, index)),
        );
      };
      results[index] = { ...(await settle(action, unit, write, wanted !== null)), ...key };
    }
    // A commit that is refused does not say because of which.
    setCurrentItem(request, items ? 'unknown' : null);
    return results;
  };
}

/**
 * Runs a write; in a savepoint, where it is tried and may fail alone. A failure of the server stops all.
 *
 * @param stopsAll true for other errors that do. Default: none
 */
export async function settle<T>(
  { request }: Action,
  unit: RequestUnit | null,
  write: () => Promise<T>,
  isTried: boolean,
  stopsAll: (error: unknown) => boolean = () => false,
): Promise<BulkResult<T>> {
  if (!unit) return { item: await write() };
  try {
    return { item: await (isTried ? unit.attempt(write) : write()) };
  } catch (error) {
    const problem = requestProblem(error, request);
    if (problem === null || problem.status >= 500 || stopsAll(error)) throw error;
    return { problem };
  }
}

/** Compiles the writer of one record, with our SQL or with the controller's method. */
export function compileSingle(
  resource: Resource,
  single: RouteSpec,
  rows: RowRunner | null,
  runMethod: NonNullable<SingleWork['runMethod']>,
): SingleRunner {
  const { plan, isGenerated } = resource;
  return async (action, input) => {
    const on = await sessionTarget(plan.model.sequelize, single.verb);
    const ran = rows?.isOpen() ? await rows.run(input, on) : null;
    if (ran) return ran;
    const run = () => runMethod(action, input);
    const found = await (isGenerated ? run() : withoutAnswer(action.response, run));
    if (found) return found;
    throw new TypeError(
      `The ${single.method} method of the ${plan.name} controller must return what it wrote.`,
    );
  };
}

function unlessGone(resource: Resource, run: SingleRunner): SingleRunner {
  return async (action, input) => {
    const { repository } = contextOf(resource, action);
    const outcome = await deleteFound(resource.plan.info, repository, input.id, () => run(action, input));
    return outcome ?? outcomeOf(resource, 'delete', undefined);
  };
}

/**
 * Deletes a row that was found. It may have gone with one that was removed before it: its key refers to that one.
 *
 * @returns null where it was gone @throws RefusedRequestError 403 where a policy of the database lets the row be seen, and not be deleted
 */
export async function deleteFound<T>(
  info: ModelInfo,
  repository: Pick<Repository, 'lockKeys'>,
  id: unknown,
  run: () => Promise<T>,
): Promise<T | null> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    if (!(await isThere(info, repository, id))) return null;
    // Code of the user's may have words of its own.
    const missing = noSuchRecord({ name: info.name, key: keyText(info.address) });
    throw error.message === missing.message ? refusedRow('delete', info.name) : error;
  }
}

/** True where a repository finds a row. */
export async function isThere(
  { address }: Pick<ModelInfo, 'address'>,
  repository: Pick<Repository, 'lockKeys'>,
  id: unknown,
): Promise<boolean> {
  return (await repository.lockKeys(byKeys(address, [id]), 1)).length > 0;
}

/** The rows that `q` finds, locked in the order of their keys. @throws RefusedRequestError 409 where there are too many */
async function findTargets(
  resource: Resource,
  action: Action,
  { inputs, each }: BulkArguments,
): Promise<readonly BulkItem[]> {
  const { plan } = resource;
  const { filter } = inputs;
  if (!filter || !each) throw new TypeError('Nothing says which records are meant.');
  const limit = mostAffected(plan, inputs);
  const keys = await contextOf(resource, action).repository.lockKeys(filter, limit + 1);
  if (keys.length > limit) {
    const detail = `q finds more than ${counted(limit, 'record')}, and nothing was written; narrow it, or raise max_affected.`;
    throw new RefusedRequestError(409, detail);
  }
  return keys.map((key) => ({ body: null, input: { ...each, id: pathId(plan, key) }, problem: null }));
}

/**
 * Locks rows in one order, for any order in the request: two requests cannot wait for each other.
 *
 * @returns true where each has a record of its own
 */
export async function lockTargets(
  resource: Resource,
  action: Action,
  items: readonly Pick<BulkItem, 'input'>[],
  keyOf: NonNullable<SingleWork['keyOf']>,
): Promise<boolean> {
  const inputs = items.flatMap(({ input }) => input ?? []);
  const [first] = inputs;
  if (!first || inputs.length < 2) return true;
  const filter = byKeys(
    keyOf(first),
    inputs.map(({ id }) => id),
  );
  const locked = await contextOf(resource, action).repository.lockKeys(filter, inputs.length);
  return locked.length === inputs.length;
}

/** Places of items by their keys. Two requests that create the same records in one order cannot wait for each other. */
function byKey(items: readonly BulkItem[], keyOf: NonNullable<SingleWork['keyOf']>): readonly number[] {
  const texts = items.map(({ input }) => (input ? textsOfId(keyOf(input), input.id).join('\0') : ''));
  const compare = (one: string, other: string) => Number(one > other) - Number(one < other);
  return [...items.keys()].sort((one, other) => compare(texts[one] as string, texts[other] as string));
}

/**
 * The place of an item before that has written the same record. Only the database decides which keys are equal: of `citext` and `char`,
 * texts that differ may be.
 */
function writtenBefore(
  address: RowKey,
  outcome: Outcome,
  index: number,
  written: Map<string, number>,
): number | undefined {
  const texts = address.map(({ name }) => outcome.stored(name));
  if (texts.some((text) => text === null || text === undefined)) return undefined;
  const whole = JSON.stringify(texts);
  const before = written.get(whole);
  if (before === undefined) written.set(whole, index);
  return before;
}

/** Rows with these keys. Ids that no row can have are left out. */
export function byKeys(key: RowKey, ids: readonly unknown[]): Filter {
  const isWhole = (each: readonly unknown[]) => each.every((text) => typeof text === 'string');
  return withKeys(key, ids.map((id) => textsOfId(key, id)).filter(isWhole) as string[][]);
}

/** A key of a record, as in a path. */
export function pathId({ parseId, idKind, info }: ResourcePlan, key: unknown): unknown {
  if (info.address.length > 1) return key;
  const parsed = idKind === 'custom' ? null : parseId(String(key));
  return parsed?.kind === 'id' ? parsed.value : key;
}

/** Methods of a response that answer. */
const METHODS = ['end', 'write', 'writeHead'] as const;

/** Runs a method for one of many records. It must not answer: the answer would be sent before the transaction has ended. */
export async function withoutAnswer<T>(response: Response, work: () => Promise<T>): Promise<T> {
  const before = METHODS.map((name) => [name, Object.getOwnPropertyDescriptor(response, name)] as const);
  for (const name of METHODS) {
    Object.defineProperty(response, name, { value: refuse, configurable: true, writable: true });
  }
  try {
    return await work();
  } finally {
    for (const [name, own] of before) {
      if (own) Object.defineProperty(response, name, own);
      else Reflect.deleteProperty(response, name);
    }
  }
}

function refuse(): never {
  throw new TypeError(
    'A method that runs for each of many records cannot answer by itself; return the record.',
  );
}
