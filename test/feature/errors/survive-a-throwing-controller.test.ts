/** A whole process whose controllers throw null, texts and errors, before, while and after they answer. */
// @runs fast
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';
import { THROWING_PATHS, WRITES } from '../../support/throwing-controllers.js';

describe('surviving a throwing controller', () => {
  after(async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await ended;
  });

  const database = forSuite(() => freshDatabase());
  let child: ChildProcess;
  let url: string;
  let log = '';

  before(async () => {
    const support = join(__dirname, '../../support');
    child = fork(join(support, 'throwing-server.js'), {
      execArgv: ['--require', join(support, 'express-version.js')],
      env: { ...process.env, DATABASE_URL: database.url },
      silent: true,
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    const exit = once(child, 'exit').then(() => {
      throw new Error(`The process has ended: ${log}`);
    });
    const [port] = (await Promise.race([once(child, 'message'), exit])) as [number];
    exit.catch(() => {});
    url = `http://127.0.0.1:${port}`;
  });

  for (const [what, letter] of [
    ['null', 'n'],
    ['undefined', 'u'],
    ['a text', 't'],
    ['an error', 'e'],
  ] as const) {
    it(`[G9] answers after ${what} was thrown everywhere`, async () => {
      const writes = Object.values(WRITES).map((id) => `/bombs/${id}`);
      for (const path of [...THROWING_PATHS, ...writes]) {
        await fetch(`${url}${path}`, { headers: { throw: letter } })
          .then((response) => response.text())
          .catch(() => 'cut off');
      }
      const response = await fetch(`${url}/bombs?page=2`);
      expect(response.status).to.equal(200);
      expect(child.exitCode).to.equal(null);
    });
  }

  it('has logged each failure as a line of JSON, without its frames in any answer', async () => {
    const response = await fetch(`${url}/bunkers`, { headers: { throw: 'e' } });
    expect(await response.text()).to.equal('{"detail":"Internal Server Error"}');
    const count = 4 * (THROWING_PATHS.length + Object.keys(WRITES).length) + 1;
    const stderr = child.stderr ?? expect.fail('no standard error');
    // Equal failures within a second are one line with their number.
    const logged = () =>
      log
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    const failed = () => logged().reduce((sum, line) => sum + (line.count ?? 1), 0);
    while (failed() < count) await once(stderr, 'data');
    expect(failed()).to.equal(count);
    for (const line of logged()) expect(line).to.include({ level: 'error', status: 500 });
  });
});
