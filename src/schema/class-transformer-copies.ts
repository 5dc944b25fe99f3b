/**
 * Other copies of class-transformer in the process. Each keeps what its decorators say for itself, so that an `@Exclude()` of another
 * copy would hide nothing.
 */
import { ConfigError } from '../util/config-error.js';
import { transformerStorage } from './class-transformer-internals.js';

/** A copy, and what its decorators have said by class. */
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

/** Looks again where more files were loaded. */
function copies(): readonly Copy[] {
  const files = Object.keys(loaded());
  if (files.length !== found.files) {
    found = { files: files.length, copies: files.filter((file) => FILE.test(file)).flatMap(copyIn) };
  }
  return found.copies;
}

function copyIn(file: string): Copy[] {
  const { exports } = loaded()[file] ?? {};
  const storage: unknown = Object(exports).defaultMetadataStorage;
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

/** Problem of a class that another copy has decorated; undefined where none has. */
export function copyProblem(target: { readonly name: string }): string | undefined {
  const copy = decoratingCopy(target, copies());
  return copy && problemOf(target, copy);
}

function problemOf({ name }: { readonly name: string }, { path }: Copy): string {
  const own = packagePath(require.resolve('class-transformer/cjs/storage.js'));
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

/** The same for the class of a value of a request. Costs nothing where there is one copy. */
export function refuseDecorated(target: unknown): void {
  const copy = decoratingCopy(target, found.copies);
  if (copy) throw new TypeError(problemOf(target as { readonly name: string }, copy));
}
