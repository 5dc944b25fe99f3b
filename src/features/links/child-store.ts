/** Links of a `hasMany`: the foreign key of a child is set or unset, by an update of the child as its own route does it. */
import type { Action } from 'routing-controllers';
import { accessToWrite } from '../../access/reference-access.js';
import { idOf } from '../../describe/row-key.js';
import { selectValues } from '../../execute/session/select-values.js';
import { lineageOf } from '../../express/resources/controller-metadata.js';
import { CrudController } from '../../express/resources/crud-controller.js';
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
import { findChildrenSql } from './link-sql.js';
import { type FoundLink, findSlots, type LinkRequest, type LinkStore } from './link-store.js';
import type { Links } from './parse-links.js';

/** Compiles the store. */
export function compileChildStore(
  { below, target }: Links,
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
    const access = await accessToWrite(request, plan.model, child, values);
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
    async find(request, items, isWhole) {
      const fragment = findChildrenSql(below, request.input.related, { isWhole, isOne: items.length === 1 });
      const slots = findSlots(below, request, items);
      const found = await selectValues(info, fragment, slots, onPrimary(request.on));
      return found.map(
        ([n, , isOwn, ...id]): FoundLink => ({
          place: (n ?? null) as number | null,
          key: JSON.stringify(id),
          state: isOwn === null ? 'none' : isOwn ? 'linked' : 'other',
          id: id as string[],
          values: [],
        }),
      );
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

const TOGETHER = Object.freeze({ filter: null, isAtomic: true, isDryRun: false });
