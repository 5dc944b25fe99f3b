/** The parameters that the decorators of a method read from a request. */

import type { Class } from '../declare/crud-options.js';
import type { ActionParameter } from '../express/routes/describe-action.js';
import { classJsonSchema } from '../schema/class-json-schema.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { ParameterObject } from './openapi-object.js';

/** Parameters of a method without a description so far. A generated reader of the same one is stricter. */
export function ownParameters(
  declared: readonly ActionParameter[],
  described: readonly ParameterObject[],
): ParameterObject[] {
  const isDescribed = (own: ParameterObject): boolean =>
    described.some(({ name, in: place }) => name === own.name && place === own.in);
  return declared.flatMap(requestParameters).filter((own) => !isDescribed(own));
}

function requestParameters(parameter: ActionParameter): ParameterObject[] {
  const { source, name, isRequired, type } = parameter;
  switch (source) {
    case 'query':
    case 'header':
    case 'cookie':
      return [{ name, in: source, required: isRequired, schema: parameterSchema(parameter) }];
    case 'queries':
      return isOwnClass(type) ? queryClass(type) : [];
    default:
      return [];
  }
}

function queryClass(type: Class): ParameterObject[] {
  const { properties = {}, required = [] } = classJsonSchema(type);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

const CONSTRUCTORS: ReadonlyMap<unknown, JsonSchema> = new Map<unknown, JsonSchema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
]);

/** Schema of a type that TypeScript emitted; any value where it emitted none. */
export function typeSchema(type: Class | undefined): JsonSchema {
  return CONSTRUCTORS.get(type) ?? (isOwnClass(type) ? classJsonSchema(type) : {});
}

/** A parameter that is given several times is a list in OpenAPI, too. */
export function parameterSchema({ type, isArray }: ActionParameter): JsonSchema {
  return isArray ? { type: 'array', items: typeSchema(type) } : typeSchema(type);
}

/** A class of the user's that declares properties, unlike `Object`, `Array` and `Date`. */
function isOwnClass(type: Class | undefined): type is Class {
  return typeof type === 'function' && Object.keys(classJsonSchema(type).properties ?? {}).length > 0;
}
