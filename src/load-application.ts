/** A module of the user's -> the application that it exports, or the one that its models and controllers make. */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { buildApplication, builtApplication, type DescribedApplication } from './bootstrap.js';
import { crudRecords } from './declare/crud.js';
import type { Class, ModelClass } from './declare/crud-options.js';
import { attachOffline } from './describe/describe-model.js';
import { controllerSource } from './express/resources/crud-controller.js';
import { serveNoRequests } from './inspect/catalogue-gate.js';
import { ConfigError } from './util/config-error.js';

/** Limit of the wait for an exported application to be bootstrapped, and interval of the checks. Milliseconds. */
const PATIENCE = 10_000;
const INTERVAL = 50;

/** Options of `bootstrap` from the command line, for modules that set none. */
export interface GivenOptions {
  readonly routePrefix: string | undefined;
  /** That of the document. */
  readonly title: string | undefined;
}

/**
 * Imports a module, which runs it, and reads what it exports: an Express application that it bootstraps, what
 * `bootstrap` gave or a promise of it, or models with `@Crud` and controllers that extend generated ones. Models need
 * no database.
 *
 * @throws ConfigError when it exports none of these, what it exports is configured wrongly, or it is an application and options are
 * given
 */
export async function loadApplication(file: string, options: GivenOptions): Promise<DescribedApplication> {
  const path = find(file);
  serveNoRequests();
  const namespace: Record<string, unknown> = await import(pathToFileURL(path).href).catch(
    (cause: unknown) => {
      throw isUncompiled(path, cause) ? uncompiled(file, cause) : cause;
    },
  );
  const exported = (await Promise.all(exportedValues(namespace))).flat();
  const objects = exported.filter((value) => isObject(value));
  const built = objects.map(builtApplication).findLast((each) => each !== undefined);
  if (built) return withoutOptions(file, built, options);
  const served = new Set<object>(crudRecords().map(({ model }) => model));
  const models = objects.filter((value) => served.has(value)) as ModelClass[];
  const controllers = objects.filter((value) => controllerSource(value) !== undefined) as Class[];
  if (models.length + controllers.length > 0) return describeModels(models, controllers, options);
  return withoutOptions(file, await untilBootstrapped(file, objects), options);
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

/** As Node finds modules: the ending may be left out. */
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

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function describeModels(
  models: readonly ModelClass[],
  controllers: readonly Class[],
  { routePrefix, title }: GivenOptions,
): DescribedApplication {
  const extended = controllers.flatMap((controller) => controllerSource(controller)?.repository.model ?? []);
  // A model may belong to one that is not exported.
  attachOffline([...models, ...extended, ...crudRecords().map(({ model }) => model)]);
  return buildApplication({
    models,
    controllers,
    ...(routePrefix === undefined ? {} : { routePrefix }),
    ...(title === undefined ? {} : { docs: { title } }),
  });
}

/** The module may still be waiting for its database. */
async function untilBootstrapped(file: string, exported: readonly object[]): Promise<DescribedApplication> {
  const apps = exported.filter((value) => typeof value === 'function' && 'handle' in value && 'use' in value);
  for (let waited = 0; apps.length > 0 && waited < PATIENCE; waited += INTERVAL) {
    const built = apps.map(builtApplication).findLast((each) => each !== undefined);
    if (built) return built;
    await sleep(INTERVAL);
  }
  throw new ConfigError([
    apps.length > 0
      ? `${file} exports an Express application that was not bootstrapped within ${PATIENCE / 1000} seconds; export ` +
        'the models instead, which need no database.'
      : `${file} exports nothing to describe; export the models with @Crud, or the Express application that it ` +
        'bootstraps.',
  ]);
}
