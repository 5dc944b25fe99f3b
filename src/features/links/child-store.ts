/** Links of a `hasMany`: the foreign key of a child is set or unset, by an update of the child as its own route does it. */
import type { Action } from 'routing-controllers';
import { accessToWrite } from '../../access/reference-access.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { idOf } from '../../describe/row-key.js';
import { selectValues } from '../../execute/session/select-values.js';
import { quotedTable } from '../../execute/sql/sql-fragment.js';
import { joinSlots } from '../../execute/sql/statement.js';
import { lineageOf } from '../../express/resources/controller-metadata.js';
import { CrudController } from '../../express/resources/crud-controller.js';
import type { Resource } from '../../express/resources/resource.js';
import { inCondition } from '../../handle/around-method.js';
import { decideRoute } from '../../handle/decide-route.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import { compileMethod } from '../../handle/run-method.js';
import { compileRowRunners } from '../../handle/run-rows.js';
import { type Access, withGiven } from '../../operation/access.js';
import { USUAL } from '../../operation/route-spec.js';
import { onPrimary } from '../../postgres/index.js';
import { recordValue } from '../../request/query/rule-filters.js';
import type { BodyValues } from '../../schema/body-values.js';
import { compileSingle, pathId } from '../bulk/write-in-turn.js';
import { compileManyRunner } from '../bulk/write-together.js';
import { linkedRelations } from './link-options.js';
import { findChildrenSql } from './link-sql.js';
import { type FoundLink, findSlots, type LinkRequest, type LinkStore, OutrunError } from './link-store.js';
import type { Links } from './parse-links.js';

/** Compiles the store. */
export function compileChildStore(
  { below, parent, target }: Links,
  { settings, shaper }: Pick<HandlerContext, 'settings' | 'shaper'>,
): LinkStore {
  const { plan, features } = target;
  const { info } = plan;
  const { address } = info;
  const key = info.attributes.get(below.relation.targetKey);
  const lineage = target.isGenerated ? [] : lineageOf(target.controller, CrudController);
  const isByRows = decideRoute(target, USUAL.update, lineage, settings).runner === 'rows';
  const rows = isByRows ? compileRowRunners(target)('update') : null;
  const writeMany = rows && compileManyRunner(target, 'update', []);
  const runMethod = inCondition(target, 'update', compileMethod(target, USUAL.update, shaper));
  const writeOne = compileSingle(target, USUAL.update, rows, runMethod);
  const inputOf = async ({ request }: Action, { id }: FoundLink, child: Access, value: unknown) => {
    const values = withGiven({ [below.relation.targetKey]: value }, child, 'update') as BodyValues;
    const access = await accessToWrite(request, plan.model, child, values, 'update');
    const text = (name: string) => {
      const index = address.findIndex((part) => part.name === name);
      return address.length > 1 ? recordValue(address[index]?.type, id[index] as string) : id[index];
    };
    return {
      query: features.update.absentFor(child.form),
      access,
      id: pathId(plan, idOf(address, text)),
      values,
    };
  };
  return {
    shown: [],
    required: [],
    ...(locksFirst(parent, target) && {
      async lock(input, isWhole, slots, on) {
        const { access, items, related } = input;
        const owner = { info: parent.plan.info, where: access.where };
        const fragment = findChildrenSql(below, related, { isWhole, isOne: items.length === 1 }, owner);
        const all = joinSlots(slots, findSlots(below, { input, key: null }, items));
        const found = await selectValues(info, fragment, all, onPrimary(on));
        return new Set(found.map(([, , , ...id]) => JSON.stringify(id)));
      },
    }),
    async find(request, items, isWhole) {
      const { input, locked, on } = request;
      const choice = { isWhole, isOne: items.length === 1, isLocking: locked === null };
      const fragment = findChildrenSql(below, input.related, choice);
      const found = await selectValues(info, fragment, findSlots(below, request, items), onPrimary(on));
      return found.map(([n, , isOwn, ...id]): FoundLink => {
        const key = JSON.stringify(id);
        if (locked?.has(key) === false) throw new OutrunError(CHANGED);
        const state = isOwn === null ? 'none' : isOwn ? 'linked' : 'other';
        return { place: (n ?? null) as number | null, key, state, id: id as string[], values: [] };
      });
    },
    async write({ action, input, key: parent, on }: LinkRequest, { add, remove }) {
      const { child } = input;
      if (!child) throw new TypeError('Nothing has asked whether the request may change the children.');
      const own = recordValue(key?.type, parent);
      const inputs = await Promise.all([
        ...remove.map((each) => inputOf(action, each, child, null)),
        ...add.map(({ found }) => inputOf(action, found, child, own)),
      ]);
      const items = inputs.map((each) => ({ body: null, input: each, problem: null }));
      const together = { items, inputs: TOGETHER, access: child, each: null };
      const isDone = rows?.isOpen() && items.length > 1 && (await writeMany?.(together, items.length, on));
      if (!isDone) for (const each of inputs) await writeOne(action, each);
      return add.length;
    },
  };
}

/** True where children are locked before their record: where their links lead back to it, all requests lock in the order of the tables. */
function locksFirst(parent: Resource, child: Resource): boolean {
  const { model } = parent.plan;
  if (child.plan.model === model) return true;
  return quotedTable(child.plan.model) < quotedTable(model) && leadsTo(child, model, new Set());
}

function leadsTo(from: Resource, model: ModelClass, before: Set<Resource>): boolean {
  if (before.has(from)) return false;
  before.add(from);
  return linkedRelations(from.plan).some(({ below: { relation } }) => {
    if (relation.through) return false;
    const next = from.resourceOf(relation.target);
    return relation.target === model || (next !== undefined && leadsTo(next, model, before));
  });
}

const CHANGED = 'Somebody else changed the same links; read them again and repeat the change.';

const TOGETHER = Object.freeze({ filter: null, isAtomic: true, isDryRun: false });
