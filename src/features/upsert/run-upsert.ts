/** Executes an upsert of one record: by one statement of ours, or by the methods of the controller behind a lock of the row. */
import type { Action } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { type AttributeInfo, isGenerated, type ModelInfo } from '../../describe/model-info.js';
import { isOfKey } from '../../describe/row-key.js';
import { unseenOf } from '../../describe/unseen-values.js';
import { refuseUnlessAllowed } from '../../execute/records/refused-row.js';
import type { Id } from '../../execute/records/repository-operations.js';
import { createOrChange } from '../../execute/session/create-or-change.js';
import { joinableSession } from '../../execute/session/savepoint.js';
import { textsOfId } from '../../execute/sql/encode-parameter.js';
import type { Resource } from '../../express/resources/resource.js';
import type { ResultShaper } from '../../express/resources/result-shaper.js';
import { compileGuardedMethod } from '../../handle/around-method.js';
import type { Outcome } from '../../handle/outcome.js';
import { contextOf } from '../../handle/run-method.js';
import { compileRowRunners, type RowRunner } from '../../handle/run-rows.js';
import { type Access, withGiven } from '../../operation/access.js';
import type { ReplaceOperation } from '../../operation/operation.js';
import {
  allOf,
  byKey,
  compared,
  equalTo,
  sqlCondition,
  withKeys,
  withoutId,
} from '../../operation/predicates.js';
import { USUAL } from '../../operation/route-spec.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Predicate } from '../../request/query/predicate.js';
import { exactText } from '../../request/query/rule-filters.js';
import { lazy } from '../../util/memo.js';
import { pathId } from '../bulk/write-in-turn.js';
import { rowsAsked } from '../soft-delete/deletion.js';
import { keptByDeleted } from '../soft-delete/restore-and-purge.js';
import type { UpsertInputs } from './upsert-options.js';
import { upsertKeys } from './upsert-options.js';

type Values = Readonly<Record<string, unknown>>;

/** Attributes that only a new row gets. An existing row has to have the same values already. */
function fixedNames({ info, access }: Pick<ResourcePlan, 'info' | 'access'>): ReadonlySet<string> {
  const names = [...info.attributes.values()].flatMap((attribute) => {
    const { name } = attribute;
    const isFixed =
      isOfKey(info.primaryKey, name) ||
      isOfKey(info.address, name) ||
      access?.fields.get(name)?.update === false;
    return isFixed && !isGenerated(attribute) ? name : [];
  });
  return new Set(names);
}

/** Splits the values of a body: conditions on the existing row, and the values that it is changed to. */
export function compileSplit(plan: Pick<ResourcePlan, 'info' | 'access'>) {
  const { info } = plan;
  const fixed = fixedNames(plan);
  return (values: Values, { onConflict, sent, isKept }: UpsertInputs, { form }: Pick<Access, 'form'>) => {
    const { address } = onConflict as ModelInfo;
    const stays: string[] = [];
    const changes: Record<string, unknown> = {};
    for (const name of sent ?? []) {
      const value = values[name];
      if (value === undefined || isOfKey(address, name)) continue;
      if (fixed.has(name) || form.scope.has(name)) stays.push(name);
      else if (!isKept) changes[name] = value;
    }
    // A comparison would reveal a value that no answer shows. The values of the scope are those of the request.
    const unseen = stays.length > 0 ? unseenOf(info.model, form.unreadable) : undefined;
    const same = stays.map((name) =>
      unseen?.has(name) && !form.scope.has(name)
        ? sqlCondition`false`
        : sameValue(info.attributes.get(name) as AttributeInfo, values[name]),
    );
    return { same, changes };
  };
}

function sameValue({ name, type }: AttributeInfo, value: unknown): Predicate {
  if (value === null) return compared(name, '=isnull=', ['true']);
  const text = exactText(type, value);
  return text === undefined ? sqlCondition`false` : equalTo(name, text);
}

/** Compiles the rewrite of a replacement: it finds its row by the key that the request names, and changes only values of the body. */
export function compileRewrite(plan: ResourcePlan) {
  const { info } = plan;
  const split = compileSplit(plan);
  const gone = info.softDelete && rowsAsked(info, 'only');
  return (operation: ReplaceOperation, inputs: UpsertInputs, access: Access): ReplaceOperation => {
    const { onConflict, tellsGone } = inputs;
    if (!onConflict) return operation;
    const { where, seen, row } = operation;
    const { same, changes } = split(row, inputs, access);
    const found = byKey(onConflict.address);
    const rowsOf = (rows: Predicate) => allOf(found, withoutId(rows, info.address), ...same);
    return {
      ...operation,
      where: rowsOf(where),
      ...(seen ? { seen: rowsOf(seen) } : {}),
      gone: tellsGone && gone ? allOf(found, access.where, gone) : null,
      set: withGiven(changes, access, 'update'),
    };
  };
}

/** Compiles the runner with our SQL: one for each key. */
export function compileUpsertRows(resource: Resource): RowRunner {
  const { plan } = resource;
  const runners = new Map(
    upsertKeys(plan).map((info) => {
      const own = Object.create(plan, { info: { value: info } }) as ResourcePlan;
      const addressed = Object.create(resource, { plan: { value: own } }) as Resource;
      return [info, compileRowRunners(addressed)('upsert')] as const;
    }),
  );
  const [first] = runners.values();
  if (!first) throw new TypeError(`${plan.name} has no key for upserts.`);
  return {
    ...first,
    isOpen: () => [...runners.values()].every((each) => each.isOpen()),
    run(input, on) {
      const { onConflict } = input.query as UpsertInputs;
      return (runners.get(onConflict as ModelInfo) as RowRunner).run(input, on);
    },
  };
}

/** Writes one record. */
export type UpsertMethod = (action: Action, input: RequestArguments) => Promise<Outcome | null>;

/**
 * Compiles the runner with the methods of the controller: `update` of the row that has the key, which is locked, or else `create`.
 */
export function compileUpsertMethod(resource: Resource, shaper: ResultShaper): UpsertMethod {
  const { plan, features } = resource;
  const { info } = plan;
  const methodOf = (endpoint: 'create' | 'read' | 'update') =>
    lazy(() => compileGuardedMethod(resource, USUAL[endpoint], { isDecorated: false }, shaper));
  const [create, read, update] = [methodOf('create'), methodOf('read'), methodOf('update')];
  const split = compileSplit(plan);
  const gone = info.softDelete && rowsAsked(info, 'only');
  /** The id of the row with the key that meets the conditions. @param isGoneToo true where soft-deleted ones count */
  const lock = async (
    action: Action,
    { query, id }: RequestArguments,
    conditions: readonly Predicate[],
    isGoneToo = false,
  ) => {
    const { address } = (query as UpsertInputs).onConflict as ModelInfo;
    const filter = allOf(withKeys(address, [textsOfId(address, id).map(String)]), ...conditions);
    const [found] = await contextOf(resource, action).repository.lockKeys(filter, 1, isGoneToo);
    return found;
  };
  return (action, input) => {
    const { access, values = {} } = input;
    const query = input.query as UpsertInputs;
    const { same, changes } = split(values, query, access);
    return createOrChange<unknown, Outcome | null>(
      joinableSession(info.model.sequelize as Sequelize, 'write'),
      {
        find: () => lock(action, input, same),
        async create() {
          if (query.tellsGone && gone && (await lock(action, input, [gone], true)) !== undefined)
            throw keptByDeleted(query.onConflict as ModelInfo);
          const whole = withGiven(values, access, 'create');
          const made = await create()(action, {
            query: features.create.absentFor(access.form),
            access,
            values: whole,
          });
          return made && { ...made, isNew: true };
        },
        async change(found) {
          const id = pathId(plan, found) as Id;
          if (query.isKept) {
            if (access.allowed)
              await refuseUnlessAllowed(contextOf(resource, action).repository, access.allowed, id, 'update');
            return read()(action, { query: features.read.absentFor(access.form), access, id });
          }
          const changed = withGiven(changes, access, 'update');
          const usual = features.update.absentFor(access.form);
          return update()(action, { query: usual, access, id, values: changed });
        },
      },
    );
  };
}
