/** Ours with `app.listen` instead of `serve`. */
import { HOST, readEnvironment } from './support/environment.js';
import { createApplication } from './support/ours.js';

async function main(): Promise<void> {
  (await createApplication()).listen(readEnvironment().port, HOST);
}

void main();
