/**
 * Reads parts of class-transformer that it does not export: its storage of decorators, and the executor that carries
 * out a transformation. Its last release is from 2021, so the paths are stable within the peer range.
 *
 * The storage is taught that several `@Exclude()`s on one property add up. class-transformer keeps the one that is applied
 * last, so that `@Exclude({ toClassOnly: true })` above `@Exclude({ toPlainOnly: true })` would show a password. A value that a
 * decorator has replaced cannot be found later, so that this is done before models are declared, which import this package.
 */
import { Exclude, type ExcludeOptions } from 'class-transformer';
import { defaultOptions } from 'class-transformer/cjs/constants/default-options.constant.js';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { TransformOperationExecutor } from 'class-transformer/cjs/TransformOperationExecutor.js';
import { ConfigError } from '../util/config-error.js';
import { keptIn } from '../util/memo.js';
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

/** Nothing but the values of a decorator. */
class Decorated {}
Exclude()(Decorated);
// Bundlers may take the package for one of its builds, and this file of it for another.
if (transformerStorage.getStrategy(Decorated) !== 'excludeAll') {
  throw new Error(
    "class-transformer is bundled twice, so its decorators say nothing: resolve it by its field 'main' (mainFields: ['main'] of " +
      "esbuild, and of resolve in webpack), or keep it out of the bundle (external: ['class-transformer'], ssr.external of Vite).",
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
    const ofClass = keptIn(known, target, () => new Map<string | undefined, ExcludeOptions>());
    const before = ofClass.get(propertyName);
    const whole = before ? bothExclusions(before, options) : options;
    ofClass.set(propertyName, whole);
    add({ ...metadata, options: whole });
  };
  storage[TAUGHT] = true;
}

/** The union of two exclusions. An exclusion without directions is for both, and stays so. */
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

interface Copy {
  readonly path: string;
  readonly decorated: readonly ReadonlyMap<unknown, unknown>[];
}

const FILE = /[\\/]storage\.js$/;
/** Maps with the classes of decorators; a map without the underscore may hold classes without decorators, too. */
const METADATA = /^_.*Metadatas$/;

let found: { readonly files: number; readonly copies: readonly Copy[] } = { files: 0, copies: [] };

/** The files of the process; none in a bundle. */
function loaded(): NodeJS.Dict<NodeModule> {
  return typeof require === 'function' ? (require.cache ?? {}) : {};
}

/** Searches again where more files were loaded. */
function copies(): readonly Copy[] {
  const files = Object.keys(loaded());
  if (files.length !== found.files) {
    found = { files: files.length, copies: files.filter((file) => FILE.test(file)).flatMap(copyIn) };
  }
  return found.copies;
}

function copyIn(file: string): Copy[] {
  const { exports: members } = loaded()[file] ?? {};
  const storage: unknown = Object(members).defaultMetadataStorage;
  if (typeof storage !== 'object' || storage === null || storage === transformerStorage) return [];
  const maps = Object.entries(storage).flatMap(([name, map]) =>
    METADATA.test(name) && map instanceof Map ? [map] : [],
  );
  return maps.length === 0 ? [] : [{ path: packagePath(file), decorated: maps }];
}

/** `…/class-transformer/cjs/storage.js` is two folders inside of the package. */
function packagePath(file: string): string {
  return file.replace(/[\\/][^\\/]+[\\/][^\\/]+$/, '');
}

function decoratingCopy(target: unknown, among: readonly Copy[]): Copy | undefined {
  if (among.length === 0) return undefined;
  for (let each = target; typeof each === 'function'; each = Object.getPrototypeOf(each)) {
    const copy = among.find(({ decorated }) => decorated.some((map) => map.has(each)));
    if (copy) return copy;
  }
  return undefined;
}

/** A bundle with this package has no file of its own for the storage. */
function ownPath(): string {
  const file = Object.keys(loaded()).find(
    (each) =>
      FILE.test(each) && Object(loaded()[each]?.exports).defaultMetadataStorage === transformerStorage,
  );
  return file === undefined ? 'its bundle' : packagePath(file);
}

/** Problem of a class that another copy has decorated; undefined where none has. */
export function copyProblem(target: { readonly name: string }): string | undefined {
  const copy = decoratingCopy(target, copies());
  return copy && problemOf(target, copy);
}

function problemOf({ name }: { readonly name: string }, { path }: Copy): string {
  const own = ownPath();
  return (
    `${name} has decorators of another copy of class-transformer, so its @Exclude() would hide nothing: they are of ` +
    `${path}, and crud-controllers reads those of ${own}. Have one copy: npm ls class-transformer names what needs which, npm dedupe ` +
    'removes what is not needed, and "overrides": { "class-transformer": "$class-transformer" } in package.json removes the rest.'
  );
}

/** @throws ConfigError for a class that another copy has decorated */
export function refuseCopy(target: { readonly name: string }): void {
  const problem = copyProblem(target);
  if (problem !== undefined) throw new ConfigError([problem]);
}

/** The same check for the class of a value of a request. It costs nothing where there is one copy. */
export function refuseDecorated(target: unknown): void {
  const copy = decoratingCopy(target, found.copies);
  if (copy) throw new TypeError(problemOf(target as { readonly name: string }, copy));
}
