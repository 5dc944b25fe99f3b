/** Ours where the pool has to see each use of a connection, so that no read shares one. */
import { serve } from 'crud-controllers';
import { HOST, readEnvironment } from './support/environment.js';
import { createApplication } from './support/ours.js';

async function main(): Promise<void> {
  const application = await createApplication({}, { hooks: { afterPoolAcquire: () => {} } });
  await serve(application, { port: readEnvironment().port, host: HOST });
}

void main();
