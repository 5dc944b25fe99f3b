/** Pages that are larger than the memory of a process: each is answered, or refused by a problem, and the process lives. */
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from 'pg';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import { FixtureProcess } from './fixture-process.js';

/** Megabytes: a third of them is the program itself. */
const HEAP = Number(process.env['CRUD_TEST_HEAP'] ?? 128);
const PROGRAM = [`--max-old-space-size=${HEAP}`, join(__dirname, 'large-rows-fixture.js')];
const ROWS = 100;
/** Bytes of a text of which a page has a twelfth of the memory, and of one of which it has nearly all. */
const LONG = 800 * HEAP;
const TOO_LONG = 10_000 * HEAP;
const AT_ONCE = wholeOr(3, 6);
/** Bytes of a text of which a page is large, and takes a small part of the memory that is left when most of it is taken. */
const LARGE = 5_000;

/** What writes them: our SQL, a class, and Sequelize. */
const PATHS = ['/page', '/schema', '/hook', ...wholeOr([], ['/cursor', '/getter'])];

const END = `"total":${ROWS},"page":1,"size":${ROWS},"pages":1,"has_next":false,"has_prev":false}`;

describe('pages of large rows in a process with little memory', function () {
  // Some hundred megabytes go through it, on any machine.
  this.timeout(600_000);
  let database: TestDatabase;
  let fixture: FixtureProcess;
  before(async () => {
    database = await freshDatabase();
    fixture = await FixtureProcess.start({}, { DATABASE_URL: database.url }, PROGRAM);
  });
  after(async () => {
    await fixture[Symbol.asyncDispose]();
    await database.drop();
  });

  /** Rows with the same JSON text. */
  async function fill(value: string): Promise<void> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query('TRUNCATE rows RESTART IDENTITY');
    await client.query('INSERT INTO rows (value) SELECT $1::jsonb FROM generate_series(1, $2)', [
      value,
      ROWS,
    ]);
    await client.end();
  }

  /** The beginning of their page. */
  function itemsOf(value: string): string {
    const items = Array.from({ length: ROWS }, (_, index) => `{"id":${index + 1},"value":${value}}`);
    return `{"items":[${items}],`;
  }

  it('are answered whole, several at once, whatever writes them', async () => {
    // As a text of JavaScript it takes twice as many bytes, because of its first letter.
    const value = `"漢${'x'.repeat(LONG)}"`;
    await fill(value);
    const items = itemsOf(value);
    for (const path of PATHS) {
      const asked = Array.from({ length: path === '/page' ? AT_ONCE : 1 }, () =>
        fixture.get(`${path}?size=${ROWS}`),
      );
      for (const { status, body } of await Promise.all(asked)) {
        expect(status, `${path}: ${fixture.output}`).to.equal(200);
        expect(body.startsWith(items), path).to.equal(true);
        if (path === '/page') expect(body.slice(items.length)).to.equal(END);
      }
    }
  });

  it('are refused where their values do not fit into the memory, which Sequelize holds all at once', async () => {
    const value = `[${Array(200 * HEAP)
      .fill('{}')
      .join()}]`;
    await fill(value);
    const page = await fixture.get(`/page?size=${ROWS}`);
    expect(page.status).to.equal(200);
    expect(page.body.startsWith(itemsOf(value))).to.equal(true);
    const hooked = await fixture.get(`/hook?size=${ROWS}`);
    expect(hooked).to.deep.include({
      status: 503,
      body: '{"detail":"There is no memory for so many large records at once; ask for fewer, or try again."}',
    });
    expect((await fixture.get('/hook?size=2')).status).to.equal(200);
  });

  it('are answered beside a cache that fills most of the memory, whatever reads them', async () => {
    await fill(`"${'x'.repeat(LARGE)}"`);
    await using full = await FixtureProcess.start({}, { DATABASE_URL: database.url }, PROGRAM);
    expect((await full.get('/fill')).status).to.equal(200);
    for (const path of PATHS) expect((await full.get(`${path}?size=${ROWS}`)).status, path).to.equal(200);
  });

  it('are refused where their rows do not fit beside the memory, either', async () => {
    await fill(`"${'x'.repeat(TOO_LONG)}"`);
    const page = await fixture.get(`/page?size=${ROWS}`);
    expect(page).to.deep.include({
      status: 400,
      body: '{"detail":"The answer would be too large; ask for fewer records at once, or for fewer fields of them."}',
    });
    expect((await fixture.get('/page?size=2')).status).to.equal(200);
  });
});
