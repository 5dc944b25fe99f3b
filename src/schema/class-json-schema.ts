/** A class of the user -> the JSON Schema of the values that its decorators let in. An unknown decorator leaves the schema wider than the accepted values, and never wrong. */
import type { Class } from '../declare/crud-options.js';
import { isModel } from '../describe/record.js';
import { classProperties, inheritedProperty, shownName, validatorsOf } from './class-properties.js';
import { bothSchemas, type JsonProperty, type JsonSchema, orNull } from './json-schema.js';
import { isStructured } from './json-value.js';
import { declaredType, hasType, isTransformed } from './model-decorators.js';

/** Writes the schema of a class that is the type of a property. */
export type WriteNested = (type: Class, direction: 'write' | 'read') => JsonSchema;

/** Writes classes inside classes out. One inside itself is any object. */
function writtenOut(parents: readonly Class[]): WriteNested {
  return (type, direction) => {
    if (parents.includes(type) || isModel(type)) return { type: 'object' };
    const write = direction === 'write' ? classJsonSchema : answerJsonSchema;
    return write(type, writtenOut([...parents, type]));
  };
}

/** Schema of an answer of the class. */
export function answerJsonSchema(target: Class, writeNested: WriteNested = writtenOut([target])): JsonSchema {
  return objectSchema(
    [...classProperties(target, 'read')].map((name) => [
      shownName(target, name),
      answerProperty(target, name, { writeNested }),
    ]),
  );
}

/** Facts of a property that its class has not. */
interface PropertyFacts {
  /** Default: classes inside the class are written out. */
  readonly writeNested?: WriteNested | undefined;
  /** Default: as its decorators are. */
  readonly isNullable?: boolean | undefined;
}

/** Schema of one property of an answer, from the decorators of its class, and else from the type that TypeScript emitted. */
export function answerProperty(target: Class, name: string, facts: PropertyFacts = {}): JsonProperty {
  const { writeNested = writtenOut([target]) } = facts;
  const inherited = inheritedProperty(target, name, 'read');
  if (inherited) return inherited;
  const { schema, isRequired, isOptional, nested } = propertyRules(target, name);
  if (isTransformed(target, name, 'read')) return { schema: {}, isRequired };
  const emitted = emittedType(target, name);
  const isList = nested === 'each' || schema.type === 'array' || emitted === Array;
  const inner = valueSchema(target, name, writeNested);
  const whole = withType(schema, isList && inner ? { type: 'array', items: inner } : (inner ?? {}));
  const { isNullable = isOptional || !isRequired } = facts;
  return { schema: isNullable ? orNull(whole) : whole, isRequired };
}

/** Schema of the type of a property, or of each item; null where no decorator has it, as behind a discriminator. */
function valueSchema(target: Class, name: string, writeNested: WriteNested): JsonSchema | null {
  const type = hasType(target, name) ? declaredType(target, name) : emittedType(target, name);
  const known = VALUE_TYPES.get(type);
  if (known || type === undefined) return known ?? null;
  return isModel(type) || classProperties(type, 'read').size > 0 ? writeNested(type, 'read') : null;
}

/** Values of these types as JSON has them. */
export const VALUE_TYPES: ReadonlyMap<unknown, JsonSchema> = new Map<unknown, JsonSchema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
  [Date, { type: 'string', format: 'date-time' }],
]);

function emittedType({ prototype }: Class, name: string): Class | undefined {
  return Object(prototype) === prototype ? Reflect.getMetadata('design:type', prototype, name) : undefined;
}

/** Schema of a body of the class. */
export function classJsonSchema(target: Class, writeNested: WriteNested = writtenOut([target])): JsonSchema {
  const initial = initialValues(target);
  const properties = [...classProperties(target, 'write')].map((name) => {
    const { schema, isRequired } = classProperty(target, name, writeNested);
    return [name, { schema, isRequired: isRequired && initial[name] === undefined }] as const;
  });
  return objectSchema(properties, { additionalProperties: false });
}

/** Rules of a class that are not applied to its values. */
export interface Leniency {
  /** True where none is. */
  readonly isUnchecked: boolean;
  /** True where unknown properties pass. */
  readonly takesUnknown: boolean;
  /** True where properties that are absent pass. */
  readonly takesAbsent: boolean;
  /** True where properties that are null pass. */
  readonly takesNull: boolean;
}

/** The schema of a body, written out, without rules that are not applied. */
export function loosened(schema: JsonSchema, leniency: Leniency): JsonSchema {
  const { isUnchecked, takesUnknown, takesAbsent, takesNull } = leniency;
  if (isUnchecked) return {};
  const { properties, items, anyOf, allOf, required, additionalProperties, ...others } = schema;
  const inside = (each: JsonSchema): JsonSchema => loosened(each, leniency);
  const property = (each: JsonSchema): JsonSchema => (takesNull ? withNull(inside(each)) : inside(each));
  const entries = Object.entries(properties ?? {}).map(([name, each]) => [name, property(each)] as const);
  return {
    ...others,
    ...(properties ? { properties: Object.fromEntries(entries) } : {}),
    ...(items ? { items: inside(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(inside) } : {}),
    ...(allOf ? { allOf: allOf.map(inside) } : {}),
    ...(required && !takesAbsent ? { required } : {}),
    ...(additionalProperties === undefined || takesUnknown ? {} : { additionalProperties }),
  };
}

/** An enumeration without a type refuses null, too. */
function withNull(schema: JsonSchema): JsonSchema {
  const isClosed = schema.const !== undefined || (schema.enum !== undefined && schema.type === undefined);
  return isClosed ? { anyOf: [schema, { type: 'null' }] } : orNull(schema);
}

/** Schema of one property's value in a body, from the decorators of its class. */
export function classProperty(
  target: Class,
  name: string,
  writeNested: WriteNested = writtenOut([target]),
): JsonProperty {
  const inherited = inheritedProperty(target, name, 'write');
  if (inherited) return inherited;
  // A function of the user's decides which values are valid.
  if (isTransformed(target, name, 'write')) return { schema: {}, isRequired: false };
  const { schema, isRequired, isOptional, nested } = propertyRules(target, name);
  const whole = nested ? withType(schema, nestedSchema(target, name, nested, writeNested)) : schema;
  return { schema: isOptional ? orNull(whole) : whole, isRequired };
}

/** The rules of a value, and its type. A reference says by itself that the value is an object. */
function withType(rules: JsonSchema, type: JsonSchema): JsonSchema {
  const { type: own, ...others } = rules;
  const isPlain = Object.keys(others).length === 0 && (own === undefined || own === 'object');
  return type.$ref !== undefined && isPlain ? type : bothSchemas(rules, type);
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
  writeNested: WriteNested,
): JsonSchema {
  const type = declaredType(target, name);
  const inner = type ? writeNested(type, 'write') : { type: 'object' as const };
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

interface PropertyRules {
  readonly schema: JsonSchema;
  /** True where known decorators refuse absence. */
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
  // A condition, or a group, may leave out all others.
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
