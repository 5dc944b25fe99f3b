// @runs once
/** Feeds while the server crashes, readers are cut off, and a standby answers reads: each acknowledged write has its event once, in order. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';
import { CapturedLog } from '../support/captured-log.js';
import { forSuite } from '../support/for-suite.js';
import { OpenStream, requestStream } from '../support/open-stream.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { connectTo } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import { serveTestApp } from '../support/test-app.js';

const CRASHES = wholeOr(1, 3);

@Crud({ changes: true })
@Table({ tableName: 'drops', timestamps: false })
class Drop extends NumberedRow {
  @Column(DataType.INTEGER) declare size: number;
}

@Crud({ changes: true })
@Table({ tableName: 'leaks', timestamps: false })
class Leak extends NumberedRow {
  @Column(DataType.INTEGER) declare size: number;
}

/** Reads with a stream that is cut off again and again, each time behind the last event that it has got. */
class Follower {
  readonly ids: string[] = [];
  #last = '';
  #isDone = false;
  readonly #ended: Promise<void>;

  constructor(url: string, place: string) {
    this.#last = place;
    this.#ended = this.#run(url);
  }

  async stop(): Promise<void> {
    this.#isDone = true;
    await this.#ended;
  }

  async #run(url: string): Promise<void> {
    while (!this.#isDone) {
      try {
        const response = await requestStream(url, { 'Last-Event-ID': this.#last });
        const stream = new OpenStream(response);
        const until = performance.now() + 50 + Math.random() * 500;
        await stream.until(({ isEnded }) => isEnded || this.#isDone || performance.now() > until);
        response.destroy();
        if (response.statusCode !== 200) continue;
        // Events that arrived whole: an id without its end is not kept.
        for (const event of stream.events) this.ids.push(String(event.id));
        this.#last = stream.ids.at(-1) ?? this.#last;
      } catch {
        await delay(20);
      }
    }
  }
}

describe('a feed while PostgreSQL crashes', () => {
  const postgres = forSuite(() =>
    OwnPostgres.create('feed', { max_prepared_transactions: '5', synchronous_commit: 'on' }),
  );
  const log = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Drop],
    database: { url: postgres.url('postgres') },
    bootstrap: { changes: { tick: 50 }, logger: log },
  }));

  it('has each acknowledged write, and no other', async () => {
    const { body } = await site.agent.get('/drops/changes').expect(200);
    const follower = new Follower(`${site.server.url}/drops/changes`, body.next_cursor);
    const acknowledged: string[] = [];
    let isWriting = true;
    const write = async (): Promise<void> => {
      while (isWriting) {
        const response = await site.agent.post('/drops').send({ size: 1 });
        if (response.status === 201) acknowledged.push(String(response.body.id));
        else await delay(20);
      }
    };
    const writers = [write(), write(), write()];
    for (let crash = 0; crash < CRASHES; crash += 1) {
      await delay(600 + Math.random() * 400);
      await postgres.crash();
      await delay(100);
      await postgres.start();
    }
    // A prepared transaction is in nobody's way, and comes when it commits.
    const client = await connectTo(postgres.url('postgres'));
    await client.query("BEGIN; INSERT INTO drops (id, size) VALUES (1000000, 1); PREPARE TRANSACTION 'late'");
    await delay(600);
    isWriting = false;
    await Promise.all(writers);
    const { rows } = await client.query('SELECT id::text FROM drops ORDER BY id');
    const stored = rows.map(({ id }) => id as string);
    const end = performance.now() + 10_000;
    const missing = () => stored.filter((id) => !follower.ids.includes(id));
    while (missing().length > 0 && performance.now() < end) await delay(50);
    expect(missing()).to.deep.equal([]);
    expect(follower.ids).to.not.include('1000000');
    await client.query("COMMIT PREPARED 'late'");
    while (!follower.ids.includes('1000000') && performance.now() < end) await delay(50);
    await client.end();
    await follower.stop();
    expect(acknowledged.filter((id) => !follower.ids.includes(id))).to.deep.equal([]);
    expect(new Set(follower.ids)).to.deep.equal(new Set([...stored, '1000000']));
    expect(acknowledged.length).to.be.above(0);
  }).timeout(90_000);
});

describe('a feed whose reads a standby answers', () => {
  const primary = forSuite(() => OwnPostgres.create('feed-primary', { wal_level: 'replica' }));
  const standby = forSuite(() =>
    primary.createStandby('feed-standby', { recovery_min_apply_delay: '700ms' }),
  );
  const site = serveTestApp(() => ({
    models: [Leak],
    database: { url: primary.url('postgres') },
    engine: { replicas: [standby.url('postgres')] },
    bootstrap: { changes: { tick: 50 } },
  }));

  it('misses nothing that the standby has not replayed', async () => {
    const { body } = await site.agent.get('/leaks/changes').expect(200);
    const stream = new OpenStream(await requestStream(`${site.server.url}/leaks/changes`));
    await stream.until(({ ids }) => ids.length > 0);
    for (let turn = 0; turn < 20; turn += 1) {
      await site.agent.post('/leaks').send({ size: turn }).expect(201);
      await delay(30);
    }
    await stream.until(({ events }) => events.length === 20);
    await delay(100);
    const page = await site.agent.get(`/leaks/changes?after=${body.next_cursor}`).expect(200);
    const wanted = Array.from({ length: 20 }, (_, index) => String(index + 1));
    expect(stream.events.map(({ id }) => id)).to.deep.equal(wanted);
    expect(page.body.items.map(({ id }: { id: string }) => id)).to.deep.equal(wanted);
    stream.response.destroy();
  }).timeout(60_000);
});
