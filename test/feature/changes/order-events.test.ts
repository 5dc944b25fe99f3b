// @runs fast
/** Order without gaps: eight writers with random pauses and rollbacks, transactions that stay open, and four applications that make ticks. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Client } from 'pg';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp, type TestApp } from '../../support/test-app.js';

const ROWS = 12;
const WRITERS = 8;
const MILLISECONDS = wholeOr(2_500, 15_000);
/** A database behind a pooler has the timeouts of its engines. */
const UNLIMITED = 'SET LOCAL idle_in_transaction_session_timeout = 0';

/** Applications of one table, each with an engine of its own. */
function counter(): ModelClass {
  @Crud({ changes: true, prefix: '/counters', etag: 'version' })
  @Table({ tableName: 'counters', timestamps: false, version: true })
  class Counter extends NumberedRow {
    @Column(DataType.INTEGER) declare value: number;
  }
  return Counter;
}

except(OF_FEEDS).describe('the order of changes', () => {
  const database = forSuite(() => freshDatabase());
  const elsewhere = forSuite(() => freshDatabase());
  const serve = () =>
    serveTestApp(() => ({
      models: [counter()],
      database: { url: database.url },
      bootstrap: { changes: { tick: 50 } },
    }));
  const sites: readonly TestApp[] = [serve(), serve(), serve(), serve()];
  const clients = forSuite(async () => {
    const own: Client[] = [];
    return {
      async connect(url = database.url): Promise<Client> {
        const client = await connectTo(url);
        own.push(client);
        return client;
      },
      async [Symbol.asyncDispose]() {
        for (const client of own) await client.end();
      },
    };
  });

  const increment = 'UPDATE counters SET version = version + 1, value = $2 WHERE id = $1';
  const random = (below: number) => Math.floor(Math.random() * below);

  /** Writes until a moment: one row, or two in one transaction, which may be rolled back. @returns committed writes */
  const write = async (client: Client, until: number): Promise<number> => {
    let committed = 0;
    while (performance.now() < until) {
      if (random(3) === 0) {
        await client.query(increment, [1 + random(ROWS), random(100_000)]);
        committed += 1;
        continue;
      }
      await client.query('BEGIN');
      // In one order, so that nobody waits for ever.
      const ids = [...new Set([1 + random(ROWS), 1 + random(ROWS)])].sort((one, two) => one - two);
      for (const id of ids) {
        await client.query(increment, [id, random(100_000)]);
        if (random(2) === 0) await delay(random(30));
      }
      const isKept = random(4) > 0;
      await client.query(isKept ? 'COMMIT' : 'ROLLBACK');
      if (isKept) committed += ids.length;
    }
    return committed;
  };

  it('is that of each row, and has each event once', async () => {
    const admin = await clients.connect();
    await admin.query(`INSERT INTO counters (version, value) SELECT 0, 0 FROM generate_series(1, ${ROWS})`);
    // Transactions that stay open: in this database with an event, in another one, and a prepared one.
    const open = await clients.connect();
    await open.query(`BEGIN; ${UNLIMITED}`);
    await open.query('INSERT INTO counters (id, version, value) VALUES (100, 0, 0)');
    const stranger = await clients.connect(elsewhere.url);
    await stranger.query(`BEGIN; ${UNLIMITED}; SELECT pg_current_xact_id()`);
    const { rows: limits } = await admin.query('SHOW max_prepared_transactions');
    const canPrepare = Number(limits[0].max_prepared_transactions) > 0;
    if (canPrepare) {
      await admin.query(
        "BEGIN; INSERT INTO counters (id, version, value) VALUES (101, 0, 0); PREPARE TRANSACTION 'late'",
      );
    }
    const urls = sites.map(({ server }) => `${server.url}/counters/changes`);
    const streams = await Promise.all(
      urls.map(async (url) => new OpenStream(await requestStream(url)).until(({ ids }) => ids.length > 0)),
    );
    const begin = streams[0]?.ids[0] ?? '';
    const until = performance.now() + MILLISECONDS;
    const writers = await Promise.all(Array.from({ length: WRITERS }, () => clients.connect()));
    const written = (await Promise.all(writers.map((client) => write(client, until)))).reduce(
      (sum, each) => sum + each,
    );
    // The open transaction delays no stream.
    await Promise.all(streams.map((each) => each.until(({ events }) => events.length >= written)));
    await open.query('COMMIT');
    if (canPrepare) await admin.query("COMMIT PREPARED 'late'");
    await stranger.query('ROLLBACK');
    const total = written + 1 + Number(canPrepare);
    await Promise.all(streams.map((each) => each.until(({ events }) => events.length >= total)));
    await delay(300);
    const pages: unknown[] = [];
    for (let place = begin, isMore = true; isMore; ) {
      const response = await fetch(`${urls[1]}?after=${place}&size=37`);
      const body = (await response.json()) as { items: unknown[]; next_cursor: string; has_next: boolean };
      pages.push(...body.items);
      place = body.next_cursor;
      isMore = body.has_next;
    }
    const all = [...streams.map(({ events }) => events), pages] as unknown as {
      id: string;
      version: number;
      op: string;
    }[][];
    const { rows } = await admin.query('SELECT id::text, version FROM counters');
    for (const events of all) {
      expect(events).to.have.length(total);
      const versions = new Map<string, number>();
      for (const { id, version, op } of events) {
        if (op === 'update')
          expect(version, `${id} behind ${versions.get(id)}`).to.equal((versions.get(id) ?? 0) + 1);
        versions.set(id, version);
      }
      for (const { id, version } of rows) expect(versions.get(id) ?? 0).to.equal(version);
    }
    const { rows: ticks } = await admin.query('SELECT count(*)::int AS n FROM crud_ticks');
    expect(ticks[0].n).to.be.at.least(10);
  }).timeout(60_000 + MILLISECONDS);
});
