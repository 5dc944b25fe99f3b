/** Conditions of the client's: `q`. */
import { perForm } from '../operation/access.js';
import type { FeatureFactory } from '../operation/feature.js';
import { allOf } from '../operation/predicates.js';
import { FILTER_LIMITS } from '../query/filter-syntax.js';
import { parseFilter } from '../query/parse-filter.js';
import { filterDescription, filterExamples } from './filter-guide.js';

/** A filter. */
export const filter: FeatureFactory = ({ plan }) => {
  const planFor = perForm(({ unreadable }) => ({
    ...plan,
    filters: new Map([...plan.filters].filter(([name]) => !unreadable.has(name))),
  }));
  return {
    inputs: [
      {
        in: 'query',
        name: 'q',
        member: 'filter',
        endpoints: ['list'],
        absent: null,
        turn: 1,
        read: (text, { issues, access }) => parseFilter(planFor(access.form), text, issues),
        describe() {
          if (plan.filters.size === 0) return null;
          const examples = filterExamples(plan);
          return {
            description: filterDescription(plan),
            schema: {
              type: 'string',
              maxLength: FILTER_LIMITS.length,
              ...(examples.length > 0 ? { examples } : {}),
            },
          };
        },
      },
    ],
    rewrite: {
      list: (operation, { filter: wanted = null }) =>
        wanted === null ? operation : { ...operation, where: allOf(operation.where, wanted) },
    },
  };
};
