/** The order of a list: `sort`. */
import type { FeatureFactory } from '../operation/feature.js';
import { MAX_SORT_TERMS } from '../plan/compile-options.js';
import { parseSort } from '../query/parse-sort.js';
import { chosenNames } from './chosen-names.js';

/** A total order. */
export const sort: FeatureFactory = ({ plan }) => {
  const { sortable, defaultSort } = plan;
  const order = defaultSort.map(({ attribute, descending }) => `${descending ? '-' : ''}${attribute}`);
  return {
    inputs: [
      {
        in: 'query',
        name: 'sort',
        endpoints: ['list'],
        absent: defaultSort,
        turn: 2,
        read: (text, { issues }) => parseSort(plan, text, issues),
        describe: () =>
          chosenNames(
            `The order; \`-\` is descending. An attribute is named once. Default: \`${order.join(',')}\`. ` +
              'The primary key is appended, so that the order is total.',
            sortable.flatMap((name) => [name, `-${name}`]),
            Math.min(MAX_SORT_TERMS, sortable.length),
          ),
      },
    ],
  };
};
