/** Ours, as the README shows it: `bootstrap` and `serve`. */
import { serve } from 'crud-controllers';
import { HOST, readEnvironment } from './support/environment.js';
import { createApplication } from './support/ours.js';

async function main(): Promise<void> {
  await serve(await createApplication(), { port: readEnvironment().port, host: HOST });
}

void main();
