/** The total of a list, and what it is, as the document shows them. */
import { TOTALS } from '../declare/count-options.js';
import type { JsonSchema } from '../schema/json-schema.js';

/** That of a list without the option. */
export const TOTAL = {
  type: 'integer',
  minimum: 0,
  description: 'How many records the list has on all pages.',
} as const;

/** Properties of a list with the option `count`. */
export const COUNTED_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  total: { ...TOTAL, type: ['integer', 'null'] },
  total_is: {
    type: 'string',
    enum: TOTALS,
    description: 'What `total` is: the exact number, a number that there are more records than, or null.',
  },
};
