/** Overrides that await nothing: their requests end as if they had, or are told of, and no promise ends the process. */
import { join } from 'node:path';
import { expect } from 'chai';
import { run } from '../package/run.js';
import { freshDatabase } from '../support/postgres.js';

describe('a process whose overrides await nothing', () => {
  for (const path of ['fast', 'general']) {
    it(`[U10] goes on, on the ${path} path`, async () => {
      await using database = await freshDatabase();
      const program = [join(__dirname, 'forgetful-fixture.js'), path];
      const { output } = await run(process.execPath, program, __dirname, { DATABASE_URL: database.url });
      const held = (method: string, call: string) =>
        `Apples.${method} returned while ${call} of Apple was under way, and is held until that has ended; put await before the call.`;
      const rejected = 'A promise that nothing awaited was rejected';
      expect(
        output
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
