/** The rows that belong to a row of another table, as a predicate. */
import type { RecordInfo } from '../model/model-info.js';
import type { RelationScope } from '../model/relations.js';
import type { RelatedPlan } from '../plan/resource-plan.js';
import type { Filter } from '../query/list-query.js';
import { exactText } from '../query/type-template.js';
import type { Access } from './access.js';
import type { Exists, Predicate, Slot } from './operation.js';
import { aliveRows, allOf, equalTo } from './predicates.js';

/** What a request may see of the rows behind a relation, and of those in between. */
export interface RelatedAccess {
  readonly target: Access;
  /** The rows that may be seen through this relation; null is all of the target's. */
  readonly where: Predicate | null;
  readonly through: Access | null;
}

/** The value of the parent's key. */
export const PARENT: Slot = Object.freeze({ slot: 'parent' });

/** The parts of a relation that no request changes. */
interface FixedParts {
  readonly target: Predicate | null;
  readonly through: Predicate | null;
}

const fixed = new WeakMap<RelatedPlan, FixedParts>();

function fixedParts(plan: RelatedPlan): FixedParts {
  let known = fixed.get(plan);
  if (!known) {
    const { relation, target, through } = plan;
    known = {
      target: allOf(aliveRows(target.info), scopeOf(target.info, relation.scope)),
      through: through && allOf(aliveRows(through), scopeOf(through, relation.through?.scope ?? {})),
    };
    fixed.set(plan, known);
  }
  return known;
}

/** The rows that requests without a filter have asked for last, by what they may see. */
interface Unfiltered {
  readonly seen: readonly (Predicate | null | undefined)[];
  readonly rows: Predicate;
}

const unfiltered = new WeakMap<RelatedPlan, Unfiltered>();

/**
 * The rows of a relation's target that belong to the parent whose key is in the slot `parent`. The same object for requests
 * without a filter that may see the same, so that what is made of it is made once.
 */
export function relatedRows(
  plan: RelatedPlan,
  access: RelatedAccess,
  filter: Filter | null = null,
): Predicate {
  if (filter !== null) return visibleRelated(plan, access, filter);
  const known = unfiltered.get(plan);
  const seen = [access.target.where, access.where, access.through?.where];
  if (known?.seen.every((each, index) => each === seen[index])) return known.rows;
  const rows = visibleRelated(plan, access, null);
  unfiltered.set(plan, { seen, rows });
  return rows;
}

function visibleRelated(
  plan: RelatedPlan,
  { target, where, through }: RelatedAccess,
  filter: Filter | null,
): Predicate {
  const { relation } = plan;
  const parts = fixedParts(plan);
  const link =
    relation.through && plan.through
      ? linkThrough(plan.through, {
          key: relation.through.targetKey,
          value: { attribute: relation.targetKey },
          where: allOf(equalTo(relation.through.parentKey, PARENT), parts.through, through?.where ?? null),
        })
      : equalTo(relation.targetKey, PARENT);
  return allOf(link, parts.target, target.where, where, filter);
}

/**
 * Whether the row around it has a row behind the relation that meets a condition.
 *
 * @param condition on the rows of the target
 */
export function anyRelated(
  plan: RelatedPlan,
  { target, where, through }: RelatedAccess,
  condition: Predicate | null,
): Exists {
  const { relation } = plan;
  const parts = fixedParts(plan);
  const rows = allOf(parts.target, target.where, where, condition);
  const outer = { attribute: relation.parentKey };
  if (!relation.through || !plan.through) {
    return exists(plan.target.info, { key: relation.targetKey, value: outer, where: rows });
  }
  const beyond = exists(plan.target.info, {
    key: relation.targetKey,
    value: { attribute: relation.through.targetKey },
    where: rows,
  });
  return linkThrough(plan.through, {
    key: relation.through.parentKey,
    value: outer,
    where: allOf(beyond, parts.through, through?.where ?? null),
  });
}

/** The values of the slots in these rows. */
export function relatedSlots({ target, through }: RelatedAccess): Access['slots'] {
  return through ? { ...target.slots, ...through.slots } : target.slots;
}

function linkThrough(through: RecordInfo, parts: Pick<Exists, 'key' | 'value' | 'where'>): Exists {
  return exists(through, parts);
}

function exists(target: RecordInfo, parts: Pick<Exists, 'key' | 'value' | 'where'>): Exists {
  return Object.freeze({ kind: 'exists', target, ...parts });
}

/** The rows with the values that an association asks for. */
function scopeOf(info: RecordInfo, scope: RelationScope): Predicate | null {
  const conditions = Object.entries(scope).map(([attribute, value]): Predicate => {
    const type = info.attributes.get(attribute)?.type;
    if (value === null) return condition(attribute, '=isnull=', ['true']);
    const texts = [value].flat().map((each) => exactText(type, each) ?? '');
    return condition(attribute, Array.isArray(value) ? '=in=' : '==', texts);
  });
  return allOf(null, ...conditions);
}

function condition(
  attribute: string,
  operator: '==' | '=in=' | '=isnull=',
  values: readonly string[],
): Predicate {
  return Object.freeze({ kind: 'comparison', attribute, operator, values: Object.freeze(values) });
}
