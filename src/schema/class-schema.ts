/** The class of a body in a route of the user's -> the schema of its bodies, as generated routes have it. */
import { NO_SCHEMAS } from '../compile/resource-plan.js';
import type { Class } from '../declare/crud-options.js';
import { describeModel } from '../describe/describe-model.js';
import { type BodySchema, bodySchema, isNested } from './body-schema.js';
import { classChain, classProperties, hasValidators } from './class-properties.js';
import { readNothing } from './compile-body-reader.js';
import { describeExposure } from './model-decorators.js';
import { type SchemaSource, schemaSource } from './model-schemas.js';

/** The schema of a class: that of a model where it is derived from one, or extends such a class. */
export function classSchema(target: Class): BodySchema {
  const [source] = classChain(target).flatMap((each) => schemaSource(each) ?? []);
  if (source && source.kind !== 'read') return modelSchema(target, source, source.kind);
  const properties = classProperties(target, 'write');
  return Object.freeze({
    class: target,
    isExplicit: true,
    types: new Map(),
    nested: new Set([...properties].filter((name) => isNested(target, name))),
    hasRules: hasValidators(target),
    properties,
    readOnly: new Set<string>(),
    closed: new Set<string>(),
    givenKey: null,
    longKey: null,
    read: readNothing,
  });
}

function modelSchema(target: Class, { model }: SchemaSource, kind: 'create' | 'update'): BodySchema {
  const info = describeModel(model);
  const exposure = describeExposure(info, () => {});
  const explicitSchemas = schemaSource(target) ? NO_SCHEMAS : { ...NO_SCHEMAS, [kind]: target };
  return bodySchema({ model, info, exposure, explicitSchemas }, kind);
}
