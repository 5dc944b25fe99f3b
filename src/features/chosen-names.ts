/** Parameters that name some of several things, between commas. */
import type { InputDescription } from '../operation/feature.js';
import type { JsonSchema } from '../schema/json-schema.js';

/** Describes one; null where there is nothing to name. */
export function chosenNames(
  description: string,
  names: readonly string[],
  maxItems: number,
): InputDescription | null {
  if (names.length === 0) return null;
  const items: JsonSchema = { type: 'string', enum: names };
  return {
    description,
    schema: { type: 'array', items, minItems: 1, maxItems, uniqueItems: true },
    style: 'form',
    explode: false,
  };
}
