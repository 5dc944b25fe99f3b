/** An application on a database of its own, for one test file. */
import express, { type Express } from 'express';
import supertest from 'supertest';
import { type EngineOptions, engineLifespan } from '../../src/engine-lifespan.js';
import { type BootstrapOptions, bootstrap, type CrudApplication, type ModelClass } from '../../src/index.js';
import type { Engine } from '../../src/postgres/engine/engine.js';
import { inCombination, useCombination } from './combination.js';
import { watchConnections } from './connections-at-rest.js';
import { forSuite } from './for-suite.js';
import { type Listening, listen } from './listen.js';
import { throughPooler } from './pooler.js';
import { freshDatabase, type TestDatabase } from './postgres.js';
import { useSameRequestId } from './same-request-id.js';

/** A running application. */
export interface TestApp extends AsyncDisposable {
  readonly app: Express;
  readonly crud: CrudApplication;
  readonly engine: Engine;
  /** The server on a free port that listens for it. */
  readonly server: Listening;
  /** Sends requests to it. */
  readonly agent: ReturnType<typeof supertest>;
}

/** Options of a test. */
export interface TestAppOptions {
  readonly models: readonly ModelClass[];
  readonly bootstrap?: BootstrapOptions;
  readonly engine?: EngineOptions;
  /** Default: a fresh one, on the server of the tests. */
  readonly database?: Partial<TestDatabase> & Pick<TestDatabase, 'url'>;
  /** Number of connections of a pool that the tests need at the same time. Default: 1. */
  readonly minPool?: number;
  /** Runs before `bootstrap`. */
  prepare?(app: Express): void;
}

/** Creates the tables of the models in a fresh database, and serves them. */
export async function startTestApp(options: TestAppOptions): Promise<TestApp> {
  const database = options.database ?? (await freshDatabase());
  const app = express();
  const pooled = await throughPooler(database.url, options.engine);
  const engine = await engineLifespan(pooled.url, {
    models: options.models,
    createAll: true,
    ...pooled.engine,
    ...poolOf(options),
  })(app);
  const unwatch = watchConnections(engine);
  async function end(): Promise<void> {
    unwatch();
    await engine[Symbol.asyncDispose]();
    await database.drop?.();
  }
  try {
    const { crud, listening } = await serve(app, options);
    return {
      app,
      crud,
      engine,
      server: listening,
      agent: supertest(listening.server),
      async [Symbol.asyncDispose]() {
        await listening[Symbol.asyncDispose]();
        await end();
      },
    };
  } catch (error) {
    // No later suite is to blame for its connections.
    await end();
    throw error;
  }
}

async function serve(
  app: Express,
  options: TestAppOptions,
): Promise<Pick<TestApp, 'crud'> & { readonly listening: Listening }> {
  useSameRequestId(app);
  options.prepare?.(app);
  const served = { models: options.models, ...options.bootstrap };
  useCombination(app, served);
  const crud = await bootstrap(app, inCombination(served));
  // An application that does not listen gets a server and a connection for each request.
  const listening = await listen(app);
  // Some tests end the engine themselves; the server is then no reason for the process to go on.
  listening.server.unref();
  return { crud, listening };
}

/** The application of a suite. */
export function serveTestApp(options: () => TestAppOptions | Promise<TestAppOptions>): TestApp {
  return forSuite(async () => startTestApp(await options()));
}

/** CRUD_TEST_POOL sets the size of all pools: with 1, a request that needs a second connection waits for ever. */
function poolOf({ engine, minPool = 1 }: TestAppOptions): Pick<EngineOptions, 'pool'> {
  const { CRUD_TEST_POOL } = process.env;
  if (!CRUD_TEST_POOL) return {};
  return { pool: { ...engine?.pool, max: Math.max(minPool, Number(CRUD_TEST_POOL)) } };
}
