/** Ours on the general path: every request goes through Sequelize, as it does for models with hooks or getters. */
import { serve } from 'crud-controllers';
import { HOST, readEnvironment } from './support/environment.js';
import { createApplication } from './support/ours.js';

async function main(): Promise<void> {
  await serve(await createApplication({ fastPath: false }), { port: readEnvironment().port, host: HOST });
}

void main();
