/** The media types of an update's body. */

import type { ResourcePlan } from '../compile/resource-plan.js';
import type { ColumnType } from '../describe/column-type.js';
import { propertyRules } from './class-json-schema.js';
import { classProperties } from './class-properties.js';
import { writableAttributes } from './derive-class.js';

const JSON_TYPE = 'application/json';
/** RFC 7396. In a body without objects inside, it says the same as JSON. */
const MERGE_PATCH = 'application/merge-patch+json';

/** Media types of a PATCH, and the properties that exclude a merge patch. */
export interface PatchTypes {
  readonly mediaTypes: readonly string[];
  /** The properties that are replaced as a whole, where RFC 7396 would merge objects. */
  readonly unmerged: readonly string[];
}

/** The types for a resource: a merge patch only where no property that it may have holds an object. */
export function patchTypes(plan: ResourcePlan): PatchTypes {
  const unmerged = objectProperties(plan);
  return { mediaTypes: unmerged.length > 0 ? [JSON_TYPE] : [JSON_TYPE, MERGE_PATCH], unmerged };
}

function objectProperties({ info, exposure, explicitSchemas: { update } }: ResourcePlan): string[] {
  const names = update
    ? [...classProperties(update, 'write')]
    : writableAttributes(info, exposure, 'update').map(({ name }) => name);
  return names.filter((name) => {
    const rules = update && propertyRules(update, name);
    if (rules?.nested === 'value' || rules?.schema.type === 'object') return true;
    const type = info.attributes.get(name)?.type;
    return type !== undefined && holdsObjects(type);
  });
}

/** RFC 7396 replaces arrays as a whole, with the objects in them. */
function holdsObjects(type: ColumnType): boolean {
  if (type.kind === 'other') return ['HSTORE', 'GEOMETRY', 'GEOGRAPHY'].includes(type.sqlType);
  return type.kind === 'json' || type.kind === 'virtual';
}
