/** JSON Schema as a client sees it: ajv, with the formats of OpenAPI, in the dialect of OpenAPI 3.1. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenAPIObject } from '../../src/index.js';
import type { JsonSchema } from '../../src/schema/json-schema.js';

/** A checker of schemas, which may refer to those of a document. */
export function schemaChecker(document?: OpenAPIObject): (schema: JsonSchema) => ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(absolute({ $id: 'document:', $defs: document?.components.schemas ?? {} }));
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const key = JSON.stringify(schema);
    const known = compiled.get(key) ?? ajv.compile(absolute(schema));
    compiled.set(key, known);
    return known;
  };
}

/** ajv resolves a pointer in the schema that contains it, so pointers get the name of the document. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"document:#/$defs/'));
}
