/** Starts ten resources of this library. */
import { CONNECTIONS_OF_OURS, HOST, readEnvironment } from '../contenders/support/environment.js';
import { Clock, MODELS } from './phases.js';

async function main(): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const clock = new Clock();
  require('./frameworks.js');
  clock.end('frameworks');
  const { bootstrap, engineLifespan, serve } =
    require('crud-controllers') as typeof import('crud-controllers');
  clock.end('library');
  const { articleModels } =
    require('../contenders/support/scaled-models.js') as typeof import('../contenders/support/scaled-models.js');
  const models = articleModels(MODELS);
  const app = (require('express') as typeof import('express'))();
  clock.end('models');
  await engineLifespan(databaseUrl, { models, pool: { max: CONNECTIONS_OF_OURS } })(app);
  clock.end('connect');
  await bootstrap(app, { models });
  clock.end('mount');
  await clock.finish(await serve(app, { port, host: HOST }));
}

void main();
