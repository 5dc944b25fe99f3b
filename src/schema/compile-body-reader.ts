/**
 * A derived body class -> a function that returns the values of a right body without class-transformer and
 * class-validator. It only accepts: whatever it is not sure of, the class decides and words.
 */
import { ValidationTypes } from 'class-validator';
import type { AttributeInfo, ModelInfo } from '../describe/model-info.js';
import { choosesProperties, type SchemaClass, validatorsOf } from './class-properties.js';
import { DIRECTIONS, transformerStorage } from './class-transformer-internals.js';
import { attributeRules } from './column-rules.js';
import { type BodyKind, columnDecorators, type Presence, presenceOf } from './derive-class.js';
import { isPlainJson, isPlainObject } from './json-value.js';
import { parseColumnValue } from './wire-value.js';

/** The values that an instance of the class would have, in the same order; null where the class has to be used. */
export type BodyReader = (body: unknown) => Record<string, unknown> | null;

/** A value as the model holds it; undefined where the class has to be used. */
type ValueReader = (value: unknown) => unknown;

/** The reader for bodies that only the class can read. */
export const readNothing: BodyReader = () => null;

/** Compiles the reader of a class that was derived from these attributes. */
export function compileBodyReader(
  info: ModelInfo,
  target: SchemaClass,
  attributes: readonly AttributeInfo[],
  kind: BodyKind,
): BodyReader {
  const presences = attributes.map((each) => [each, presenceOf(info, each, kind)] as const);
  if (choosesProperties(target) || presences.some((each) => hasCondition(target, ...each)))
    return readNothing;
  const properties = new Map(
    presences.map(([each, presence]) => [each.name, compileProperty(target, each, presence)] as const),
  );
  const required = [...properties.values()].filter(({ isRequired }) => isRequired).length;
  const initial: Readonly<Record<string, unknown>> = { ...new target() };
  return (body) => {
    if (!isPlainObject(body)) return null;
    // No spread: its copies share no hidden class with one another, and are ten times as slow to add to.
    const values: Record<string, unknown> = Object.assign({}, initial);
    let missing = required;
    for (const name of Object.keys(body)) {
      const property = properties.get(name);
      const value = property?.read(body[name]);
      if (value === undefined) return null;
      if (property?.isRequired) missing -= 1;
      values[name] = value;
    }
    return missing > 0 ? null : values;
  };
}

/** A `@ValidateIf` of the user's is called for absent values too, and may throw. */
function hasCondition(target: SchemaClass, attribute: AttributeInfo, presence: Presence): boolean {
  const conditions = validatorsOf(target, attribute.name).filter(
    ({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION,
  );
  const isOurs = presence !== 'required' && presence !== 'decided';
  return conditions.length > (isOurs ? 1 : 0);
}

function compileProperty(target: SchemaClass, attribute: AttributeInfo, presence: Presence) {
  // Without a value, no other decorator is called; with one, the user's are.
  const read: ValueReader = isBare(target, attribute, presence)
    ? compileValue(attribute, presence)
    : () => undefined;
  return Object.freeze({ isRequired: presence === 'required', read });
}

/** True where the property has no decorators but those of its column. */
function isBare(target: SchemaClass, attribute: AttributeInfo, presence: Presence): boolean {
  const { name } = attribute;
  return (
    validatorsOf(target, name).length === columnDecorators(attribute, presence).length &&
    transformerStorage.findTransformMetadatas(target, name, DIRECTIONS.write).length === 1 &&
    transformerStorage.findTypeMetadata(target, name) === undefined
  );
}

function compileValue(attribute: AttributeInfo, presence: Presence): ValueReader {
  const { type } = attribute;
  const checks = attributeRules(attribute).map(({ check }) => check);
  return (value) => {
    if (value === null) return presence === 'nullable' ? null : undefined;
    if (!isPlainJson(value)) return undefined;
    const parsed = parseColumnValue(type, value);
    for (const check of checks) if (!check(parsed)) return undefined;
    return parsed;
  };
}
