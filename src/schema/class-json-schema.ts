/** A class of the user -> the JSON Schema of what its decorators let in. One that is not known here leaves the schema wider than what is accepted, and never wrong. */
import type { Class } from '../declare/crud-options.js';
import { classProperties, inheritedProperty, shownName, validatorsOf } from './class-properties.js';
import { bothSchemas, type JsonProperty, type JsonSchema, orNull } from './json-schema.js';
import { isStructured } from './json-value.js';
import { declaredType, isTransformed } from './model-decorators.js';

/** Schema of an answer of the class. */
export function answerJsonSchema(target: Class): JsonSchema {
  const properties = [...classProperties(target, 'read')].map((name) => {
    const { schema, isRequired } = classProperty(target, name, [target]);
    return [
      shownName(target, name),
      isTransformed(target, name, 'read') ? { schema: {}, isRequired } : { schema, isRequired },
    ] as const;
  });
  return objectSchema(properties);
}

/** Schema of a body of the class. Classes inside classes are written out, and one inside itself is any object. */
export function classJsonSchema(target: Class, parents: readonly Class[] = []): JsonSchema {
  if (parents.includes(target)) return { type: 'object' };
  const initial = initialValues(target);
  const properties = [...classProperties(target, 'write')].map((name) => {
    const { schema, isRequired } = classProperty(target, name, [...parents, target]);
    return [name, { schema, isRequired: isRequired && initial[name] === undefined }] as const;
  });
  return objectSchema(properties, { additionalProperties: false });
}

/** Schema of one property's value in a body, from the decorators of its class. */
export function classProperty(target: Class, name: string, parents: readonly Class[] = []): JsonProperty {
  const inherited = inheritedProperty(target, name);
  if (inherited) return inherited;
  // A function of the user's decides which values are valid.
  if (isTransformed(target, name, 'write')) return { schema: {}, isRequired: false };
  const { schema, isRequired, isOptional, nested } = propertyRules(target, name);
  const whole = nested ? bothSchemas(schema, nestedSchema(target, name, nested, parents)) : schema;
  return { schema: isOptional ? orNull(whole) : whole, isRequired };
}

/** An object with these properties. */
export function objectSchema(
  properties: readonly (readonly [name: string, property: JsonProperty])[],
  { additionalProperties }: Pick<JsonSchema, 'additionalProperties'> = {},
): JsonSchema {
  const required = properties.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 ? { required } : {}),
    ...(additionalProperties === undefined ? {} : { additionalProperties }),
  };
}

function nestedSchema(
  target: Class,
  name: string,
  nested: 'value' | 'each',
  parents: readonly Class[],
): JsonSchema {
  const type = declaredType(target, name);
  const inner = type ? classJsonSchema(type, parents) : { type: 'object' as const };
  return nested === 'each' ? { type: 'array', items: inner } : inner;
}

/** Values that the class sets itself, and a body may leave out. */
function initialValues(target: Class): Readonly<Record<string, unknown>> {
  try {
    return new (target as new () => object)() as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Rules of the decorators of one property. */
interface PropertyRules {
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
  ['isEnum', ([entity]) => (isStructured(entity) ? enumSchema(Object.values(entity)) : null)],
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
