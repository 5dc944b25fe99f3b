/** Which properties a class of the user's declares, read from its class-validator and class-transformer decorators. */

import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage } from 'class-validator';
import type { Class } from '../metadata/crud-options.js';

/** class-transformer's internal numbers for the direction of a transformation. */
const DIRECTIONS = { write: 0, read: 1 } as const;

/**
 * The properties that may pass in this direction: those with a class-validator decorator or `@Expose()`, without
 * those with `@Exclude()`. Empty for a class without decorators, which would let everything pass (CVE-2019-18413).
 */
export function classProperties(target: Class, direction: keyof typeof DIRECTIONS): ReadonlySet<string> {
  const validated = validatorsOf(target).map(({ propertyName }) => propertyName);
  const exposed = defaultMetadataStorage.getExposedProperties(target, DIRECTIONS[direction]);
  const excluded = defaultMetadataStorage.getExcludedProperties(target, DIRECTIONS[direction]);
  const properties = new Set([...validated, ...exposed].filter((name) => name !== undefined));
  for (const name of excluded) properties.delete(name);
  return properties;
}

/** The name under which a property of the class leaves: its own, or that of `@Expose({ name })`. */
export function shownName(target: Class, property: string): string {
  return defaultMetadataStorage.findExposeMetadata(target, property)?.options?.name ?? property;
}

/** Whether any property of the class has a class-validator decorator. */
export function hasValidators(target: Class): boolean {
  return validatorsOf(target).length > 0;
}

function validatorsOf(target: Class) {
  return getMetadataStorage().getTargetValidationMetadatas(target, '', true, false);
}
