/** An application on the engine that a test file has already: for tests of several applications, or of options. */
import express, { type Express } from 'express';
import supertest from 'supertest';
import { type BootstrapOptions, bootstrap, type CrudApplication } from '../../src/index.js';
import { CapturedLog } from './captured-log.js';
import { inCombination, useCombination } from './combination.js';
import { useSameRequestId } from './same-request-id.js';

/** An application, and something to send requests with. */
export interface BuiltApp {
  readonly app: Express;
  readonly crud: CrudApplication;
  readonly agent: ReturnType<typeof supertest>;
}

/** Bootstraps a new application; `prepare` runs before. */
export async function buildApp(
  options: BootstrapOptions,
  prepare: (app: Express) => void = () => {},
): Promise<BuiltApp> {
  const app = express();
  useSameRequestId(app);
  prepare(app);
  useCombination(app, options);
  const crud = await bootstrap(app, inCombination(options));
  return { app, crud, agent: supertest(app) };
}

/** The same application twice, without advice: with our executor, and with Sequelize. */
export async function buildBoth(
  options: BootstrapOptions,
  prepare?: (app: Express) => void,
): Promise<readonly [fast: BuiltApp, general: BuiltApp]> {
  const quiet = { logger: new CapturedLog(), indexAdvice: false, ...options };
  return [
    await buildApp({ ...quiet, fastPath: true }, prepare),
    await buildApp({ ...quiet, fastPath: false }, prepare),
  ];
}
