/** The `@Crud` decorator, and the append-only list of its records: every reader sees the same. */
import type { Model } from 'sequelize';
import { ConfigError } from '../util/config-error.js';
import type { CrudOptions, ModelClass } from './crud-options.js';

/**
 * Marks a sequelize-typescript model as an HTTP resource. It only records; `bootstrap(app)` checks every option and
 * mounts the routes.
 *
 * @example
 * ```ts
 * @Crud<City>({ filterAllow: ['country', 'population'] })
 * @Table({ tableName: 'cities' })
 * class City extends Model {}
 * ```
 * @throws ConfigError where the compiler has the decorators of ECMAScript, and not those of TypeScript. A wrong option is reported by
 * `bootstrap` in one `ConfigError` with all others.
 */
export function Crud<M extends Model = Model>(options: CrudOptions<M> = {}) {
  if (typeof options === 'function')
    throw new ConfigError([`${(options as ModelClass).name} has @Crud without parentheses; write @Crud().`]);
  const callers = callersOf(Crud);
  return (model: ModelClass<M>, context?: never): void => {
    if (context !== undefined) throw new ConfigError([standardDecorator('@Crud')]);
    const record: CrudRecord = {
      model: model as unknown as ModelClass,
      name: model.name,
      callers,
      // The registry holds options of many models side by side; each is checked against its own model later.
      options: Object.freeze({ ...options }) as unknown as CrudOptions,
    };
    storage().push(Object.freeze(record));
  };
}

/** Problem of a decorator that the compiler has called as one of ECMAScript. */
export function standardDecorator(decorator: string): string {
  return (
    `${decorator} is compiled as a decorator of ECMAScript, and Sequelize and routing-controllers have those of TypeScript; set ` +
    '"experimentalDecorators": true in tsconfig.json for tsc, ts-jest, tsx, esbuild, Vite, Bun and Deno, "legacyDecorator": true in .swcrc ' +
    'for swc, or version: "legacy" of the plugin for Babel. tsx reads it for the files alone that "include" of tsconfig.json names.'
  );
}

/** A use of `@Crud`. */
export interface CrudRecord {
  readonly model: ModelClass;
  /** Name of the class before `modelName` of Sequelize replaced it. */
  readonly name: string;
  /** Lines of the stack. */
  readonly callers: readonly string[];
  readonly options: CrudOptions;
}

// On globalThis, so that a second copy of the package in one process still finds the models of the first.
const REGISTRY = Symbol.for('crud-controllers:registry:v1');

function storage(): CrudRecord[] {
  const holder = globalThis as { [REGISTRY]?: CrudRecord[] };
  holder[REGISTRY] ??= [];
  return holder[REGISTRY];
}

/** Every record so far, in the order the classes were declared. */
export function crudRecords(): readonly CrudRecord[] {
  return [...storage()];
}

/**
 * The records, without those of classes that were loaded again, such as by a test runner that resets its modules. The same line of
 * code has then declared another class of that name with that prefix.
 */
export function currentRecords(): readonly CrudRecord[] {
  const records = new Map(crudRecords().map((record) => [identityOf(record) ?? record, record]));
  return crudRecords().filter((record) => records.get(identityOf(record) ?? record) === record);
}

/** One line for each class that another one has replaced. */
export function reloadWarnings(): string[] {
  const current = new Set(currentRecords());
  const replaced = new Map(
    crudRecords()
      .filter((record) => !current.has(record))
      .map((record) => [record.name, placesOf(record)[0]]),
  );
  return [...replaced].map(
    ([name, place]) =>
      `${name} was declared again at ${place}, and the last class is served; list classes in models where another one is meant.`,
  );
}

/** Lines of code that declared two classes, as far as they differ; null where no line is found. */
export function placesApart(one: ModelClass, other: ModelClass): readonly [string, string] | null {
  const [ones = [], others = []] = [one, other].map((model) => {
    const record = crudRecords().findLast((each) => each.model === model);
    return record && placesOf(record);
  });
  const index = ones.findIndex((place, at) => place !== others[at]);
  const [own, its] = [ones[index], others[index]];
  return own === undefined || its === undefined ? null : [own, its];
}

function identityOf({ name, options, callers }: CrudRecord): string | undefined {
  return callers?.length > 0 ? JSON.stringify([name, options.prefix, callers]) : undefined;
}

/** `at f (/src/task.ts:5:1)` -> `/src/task.ts:5:1` */
function placesOf({ callers = [] }: CrudRecord): string[] {
  return callers.map((line) => line.replace(/^at (?:.*\()?|\)$/g, '').replace('file://', ''));
}

/**
 * The callers of a decorator: a function of the user's may have applied it. With another query in the address of a module, Node
 * loads it again.
 */
function callersOf(decorator: (options: never) => unknown): readonly string[] {
  const holder: { readonly stack?: unknown } = {};
  Error.captureStackTrace(holder, decorator);
  const lines = String(holder.stack)
    .split('\n')
    .map((line) => line.trim());
  return lines
    .filter((line) => line.startsWith('at '))
    .slice(0, 2)
    .map((line) => line.replace(/\?[^:)]*/, ''));
}
