/** The judges of the soak find each kind of broken promise. */
import { expect } from 'chai';
import { forSuite } from '../support/for-suite.js';
import { connectTo, freshDatabase } from '../support/postgres.js';
import { Ledger } from './ledger.js';
import { logProblems } from './log-check.js';
import { memoryProblems } from './memory.js';
import { MARK, TABLES } from './models.js';
import type { Answer } from './send.js';
import { RECOVERY, Witness } from './witness.js';

const UNAVAILABLE = {
  status: 503,
  headers: { 'retry-after': '1' },
  body: '{"detail":"The database is not available; try again."}',
};
const LATE = { status: 504, headers: {}, body: '{"detail":"The database did not answer in time."}' };

describe('the witness of the soak', () => {
  let witness: Witness;

  beforeEach(() => {
    witness = new Witness();
  });

  const judge = (answer: Answer | Error, began = performance.now()) =>
    witness.judge({ name: 'GET /notes', needs: ['postgres'], statuses: [200], isHead: false, began, answer });

  it('excuses 503 and 504 while a fault takes away what the request needs, and shortly after', () => {
    const fault = witness.beginFault('cut', 'postgres');
    judge(UNAVAILABLE);
    judge(LATE);
    witness.endFault(fault);
    judge(UNAVAILABLE, fault.ended + 100);
    expect(witness.problems).to.deep.equal([]);
    expect(fault.failures).to.equal(3);
    expect(fault.recovery).to.be.closeTo(100, 1);
  });

  it('excuses nothing else', () => {
    judge(UNAVAILABLE);
    const other = witness.beginFault('stop Redis', 'redis');
    judge(UNAVAILABLE);
    witness.endFault(other);
    const fault = witness.beginFault('cut', 'postgres');
    for (const answer of [
      { ...UNAVAILABLE, status: 500 },
      { ...UNAVAILABLE, headers: {} },
      { ...UNAVAILABLE, body: '{"detail":"SELECT"}' },
      { ...UNAVAILABLE, status: 404 },
      new Error('socket hang up'),
    ]) {
      judge(answer);
    }
    witness.endFault(fault);
    judge(UNAVAILABLE, fault.ended + RECOVERY + 1);
    expect(witness.problems).to.have.length(8);
  });

  it('is calm when enough requests in a row have succeeded', () => {
    const found = { status: 200, headers: {}, body: '{}' };
    witness.endFault(witness.beginFault('cut', 'postgres'));
    for (const answer of [found, UNAVAILABLE, found]) judge(answer);
    expect([witness.isCalm(1), witness.isCalm(2)]).to.deep.equal([true, false]);
  });
});

describe('the ledger of the soak', () => {
  const database = forSuite(() => freshDatabase('ledger'));
  const client = forSuite(() => connectTo(database.url));

  before(async () => {
    for (const table of TABLES) {
      await client.query(`CREATE TABLE ${table} (id int, text text, version int)`);
    }
    await client.query(
      "INSERT INTO notes VALUES (1, 'last', 2), (21, 'once', 0), (22, 'twice', 0), (23, 'twice', 0)",
    );
  });

  /** Problems that a ledger of the right promises finds after a change of it. */
  async function problemsOf(change: (ledger: Ledger) => void): Promise<string[]> {
    const ledger = new Ledger();
    ledger.expect('notes', 'once', 1);
    ledger.expect('notes', 'twice', 2);
    for (const [version, text] of ['first', 'last'].entries()) {
      ledger.beginChange('notes', 1);
      ledger.acknowledgeChange('notes', 1, version + 1, text);
    }
    change(ledger);
    await ledger.compare(client);
    return ledger.problems;
  }

  it('finds nothing where all promises were kept, and outcomes not known are either', async () => {
    expect(await problemsOf(() => {})).to.deep.equal([]);
    expect(
      await problemsOf((ledger) => {
        ledger.expect('notes', 'once', 0, 1);
        ledger.expect('notes', 'unknown', 0, 3);
        ledger.beginChange('notes', 1);
      }),
    ).to.deep.equal([]);
  });

  /** A change of an account that leads to a version. */
  const change = (ledger: Ledger, version: number, text: string) => {
    ledger.beginChange('notes', 1);
    ledger.acknowledgeChange('notes', 1, version, text);
  };
  const BROKEN: Readonly<Record<string, (ledger: Ledger) => void>> = {
    'notes: 0 rows of lost, and should be 1': (ledger) => ledger.expect('notes', 'lost', 1),
    'notes: 2 rows of twice, and should be 0 or 1': (ledger) => ledger.expect('notes', 'twice', 0, 1),
    'notes: 1 rows of once, and should be 0 or 3': (ledger) => ledger.expect('notes', 'once', 0, 3),
    'notes: 1 rows of once, and should be 0': (ledger) => ledger.expect('notes', 'once', 0),
    'notes/1: changed 2 times, and should have been 3': (ledger) => change(ledger, 3, 'lost'),
    'notes/1: version 2 is both of last and of other': (ledger) => change(ledger, 2, 'other'),
  };
  for (const [problem, breakPromise] of Object.entries(BROKEN)) {
    it(`finds: ${problem}`, async () => expect(await problemsOf(breakPromise)).to.include(problem));
  }

  it('finds a row that no request has written', async () => {
    await client.query("INSERT INTO orders VALUES (30, 'half', 0)");
    expect(await problemsOf(() => {})).to.deep.equal(['orders: rows of half, which was never sent']);
    await client.query('TRUNCATE orders');
  });
});

describe('the check of the log of the soak', () => {
  const line = (details: object) => JSON.stringify({ level: 'error', ...details });
  const outage = line({ status: 503, error: 'ConnectionError' });
  const problemsAt = (...times: readonly number[]) => logProblems(times.map((at) => ({ text: outage, at })));

  it('[F17] lets an outage be told once, and then once a second', () =>
    expect(problemsAt(0, 1_000, 1_990, 3_000, 4_010)).to.deep.equal([]));

  it('lets work that is repeated warn of an outage, and of nothing else', () => {
    const warning = (message: string) => [{ text: line({ level: 'warn', message }), at: 0 }];
    const beginning =
      'The tables could not all be read again, and requests go on with what is known of them: ';
    expect(logProblems(warning(`${beginning}read ECONNRESET`))).to.deep.equal([]);
    expect(logProblems(warning('A write found the tables changed: read ECONNRESET'))).to.have.length(1);
    expect(logProblems(warning(`${beginning}${MARK}1-1`))).to.have.length(1);
  });

  it('finds a flood, an error, a value, and what is no line of the log', () => {
    expect(problemsAt(0, 300, 600)).to.have.length(1);
    for (const text of [
      line({ status: 500 }),
      line({ status: 503, error: `${MARK}1-1` }),
      'Error',
      '(node:1) Warning',
    ]) {
      expect(logProblems([{ text, at: 0 }]), text).to.have.length(1);
    }
  });
});

describe('the check of the memory of the soak', () => {
  const grow = (bytes: number) =>
    memoryProblems(
      Array.from({ length: 30 }, (_, at) => ({ at, heap: 40e6 + at * bytes, external: 4e6, rss: 140e6 })),
    );

  it('[I2] finds a growth that goes on, and no other', () => {
    expect(grow(1e3)).to.deep.equal([]);
    expect(grow(1e6)).to.have.length(1);
  });
});
