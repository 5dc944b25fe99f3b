/** Conditions of the client's: `q`. */
import type { RelationFilter, ResourcePlan } from '../compile/resource-plan.js';
import { type AccessForm, OPEN_ACCESS, perForm } from '../operation/access.js';
import type { FeatureFactory, Reading } from '../operation/feature.js';
import { allOf, bindTexts } from '../operation/predicates.js';
import { anyRelated, relatedSlots } from '../operation/related-rows.js';
import type { RelatedRows } from '../request/query/filter-names.js';
import { readablePlan } from '../request/query/filter-names.js';
import { parseFilter } from '../request/query/parse-filter.js';
import type { Filter } from '../request/query/predicate.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { filterDescription, filterSchema } from './filter-guide.js';
import { isHidden } from './include-names.js';
import { isRuled } from './scope.js';

/** Parses conditions on the rows of a resource. */
export type FilterReader = (
  text: string,
  form: AccessForm,
  issues: RequestIssue[],
  related: Reading['related'],
) => Filter | null;

/** The parser of conditions on attributes that requests of a form may read. */
export function filterReader({ filters, relations }: ResourcePlan): FilterReader {
  const planFor = perForm(({ unreadable }) =>
    readablePlan({ filters, related: relations.filters }, unreadable),
  );
  return (text, form, issues, related) => parseFilter(planFor(form), text, issues, rowsSeen(related));
}

/** True where the plan has a filter, of its own attributes or of a relation. */
export function isFilterable({ filters, relations }: ResourcePlan): boolean {
  return filters.size + relations.filters.size > 0;
}

function everyRelation(relations: ReadonlyMap<string, RelationFilter>): readonly RelationFilter[] {
  return [...relations.values()].flatMap((each) => [each, ...everyRelation(each.relations)]);
}

/** The texts are bound at once: a filter is passed on to code without the request. */
function rowsSeen(related: Reading['related']): RelatedRows {
  return {
    unreadable: (plan) => related(plan).target.form.unreadable,
    // Keys that the row in front hides are refused before.
    isHidden: (plan) => isHidden(plan, OPEN_ACCESS.form, related(plan)),
    any(plan, condition) {
      const access = related(plan);
      return bindTexts(anyRelated(plan, access, condition), relatedSlots(access));
    },
  };
}

/** A filter. */
export const filter: FeatureFactory = ({ plan }) => {
  const read = filterReader(plan);
  const isAnyRuled = everyRelation(plan.relations.filters).some(({ related }) => isRuled(related));
  return {
    inputs: [
      {
        in: 'query',
        name: 'q',
        member: 'filter',
        endpoints: ['list'],
        absent: null,
        turn: 1,
        read: (text, { issues, access, related }) => read(text, access.form, issues, related),
        describe() {
          if (!isFilterable(plan)) return null;
          return { description: filterDescription(plan), schema: filterSchema(plan) };
        },
      },
    ],
    digest: ({ filter: wanted = null }) => wanted,
    rewrite: {
      list: (operation, { filter: wanted = null }) =>
        wanted === null ? operation : { ...operation, where: allOf(operation.where, wanted) },
    },
    problems: isAnyRuled ? { list: [403] } : {},
  };
};
