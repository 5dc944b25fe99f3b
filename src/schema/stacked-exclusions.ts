/**
 * Several `@Exclude()`s on one property add up. class-transformer keeps the one that is applied last, so that
 * `@Exclude({ toClassOnly: true })` above `@Exclude({ toPlainOnly: true })` would show a password. What a decorator has
 * replaced cannot be found later, so its storage is taught before models are declared, which import this package.
 */
import type { ExcludeOptions } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';

const TAUGHT = Symbol.for('crud-controllers:stacked-exclusions:v1');

const storage = defaultMetadataStorage as typeof defaultMetadataStorage & { [TAUGHT]?: true };

if (!storage[TAUGHT]) {
  const add = storage.addExcludeMetadata.bind(storage);
  const known = new WeakMap<object, Map<string | undefined, ExcludeOptions>>();
  storage.addExcludeMetadata = (metadata) => {
    const { target, propertyName, options = {} } = metadata;
    const ofClass = known.get(target) ?? new Map<string | undefined, ExcludeOptions>();
    known.set(target, ofClass);
    const before = ofClass.get(propertyName);
    const whole = before ? bothExclusions(before, options) : options;
    ofClass.set(propertyName, whole);
    add({ ...metadata, options: whole });
  };
  storage[TAUGHT] = true;
}

/** One that hides in both directions without naming them stays that. */
function bothExclusions(one: ExcludeOptions, other: ExcludeOptions): ExcludeOptions {
  if (isUnnamed(one) || isUnnamed(other)) return {};
  return {
    ...one,
    ...other,
    toClassOnly: one.toClassOnly === true || other.toClassOnly === true,
    toPlainOnly: one.toPlainOnly === true || other.toPlainOnly === true,
  };
}

function isUnnamed({ toClassOnly, toPlainOnly }: ExcludeOptions): boolean {
  return !toClassOnly && !toPlainOnly;
}
