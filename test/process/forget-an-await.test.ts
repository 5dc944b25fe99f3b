/** Overrides that await nothing: their requests end as if they had, or with an error, and no rejection ends the process. */
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
      const rejected = 'A promise that nothing awaited was rejected';
      const held =
        'Apples.create returned while update of Apple was under way, and is held until that has ended; put await before the call.';
      expect(
        output
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown),
      ).to.deep.equal([
        { path: '/apples', status: 404, lines: [held, `${rejected}: NotFoundError`] },
        { path: '/apples/late', status: 200, lines: [`${rejected}: Error: over`] },
        [],
      ]);
    });
  }
});
