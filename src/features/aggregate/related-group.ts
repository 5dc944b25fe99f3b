/** Groups by an attribute of the record behind a relation to one, such as `country.name`. The keys are those of `sortAllow`. */
import type { RelatedPlan, ResourcePlan, SortKey } from '../../compile/resource-plan.js';
import { type AttributeInfo, customAttributes } from '../../describe/model-info.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import type { Reading } from '../../operation/feature.js';
import { isTransformed } from '../../schema/model-decorators.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import type { SortReader } from '../sort.js';
import type { GroupTerm } from './aggregate-operation.js';

type Keyed = Pick<ResourcePlan, 'sortKeys'>;

/** The relation of a name, and the attribute behind it; undefined for a name of none. */
export function relatedGroup({ sortKeys }: Keyed, name: string) {
  return (sortKeys.get(name) ?? []).flatMap((key) => relatedValue(key) ?? [])[0];
}

/** Undefined for a value that something else is made of, such as small letters. */
function relatedValue({
  value,
}: Pick<SortKey, 'value'>): { related: RelatedPlan; attribute: string } | undefined {
  if (value?.kind !== 'related' || value.key.value) return undefined;
  return { related: value.related, attribute: value.key.attribute };
}

/** The attribute whose value a group shows. */
export function attributeOfGroup(
  info: Parameters<typeof attributeOf>[0],
  { attribute, key }: Pick<GroupTerm, 'attribute' | 'key'>,
): AttributeInfo {
  const found = key && relatedValue(key);
  return found ? attributeOf(found.related.target.info, found.attribute) : attributeOf(info, attribute);
}

/** Why records cannot be grouped by a name, as the end of a sentence; undefined where they can. */
export function relatedProblem(plan: Keyed, name: string): string | undefined {
  const found = relatedGroup(plan, name);
  if (!found)
    return 'which is no attribute, and sortAllow has no such name of a relation to one; name it there, too, or remove it.';
  const { target } = found.related;
  const { model } = target.info;
  const isShaped =
    target.explicitSchemas.read !== null ||
    customAttributes(model, 'get').has(found.attribute) ||
    isTransformed(model, found.attribute, 'read');
  return isShaped ? `of which code of ${target.name} makes what answers show; remove it.` : undefined;
}

/** A group of a request; undefined where the request may not know of it. */
export function readRelatedGroup(
  term: GroupTerm,
  { access, related }: Pick<Reading, 'access' | 'related'>,
  read: SortReader,
): GroupTerm | undefined {
  const issues: RequestIssue[] = [];
  const key = read(term.name, access.form, issues, related).find((each) => relatedValue(each));
  return issues.length === 0 && key ? { ...term, key } : undefined;
}
