/** A DSN that leads to a standby for a while: writes succeed again as soon as it leads to the primary. */
import { expect } from 'chai';
import { Get, Post } from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { Sequelize, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  configureEngine,
  crudController,
  InjectSession,
  type ReadSession,
  unitOfWork,
} from '../../src/index.js';
import { TextRow } from '../models/rows.js';
import { buildApp } from '../support/build-app.js';
import { CapturedLog } from '../support/captured-log.js';
import { forSuite } from '../support/for-suite.js';
import { type Listening, listen } from '../support/listen.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { ask, TwoPaths, type WholeAnswer, type WholeRequest } from '../support/two-paths.js';

@Crud()
@Table({ tableName: 'coins', timestamps: false })
class Coin extends TextRow {}

@Crud()
@Table({ tableName: 'medals', timestamps: false })
class Medal extends TextRow {}

/** Its creates are transactions. */
@Crud()
@Table({ tableName: 'stamps', timestamps: false })
class Stamp extends TextRow {}

class StampController extends crudController(Stamp) {
  override async create(values: CreateValues<Stamp>, context: CrudContext<Stamp>): Promise<Stamp> {
    return super.create(values, context);
  }

  /** A mistake: a read session refuses it. */
  @Get('/wrong')
  async readAndWrite(@InjectSession() _session: ReadSession) {
    return { id: (await createStamp()).id };
  }

  @Post('/twice')
  async createTwice() {
    return unitOfWork(async () => ({ ids: [(await createStamp()).id, (await createStamp()).id] }));
  }

  @Post('/by-sequelize')
  async createBySequelize() {
    await Stamp.sequelize?.transaction((transaction) => Stamp.create({ text: 'new' }, { transaction }));
    return { count: 1 };
  }
}

const createStamp = () => Stamp.create({ text: 'new' });

const POOL_SIZE = 4;

/** Every way in which a request writes. */
const writes = (): readonly WholeRequest[] => [
  { method: 'POST', path: '/coins', body: { text: 'new' } },
  { method: 'PATCH', path: '/coins/1', body: { text: `changed ${Math.random()}` } },
  { method: 'POST', path: '/stamps', body: { text: 'new' } },
  { method: 'POST', path: '/stamps/twice' },
  { method: 'POST', path: '/stamps/by-sequelize' },
];

function portOf(url: string): number {
  return Number(new URL(url).port);
}

describe('a DSN that leads to a standby and back', () => {
  const logger = new CapturedLog();
  const primary = forSuite(() => OwnPostgres.create('primary'));
  const proxy = forSuite(() => TcpProxy.before(primary.url('postgres')));
  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Coin, Stamp],
      database: { url: proxy.href },
      engine: { pool: { max: POOL_SIZE } },
      bootstrap: { controllers: [StampController], logger },
    }),
  );
  const standby = forSuite(async () => {
    await Coin.create({ text: 'first' });
    return primary.createStandby('standby');
  });

  /** Forty writes of all kinds at the same time. */
  function manyWrites(path: Listening): Promise<WholeAnswer[]> {
    const wanted = Array.from({ length: 8 }, writes).flat();
    return Promise.all(wanted.map((each) => ask(path, each)));
  }

  for (const path of ['fast', 'general'] as const) {
    it(`[F12] refuses writes meanwhile, and accepts them right afterwards, on the ${path} path`, async () => {
      proxy.retarget(portOf(standby.url('postgres')));
      proxy.reset();
      for (const { status } of await manyWrites(paths[path])) expect(status).to.equal(503);
      proxy.retarget(portOf(primary.url('postgres')));
      // Some connections may have been opened to the standby, and not been used yet.
      const atOnce = await manyWrites(paths[path]);
      expect(atOnce.filter(({ status }) => status >= 300).length).to.be.at.most(POOL_SIZE * 2);
      expect((await manyWrites(paths[path])).filter(({ status }) => status >= 300)).to.deep.equal([]);
    });
  }

  it('goes for a Sequelize of your own, too', async () => {
    const sequelize = new Sequelize(proxy.href, { logging: false, models: [Medal] });
    await sequelize.sync();
    await using engine = configureEngine({ sequelize });
    const { app } = await buildApp({ models: [Medal], fastPath: false, logger });
    await using server = await listen(app);
    const create = () => ask(server, { method: 'POST', path: '/medals', body: { text: 'new' } });
    proxy.retarget(portOf(standby.url('postgres')));
    proxy.reset();
    expect((await create()).status).to.equal(503);
    proxy.retarget(portOf(primary.url('postgres')));
    expect((await create()).status).to.equal(201);
    await engine[Symbol.asyncDispose]();
    await sequelize.close();
  });

  it('keeps the connection for reads on which a GET tried to write', async () => {
    for (let request = 0; request < 2; request += 1) {
      const before = await backends();
      expect((await ask(paths.general, { path: '/stamps/wrong' })).status).to.equal(500);
      expect(await backends()).to.include.members(before);
    }
  });

  /** The server processes of the engine's connections. */
  async function backends(): Promise<number[]> {
    const rows = await paths.site.engine.sequelize.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`,
      { type: QueryTypes.SELECT },
    );
    return rows.map(({ pid }) => pid);
  }
});
