/** The class of a record as it leaves, derived from a model. */
import { Expose } from 'class-transformer';
import type { Exposure } from '../compile/resource-plan.js';
import type { AttributeInfo, RecordInfo } from '../describe/model-info.js';
import { copyReadTransforms } from './model-decorators.js';
import {
  applyColumnRules,
  derivedClass,
  type SchemaClass,
  type ShapeClass,
  schemaName,
} from './synthesize-class.js';

/** The attributes that leave. */
export function readableAttributes(
  info: RecordInfo,
  exposure: Pick<Exposure, 'unreadable'>,
): AttributeInfo[] {
  return [...info.attributes.values()].filter(({ name }) => !exposure.unreadable.has(name));
}

/** Shapes the class of a record from its attributes. */
export function shapeReadClass(info: RecordInfo, exposure: Exposure): ShapeClass {
  return (target) => {
    for (const attribute of readableAttributes(info, exposure)) {
      Expose()(target.prototype, attribute.name);
      copyReadTransforms(info, attribute.name, target.prototype);
      applyColumnRules(target, attribute, attribute.nullable ? 'nullable' : 'required');
    }
    return () => ({});
  };
}

/** Derives `ArticleRead`. */
export function deriveReadClass(info: RecordInfo, exposure: Exposure): SchemaClass {
  return derivedClass(schemaName(info, 'read'), shapeReadClass(info, exposure));
}
