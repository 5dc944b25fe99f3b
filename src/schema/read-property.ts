/** The JSON Schema of an attribute as it leaves, where no code of the user's is between its column and the answer. */
import type { ColumnType } from '../describe/column-type.js';
import { type AttributeInfo, hasGetter, hasPartialRecords, type ModelInfo } from '../describe/model-info.js';
import { hasJsonForm } from '../describe/record.js';
import { columnSchema, withComment } from './body-json-schema.js';
import { type JsonProperty, type JsonSchema, orNull } from './json-schema.js';
import { isTransformed } from './model-decorators.js';

/** Any value, or none: the user's code decides. */
export const UNKNOWN: JsonProperty = Object.freeze({ schema: Object.freeze({}), isRequired: false });

/** Property of the derived schema, to which the `@Transform`s of the model apply. */
export function derivedProperty(info: ModelInfo, name: string): JsonProperty {
  return isTransformed(info.model, name, 'read') ? noted(info, name, UNKNOWN) : attributeProperty(info, name);
}

/** Property with the value of the attribute. */
export function attributeProperty(info: ModelInfo, name: string): JsonProperty {
  const { model } = info;
  const { type, nullable, isIdText } = info.attributes.get(name) as AttributeInfo;
  const isRequired = !hasPartialRecords(model) && !hasJsonForm(model);
  if (isIdText) return { schema: { type: 'string' }, isRequired };
  if (type.kind === 'virtual' || hasGetter(model, name)) return noted(info, name, UNKNOWN);
  const schema = wireSchema(type);
  return noted(info, name, { schema: nullable ? orNull(schema) : schema, isRequired });
}

function noted(info: ModelInfo, name: string, { schema, isRequired }: JsonProperty): JsonProperty {
  return { schema: withComment(schema, info, name), isRequired };
}

/** Schema of values that `wireFormat` writes. Others write to the table too, less strictly than bodies are checked. */
function wireSchema(type: ColumnType): JsonSchema {
  switch (type.kind) {
    case 'date':
      return type.zone === undefined ? { type: 'string', format: 'date-time' } : columnSchema(type);
    case 'time':
    case 'decimal':
      return { type: 'string' };
    case 'array':
      return { type: 'array', items: orNull(wireSchema(type.element)) };
    default:
      return columnSchema(type);
  }
}
