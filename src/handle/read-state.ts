/** The state of a row where records do not have it: in a system column, which Sequelize does not read. */
import type { Sequelize } from 'sequelize';
import { SqlExecutor } from '../execute/rows/sql-executor.js';
import { encodeParameter } from '../execute/sql/encode-parameter.js';
import type { Resource } from '../express/resources/resource.js';
import type { ReadOperation } from '../operation/operation.js';
import { equalTo } from '../operation/predicates.js';
import type { RouteSpec } from '../operation/route-spec.js';
import type { RequestArguments } from '../request/parse-request.js';
import { parsePathId } from '../request/read-id.js';
import type { MethodRunner } from './run-method.js';
import { sessionTarget } from './run-rows.js';

/** Reads the state of the row with this key, in the transaction of the running code. */
export type StateReader = (key: string | null) => Promise<string | null>;

/** The reader of a resource; null where records have their state. */
export function compileStateReader({ plan: { info, entityTag } }: Resource): StateReader | null {
  if (entityTag?.kind !== 'xmin') return null;
  const executor = new SqlExecutor(info);
  const operation: ReadOperation = Object.freeze({
    kind: 'read',
    where: equalTo(info.primaryKey.name, Object.freeze({ slot: 'id' })),
    select: Object.freeze({ columns: Object.freeze([entityTag.attribute]) }),
    isFresh: true,
  });
  return async (key) => {
    if (key === null) return null;
    const on = await sessionTarget(info.model.sequelize as Sequelize, 'post');
    const { rows } = await executor.run(operation, { id: key }, on);
    return rows[0]?.[0] ?? null;
  };
}

/** Adds the state of its record to what a method gives. */
export function withState(
  resource: Resource,
  { operation, verb }: RouteSpec,
  runMethod: MethodRunner,
): MethodRunner {
  const read = compileStateReader(resource);
  if (!read || operation === 'list' || operation === 'delete') return runMethod;
  const { plan } = resource;
  const { primaryKey } = plan.info;
  const idOf = (input: RequestArguments | readonly unknown[]) => ('query' in input ? input.id : undefined);
  return async (action, input) => {
    const isRead = verb === 'get';
    const id = isRead ? (idOf(input) ?? parsePathId(plan, action.request)) : undefined;
    // Before the record: a tag that is older than it only refuses, and a newer one would let a change be overwritten.
    const before = isRead ? await read(encodeParameter(primaryKey.type, id) ?? null) : null;
    const found = await runMethod(action, input);
    if (!found) return null;
    const state = isRead ? before : await read(found.stored(primaryKey.name) ?? null);
    return {
      ...found,
      stored: (name) => (name === plan.entityTag?.attribute ? state : found.stored(name)),
    };
  };
}
