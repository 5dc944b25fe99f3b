/** Exports of more rows than a process has memory for, and its end in the middle of one. */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { caughtError } from '../support/caught-error.js';
import { forSuite } from '../support/for-suite.js';
import { execute, freshDatabase } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import { FixtureProcess } from './fixture-process.js';

const ROWS = wholeOr(150_000, 1_000_000);
/** Bytes that an export may need, however many its rows are. */
const MOST = 30 * 1024 * 1024;
/** Milliseconds within which a process ends that cuts what it has under way. */
const SOON = 8_000;
const PROGRAM = ['--expose-gc', join(__dirname, 'export-fixture.js')];

describe('an export of many rows', () => {
  const database = forSuite(() => freshDatabase());
  const start = () => FixtureProcess.start({}, { DATABASE_URL: database.url }, PROGRAM);
  const fixture = forSuite(start);

  before(() =>
    execute(
      database.url,
      `INSERT INTO rows (name, amount, at)
       SELECT 'name, of ' || n, n * 1.5, '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second' FROM generate_series(1, ${ROWS}) AS n`,
    ),
  );

  for (const format of ['csv', 'ndjson'])
    it(`needs no more memory for them as ${format}`, async function () {
      this.timeout(120_000);
      const memory = async () => Number((await fixture.get('/memory')).body);
      const before = await memory();
      let lines = 0;
      let most = 0;
      for await (const _ of createInterface({ input: await fixture.open(`/rows?format=${format}`) })) {
        lines += 1;
        // The client reads no further meanwhile.
        if (lines % (ROWS / 5) === 0) most = Math.max(most, (await memory()) - before);
      }
      expect(lines).to.equal(format === 'csv' ? ROWS + 1 : ROWS);
      expect(most).to.be.below(MOST);
    });

  it('is cut when the process is told to stop, which ends at once', async () => {
    await using other = await start();
    const response = await other.open('/rows?format=csv');
    const { code, took } = await other.stop();
    expect({ code, isSoon: took < SOON }).to.deep.equal({ code: 0, isSoon: true });
    const error = await caughtError(async () => {
      for await (const _ of response);
    });
    expect(error).to.include({ code: 'ECONNRESET' });
    expect(other.output).to.include('The server is about to stop.');
  });
});
