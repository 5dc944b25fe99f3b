/** A module of the user's -> the application that it starts or exports, or the one that its models and controllers make. */
import { Server } from 'node:http';
import { Server as SecureServer } from 'node:https';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  buildApplication,
  type DescribedApplication,
  type LoadedApplication,
  loadedApplications,
} from './bootstrap.js';
import { crudRecords } from './declare/crud.js';
import type { Class, ModelClass } from './declare/crud-options.js';
import { attachOffline } from './describe/describe-model.js';
import { hasTable } from './describe/record.js';
import { controllerSource, copyOf } from './express/resources/crud-controller.js';
import { ConfigError } from './util/config-error.js';
import { goOffline, isStarting, startForCommand } from './util/offline.js';
import { isPromise } from './util/promises.js';

/** Limits of the wait for an application to be bootstrapped, without a database and with one, and interval of the checks. Milliseconds. */
const PATIENCE = 10_000;
const LONG_PATIENCE = 60_000;
const INTERVAL = 10;

/** Options of `bootstrap` from the command line, for modules that set none. */
export interface GivenOptions {
  readonly routePrefix: string | undefined;
  /** Title of the document. */
  readonly title: string | undefined;
}

/**
 * Imports a module, which runs it, and takes the application that `bootstrap` made there: on an Express application, exported or not, or
 * in an exported function `createApp`. Else it takes the exported models with `@Crud`, and controllers that extend
 * generated ones. No database is reached, and nothing listens.
 *
 * @throws ConfigError when there is none of these, for a wrong configuration, and for an application where the command line has options
 */
export function loadApplication(file: string, options: GivenOptions): Promise<DescribedApplication> {
  goOffline();
  return importApplication<DescribedApplication>(file, PATIENCE, (built, found, isLast) => {
    if (built) return withoutOptions(file, built, options);
    // The models of an application that has not come have other routes and SQL than it has.
    const isNone = !isStarting() && (isLast || !found.isPending);
    return isNone ? describeModels(found, options) : undefined;
  });
}

/**
 * The same for an application that starts with its database. It serves the requests of the command, and listens nowhere else.
 *
 * @throws ConfigError when the module starts no application
 */
export function startApplication(file: string): Promise<LoadedApplication> {
  startForCommand();
  return importApplication(file, LONG_PATIENCE, (built, { objects, isPending }, isLast) => {
    // A function createApp may write rows behind bootstrap; a module that awaits its server waits for ever.
    if (built && isPending && !hasListened && !isLast) return undefined;
    if (built || isStarting() || !isLast) return built;
    if (modelsIn(objects).length === 0) return undefined;
    throw new ConfigError([
      `${file} exports models, and starts no application, whose rules a command keeps; pass the module that calls bootstrap.`,
    ]);
  });
}

/** @param choose gets the application that was found, and nothing while another one may follow */
function importApplication<T>(
  file: string,
  patience: number,
  choose: (built: LoadedApplication | undefined, found: FoundExports, isLast: boolean) => T | undefined,
): Promise<T> {
  const path = find(file);
  listenNowhere();
  const found = new FoundExports();
  found.take(
    import(pathToFileURL(path).href).catch((cause: unknown) => {
      throw isUncompiled(path, cause) ? uncompiled(file, cause) : cause;
    }),
    (namespace) => found.takeModule(namespace),
  );
  let seen = 0;
  return untilFound(file, found, patience, (isLast) => {
    const started = loadedApplications().length;
    // Another application may follow at once.
    const isSettled = started === seen || isLast;
    seen = started;
    const built = isSettled ? builtIn(file, found) : undefined;
    if (!built && found.failure) throw found.failure.error;
    return isSettled ? choose(built, found, isLast) : undefined;
  });
}

/** True as soon as a server of the module was about to listen. */
let hasListened = false;

/** A server that listens would take the port of another one, or keep the process. */
function listenNowhere(): void {
  for (const { prototype } of [Server, SecureServer]) {
    prototype.listen = function () {
      hasListened = true;
      return this;
    };
  }
}

/** Exports of a module, as far as they are there. Promises are awaited, as the import itself is. */
class FoundExports {
  readonly objects = new Set<object>();
  creator: (() => unknown) | undefined;
  failure: { readonly error: unknown } | undefined;
  #pending = 0;

  /** True while a promise of the module may still find an application. */
  get isPending(): boolean {
    return this.#pending > 0;
  }

  /** Awaits a value, and passes it on. */
  take<T>(value: PromiseLike<T>, use: (value: T) => void): void {
    this.#pending += 1;
    value.then(use).then(
      () => {
        this.#pending -= 1;
      },
      (error: unknown) => {
        this.failure ??= { error };
      },
    );
  }

  takeModule(namespace: Readonly<Record<string, unknown>>): void {
    for (const value of exportedValues(namespace)) this.#add(value);
    this.creator = [...this.objects].find(isCreator);
    const isThere = isStarting() || loadedApplications().length > 0;
    if (!isThere && this.creator?.length === 0) this.#add(this.creator());
  }

  #add(value: unknown): void {
    if (isPromise(value)) this.take(value, (each) => this.#add(each));
    else if (Array.isArray(value)) for (const each of value) this.#add(each);
    else if ((typeof value === 'object' && value !== null) || typeof value === 'function')
      this.objects.add(value);
  }
}

function withoutOptions(
  file: string,
  built: DescribedApplication,
  { routePrefix, title }: GivenOptions,
): DescribedApplication {
  if (routePrefix === undefined && title === undefined) return built;
  throw new ConfigError([
    `${file} exports an application, which says its routePrefix and title in bootstrap; leave out --route-prefix and --title.`,
  ]);
}

/** Finds a module as Node does: the ending may be left out. */
function find(file: string): string {
  try {
    return require.resolve(resolve(file));
  } catch (cause) {
    throw Object.assign(new ConfigError([`There is no module '${file}'.`]), { cause });
  }
}

/** True where Node refused TypeScript, by its ending or its decorators; a loader for it accepts it. */
function isUncompiled(path: string, cause: unknown): boolean {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return /\.[cm]?tsx?$/.test(path) && (code === 'ERR_UNKNOWN_FILE_EXTENSION' || cause instanceof SyntaxError);
}

function uncompiled(file: string, cause: unknown): Error {
  const problem = `'${file}' is TypeScript; compile it and pass what comes out, such as ./dist/models.js.`;
  return Object.assign(new ConfigError([problem]), { cause });
}

/** Exports by name, and members of the default export of a CommonJS module. */
function exportedValues(namespace: Record<string, unknown>): unknown[] {
  const { default: main, ...named } = namespace;
  const inside = typeof main === 'object' && main !== null ? Object.values(main) : [];
  return [...new Set([...Object.values(named), main, ...inside])];
}

/** An exported function that makes an application, by its name. */
function isCreator(value: object): value is () => unknown {
  return typeof value === 'function' && value.name === 'createApp';
}

/** The application of the exports, or the only one that was bootstrapped. */
function builtIn(file: string, { objects }: FoundExports): LoadedApplication | undefined {
  const started = loadedApplications();
  const exported = started.findLast(({ app, application }) => objects.has(app) || objects.has(application));
  if (exported || started.length < 2) return exported ?? started[0];
  throw new ConfigError([
    `${file} starts ${started.length} applications; export the Express application that is meant.`,
  ]);
}

/** The application of models and controllers that are exported; undefined where there are none. */
function describeModels(
  { objects }: FoundExports,
  { routePrefix, title }: GivenOptions,
): DescribedApplication | undefined {
  const models = modelsIn(objects);
  // A controller of another copy of this package is refused by name.
  const controllers = [...objects].filter((value) => copyOf(value) !== undefined) as Class[];
  if (models.length + controllers.length === 0) return undefined;
  const extended = controllers.flatMap((controller) => controllerSource(controller)?.repository.model ?? []);
  // A model may belong to one that is not exported, and a relation may go through one without @Crud.
  attachOffline([
    ...models,
    ...extended,
    ...crudRecords().map(({ model }) => model),
    ...[...objects].filter(hasTable),
  ]);
  const built = buildApplication({
    models,
    controllers,
    ...(routePrefix === undefined ? {} : { routePrefix }),
    ...(title === undefined ? {} : { docs: { title } }),
  });
  // The module has no options of `bootstrap`.
  return { ...built, sql: () => built.sql(null) };
}

/** Models with `@Crud` among exports. */
function modelsIn(objects: ReadonlySet<object>): ModelClass[] {
  const served = new Set<object>(crudRecords().map(({ model }) => model));
  return [...objects].filter((value) => served.has(value)) as ModelClass[];
}

/**
 * Tries until there is a result, until nothing keeps the process any more, or until the patience is over.
 *
 * @param attempt gets true the last time
 */
function untilFound<T>(
  file: string,
  found: FoundExports,
  patience: number,
  attempt: (isLast: boolean) => T | undefined,
): Promise<T> {
  return new Promise((end, reject) => {
    const timer = setInterval(() => check(false), INTERVAL).unref();
    const limit = setTimeout(() => check(true), patience).unref();
    const drained = () => check(true);
    process.once('beforeExit', drained);
    function check(isLast: boolean): void {
      try {
        const application = attempt(isLast);
        if (application) end(application);
        else if (isLast) throw nothingFound(file, found, patience);
        else return;
      } catch (error) {
        reject(error);
      }
      clearInterval(timer);
      clearTimeout(limit);
      process.removeListener('beforeExit', drained);
    }
  });
}

/** The main file of any copy of this package. */
const COPY = /[\\/]crud-controllers[\\/]dist[\\/]src[\\/]index\.js$/;

function nothingFound(file: string, { objects, creator }: FoundExports, patience: number): ConfigError {
  const hasApp = [...objects].some(
    (value) => typeof value === 'function' && 'handle' in value && 'use' in value,
  );
  if (creator && creator.length > 0) {
    return new ConfigError([
      `createApp of ${file} has parameters, and the command passes none; pass the module that calls it, or give them defaults.`,
    ]);
  }
  if (isStarting()) {
    return new ConfigError([
      `${file} calls engineLifespan, and no bootstrap follows; a query before bootstrap waits for a database here: move it behind, or ` +
        'pass a module that exports the models and starts nothing.',
    ]);
  }
  const copy = Object.keys(require.cache).find(
    (each) => COPY.test(each) && each !== join(__dirname, 'index.js'),
  );
  if (copy !== undefined) {
    return new ConfigError([
      `${file} is made with another copy of crud-controllers, ${copy}, and this command is of ${__dirname}; run npx crud-controllers in the ` +
        'folder of the project.',
    ]);
  }
  return new ConfigError([
    hasApp
      ? `${file} exports an Express application that was not bootstrapped within ${patience / 1000} seconds; export ` +
        'the models instead.'
      : `${file} exports nothing to describe, and starts nothing; pass the module that starts the application, or export that, a ` +
        'function createApp, or the models with @Crud.',
  ]);
}
