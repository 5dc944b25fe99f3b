/** An application on a database of its own, for one test file. */
import express, { type Express } from 'express';
import supertest from 'supertest';
import { type BootstrapOptions, bootstrap, type CrudApplication, type ModelClass } from '../../src/index.js';
import type { Engine } from '../../src/persistence/engine.js';
import { type EngineOptions, engineLifespan } from '../../src/persistence/engine-lifespan.js';
import { watchForLeaks } from './leak-watch.js';
import { freshDatabase } from './postgres.js';

/** A running application. */
export interface TestApp extends AsyncDisposable {
  readonly app: Express;
  readonly crud: CrudApplication;
  readonly engine: Engine;
  /** Sends requests. */
  readonly agent: ReturnType<typeof supertest>;
}

/** What a test may set. */
export interface TestAppOptions {
  readonly models: readonly ModelClass[];
  readonly bootstrap?: BootstrapOptions;
  readonly engine?: EngineOptions;
  /** Runs before `bootstrap`. */
  prepare?(app: Express): void;
}

/** Creates the tables of the models in a fresh database, and serves them. */
export async function startTestApp(options: TestAppOptions): Promise<TestApp> {
  const database = await freshDatabase();
  const app = express();
  const engine = await engineLifespan(database.url, {
    models: options.models,
    createAll: true,
    ...options.engine,
  })(app);
  options.prepare?.(app);
  const crud = await bootstrap(app, { models: options.models, ...options.bootstrap });
  return {
    app,
    crud,
    engine,
    agent: watchForLeaks(supertest(app)),
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}
