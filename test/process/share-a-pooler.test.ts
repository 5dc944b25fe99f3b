/** Two processes with different tables over one PgBouncer in transaction mode, whose few connections all of them share. */
import { expect } from 'chai';
import { Client } from 'pg';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { FixtureProcess } from './fixture-process.js';

const ROWS = 20;
const TABLES = [
  ['cats', 'cows', 'crabs'],
  ['dogs', 'ducks', 'doves'],
] as const;
const IGNORED = 'lock_timeout, statement_timeout, idle_in_transaction_session_timeout, options';

describe('two processes over a pooler', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  let control: Client;

  before(async function () {
    // PgBouncer may have to be installed.
    this.timeout(120_000);
    database = await freshDatabase('pooled');
    pooler = await startPgBouncer(database.url, {
      default_pool_size: 3,
      ignore_startup_parameters: IGNORED,
    });
    control = new Client({ connectionString: database.url });
    await control.connect();
    for (const table of TABLES.flat()) {
      await control.query(`CREATE TABLE ${table} (id serial PRIMARY KEY, text text NOT NULL)`);
      await control.query(`INSERT INTO ${table} (text) SELECT '${table} ' || generate_series(1, ${ROWS})`);
    }
  });

  after(async () => {
    await control.end();
    await pooler[Symbol.asyncDispose]();
    await database.drop();
  });

  it('read and write their own rows, and no others', async () => {
    const [one, other] = await Promise.all(
      TABLES.map((tables) => FixtureProcess.start({ databaseUrl: pooler.url, tables })),
    );
    await using first = one as FixtureProcess;
    await using second = other as FixtureProcess;
    const wrong: unknown[] = [];
    await Promise.all([useTables(first, TABLES[0], wrong), useTables(second, TABLES[1], wrong)]);
    expect(wrong, JSON.stringify(wrong.slice(0, 3))).to.deep.equal([]);
    for (const table of TABLES.flat()) {
      const { rows } = await control.query(`SELECT id, text FROM ${table} ORDER BY id`);
      const changed = Array.from({ length: ROWS }, (_, index) => ({
        id: index + 1,
        text: `${table} changed ${index + 1}`,
      }));
      expect(rows.slice(0, ROWS)).to.deep.equal(changed);
      expect(rows.slice(ROWS).map(({ text }) => text)).to.deep.equal(Array(ROWS).fill(`${table} new`));
    }
  });
});

/** Reads, changes and creates many rows at the same time; notes every answer that is not the right one. */
async function useTables(
  { port }: FixtureProcess,
  tables: readonly string[],
  wrong: unknown[],
): Promise<void> {
  const ask = async (method: string, path: string, text: string | null, expected: readonly string[]) => {
    const response = await fetch(`http://127.0.0.1:${port}/${path}`, {
      method,
      ...(text === null
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ text }) }),
    });
    const body = (await response.json()) as { text?: string; items?: { text: string }[] };
    const texts = body.items?.map((item) => item.text) ?? [body.text];
    if (!response.ok || !texts.every((each) => expected.includes(each?.replace(/\d+$/, 'N') ?? '')))
      wrong.push({ method, path, status: response.status, body });
  };
  for (let round = 0; round < 3; round += 1) {
    const work = Array.from({ length: ROWS }, (_, index) => index + 1).flatMap((id) =>
      tables.flatMap((table) => {
        const known = [`${table} N`, `${table} changed N`, `${table} new`];
        const read = () => ask('GET', `${table}/${id}`, null, known);
        if (round === 0) return [read(), ask('GET', `${table}?size=${id}`, null, known)];
        if (round === 1) return [read(), ask('PATCH', `${table}/${id}`, `${table} changed ${id}`, known)];
        return [read(), ask('POST', table, `${table} new`, known)];
      }),
    );
    await Promise.all(work);
  }
}
