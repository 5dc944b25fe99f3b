/** Exports and imports of more rows than a process has memory for, its end in the middle of an export, and another process that goes on with an import. */
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { caughtError } from '../support/caught-error.js';
import { forSuite } from '../support/for-suite.js';
import { execute, freshDatabase } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import { FixtureProcess } from './fixture-process.js';

const ROWS = wholeOr(150_000, 1_000_000);
/** Rows of a file. Fewer are longer, so that the file is larger than the memory that it may need. */
const FILE = wholeOr(30_000, 1_000_000);
const LONGER = 'x'.repeat(wholeOr(1_500, 0));
/** Bytes that one of them may need, however many its rows are. */
const MOST = 30 * 1024 * 1024;
/** Milliseconds within which a process ends that cuts its work under way. */
const SOON = 8_000;
const LINES = 'application/x-ndjson';
const PROGRAM = ['--expose-gc', join(__dirname, 'many-rows-fixture.js')];

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

describe('an import of many rows', () => {
  const database = forSuite(() => freshDatabase());
  const start = () => FixtureProcess.start({}, { DATABASE_URL: database.url }, PROGRAM);
  const fixture = forSuite(start);

  /** Begins an import in parts. Each line of the answer is of a chunk. */
  const begin = ({ port }: FixtureProcess, key: string) => {
    const sent = request({
      port,
      method: 'POST',
      path: '/rows/import?atomic=false',
      headers: { 'Content-Type': 'text/csv', Accept: LINES, 'Idempotency-Key': key },
    });
    sent.on('error', () => {});
    sent.write('name,amount,at\n');
    return sent;
  };
  const rowsFrom = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, at) => `"name, of ${from + at}${LONGER}",1.5,2026-01-01T00:00:00Z\n`,
    ).join('');
  const stored = async () => {
    const [row] = await execute(
      database.url,
      'SELECT count(*) AS rows, count(DISTINCT name) AS names FROM rows',
    );
    return row;
  };

  it('needs no more memory for them', async function () {
    this.timeout(240_000);
    const memory = async () => Number((await fixture.get('/memory')).body);
    const before = await memory();
    const sent = begin(fixture, 'whole');
    const answered = once(sent, 'response');
    let most = 0;
    for (let from = 0; from < FILE; from += 1_000) {
      if (!sent.write(rowsFrom(from, from + 1_000))) await once(sent, 'drain');
      if (from % (FILE / 5) === 0) most = Math.max(most, (await memory()) - before);
    }
    sent.end();
    const [response] = await answered;
    const lines: string[] = [];
    for await (const line of createInterface({ input: response })) lines.push(line);
    expect(JSON.parse(lines.at(-1) as string)).to.include({ created: FILE, failed: 0, complete: true });
    expect(most).to.be.below(MOST);
    expect(await stored()).to.deep.equal({ rows: String(FILE), names: String(FILE) });
  });

  it('is refused by another process meanwhile, which goes on with it when the first one has ended', async () => {
    await execute(database.url, 'TRUNCATE rows');
    await using other = await start();
    const first = begin(fixture, 'shared');
    first.write(rowsFrom(0, 1_500));
    const [progress] = await once(first, 'response');
    await once(progress, 'data');
    const file = rowsFrom(0, 2_500);
    const send = async () => {
      const again = begin(other, 'shared');
      again.end(file);
      const [response] = await once(again, 'response');
      let text = '';
      for await (const piece of response) text += piece;
      return { status: response.statusCode, last: text.trim().split('\n').at(-1) as string };
    };
    expect((await send()).status).to.equal(409);
    first.destroy();
    let answer = await send();
    while (answer.status === 409) answer = await send();
    expect(JSON.parse(answer.last)).to.include({ rows: 2_500, created: 2_500, failed: 0, complete: true });
    expect(await stored()).to.deep.equal({ rows: '2500', names: '2500' });
  });
});
