/** One rule of a column type for a value in a body, and the rules of texts and whole numbers. */
import { fitsLength } from '../describe/column-type.js';
import type { JsonSchema } from './json-schema.js';
import { isStorableText } from './wire-value.js';

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
  text: string | (() => string),
  check: ColumnRule['check'],
  schema: JsonSchema = {},
  ...constraints: unknown[]
): ColumnRule {
  return Object.freeze({
    name,
    get text() {
      return typeof text === 'string' ? text : text();
    },
    check,
    schema: Object.freeze(schema),
    constraints: Object.freeze(constraints),
  });
}

/** The one rule of a type whose values are texts of a certain form. */
export function formRule(
  name: string,
  text: string | (() => string),
  check: (value: string) => boolean,
  schema: JsonSchema,
  ...constraints: unknown[]
): readonly ColumnRule[] {
  const isOfForm = (value: unknown): boolean => typeof value === 'string' && check(value);
  return [rule(name, text, isOfForm, { type: 'string', ...schema }, ...constraints)];
}

/** A check of the content of texts. Another rule refuses other values. */
export function ofTexts(check: (value: string) => boolean): ColumnRule['check'] {
  return (value) => typeof value !== 'string' || check(value);
}

/** The same of numbers. */
export function ofNumbers(check: (value: number) => boolean): ColumnRule['check'] {
  return (value) => typeof value !== 'number' || check(value);
}

/** True for a text. */
export function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** The rule that a value is a text. */
const IS_STRING = rule('isString', 'must be a string', isText, { type: 'string' });
/** The rule of texts. */
export const STORABLE_TEXT = rule(
  'isStorableText',
  'must be well-formed text without NUL characters',
  ofTexts(isStorableText),
);

/** The rules of texts. */
export function stringRules(maxLength: number | null): readonly ColumnRule[] {
  if (maxLength === null) return [IS_STRING, STORABLE_TEXT];
  return [
    IS_STRING,
    STORABLE_TEXT,
    rule(
      'maxLength',
      `must be at most ${maxLength} characters long`,
      ofTexts((value) => fitsLength(value, maxLength)),
      { maxLength },
      maxLength,
    ),
  ];
}

/** The rules of whole numbers. */
export function integerRules(minimum: number, maximum: number): readonly ColumnRule[] {
  const isFromMinimum = ofNumbers((value) => value >= minimum);
  const isToMaximum = ofNumbers((value) => value <= maximum);
  return [
    rule('isInt', 'must be an integer', Number.isInteger, {
      type: 'integer',
      format: maximum > 2147483647 ? 'int64' : 'int32',
    }),
    rule('min', `must not be less than ${minimum}`, isFromMinimum, { minimum }, minimum),
    rule('max', `must not be greater than ${maximum}`, isToMaximum, { maximum }, maximum),
  ];
}
