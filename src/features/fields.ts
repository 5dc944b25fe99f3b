/** The properties of answers: `fields`. */
import type { FeatureFactory } from '../operation/feature.js';
import { parseFields } from '../query/parse-fields.js';
import { chosenNames } from './chosen-names.js';

/** Some of the properties. */
export const fields: FeatureFactory = ({ readable }) => ({
  inputs: [
    {
      in: 'query',
      name: 'fields',
      endpoints: ['list', 'read'],
      absent: null,
      turn: 2,
      read: (text, { issues }) => parseFields(readable, text, issues),
      describe: () => chosenNames('Only these properties are answered.', readable, readable.length),
    },
  ],
});
