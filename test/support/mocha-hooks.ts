/** What surrounds every run of the tests: the version of Express, the database, no connection left in use, and an
 * end that leaves nothing behind. */
import './express-version.js';
import 'reflect-metadata';
import { constants } from 'node:os';
import { untilConnectionsRest } from './connections-at-rest.js';
import { throwLeak } from './leak-watch.js';
import { startPostgres } from './postgres.js';

const rejections: unknown[] = [];

// Mocha drops a rejection that nobody handled, and does not stand it to be thrown while a test is running.
process.on('unhandledRejection', (reason) => rejections.push(reason));

// An exit runs the listeners that clean up, and death by a signal does not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

/** Mocha's root hooks. */
export const mochaHooks = {
  async beforeAll(): Promise<void> {
    await startPostgres();
  },

  async afterEach(): Promise<void> {
    throwRejection();
    throwLeak();
    await untilConnectionsRest();
  },

  async afterAll(): Promise<void> {
    const server = await startPostgres();
    await server.stop();
    throwRejection();
  },
};

function throwRejection(): void {
  if (rejections.length === 0) return;
  const [cause] = rejections.splice(0);
  throw new Error('A rejected promise was not handled', { cause });
}
