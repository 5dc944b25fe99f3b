/** JSON Schema as a client sees it: ajv, with the formats of OpenAPI, in the dialect of OpenAPI 3.1. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonSchema } from '../../src/schema/json-schema.js';

/** A checker that knows these schemas by their place in a document. */
export function schemaChecker(document: object = {}): (schema: JsonSchema) => ValidateFunction {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    allErrors: true,
    allowUnionTypes: true,
  });
  addFormats.default(ajv);
  ajv.addSchema(
    { $id: 'document:', components: Reflect.get(document, 'components') },
    undefined,
    false,
    false,
  );
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const absolute = JSON.stringify(schema).replaceAll('"#/components/', '"document:#/components/');
    const known = compiled.get(absolute) ?? ajv.compile(JSON.parse(absolute));
    compiled.set(absolute, known);
    return known;
  };
}
