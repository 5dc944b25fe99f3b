/** Ours with writes that go together where they wait for a connection. */
import { serve } from 'crud-controllers';
import { HOST, readEnvironment } from './support/environment.js';
import { createApplication } from './support/ours.js';

async function main(): Promise<void> {
  const application = await createApplication({}, { groupCommit: true });
  await serve(application, { port: readEnvironment().port, host: HOST });
}

void main();
