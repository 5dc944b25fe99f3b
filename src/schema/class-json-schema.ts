/** A class of the user's -> the JSON Schema of what its decorators let in. */
import type { Class } from '../declare/crud-options.js';
import { classProperties, inheritedProperty, shownName } from './class-properties.js';
import { bothSchemas, type JsonProperty, type JsonSchema, orNull } from './json-schema.js';
import { declaredType, isTransformed } from './model-decorators.js';
import { propertyRules } from './validator-schema.js';

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
