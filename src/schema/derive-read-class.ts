/** The class of a record as it leaves, derived from a model. */
import { Expose } from 'class-transformer';
import type { AttributeInfo, RecordInfo } from '../model/model-info.js';
import type { Exposure } from '../plan/resource-plan.js';
import { copyReadTransforms } from './model-decorators.js';
import { applyColumnRules, namedClass, type SchemaClass } from './synthesize-class.js';

/** The attributes that leave. */
export function readableAttributes(
  info: RecordInfo,
  exposure: Pick<Exposure, 'unreadable'>,
): AttributeInfo[] {
  return [...info.attributes.values()].filter(({ name }) => !exposure.unreadable.has(name));
}

/** Derives `ArticleRead`. */
export function deriveReadClass(info: RecordInfo, exposure: Exposure): SchemaClass {
  const derived = namedClass(`${info.name}Read`);
  for (const attribute of readableAttributes(info, exposure)) {
    Expose()(derived.prototype, attribute.name);
    copyReadTransforms(info, attribute.name, derived.prototype);
    applyColumnRules(derived, attribute, attribute.nullable ? 'nullable' : 'required');
  }
  return derived;
}
