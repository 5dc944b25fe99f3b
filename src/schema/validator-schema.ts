/**
 * class-validator's decorators -> JSON Schema. Only decorators whose meaning is known here say anything: one that is
 * not known, the user's own above all, leaves the schema wider than what is accepted, and never wrong.
 */
import type { Class } from '../declare/crud-options.js';
import { validatorsOf } from './class-properties.js';
import { bothSchemas, type JsonSchema } from './json-schema.js';

/** Rules of the decorators of one property. */
export interface PropertyRules {
  readonly schema: JsonSchema;
  /** True where decorators refuse absence, as far as their rules are known. */
  readonly isRequired: boolean;
  /** True where `@IsOptional()` lets null pass. */
  readonly isOptional: boolean;
  /** `@ValidateNested()`: of the value itself, or of each element. */
  readonly nested: 'value' | 'each' | null;
}

type Translate = (constraints: readonly unknown[]) => JsonSchema | null;

const number = (keyword: 'minimum' | 'maximum' | 'minItems' | 'maxItems' | 'minLength' | 'maxLength') =>
  (([limit]) => (typeof limit === 'number' ? { [keyword]: limit } : null)) as Translate;
const always =
  (schema: JsonSchema): Translate =>
  () =>
    schema;

/**
 * By class-validator's names. None of them accepts undefined. The bounds of numbers say nothing of texts, and the other
 * way round, so a decorator that takes both needs no type.
 */
const TRANSLATIONS: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ['isDefined', always({})],
  ['isNotEmpty', always({ minLength: 1 })],
  ['isString', always({ type: 'string' })],
  ['isBoolean', always({ type: 'boolean' })],
  ['isInt', always({ type: 'integer' })],
  ['isNumber', always({ type: 'number' })],
  ['isDate', always({ type: 'string', format: 'date-time' })],
  ['isObject', always({ type: 'object' })],
  ['isArray', always({ type: 'array', items: {} })],
  ['min', number('minimum')],
  ['max', number('maximum')],
  ['isPositive', always({ type: 'number', exclusiveMinimum: 0 })],
  ['isNegative', always({ type: 'number', exclusiveMaximum: 0 })],
  ['isLatitude', always({ minimum: -90, maximum: 90 })],
  ['isLongitude', always({ minimum: -180, maximum: 180 })],
  ['minLength', number('minLength')],
  ['maxLength', number('maxLength')],
  ['isLength', lengthSchema],
  ['matches', patternSchema],
  ['isEmail', always({ type: 'string', format: 'email' })],
  ['isUuid', always({ type: 'string', format: 'uuid' })],
  ['isIn', ([values]) => enumSchema(values)],
  ['isEnum', ([entity]) => (isObject(entity) ? enumSchema(Object.values(entity)) : null)],
  ['equals', ([value]) => (isPrimitive(value) ? { const: value } : null)],
  ['arrayNotEmpty', always({ type: 'array', minItems: 1 })],
  ['arrayMinSize', number('minItems')],
  ['arrayMaxSize', number('maxItems')],
]);

function lengthSchema([minimum, maximum]: readonly unknown[]): JsonSchema {
  return {
    type: 'string',
    ...(typeof minimum === 'number' ? { minLength: minimum } : {}),
    ...(typeof maximum === 'number' ? { maxLength: maximum } : {}),
  };
}

/** A JSON Schema has no flags, and reads every pattern as Unicode. */
function patternSchema([pattern]: readonly unknown[]): JsonSchema {
  if (!(pattern instanceof RegExp) || /[^gu]/.test(pattern.flags)) return { type: 'string' };
  try {
    return { type: 'string', pattern: new RegExp(pattern.source, 'u').source };
  } catch {
    return { type: 'string' };
  }
}

function enumSchema(values: unknown): JsonSchema | null {
  if (!Array.isArray(values) || !values.every(isPrimitive)) return null;
  const members = [...new Set(values)];
  const isText = members.every((member) => typeof member === 'string');
  return { ...(isText ? { type: 'string' as const } : {}), enum: members };
}

function isPrimitive(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

type Metadata = ReturnType<typeof validatorsOf>[number];

/** Rules of a class's decorators for a property, without those that validate another value than the body has. */
export function propertyRules(
  target: Class,
  property: string,
  isLeftOut: (decorator: Metadata) => boolean = () => false,
): PropertyRules {
  const found = validatorsOf(target, property).filter((each) => !isLeftOut(each));
  const isOptional = found.some(({ name }) => name === 'isOptional');
  const nested = found.find(({ type }) => type === 'nestedValidation');
  // A condition, or a group, decides whether any of the others is asked.
  if (found.some(isConditional)) return { schema: {}, isRequired: false, isOptional: false, nested: null };
  const schemas = found.flatMap((metadata) => translate(metadata) ?? []);
  return {
    schema: schemas.reduce(bothSchemas, {}),
    isRequired: !isOptional && schemas.length > 0,
    isOptional,
    nested: nested ? (nested.each ? 'each' : 'value') : null,
  };
}

function isConditional({ type, name, groups }: Metadata): boolean {
  return (type === 'conditionalValidation' && name !== 'isOptional') || (groups ?? []).length > 0;
}

function translate({ name, constraints, each }: Metadata): JsonSchema | null {
  const schema = TRANSLATIONS.get(name ?? '')?.(constraints ?? []) ?? null;
  return schema && each ? { items: schema } : schema;
}
