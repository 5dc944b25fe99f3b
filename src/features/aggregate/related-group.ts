/** Groups by an attribute of the record behind a relation to one, such as `country.name`. The keys are those of `sortAllow`. */
import type { ResourcePlan, SortKey } from '../../compile/resource-plan.js';
import { type AttributeInfo, customAttributes, type RecordInfo } from '../../describe/model-info.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import type { Reading } from '../../operation/feature.js';
import { isTransformed } from '../../schema/model-decorators.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import { mayBeHidden, sortReader } from '../sort.js';
import type { GroupTerm } from './aggregate-operation.js';
import { canGroup } from './aggregate-types.js';

/** The resource behind a relation, and its attribute; undefined for a value that something else is made of, such as small letters. */
function relatedValue({ value }: Pick<SortKey, 'value'>) {
  if (value?.kind !== 'related' || value.key.value) return undefined;
  return { target: value.related.target, attribute: value.key.attribute };
}

/** The group by a value of a relation with this name; undefined where there is none. */
export function relatedGroup({ sortKeys }: Pick<ResourcePlan, 'sortKeys'>, name: string) {
  return (sortKeys.get(name) ?? []).flatMap((key) => relatedValue(key) ?? [])[0];
}

/** The attribute whose value a group shows. */
export function attributeOfGroup(info: RecordInfo, { attribute, key }: GroupTerm): AttributeInfo {
  const found = key && relatedValue(key);
  return found ? attributeOf(found.target.info, found.attribute) : attributeOf(info, attribute);
}

/** Why records cannot be grouped by a name, as the end of a sentence; undefined where they can. */
export function relatedProblem(plan: ResourcePlan, name: string): string | undefined {
  const found = relatedGroup(plan, name);
  if (!found)
    return 'which is no attribute, and sortAllow has no such name of a relation to one; name it there, too, or remove it.';
  const { target, attribute } = found;
  const { model } = target.info;
  const isShaped =
    target.explicitSchemas.read !== null ||
    customAttributes(model, 'get').has(attribute) ||
    isTransformed(model, attribute, 'read');
  return isShaped ? `of which code of ${target.name} makes what answers show; remove it.` : undefined;
}

/**
 * Compiles the reader of a group: its term in a request, or undefined where it is hidden from the request. Only relations that are named
 * are evaluated; of the others no error names a key that some requests may not read.
 */
export function groupReader(plan: ResourcePlan) {
  const { info, sortKeys } = plan;
  const read = sortReader(plan);
  return (
    term: GroupTerm,
    { access: { form }, related }: Pick<Reading, 'access' | 'related'>,
    isNamed: boolean,
  ): GroupTerm | undefined => {
    const attribute = info.attributes.get(term.attribute);
    if (attribute)
      return form.unreadable.has(attribute.name) || !canGroup(term.unit, attribute) ? undefined : term;
    if (!isNamed) return sortKeys.get(term.name)?.some((key) => mayBeHidden(key, form)) ? undefined : term;
    const issues: RequestIssue[] = [];
    const key = read(term.name, form, issues, related).find(relatedValue);
    return issues.length === 0 && key ? { ...term, key } : undefined;
  };
}
