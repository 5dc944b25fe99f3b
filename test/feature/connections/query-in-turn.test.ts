/** A connection is given one query at a time, whatever a transaction does at once: the next major version of pg keeps none that comes meanwhile. */
// @runs once
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { Client, Query, type QueryResult } from 'pg';
import { Post } from 'routing-controllers';
import type { Transaction } from 'sequelize';
import { Column, DataType, Sequelize, Table } from 'sequelize-typescript';
import {
  Crud,
  configureEngine,
  crudController,
  dbSession,
  type Engine,
  engineLifespan,
  InjectUnitOfWork,
  Repository,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import { connectionOf } from '../../../src/postgres/session/connection-internals.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { forSuite } from '../../support/for-suite.js';
import { type Listening, listen } from '../../support/listen.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { untilLocked } from '../../support/until-locked.js';

@Crud({ pagination: 'offset', filterAllow: ['size'] })
@Table({ tableName: 'pots', timestamps: false })
class Pot extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare size: number;
}

const pots = new Repository(Pot);
const add = (size: number) => pots.create({ size });
const FAILED = new RangeError('no');
const OPTIONS = { models: [Pot], logging: false as const, pool: { max: 3 } };

class PotController extends crudController(Pot) {
  /** Fails while statements are under way, and nothing awaits them. */
  @Post('/fail')
  fail(@InjectUnitOfWork() { transaction }: UnitOfWork) {
    for (const size of [1, 2, 3]) add(size).catch(() => {});
    for (const size of [4, 5]) Pot.create({ size }, { transaction }).catch(() => {});
    throw FAILED;
  }

  /** Its client goes away meanwhile. */
  @Post('/wait')
  async wait(@InjectUnitOfWork() { transaction }: UnitOfWork) {
    await add(6);
    await Promise.allSettled([waitForLock(transaction), add(7), add(8)]);
    return { done: true };
  }

  @Post('/all')
  async all(@InjectUnitOfWork() { transaction }: UnitOfWork) {
    await Promise.all([
      add(1),
      Pot.create({ size: 2 }, { transaction }),
      Pot.findAndCountAll({ transaction }),
      pots.create({ size: 3 }),
      Pot.count({ transaction }),
    ]);
    return { count: await Pot.count({ transaction }) };
  }
}

/** Held until the test releases it. */
const LOCK = 46;

function waitForLock(transaction: Transaction): Promise<unknown> {
  return Pot.sequelize?.query(`SELECT pg_advisory_lock(${LOCK})`, { transaction }) ?? Promise.reject(FAILED);
}

/** The queue of pg's client; old versions have the names without an underscore. */
interface Pulsing {
  readonly pipeline?: boolean;
  readonly activeQuery?: object | null;
  readonly queryQueue: readonly object[];
  readonly _queryQueue?: readonly object[];
  _getActiveQuery?(): object | null;
  _pulseQueryQueue(): void;
}

describe('a connection', () => {
  const prototype = Client.prototype as unknown as Pulsing;
  const { _pulseQueryQueue: pulse } = prototype;
  /** Number of times that pg had a query in its queue. */
  let kept = 0;
  after(async () => {
    prototype._pulseQueryQueue = pulse;
  });

  const database = forSuite(() => freshDatabase('turns'));
  let sequelize: Engine['sequelize'];

  before(async () => {
    prototype._pulseQueryQueue = function (this: Pulsing) {
      const active = this._getActiveQuery ? this._getActiveQuery() : this.activeQuery;
      const queue = this._queryQueue ?? this.queryQueue;
      if (!this.pipeline && active && queue.length > 0) kept += 1;
      pulse.call(this);
    };
  });

  beforeEach(() => {
    kept = 0;
  });

  const openOwn = () => configureEngine({ sequelize: new Sequelize(database.url, OPTIONS) });
  const openEngine = () => engineLifespan(database.url, OPTIONS)();

  for (const [whose, open, path] of [
    ['an engine', openEngine, 'fast'],
    ['an engine', openEngine, 'general'],
    ["an instance of the user's", openOwn, 'fast'],
    ["an instance of the user's", openOwn, 'general'],
  ] as const) {
    describe(`of ${whose}, on the ${path} path,`, () => {
      let engine: Engine;
      let server: Listening;

      before(async () => {
        engine = await open();
        sequelize = engine.sequelize;
        await sequelize.sync({ force: true });
        const { app } = await buildApp({
          models: [Pot],
          controllers: [PotController],
          fastPath: path === 'fast',
          logger: new CapturedLog(),
        });
        server = await listen(app);
      });

      after(async () => {
        await server[Symbol.asyncDispose]();
        await engine[Symbol.asyncDispose]();
        await sequelize.close();
      });

      const send = (method: string, route: string) =>
        fetch(`http://127.0.0.1:${server.port}${route}`, { method });

      it('[P13] is given one at a time where a unit of work runs several', async () => {
        const answer = await send('POST', '/pots/all');
        expect([answer.status, await answer.json()]).to.deep.equal([200, { count: 3 }]);
        expect(kept).to.equal(0);
      });

      it('is rolled back behind what is under way', async () => {
        expect((await send('POST', '/pots/fail')).status).to.equal(500);
        expect(await Pot.count()).to.equal(3);
        expect(kept).to.equal(0);
      });

      it('is rolled back where its client goes away', async () => {
        await using holder = await connectTo(database.url);
        await holder.query(`SELECT pg_advisory_lock(${LOCK})`);
        const { port } = server;
        const asked = request({ port, method: 'POST', path: '/pots/wait', agent: false }).on(
          'error',
          () => {},
        );
        const accepted = once(server.server, 'connection') as Promise<[Socket]>;
        asked.end();
        const [socket] = await accepted;
        await untilLocked(sequelize);
        asked.destroy();
        await once(socket, 'close');
        await holder.query(`SELECT pg_advisory_unlock(${LOCK})`);
        await untilOthersRest();
        expect(await Pot.count()).to.equal(3);
        expect(kept).to.equal(0);
      });

      it('is given those of a list and of a session in turn', async () => {
        await Promise.all(
          Array.from({ length: 20 }, () => send('GET', '/pots?q=size>1').then((each) => each.json())),
        );
        await dbSession(() => Promise.all([pots.get(1), pots.get(2), Pot.count()]));
        expect(kept).to.equal(0);
      });
    });
  }

  async function untilOthersRest(): Promise<void> {
    for (;;) {
      const [rows] = await sequelize.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()",
      );
      if (rows.length === 0) return;
    }
  }

  describe('of a transaction', () => {
    const context = new AsyncLocalStorage<string>();

    /** The connection, as code of the user's gets it. */
    async function within<T>(work: (client: Client) => Promise<T>): Promise<T> {
      return unitOfWork(({ transaction }) => work(connectionOf<Client>(transaction)));
    }

    let engine: Engine;

    before(() => {
      engine = openOwn();
      sequelize = engine.sequelize;
    });

    after(async () => {
      await engine[Symbol.asyncDispose]();
      await sequelize.close();
    });

    it('takes queries in all the forms of pg, in their order and in the context of their code', async () => {
      const order: string[] = [];
      await within(async (client) => {
        const tell = (name: string) => order.push(`${name} ${context.getStore()}`);
        const first = context.run('a', () =>
          client.query('SELECT pg_sleep(0.05)').then(() => tell('promise')),
        );
        const answered = new Promise<QueryResult>((resolve) => {
          context.run('b', () => client.query('SELECT 1 AS one', (_error, result) => resolve(result)));
        });
        const withValues = context.run('c', () =>
          client.query<{ two: number }>('SELECT $1::int AS two', [2]).then(({ rows }) => {
            tell('values');
            return rows;
          }),
        );
        const submitted = new Query('SELECT 3 AS three');
        const ended = once(submitted, 'end');
        expect(client.query(submitted)).to.equal(submitted);
        const failing = caughtError(() => client.query('SELECT nothing_there'));
        await first;
        expect((await answered).rows).to.deep.equal([{ one: 1 }]);
        expect(await withValues).to.deep.equal([{ two: 2 }]);
        await ended;
        expect(await failing).to.have.property('code', '42703');
        await client.query('ROLLBACK');
        await client.query('BEGIN');
      });
      expect(order).to.deep.equal(['promise a', 'values c']);
      expect(kept).to.equal(0);
    });

    it('says so to all that wait where it is lost', async () => {
      const lost = await caughtError(() =>
        within(async (client) => {
          const waiting = ['pg_sleep(9)', '1', '2'].map((what) =>
            caughtError(() => client.query(`SELECT ${what}`)),
          );
          (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
          for (const error of await Promise.all(waiting))
            expect(`${error}`).to.match(/Connection terminated|is not queryable/);
          throw FAILED;
        }),
      );
      expect(lost).to.be.instanceOf(Error);
      expect(await Pot.count()).to.equal(3);
    });
  });
});
