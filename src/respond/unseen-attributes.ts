/** The attributes whose stored values no answer of a resource shows. */

import type { ResourcePlan } from '../compile/resource-plan.js';
import { hasGetter } from '../describe/model-info.js';
import { hasJsonForm } from '../describe/record.js';
import { classProperties } from '../schema/class-properties.js';
import { isTransformed, shapesValue } from '../schema/model-decorators.js';

/**
 * Attributes that are hidden, and those of which code of the user's makes another value. A write of them counts as a
 * change: otherwise the version or the moment of a change would show that the stored value is the one that was sent.
 */
export function unseenAttributes(plan: ResourcePlan): ReadonlySet<string> {
  const { info, model, exposure, explicitSchemas } = plan;
  const { read } = explicitSchemas;
  const properties = read && classProperties(read, 'read');
  const isShown = (name: string): boolean => {
    if (hasGetter(model, name)) return false;
    if (!read) return !exposure.unreadable.has(name) && !isTransformed(info.model, name, 'read');
    return properties?.has(name) === true && !shapesValue(read, name) && !(name in Object(read.prototype));
  };
  const names = [...info.attributes.keys()];
  return new Set(hasJsonForm(model) ? names : names.filter((name) => !isShown(name)));
}
