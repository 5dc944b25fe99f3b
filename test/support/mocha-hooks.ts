/** Root hooks of every run: the version of Express, the database, and checks that a test leaves nothing behind and no error answer leaks [G1]. */
import './express-version.js';
import 'reflect-metadata';
import { constants } from 'node:os';
import { untilConnectionsRest, untilServerRests, watchAllPools } from './connections-at-rest.js';
import { forgetFindings, keepSecret, recordChildren, recordFindings, throwFindings } from './findings.js';
import { openHandles, untilHandlesRest } from './handles-at-rest.js';
import { startPooler, stopPooler } from './pooler.js';
import { administer, startPostgres } from './postgres.js';

recordFindings();
watchAllPools();
// The coverage of this process has begun already. Each process that it starts would take half as long again for its own.
delete process.env['NODE_V8_COVERAGE'];

// An exit runs the listeners that clean up, and death by a signal does not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

/** Mocha's root hooks. */
export const mochaHooks = {
  async beforeAll(this: Mocha.Context): Promise<void> {
    await recordChildren();
    const { url } = await startPostgres();
    await startPooler(url);
    keepSecret(decodeURIComponent(new URL(url).password));
    // Before the handles are counted.
    await administer();
    leaveNothing(this.test?.parent?.suites ?? []);
  },

  beforeEach(this: Mocha.Context): void {
    if (this.currentTest) judge(this.currentTest);
  },

  async afterAll(): Promise<void> {
    await stopPooler();
    const server = await startPostgres();
    await server.stop();
    await throwFindings();
  },
};

/** Makes findings a failure of their test. A root hook that fails would end the whole run. */
function judge(test: Mocha.Test): void {
  const { fn } = test;
  if (!fn) return;
  test.fn = async function (this: Mocha.Context) {
    try {
      await Reflect.apply(fn, this, []);
    } catch (error) {
      forgetFindings();
      throw error;
    }
    await throwFindings();
  };
}

/** Makes leftovers of a file, when its own hooks have run, a failure of this file and of no later one. */
function leaveNothing(files: readonly Mocha.Suite[]): void {
  let before = openHandles();
  for (const file of files) {
    // The hooks of the file itself come first: they were registered before, or belong to suites inside.
    file.afterEach('gives connections back', untilConnectionsRest);
    file.afterAll('leaves nothing behind', async () => {
      await throwFindings();
      await untilServerRests();
      await untilHandlesRest(before).finally(() => {
        before = openHandles();
      });
    });
  }
}
