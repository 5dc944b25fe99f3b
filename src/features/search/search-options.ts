/** The option `search` of `@Crud` -> the attributes that words are searched in. */
import { type OptionCheck, visibleAttribute } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { typeWord } from '../../describe/column-type.js';
import type { IndexAdvice } from '../../operation/feature.js';
import { showValue } from '../../util/option-problems.js';

/** A search of a resource. */
export interface SearchPlan {
  /** Attributes in one of which each word occurs. */
  readonly attributes: readonly string[];
}

/** Compiles the option; null where it is wrong, which is reported. */
export function compileSearch(value: unknown, check: OptionCheck): SearchPlan | null {
  if (!Array.isArray(value) || value.length === 0) {
    check.report(`search is ${showValue(value)}; use a list of attributes, such as ['name'].`);
    return null;
  }
  const names = [...new Set(value.map(String))];
  return Object.freeze({ attributes: Object.freeze(names.filter((name) => isSearchable(check, name))) });
}

function isSearchable(check: OptionCheck, name: string): boolean {
  const attribute = visibleAttribute(check, 'search', name);
  if (!attribute) return false;
  if (attribute.type.kind === 'string') return true;
  check.report(
    `search names '${name}', of type ${typeWord(attribute.type)}; words are searched in texts (STRING, TEXT, CITEXT, CHAR) alone, so ` +
      'remove it, or allow it in filterAllow.',
  );
  return false;
}

/** Attributes that no request may read would be searched by none. */
export const checkSearch: ResourceCheck = ({ features, access }) => {
  const { attributes = [] } = searchOf({ features }) ?? {};
  return attributes
    .filter((name) => access?.fields.get(name)?.read === false)
    .map(
      (name) => `search names '${name}', which fields lets no request read; remove it from one of the two.`,
    );
};

/** The search of a resource; null where it has none. */
export function searchOf({ features }: Pick<ResourcePlan, 'features'>): SearchPlan | null {
  return (features['search'] as SearchPlan | null | undefined) ?? null;
}

/** One index for each attribute: where one is missing, the others serve nothing. */
export function searchIndexes(plan: ResourcePlan): readonly IndexAdvice[] {
  const { attributes = [] } = searchOf(plan) ?? {};
  return attributes.map((attribute) => ({
    serves: `a search by '${attribute}' (search)`,
    attribute,
    method: 'gin',
    operators: 'gin_trgm_ops',
    extension: 'pg_trgm',
  }));
}
