/** Pages of the largest rows, for more clients than the memory of a process has room for: it lives, and answers are whole or errors. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite } from '../support/for-suite.js';
import { connectTo, freshDatabase } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import { FixtureProcess } from './fixture-process.js';

/** Megabytes. */
const HEAP = 256;
const PROGRAM = [`--max-old-space-size=${HEAP}`, join(__dirname, 'large-rows-fixture.js')];
/** Their pages have four times the size of the heap, or more than once in short: three clients for each path. */
const CLIENTS = wholeOr(21, 64);
const SIZE = 100;
/** Bytes of a text of which a page is as large as a result may be, and of one of which it is larger. */
const LARGEST = 160_000;
const TOO_LARGE = 180_000;

/** Paths on which our SQL, a class, a hook and Sequelize write the pages. */
const PATHS = '/page? /cursor? /schema? /getter? /hook? /general? /linked?include=parent&'
  .split(' ')
  .map((path) => `${path}size=${SIZE}`);

const ALLOWED = 'The option pageSize.max limits the records of a page.';

describe('pages of the largest rows in a process with little memory', function () {
  // Some gigabytes go through it, on any machine.
  this.timeout(600_000);
  const database = forSuite(() => freshDatabase());
  const fixture = forSuite(() => FixtureProcess.start({}, { DATABASE_URL: database.url }, PROGRAM));

  /** Rows with the same JSON text, more than a page has. Each is its own parent. */
  async function fill(value: string): Promise<void> {
    await using client = await connectTo(database.url);
    await client.query('ALTER TABLE rows ADD COLUMN IF NOT EXISTS "parentId" integer');
    await client.query('TRUNCATE rows RESTART IDENTITY');
    await client.query(
      'INSERT INTO rows (value, "parentId") SELECT $1::jsonb, place FROM generate_series(1, $2) AS place',
      [value, SIZE + 1],
    );
  }

  /** Status and digest of an answer, which is too long to be kept beside others, and the detail of a problem. */
  async function digestOf(path: string) {
    const response = await fixture.open(path);
    const hash = createHash('sha1');
    let last = '';
    for await (const chunk of response) {
      hash.update(chunk);
      last = String(chunk);
    }
    const status = response.statusCode;
    return { status, digest: hash.digest('hex'), detail: status === 200 ? '' : JSON.parse(last).detail };
  }

  it(`are whole, or errors, for ${CLIENTS} clients at once, whatever writes them`, async () => {
    await fill(`"${'x'.repeat(LARGEST)}"`);
    const wholes = new Map<string, string>();
    for (const path of PATHS) {
      const { status, body } = await fixture.get(path);
      expect(status, path).to.equal(200);
      expect(JSON.parse(body).items.length, path).to.equal(SIZE);
      wholes.set(path, createHash('sha1').update(body).digest('hex'));
    }
    for (let round = 0; round < wholeOr(1, 3); round += 1) {
      const paths = Array.from({ length: CLIENTS }, (_, client) => PATHS[client % PATHS.length] as string);
      const answers = await Promise.all(paths.map(digestOf));
      for (const [client, { status, digest, detail }] of answers.entries()) {
        const path = paths[client] as string;
        if (status === 200) expect(digest, path).to.equal(wholes.get(path));
        else expect([status, typeof detail], path).to.deep.equal([503, 'string']);
      }
      expect(answers.some(({ status }) => status === 200)).to.equal(true);
    }
    const again = PATHS.slice(0, wholeOr(1, PATHS.length));
    for (const path of again) expect((await digestOf(path)).digest, path).to.equal(wholes.get(path));
  });

  it('are refused beyond the limit of one result, and the next request is answered', async () => {
    await fill(`"${'x'.repeat(TOO_LARGE)}"`);
    // In short each second one.
    for (const path of PATHS.filter((_, at) => at % wholeOr(2, 1) === 0)) {
      const { status, body } = await fixture.get(path);
      expect(status, path).to.equal(400);
      expect(JSON.parse(body).detail).to.include(ALLOWED).and.to.include('fields');
      expect((await fixture.get(path.replace(/size=\d+/, 'size=2'))).status, path).to.equal(200);
    }
  });

  it('are refused where their values do not fit into the memory, which Sequelize holds all at once', async () => {
    const value = `[${Array(30_000).fill('{}').join()}]`;
    await fill(value);
    for (const path of ['/page', '/schema']) {
      expect((await fixture.get(`${path}?size=${SIZE}`)).status, path).to.equal(200);
    }
    for (const path of ['/hook', '/general']) {
      const { status, body } = await fixture.get(`${path}?size=${SIZE}`);
      expect(status, path).to.equal(400);
      expect(JSON.parse(body).detail).to.include(ALLOWED);
      expect((await fixture.get(`${path}?size=2`)).status).to.equal(200);
    }
  });
});
