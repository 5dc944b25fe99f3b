/** Conditions of the client's: `q`. */
import { type AccessForm, perForm } from '../operation/access.js';
import type { FeatureFactory } from '../operation/feature.js';
import { allOf } from '../operation/predicates.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import type { Filter } from '../query/list-query.js';
import { parseFilter } from '../query/parse-filter.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { filterDescription, filterSchema } from './filter-guide.js';

/** Parses conditions on the rows of a resource. */
export type FilterReader = (text: string, form: AccessForm, issues: RequestIssue[]) => Filter | null;

/** The parser of conditions on what requests of a form may read. */
export function filterReader(plan: ResourcePlan): FilterReader {
  const planFor = perForm(({ unreadable }) => ({
    ...plan,
    filters: new Map([...plan.filters].filter(([name]) => !unreadable.has(name))),
  }));
  return (text, form, issues) => parseFilter(planFor(form), text, issues);
}

/** A filter. */
export const filter: FeatureFactory = ({ plan }) => {
  const read = filterReader(plan);
  return {
    inputs: [
      {
        in: 'query',
        name: 'q',
        member: 'filter',
        endpoints: ['list'],
        absent: null,
        turn: 1,
        read: (text, { issues, access }) => read(text, access.form, issues),
        describe() {
          if (plan.filters.size === 0) return null;
          return { description: filterDescription(plan), schema: filterSchema(plan) };
        },
      },
    ],
    rewrite: {
      list: (operation, { filter: wanted = null }) =>
        wanted === null ? operation : { ...operation, where: allOf(operation.where, wanted) },
    },
  };
};
