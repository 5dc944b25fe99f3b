/**
 * Reads parts of class-transformer that it does not export: its storage of decorators, and the executor that carries
 * out a transformation. Its last release is from 2021, so the paths are stable within the peer range.
 *
 * The storage is taught that several `@Exclude()`s on one property add up. class-transformer keeps the one that is applied
 * last, so that `@Exclude({ toClassOnly: true })` above `@Exclude({ toPlainOnly: true })` would show a password. What a
 * decorator has replaced cannot be found later, so that this is done before models are declared, which import this package.
 */
import { Exclude, type ExcludeOptions } from 'class-transformer';
import { defaultOptions } from 'class-transformer/cjs/constants/default-options.constant.js';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { TransformOperationExecutor } from 'class-transformer/cjs/TransformOperationExecutor.js';
import { missingFrom, withFields } from '../util/missing-internal.js';

const missing = missingFrom('class-transformer', 'after 0.5.1');

/** class-transformer's numbers for the directions of a transformation. */
export const DIRECTIONS = { write: 0, read: 1 } as const;

/** Storage of the decorators of all classes. */
export const transformerStorage = withFields(
  defaultMetadataStorage,
  'MetadataStorage',
  'addExcludeMetadata getStrategy findExcludeMetadata findExposeMetadata findTypeMetadata ' +
    'findTransformMetadatas getExposedProperties getExcludedProperties',
  missing,
);

/** Nothing but what a decorator says. */
class Decorated {}
Exclude()(Decorated);
// Bundlers may take the package for one of its builds, and this file of it for another.
if (transformerStorage.getStrategy(Decorated) !== 'excludeAll') {
  throw new Error(
    "class-transformer is bundled twice, so its decorators say nothing: keep it out of the bundle (external: ['class-transformer'] " +
      "of esbuild and webpack, ssr.external of Vite), or resolve it by its field 'main'.",
  );
}

withFields(
  TransformOperationExecutor.prototype,
  'TransformOperationExecutor',
  'transform getKeys applyCustomTransformations',
  missing,
);

export { defaultOptions, TransformOperationExecutor };

const TAUGHT = Symbol.for('crud-controllers:stacked-exclusions:v1');

const storage = transformerStorage as typeof transformerStorage & { [TAUGHT]?: true };

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
