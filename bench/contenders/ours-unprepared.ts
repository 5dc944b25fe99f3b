/** Ours as it is behind a pooler that knows no prepared statements. */
import { serve } from 'crud-controllers';
import { HOST, readEnvironment } from './support/environment.js';
import { createApplication } from './support/ours.js';

async function main(): Promise<void> {
  const application = await createApplication({}, { preparedStatements: false });
  await serve(application, { port: readEnvironment().port, host: HOST });
}

void main();
