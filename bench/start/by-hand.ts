/** Starts ten resources that are written by hand with the same frameworks. */
import type { Express } from 'express';
import { CONNECTIONS, HOST, readEnvironment } from '../contenders/support/environment.js';
import { Clock, MODELS } from './phases.js';

async function main(): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const clock = new Clock();
  require('./frameworks.js');
  clock.end('frameworks');
  clock.end('library');
  const { handWrittenControllers, handWrittenModels } =
    require('./hand-written.js') as typeof import('./hand-written.js');
  const { Sequelize } = require('sequelize-typescript') as typeof import('sequelize-typescript');
  const { createExpressServer } = require('routing-controllers') as typeof import('routing-controllers');
  const models = handWrittenModels(MODELS);
  clock.end('models');
  const sequelize = new Sequelize(databaseUrl, {
    dialect: 'postgres',
    logging: false,
    pool: { max: CONNECTIONS },
    models,
  });
  await sequelize.authenticate();
  clock.end('connect');
  const app = createExpressServer({ controllers: handWrittenControllers(models) }) as Express;
  clock.end('mount');
  await clock.finish(app.listen(port, HOST));
}

void main();
