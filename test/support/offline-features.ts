/** The features of a resource without a database. */

import type { ResourcePlan } from '../../src/compile/resource-plan.js';
import { FEATURES } from '../../src/features/features.js';
import { compileFeatures, type ResourceFeatures } from '../../src/operation/compile-features.js';
import { createCursorCodec } from '../../src/request/query/cursor-codec.js';

/** All of them; every attribute can be read. */
export function featuresOf(plan: ResourcePlan): ResourceFeatures {
  const readable = [...plan.info.attributes.keys()];
  const columnsOf = (fields: readonly string[] | null) => fields ?? readable;
  const view = { readable, columnsOf };
  return compileFeatures({ plan, ...view, cursors: createCursorCodec([]), views: () => view }, FEATURES);
}
