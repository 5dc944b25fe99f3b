/** A database that existed before: its tables are made by SQL, and its models are served on both paths. */
import { before } from 'mocha';
import type { BootstrapOptions, ModelClass } from '../../src/index.js';
import { type BuiltApp, buildBoth } from './build-app.js';
import { CapturedLog } from './captured-log.js';
import { execute, freshDatabase } from './postgres.js';
import { serveTestApp, type TestApp, type TestAppOptions } from './test-app.js';

/** Options of a suite. */
export interface TableOptions {
  /** Models of the engine that tests serve by themselves. */
  readonly others?: readonly ModelClass[];
  /** Options of the two applications. */
  readonly bootstrap?: BootstrapOptions;
  readonly engine?: TestAppOptions['engine'];
  /** Runs before the two applications are made. */
  prepare?(): unknown;
}

/** The two applications of a suite, and a function that sends SQL to their database. */
export interface ServedTables {
  readonly site: TestApp;
  readonly apps: readonly BuiltApp[];
  readonly query: (text: string) => Promise<unknown[]>;
}

/** Makes the tables in a fresh database, and serves the models on the fast path and on the general one. */
export function serveTables(
  sql: string | ((url: string) => string),
  models: readonly ModelClass[],
  { others = [], bootstrap = {}, engine = {}, prepare }: TableOptions = {},
): ServedTables {
  const quiet = { logger: new CapturedLog(), indexAdvice: false, ...bootstrap };
  const site = serveTestApp(async () => {
    const database = await freshDatabase();
    await execute(database.url, typeof sql === 'string' ? sql : sql(database.url));
    const all = [...models, ...others];
    return {
      models: all,
      database,
      engine: { createAll: false, ...engine },
      bootstrap: { ...quiet, models: [] },
    };
  });
  const apps: BuiltApp[] = [];
  before(async () => {
    await prepare?.();
    apps.push(...(await buildBoth({ ...quiet, models })));
  });
  return { site, apps, query: async (text) => (await site.engine.sequelize.query(text))[0] };
}
