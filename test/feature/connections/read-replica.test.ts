/** Reads on a replica, writes on the primary: two real servers, one of which follows the other. */
// @runs fast
import { expect } from 'chai';
import { Get } from 'routing-controllers';
import { QueryTypes, type Transaction } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  dbSession,
  InjectSession,
  type ReadSession,
  unitOfWork,
} from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'posts', timestamps: false })
class Post extends TitledRow {}

@Crud()
@Table({ tableName: 'sheets', timestamps: false })
class Sheet extends TitledRow {}

@Crud({ pagination: 'cursor' })
@Table({ tableName: 'notices', timestamps: false })
class Notice extends TitledRow {}

@Crud({ prefix: '/deeds', endpoints: ['read', 'create', 'update', 'replace', 'restore'] } as never)
@Table({
  tableName: 'deeds',
  timestamps: true,
  paranoid: true,
  version: true,
  createdAt: false,
  updatedAt: false,
})
class Deed extends Model {
  @PrimaryKey @Column(DataType.STRING(10)) declare id: string;
  @Column({ type: DataType.STRING(40), allowNull: false }) declare title: string;
}

class PostController extends crudController(Post) {
  @Get('/server')
  async server(@InjectSession() session: ReadSession) {
    return { isReplica: await isReplica(session.transaction) };
  }

  override async create(values: CreateValues<Post>, context: CrudContext<Post>): Promise<Post> {
    const post = await super.create(values, context);
    await context.repository.get(post.id);
    return post;
  }
}

function expectUnavailable(answer: Response): void {
  expectProblem(answer, 503, { detail: 'The database is not available; try again.' });
  expect(answer.headers['retry-after']).to.equal('1');
}

async function isReplica(transaction?: Transaction): Promise<boolean | undefined> {
  const [row] =
    (await Post.sequelize?.query<{ answer: boolean }>('SELECT pg_is_in_recovery() AS answer', {
      type: QueryTypes.SELECT,
      ...(transaction ? { transaction } : {}),
    })) ?? [];
  return row?.answer;
}

describe('with a replica', () => {
  const logger = new CapturedLog();
  const primary = forSuite(() => OwnPostgres.create('primary'));
  const replica = forSuite(() => primary.createStandby('replica'));
  const site = serveTestApp(() => ({
    models: [Post, Notice, Deed],
    database: { url: primary.url('postgres') },
    engine: { replicas: [replica.url('postgres')], pool: { max: 5 } },
    bootstrap: { models: [Post, Notice, Deed], controllers: [PostController], logger },
  }));

  before(async () => {
    await Post.create({ title: 'first' });
    await Notice.create({ title: 'first' });
    await untilReplicaHas(1);
  });

  beforeEach(() => logger.clear());

  /** Until the replica has seen so many posts, and the notice. */
  async function untilReplicaHas(count: number): Promise<void> {
    const hasAll = async () => (await Post.count()) === count && (await Notice.count()) === 1;
    while (!(await hasAll().catch(() => false)));
  }

  /** Runs work while the replica is paused, so that it lacks all writes of that time. */
  async function whileReplicaWaits(work: () => Promise<void>): Promise<void> {
    const ask = (name: string) =>
      site.engine.sequelize.query(`SELECT pg_wal_replay_${name}()`, { type: QueryTypes.SELECT });
    await ask('pause');
    await work().finally(() => ask('resume'));
  }

  it('reads there in sessions and in GETs, and on the primary in units of work', async () => {
    expect(await isReplica()).to.equal(true);
    expect(await dbSession(({ transaction }) => isReplica(transaction))).to.equal(true);
    expect(await unitOfWork(() => isReplica())).to.equal(false);
    expectJson(await site.agent.get('/posts/server'), 200, { isReplica: true });
  });

  it('serves every generated read from it, and every write from the primary', async () => {
    await whileReplicaWaits(async () => {
      expectJson(await site.agent.post('/posts').send({ title: 'second' }), 201, { id: 2, title: 'second' });
      expectJson(await site.agent.patch('/posts/2').send({ title: 'changed' }), 200, {
        id: 2,
        title: 'changed',
      });
      expect((await site.agent.get('/posts')).body).to.include({ total: 1 });
      expect((await site.agent.get('/posts/2')).status).to.equal(404);
      const notice = await site.agent.post('/notices').send({ title: 'second' });
      expectJson(notice, 201, { id: 2, title: 'second' });
      expect((await site.agent.get('/notices')).body.items).to.have.length(1);
      expect((await site.agent.delete('/notices/2')).status).to.equal(204);
    });
    await untilReplicaHas(2);
    expectJson(await site.agent.get('/posts/2'), 200, { id: 2, title: 'changed' });
  });

  it('asks the primary why a write has found no row', () =>
    whileReplicaWaits(async () => {
      const { headers } = await site.agent.post('/deeds').send({ id: 'one', title: 'new' });
      const change = await site.agent.patch('/deeds/one').set('If-Match', '"4711"').send({ title: 'old' });
      // Answers that code of the user's takes part in have more than the state in their tag.
      const state = headers['etag']?.replace(/\..*/, '"');
      expect(change.status).to.equal(412);
      expect(change.headers['etag']).to.be.oneOf([headers['etag'], state]);
      const replacement = site.agent.put('/deeds/one').set('If-None-Match', '*').send({ title: 'old' });
      expect((await replacement).status).to.equal(412);
      expectProblem(await site.agent.post('/deeds/one/restore'), 409, {
        detail: 'This Deed is not deleted.',
      });
      expect((await site.agent.get('/deeds/one')).status).to.equal(404);
    }));

  it('answers 503 to writes while the primary is down, goes on reading, and writes when it is back', async () => {
    await primary.stop();
    const requests = Array.from({ length: 10 }, (_, number) => [
      site.agent.post('/posts').send({ title: 'lost' }),
      site.agent.patch('/posts/1').send({ title: `lost ${number}` }),
      site.agent.delete('/notices/1'),
    ]).flat();
    for (const answer of await Promise.all(requests)) {
      expectUnavailable(answer);
    }
    expectJson(await site.agent.get('/posts/1'), 200, { id: 1, title: 'first' });
    expect((await site.agent.get('/notices')).status).to.equal(200);
    await primary.start();
    expect((await site.agent.patch('/posts/1').send({ title: 'kept' })).status).to.equal(200);
  });

  it('says at the start that a replica refuses the connection', async () => {
    const url = new URL(replica.url('postgres'));
    url.username = 'nobody';
    const own = new CapturedLog();
    await using _other = await startTestApp({
      models: [Sheet],
      database: { url: primary.url('postgres') },
      engine: { replicas: [String(url)] },
      bootstrap: { logger: own },
    });
    expect(own.text).to.match(/At the start 1 of 1 replicas could not be connected to \(28\w+\)/);
  });

  it('answers 503 to reads while the replica is down, and goes on writing', async () => {
    await replica.proxy.down();
    try {
      const answer = await site.agent.get('/posts/1');
      expectUnavailable(answer);
      expect((await site.agent.patch('/posts/1').send({ title: 'written' })).status).to.equal(200);
    } finally {
      await replica.proxy.up();
    }
    expect((await site.agent.get('/posts/1')).status).to.equal(200);
  });
});

describe('on a standby', () => {
  const logger = new CapturedLog();
  const primary = forSuite(() => OwnPostgres.create('primary'));
  const standby = forSuite(async () => {
    {
      await using _site = await startTestApp({ models: [Post], database: { url: primary.url('postgres') } });
      await Post.create({ title: 'first' });
    }
    return primary.createStandby('standby');
  });
  const site = serveTestApp(() => ({
    models: [Post],
    database: { url: standby.url('postgres') },
    engine: { createAll: false },
    bootstrap: { logger },
  }));

  it('reads', async () => {
    expectJson(await site.agent.get('/posts/1'), 200, { id: 1, title: 'first' });
  });

  it('answers 503 to writes, which may succeed elsewhere', async () => {
    for (const request of [
      site.agent.post('/posts').send({ title: 'second' }),
      site.agent.patch('/posts/1').send({ title: 'changed' }),
      site.agent.delete('/posts/1'),
    ]) {
      expectUnavailable(await request);
    }
    expect(
      await caughtError(() => unitOfWork(() => Post.create({ title: 'second' }))),
    ).to.have.nested.property('parent.code', '25006');
  });
});
