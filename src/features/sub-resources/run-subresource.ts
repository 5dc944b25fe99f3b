/** Runs the list of a sub-resource: a read of the parent, and the page of the target's rows that belong to it. */

import type { Action } from 'routing-controllers';
import type { SubresourcePlan } from '../../compile/resource-plan.js';
import { type KeyPair, keyPairs, parentKeys, relationKeys } from '../../describe/relations.js';
import { isOfKey, keyText } from '../../describe/row-key.js';
import { noSuchRecord, severalRecords } from '../../errors/errors.js';
import { recordColumn } from '../../execute/customization/hydrate-record.js';
import { openTest } from '../../execute/customization/plain-queries.js';
import type { Page } from '../../execute/page.js';
import { Repository } from '../../execute/records/repository.js';
import type { Id } from '../../execute/records/repository-operations.js';
import { SqlExecutor } from '../../execute/rows/sql-executor.js';
import { keySlots } from '../../execute/sql/encode-parameter.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import { joinSlots, NO_SLOTS, type Slots } from '../../execute/sql/statement.js';
import { hasAccessRules } from '../../express/resources/application-access.js';
import type { Resource } from '../../express/resources/resource.js';
import type { ResultShaper } from '../../express/resources/result-shaper.js';
import type { RouteOperation } from '../../handle/handle.js';
import type { Outcome } from '../../handle/outcome.js';
import { contextOf, outcomeOf } from '../../handle/run-method.js';
import { compileRowRunners, type RowRunner } from '../../handle/run-rows.js';
import type { ReadOperation } from '../../operation/operation.js';
import { idSlot } from '../../operation/predicates.js';
import type { StatementTarget } from '../../postgres/index.js';
import type { ListQuery } from '../../request/query/list-query.js';
import { perPair } from '../../util/memo.js';
import type { SubresourceArguments } from './parse-subresource.js';

/** A sub-resource at work. */
export interface Subresource {
  readonly plan: SubresourcePlan;
  readonly parent: Resource;
  readonly target: Resource;
}

/** Reads the parent of a request, and returns the text by which its rows are found; null where there can be none. */
export function compileParentReader({ plan, parent }: Subresource) {
  const { info } = parent.plan;
  const { name, address } = info;
  const names = parentKeys(plan.relation);
  const executor = new SqlExecutor(info);
  const textOf = compileKeyText(plan);
  const select = Object.freeze({ columns: Object.freeze([...names]) });
  const readKey = perPair((read: ReadOperation) => Object.freeze({ ...read, select }));
  return {
    textOf,
    isOpen: openTest(info, 'read', false),
    async byRows({ parent: input }: SubresourceArguments, on?: StatementTarget): Promise<string | null> {
      const { id, query, access } = input;
      const slots: Slots = keySlots(address, id) ?? NO_SLOTS;
      // The operation of a read is one.
      const read = parent.features.read.operation(query, access) as ReadOperation;
      const { rows, count } = await executor.run(readKey(read), joinSlots(slots, access.slots), on);
      const [row] = rows;
      if (!row) throw noSuchRecord({ name, key: keyText(address) });
      if (count > 1) throw severalRecords({ name, key: keyText(address) });
      return textOf(names.map((_, index) => row[index] ?? null));
    },
    async byMethod(action: Action, { parent: input }: SubresourceArguments): Promise<string | null> {
      const record = await contextOf(parent, action).repository.get(input.id as Id);
      return textOf(names.map((name) => recordColumn(info, [record], name)[0] ?? null));
    },
  };
}

/** Compiles the runner with our SQL. A key in the path is sent to both tables at the same time; any other key is read first. */
export function compileSubresourceRows(subresource: Subresource): RowRunner<SubresourceArguments> {
  const { plan, parent, target } = subresource;
  const { address } = parent.plan.info;
  const names = parentKeys(plan.relation);
  const isInPath = names.every((name) => isOfKey(address, name));
  const list = compileRowRunners(target)('list');
  const reader = compileParentReader(subresource);
  const pageOf = async ({ query, access }: SubresourceArguments, key: string | null, on?: StatementTarget) =>
    key === null ? noRows(target, query as ListQuery) : list.run({ query, access: access.under(key) }, on);
  return {
    isOpen: () => list.isOpen() && reader.isOpen(),
    async run(input, on) {
      const slots = keySlots(address, input.parent.id) ?? NO_SLOTS;
      const parts = isInPath ? names.map((name) => slots[idSlot(address, name).slot] ?? null) : [null];
      const known = parts.includes(null) ? undefined : reader.textOf(parts);
      // Both have ended when this does: a session must not end before its statements.
      const [found, early] = await Promise.allSettled([
        reader.byRows(input, on),
        known === undefined ? null : pageOf(input, known, on),
      ]);
      if (found.status === 'rejected') throw found.reason;
      const { value: key } = found;
      // A column may take another text for the same key, and that of the target may not.
      if (known === undefined || key !== known) return pageOf(input, key, on);
      if (early.status === 'rejected') throw early.reason;
      return early.value;
    },
  };
}

/** Compiles the runner with repositories, which leave to Sequelize the queries that only Sequelize can run. */
export function compileSubresourceMethod(
  subresource: Subresource,
  shaper: ResultShaper,
): RouteOperation<SubresourceArguments>['runMethod'] {
  const { target } = subresource;
  const repository = new Repository(target.plan.model);
  const reader = compileParentReader(subresource);
  return async (action, given) => {
    // No decorator reads parameters of a sub-resource.
    const input = given as SubresourceArguments;
    const query = input.query as unknown as ListQuery;
    const key = await reader.byMethod(action, input);
    if (key === null) return noRows(target, query);
    const access = input.access.under(key);
    const within = repository.within(Object.assign(() => access, { to: noOtherModel }));
    const page: Page<object> = await (query.kind === 'cursor'
      ? within.cursorPage(query)
      : within.page(query));
    if (hasAccessRules(action.request)) await shaper.ready(page, action);
    return outcomeOf(target, 'list', page);
  };
}

function noOtherModel(): never {
  throw new TypeError('The rows of a sub-resource are of one model.');
}

/** The text by which the rows of a parent are found, as `relationKeys` has it; null where there can be none. */
function compileKeyText(plan: SubresourcePlan): (keys: readonly (string | null)[]) => string | null {
  const { relation } = plan;
  const texts = keyPairs(relation).map((pair) => compilePartText(plan, pair));
  return (keys) => {
    const [text = null] = relationKeys(relation, (attribute) => {
      const index = parentKeys(relation).indexOf(attribute);
      return [texts[index]?.(keys[index] ?? null) ?? null];
    });
    return text;
  };
}

function compilePartText(
  { relation: { parent, through: between }, target, through }: SubresourcePlan,
  { parentKey, targetKey }: KeyPair,
): (key: string | null) => string | null {
  const { type } = through
    ? attributeOf(through, between?.parentKey ?? '')
    : attributeOf(target.info, targetKey);
  const own = parent.getAttributes()[parentKey]?.type as { readonly key?: string } | undefined;
  return (key) => {
    // A column of small integers has no large one, and PostgreSQL takes it for an error.
    if (
      key === null ||
      (type.kind === 'integer' && !(Number(key) >= type.minimum && Number(key) <= type.maximum))
    )
      return null;
    // Blanks at the end of a CHAR mean nothing, and a TEXT has none of them.
    return own?.key === 'CHAR' ? key.replace(/ +$/, '') : key;
  };
}

function noRows(target: Resource, query: ListQuery): Outcome {
  return outcomeOf(target, 'list', { ...query, items: [], total: 0, next: null, prev: null });
}
