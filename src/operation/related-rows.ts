/** The rows that belong to a row of another table, as a predicate. */
import type { RelatedPlan, SortTerm } from '../compile/resource-plan.js';
import { checkChoice } from '../describe/hooks-and-scopes-internals.js';
import type { RecordInfo } from '../describe/model-info.js';
import { keyPairs, type Relation, type RelationScope } from '../describe/relations.js';
import { aliveRows } from '../features/soft-delete/deletion.js';
import type { Inclusion } from '../request/query/list-query.js';
import type { Predicate, RelatedFilter, Slot, Value } from '../request/query/predicate.js';
import { exactText } from '../request/query/rule-filters.js';
import { perPair } from '../util/memo.js';
import { type Access, OPEN_ACCESS } from './access.js';
import { allOf, compared, equalTo, scopedRows } from './predicates.js';

/** Access of a request to the rows behind a relation, and to the rows in between. */
export interface RelatedAccess {
  readonly target: Access;
  /** The rows that may be seen through this relation; null is all of the target's. */
  readonly where: Predicate | null;
  readonly through: Access | null;
}

const OPEN: RelatedAccess = Object.freeze({ target: OPEN_ACCESS, where: null, through: null });

/** The access of all requests to a relation without rules, of its own or of the models behind it; null where there are rules. */
export function openRelation({ target, throughAccess, where }: RelatedPlan): RelatedAccess | null {
  return target.access === null && throughAccess === null && where === null ? OPEN : null;
}

/** A relation, as far as its rows are found. */
export type FoundRelation = Pick<RelatedPlan, 'relation' | 'through'> & {
  readonly target: Pick<RelatedPlan['target'], 'info'>;
};

/** The same without the values of slots. */
interface SeenRows {
  readonly target: Pick<Access, 'where'>;
  readonly where: Predicate | null;
  readonly through: Pick<Access, 'where'> | null;
}

/** The value of the parent's key. */
export const PARENT: Slot = Object.freeze({ slot: 'parent' });

const further: Slot[] = [PARENT];

/** The value of one of several attributes of the parent's key, from 0. */
export function parentSlot(index: number): Slot {
  further[index] ??= Object.freeze({ slot: `parent.${index}` });
  return further[index];
}

/** Fills the slots of the key of one parent. @param key its text, as `relationKeys` has it */
export function parentSlots({ more }: Pick<Relation, 'more'>, key: string): Readonly<Record<string, string>> {
  if (more.length === 0) return { [PARENT.slot]: key };
  const texts = JSON.parse(key) as readonly string[];
  return Object.fromEntries(texts.map((text, index) => [parentSlot(index).slot, text]));
}

/** The parts of a relation that no request changes; `scope` is that of the target, without soft deletion. */
const fixedParts = perPair(({ relation, target, through }: FoundRelation) => {
  const scope = scopeOf(target.info, relation.scope);
  return {
    target: allOf(aliveRows(target.info), scope),
    scope,
    through: through && allOf(aliveRows(through), scopeOf(through, relation.through?.scope ?? {})),
  };
});

/** The rows of the last requests without a filter, by the access of these. */
interface Unfiltered {
  readonly seen: readonly (Predicate | string | null | undefined)[];
  readonly rows: Predicate;
}

const unfiltered = new WeakMap<FoundRelation, Unfiltered>();

/**
 * The rows of a relation's target that belong to the parent whose key is in the slot `parent`. The same object for requests
 * without a filter that may see the same, so that statements of it are compiled once.
 */
export function relatedRows(
  plan: FoundRelation,
  access: RelatedAccess,
  filter: Predicate | null = null,
): Predicate {
  const { target, where, through } = access;
  const visible = () => {
    const fixed = fixedParts(plan).target;
    return allOf(linkOf(plan, through), fixed, scopedRows(plan.target.info), target.where, where, filter);
  };
  if (filter !== null) return visible();
  const seen = [
    target.where,
    where,
    through?.where,
    scopedRows(plan.target.info)?.text,
    plan.through && scopedRows(plan.through)?.text,
  ];
  const known = unfiltered.get(plan);
  if (known?.seen.every((each, index) => each === seen[index])) return known.rows;
  const rows = visible();
  unfiltered.set(plan, { seen, rows });
  return rows;
}

/** The same for an operation on the target, which has the condition of soft deletion by itself. */
export function rowsUnder(plan: RelatedPlan, { target, where, through }: SeenRows): Predicate {
  return allOf(linkOf(plan, through), fixedParts(plan).scope, target.where, where);
}

/** The rows that belong to the parent. */
function linkOf(plan: FoundRelation, through: SeenRows['through']): Predicate {
  const { relation } = plan;
  if (!relation.through || !plan.through) {
    const pairs = keyPairs(relation).map(({ targetKey }, index) => equalTo(targetKey, parentSlot(index)));
    return allOf(...(pairs as [Predicate]));
  }
  return exists(plan.through, {
    key: relation.through.targetKey,
    value: { attribute: relation.targetKey },
    where: allOf(
      equalTo(relation.through.parentKey, PARENT),
      fixedParts(plan).through,
      scopedRows(plan.through),
      through?.where ?? null,
    ),
  });
}

/**
 * Compiles: the outer row has a row behind the relation that meets a condition.
 *
 * @param condition on the rows of the target
 * @throws TypeError where hooks or methods choose the rows of the target
 */
export function anyRelated(
  plan: RelatedPlan,
  { target, where, through }: RelatedAccess,
  condition: Predicate | null,
): RelatedFilter<Value> {
  const { relation } = plan;
  const parts = fixedParts(plan);
  const { info } = plan.target;
  checkChoice(info.model, NOT_RELATED);
  const rows = allOf(parts.target, scopedRows(info), target.where, where, condition);
  const outer = { attribute: relation.parentKey };
  if (!relation.through || !plan.through) {
    const more = relation.more.map(({ parentKey, targetKey }) => ({
      key: targetKey,
      value: { attribute: parentKey },
    }));
    const key = { key: relation.targetKey, value: outer, ...(more.length > 0 ? { more } : {}) };
    return exists(info, { ...key, where: rows });
  }
  checkChoice(plan.through.model, NOT_RELATED);
  const beyond = exists(info, {
    key: relation.targetKey,
    value: { attribute: relation.through.targetKey },
    where: rows,
  });
  return exists(plan.through, {
    key: relation.through.parentKey,
    value: outer,
    where: allOf(beyond, parts.through, scopedRows(plan.through), through?.where ?? null),
  });
}

const NOT_RELATED = 'Relations cannot be filtered by, or counted';

/** Checks that the rows behind a relation can be counted. @throws TypeError where hooks or methods choose them */
export function checkCountable({ target, through }: FoundRelation): void {
  checkChoice(target.info.model, NOT_RELATED);
  if (through) checkChoice(through.model, NOT_RELATED);
}

const GRANTED = Symbol('granted');

/** The same inclusion, or term of an order, with the access of its request to the relation. A copy has it, too. */
export function withGranted<T extends Inclusion | SortTerm>(of: T, access: RelatedAccess): T {
  return Object.freeze(Object.assign({}, of, { [GRANTED]: access }));
}

/** Access of the request that it was made for; undefined for one that was made otherwise. */
export function grantedOf(of: Inclusion | SortTerm): RelatedAccess | undefined {
  return (of as { readonly [GRANTED]?: RelatedAccess })[GRANTED];
}

/** The values of the slots in these rows. */
export function relatedSlots({ target, through }: RelatedAccess): Access['slots'] {
  return through ? { ...target.slots, ...through.slots } : target.slots;
}

function exists(
  target: RecordInfo,
  parts: Pick<RelatedFilter<Value>, 'key' | 'value' | 'more' | 'where'>,
): RelatedFilter<Value> {
  return Object.freeze({ kind: 'exists', target, ...parts });
}

/** The rows with the values of an association's scope. */
function scopeOf(info: RecordInfo, scope: RelationScope): Predicate | null {
  const conditions = Object.entries(scope).map(([attribute, value]): Predicate => {
    const type = info.attributes.get(attribute)?.type;
    if (value === null) return compared(attribute, '=isnull=', ['true']);
    const texts = [value].flat().map((each) => {
      const text = exactText(type, each);
      if (type && text !== undefined) return text;
      throw new TypeError(
        `The scope of a relation to ${info.name} has '${attribute}', which is no value of an attribute.`,
      );
    });
    return compared(attribute, Array.isArray(value) ? '=in=' : '==', texts);
  });
  return allOf(null, ...conditions);
}
