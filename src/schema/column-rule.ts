/** One rule of a column type for a value in a body. */
import type { JsonSchema } from './json-schema.js';

/** One rule. Where it does not apply to a value's type it holds, so that one mistake is reported once. */
export interface ColumnRule {
  readonly name: string;
  readonly constraints: readonly unknown[];
  readonly check: (value: unknown) => boolean;
  /** The end of a sentence that begins with the attribute's name. */
  readonly text: string;
  /** Part of the rule that JSON Schema can express: it never refuses a value that the rule accepts. */
  readonly schema: JsonSchema;
}

/** Makes a rule. */
export function rule(
  name: string,
  text: string,
  check: ColumnRule['check'],
  schema: JsonSchema = {},
  ...constraints: unknown[]
): ColumnRule {
  return Object.freeze({
    name,
    text,
    check,
    schema: Object.freeze(schema),
    constraints: Object.freeze(constraints),
  });
}

/** The one rule of a type whose values are texts of a certain form. */
export function formRule(
  name: string,
  text: string,
  check: (value: string) => boolean,
  schema: JsonSchema,
  ...constraints: unknown[]
): readonly ColumnRule[] {
  const isOfForm = (value: unknown): boolean => typeof value === 'string' && check(value);
  return [rule(name, text, isOfForm, { type: 'string', ...schema }, ...constraints)];
}

/** A check of the content of texts; whether the value is one is another rule's business. */
export function ofTexts(check: (value: string) => boolean): ColumnRule['check'] {
  return (value) => typeof value !== 'string' || check(value);
}

/** The same of numbers. */
export function ofNumbers(check: (value: number) => boolean): ColumnRule['check'] {
  return (value) => typeof value !== 'number' || check(value);
}
