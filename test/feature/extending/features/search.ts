/** `search`: the rows whose name has a text. Off for models without a name. */
import type { Feature, FeatureContext, FeatureFactory } from '../../../../src/operation/feature.js';
import { sqlCondition } from '../../../../src/operation/predicates.js';

function makeFeature({ plan }: FeatureContext): Feature | null {
  if (!plan.info.attributes.has('name')) return null;
  return {
    inputs: [
      {
        in: 'query',
        name: 'search',
        endpoints: ['list'],
        read(text, { issues }) {
          if (text.length >= 2) return text;
          issues.push({ parameter: 'search', code: 'short', detail: 'search takes two characters or more.' });
          return undefined;
        },
        describe: () => ({
          description: 'A text that the name has.',
          schema: { type: 'string', minLength: 2 },
        }),
      },
    ],
    condition: ({ search: text }) =>
      typeof text === 'string'
        ? sqlCondition`${{ attribute: 'name' }} ILIKE ${`%${text.replace(/[\\%_]/g, '\\$&')}%`}`
        : null,
  };
}

export const search: FeatureFactory = Object.assign(makeFeature, {
  indexes: ({ info }) =>
    info.attributes.has('name')
      ? [
          {
            serves: "a search by 'name' (search)",
            attribute: 'name',
            method: 'gin',
            operators: 'gin_trgm_ops',
          },
        ]
      : [],
} satisfies Partial<FeatureFactory>);
