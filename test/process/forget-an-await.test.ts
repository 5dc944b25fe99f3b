/** Overrides that await nothing: their requests end as if they had, or are told of, and no promise ends the process. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freshDatabase } from '../support/postgres.js';

const run = promisify(execFile);

describe('a process whose overrides await nothing', () => {
  for (const path of ['fast', 'general']) {
    it(`[U10] goes on, on the ${path} path`, async () => {
      const database = await freshDatabase();
      const env = { ...process.env, DATABASE_URL: database.url };
      const { stdout } = await run(process.execPath, [join(__dirname, 'forgetful-fixture.js'), path], {
        env,
      });
      await database.drop();
      const held = (method: string, call: string) =>
        `Apples.${method} returned while ${call} of Apple was under way, and is held until that has ended; put await before the call.`;
      const rejected = 'A promise that nothing awaited was rejected';
      expect(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown),
      ).to.deep.equal([
        {
          request: 'POST /apples',
          status: 404,
          lines: [held('create', 'update'), `${rejected}: NotFoundError`],
        },
        { request: 'GET /apples', status: 200, lines: [`${rejected}: SequelizeDatabaseError`] },
        {
          request: 'DELETE /apples/7777',
          status: 404,
          lines: [held('remove', 'delete'), `${rejected}: NotFoundError`],
        },
        { request: 'POST /apples/late', status: 200, lines: [`${rejected}: Error: over`] },
        [],
      ]);
    });
  }
});
