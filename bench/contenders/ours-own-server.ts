/** Ours on a server of the user's, which is made with `requestClasses`. */
import { createServer } from 'node:http';
import { requestClasses } from 'crud-controllers';
import { HOST, readEnvironment } from './support/environment.js';
import { createApplication } from './support/ours.js';

async function main(): Promise<void> {
  const app = await createApplication();
  createServer(requestClasses(app), app).listen(readEnvironment().port, HOST);
}

void main();
