/** Units of work and read sessions: all or nothing, alone among many, and callbacks after a commit. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { QueryTypes, Transaction } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  ConfigError,
  dbSession,
  engineLifespan,
  Repository,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import { runCallbacks } from '../../../src/postgres/session/commit-callbacks.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { captureStderr } from '../../support/captured-stderr.js';
import { caughtError } from '../../support/caught-error.js';
import { deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { meetingOf } from '../../support/meeting.js';
import { startPostgres } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';
import { writeAttempts } from '../../support/write-attempts.js';

@Table({ tableName: 'entries', timestamps: false })
class Entry extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false, unique: true }) declare name: string;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare amount: number;
  @Column(DataType.INTEGER) declare parent: number | null;
}

const DEFERRED = `
  ALTER TABLE entries ADD FOREIGN KEY (parent) REFERENCES entries DEFERRABLE INITIALLY DEFERRED`;
const ORPHAN = { name: 'orphan', parent: 999 };

describe('a unit of work', () => {
  const entries = new Repository(Entry);
  const site = serveTestApp(() => ({
    models: [Entry],
    bootstrap: { models: [] },
    minPool: 2,
    engine: { dialectOptions: { options: '-c deadlock_timeout=20ms' } },
  }));

  const ask = (text: string, options: { transaction?: Transaction } = {}) =>
    site.engine.sequelize.query<Record<string, string>>(text, { type: QueryTypes.SELECT, ...options });
  const names = async () => (await ask('SELECT name FROM entries ORDER BY name')).map(({ name }) => name);
  const transactionId = async (options: { transaction?: Transaction } = {}) =>
    (await ask('SELECT pg_current_xact_id()::text AS id', options))[0]?.['id'];
  const fail = (state: string) =>
    site.engine.sequelize.query(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $$`);
  /** Runs a unit, which may repeat it. Returns the number of attempts, the result, and the attempts whose callback after the commit ran. */
  const attempt = async (work: (attempts: number) => unknown) => {
    let attempts = 0;
    const committed: number[] = [];
    const run = (uow: UnitOfWork) => {
      attempts += 1;
      const number = attempts;
      uow.afterCommit(() => committed.push(number));
      return Promise.resolve(work(number));
    };
    const ended = await unitOfWork(run, { retryable: true }).then(
      () => 'committed',
      ({ parent }) => parent.code,
    );
    return { attempts, ended, committed };
  };

  before(() => site.engine.sequelize.query(DEFERRED));

  beforeEach(() => emptyTables(site, 'entries'));

  it('commits when the work returns, and gives what it returned', async () => {
    const result = await unitOfWork(async (uow) => {
      await uow.repository(Entry).create({ name: 'one' });
      await Entry.create({ name: 'two' }, { transaction: uow.transaction });
      return 'done';
    });
    expect(result).to.equal('done');
    expect(await names()).to.deep.equal(['one', 'two']);
  });

  it('throws what the commit fails with, and leaves no row', async () => {
    const error = await caughtError(() => unitOfWork((uow) => uow.repository(Entry).create(ORPHAN)));
    expect(error).to.have.nested.property('parent.code', '23503');
    expect(await names()).to.deep.equal([]);
  });

  it('takes up queries that were given no transaction, in as many calls as there are between', async () => {
    const ids = await unitOfWork(async (uow) => {
      await nextTurn();
      await entries.create({ name: 'by repository' });
      await Entry.create({ name: 'by model' });
      await site.engine.sequelize.query("INSERT INTO entries (name) VALUES ('by SQL')");
      return [await transactionId(), await transactionId({ transaction: uow.transaction })];
    });
    expect(ids[0]).to.equal(ids[1]);
    expect(await names()).to.deep.equal(['by SQL', 'by model', 'by repository']);
  });

  it('leaves out a query that asks for no transaction', async () => {
    await caughtError(() =>
      unitOfWork(async () => {
        await Entry.create({ name: 'inside' });
        await Entry.create({ name: 'outside' }, { transaction: null });
        throw new Error('no');
      }),
    );
    expect(await names()).to.deep.equal(['outside']);
  });

  describe('inside another one', () => {
    it('is a part of it, and is rolled back with it', async () => {
      const error = await caughtError(() =>
        unitOfWork(async (outer) => {
          await unitOfWork(async (inner) => {
            expect(inner).to.equal(outer);
            await inner.repository(Entry).create({ name: 'inner' });
          });
          throw new Error('outer');
        }),
      );
      expect(error).to.have.property('message', 'outer');
      expect(await names()).to.deep.equal([]);
    });

    it('notifies after the outer commit only', async () => {
      const seen: string[] = [];
      await unitOfWork(async () => {
        await unitOfWork(async (inner) => inner.afterCommit(() => seen.push('committed')));
        seen.push('inner is done');
      });
      expect(seen).to.deep.equal(['inner is done', 'committed']);
    });

    it('begins anew from work that outlives the other one', async () => {
      const { promise, resolve } = deferred();
      const { late } = await unitOfWork(async () => ({
        late: promise.then(() => unitOfWork(() => entries.create({ name: 'late' }))),
      }));
      resolve();
      await late;
      expect(await names()).to.deep.equal(['late']);
    });
  });

  describe('with a savepoint', () => {
    const inSavepoint = (uow: UnitOfWork, name: string) =>
      uow.savepoint(() => uow.repository(Entry).create({ name }));

    it('[E14] undoes what failed, passes the error on, and goes on', async () => {
      await unitOfWork(async (uow) => {
        await inSavepoint(uow, 'one');
        const error = await caughtError(() => inSavepoint(uow, 'one'));
        expect(error).to.have.nested.property('parent.code', '23505');
        await inSavepoint(uow, 'two');
      });
      expect(await names()).to.deep.equal(['one', 'two']);
    });

    it('gives what the work returned', async () =>
      expect(await unitOfWork((uow) => uow.savepoint(async () => 7))).to.equal(7));

    it('refuses one inside another, and can go on after that', async () => {
      await unitOfWork(async (uow) => {
        const error = await caughtError(() => uow.savepoint(() => inSavepoint(uow, 'inner')));
        expect(error).to.be.instanceOf(ConfigError);
        await inSavepoint(uow, 'next');
      });
      expect(await names()).to.deep.equal(['next']);
    });

    it('forgets what an undone part wanted to do after the commit', async () => {
      const seen: string[] = [];
      await unitOfWork(async (uow) => {
        uow.afterCommit(() => seen.push('before'));
        await caughtError(() =>
          uow.savepoint(async () => {
            uow.afterCommit(() => seen.push('undone'));
            throw new Error('no');
          }),
        );
        await uow.savepoint(async () => uow.afterCommit(() => seen.push('kept')));
      });
      expect(seen).to.deep.equal(['before', 'kept']);
    });
  });

  describe('with callbacks after the commit', () => {
    /** Runs a unit of work and waits for its callbacks. */
    const untilLast = async (work: (uow: UnitOfWork) => Promise<unknown>): Promise<void> => {
      const { promise, resolve } = deferred();
      await unitOfWork(async (uow) => {
        await work(uow);
        uow.transaction.afterCommit(() => resolve());
      });
      await promise;
    };

    it('[E15] runs them in their order, when others can see the rows', async () => {
      const seen: unknown[] = [];
      await untilLast(async (uow) => {
        await uow.repository(Entry).create({ name: 'one' });
        uow.afterCommit(async () => seen.push(await names()));
        uow.afterCommit(() => seen.push('second'));
        expect(seen).to.deep.equal([]);
      });
      expect(seen).to.deep.equal([['one'], 'second']);
    });

    it('runs each in the async context of the code that gave it', async () => {
      const user = new AsyncLocalStorage<string>();
      const seen: unknown[] = [];
      await untilLast(async (uow) => {
        for (const name of ['one', 'two'])
          user.run(name, () => uow.afterCommit(() => seen.push(user.getStore())));
      });
      expect(seen).to.deep.equal(['one', 'two']);
    });

    it('runs those of the transaction itself last, and only logs their errors', async () => {
      const seen: string[] = [];
      const { lines } = await captureStderr(() =>
        untilLast(async (uow) => {
          uow.transaction.afterCommit(() => void seen.push('of the transaction'));
          uow.transaction.afterCommit(() => {
            throw new Error('the mail server is down');
          });
          uow.afterCommit(() => seen.push('of the unit'));
        }),
      );
      expect(seen).to.deep.equal(['of the unit', 'of the transaction']);
      expect(lines.join()).to.include('the mail server is down');
    });

    it('gives the result while one of them has not ended', async () => {
      const { promise, resolve } = deferred();
      const result = await unitOfWork(async (uow) => {
        uow.afterCommit(() => promise);
        return uow.repository(Entry).create({ name: 'one' });
      });
      expect(result).to.have.property('name', 'one');
      resolve();
    });

    it('starts the next one, and says so, when one takes too long', async () => {
      const logger = new CapturedLog();
      await new Promise<void>((resolve) => {
        runCallbacks(site.engine.sequelize, [() => new Promise(() => {}), resolve], logger, 1);
      });
      expect(logger.lines).to.have.length(1).and.have.nested.property('[0].level', 'error');
      expect(logger.text).to.include('takes long');
    });

    it('lets them end before the engine does', async () => {
      const seen: string[] = [];
      const other = await engineLifespan((await startPostgres()).url, { models: [] })();
      const { promise, resolve } = deferred();
      await unitOfWork(
        async (uow) =>
          uow.afterCommit(async () => {
            await promise;
            await other.sequelize.query('SELECT 1');
            seen.push('answered');
          }),
        { engine: other },
      );
      const end = other[Symbol.asyncDispose]();
      resolve();
      await end;
      expect(seen).to.deep.equal(['answered']);
    });

    it('logs what cannot be read, too', async () => {
      const logger = new CapturedLog();
      const getPrototypeOf = () => {
        throw new Error('no');
      };
      const refuse = () => Promise.reject(new Proxy({}, { getPrototypeOf }));
      await unitOfWork(async (uow) => uow.afterCommit(refuse), { logger });
      expect(logger.text).to.include('an object that cannot be read');
    });

    it('runs none after a rollback, nor after a commit that failed', async () => {
      const seen: string[] = [];
      for (const work of [() => Promise.reject(new Error('no')), () => entries.create(ORPHAN)]) {
        await caughtError(() =>
          unitOfWork((uow) => {
            uow.afterCommit(() => seen.push('called'));
            return work();
          }),
        );
      }
      expect(seen).to.deep.equal([]);
    });

    it('[E15] logs an error in one, runs the next one, and changes nothing else', async () => {
      const seen: string[] = [];
      const { lines } = await captureStderr(async () => {
        const result = await unitOfWork(async (uow) => {
          await uow.repository(Entry).create({ name: 'one' });
          uow.afterCommit(() => Promise.reject(new Error('the mail server is down')));
          uow.afterCommit(() => seen.push('next'));
          return 'done';
        });
        expect(result).to.equal('done');
      });
      expect(lines.join())
        .to.include('A callback after a commit failed')
        .and.include('the mail server is down');
      expect(seen).to.deep.equal(['next']);
      expect(await names()).to.deep.equal(['one']);
    });

    it('lets them begin units of their own', async () => {
      await untilLast(async (uow) => {
        uow.afterCommit(() => unitOfWork(() => entries.create({ name: 'after' })));
      });
      expect(await names()).to.deep.equal(['after']);
    });
  });

  describe('that is run again', () => {
    /** Two units that each change both rows, in opposite order, and meet in the middle of their first attempts. */
    const collide = async (retryable: boolean) => {
      await Entry.bulkCreate([{ name: 'a' }, { name: 'b' }]);
      const meet = meetingOf(2);
      let attempts = 0;
      const changeBoth = (first: number, second: number) =>
        unitOfWork(
          async (uow) => {
            attempts += 1;
            const repository = uow.repository(Entry);
            await repository.update(first, { amount: (await repository.get(first)).amount + 1 });
            await meet();
            await repository.update(second, { amount: (await repository.get(second)).amount + 1 });
          },
          { retryable },
        );
      const results = await Promise.allSettled([changeBoth(1, 2), changeBoth(2, 1)]);
      const amounts = (await entries.list()).map(({ amount }) => amount);
      return { attempts, amounts, failures: results.filter(({ status }) => status === 'rejected') };
    };

    it('[E8] gets over a deadlock', async () =>
      expect(await collide(true)).to.deep.equal({ attempts: 3, amounts: [2, 2], failures: [] }));

    it('is not run again when nobody said that it may be', async () => {
      const { attempts, amounts, failures } = await collide(false);
      expect({ attempts, amounts }).to.deep.equal({ attempts: 2, amounts: [1, 1] });
      expect(failures).to.have.length(1).and.have.nested.property('[0].reason.parent.code', '40P01');
    });

    it('[E9] gets over a serialization failure', async () => {
      const meet = meetingOf(2);
      let attempts = 0;
      const addCount = (name: string) =>
        unitOfWork(
          async (uow) => {
            attempts += 1;
            const amount = (await uow.repository(Entry).list()).length;
            await meet();
            await uow.repository(Entry).create({ name, amount });
          },
          { retryable: true, isolationLevel: Transaction.ISOLATION_LEVELS.SERIALIZABLE },
        );
      await Promise.all([addCount('one'), addCount('two')]);
      expect(attempts).to.equal(3);
      expect((await entries.list()).map(({ amount }) => amount).sort()).to.deep.equal([0, 1]);
    });

    for (const [what, work, attempts, ended, committed] of [
      ['is given up after the third attempt, with the last error', () => fail('40001'), 3, '40001', []],
      [
        '[E9] runs the callbacks of the attempt that succeeded only',
        (attempts: number) => (attempts < 3 ? fail('40P01') : null),
        3,
        'committed',
        [3],
      ],
      ['is not run again after other errors', () => fail('23505'), 1, '23505', []],
    ] as const) {
      it(what, async () => expect(await attempt(work)).to.deep.equal({ attempts, ended, committed }));
    }
  });

  it('is refused inside of one with a weaker level, and that one goes on', async () => {
    const { REPEATABLE_READ, SERIALIZABLE } = Transaction.ISOLATION_LEVELS;
    const level = (isolationLevel: Transaction.ISOLATION_LEVELS) =>
      unitOfWork(async (uow) => uow.repository(Entry).count(), { isolationLevel });
    const inside = await unitOfWork(async (uow) => {
      await uow.repository(Entry).create({ name: 'kept' });
      return caughtError(() => level(SERIALIZABLE));
    });
    expect(inside).to.be.instanceOf(ConfigError);
    expect(String(inside)).to.include(
      "unitOfWork has isolationLevel 'SERIALIZABLE', and the unit of work around it runs at 'read committed'; begin that one with the level",
    );
    expect((await entries.list()).map(({ name }) => name)).to.deep.equal(['kept']);
    const stronger = { isolationLevel: SERIALIZABLE };
    expect(await unitOfWork(() => level(REPEATABLE_READ), stronger)).to.equal(1);
    expect(await unitOfWork(() => level(SERIALIZABLE), stronger)).to.equal(1);
    const unknown = await caughtError(() => unitOfWork(() => level('NONE' as typeof SERIALIZABLE)));
    expect(String(unknown)).to.include("isolationLevel 'NONE'");
  });

  it('[E10] is alone among a hundred at the same time', async () => {
    const numbers = Array.from({ length: 100 }, (_, number) => number);
    const seen = await Promise.all(
      numbers.map((number) =>
        unitOfWork(async (uow) => {
          await Entry.create({ name: String(number) });
          const ids = [await transactionId(), await transactionId({ transaction: uow.transaction })];
          await nextTurn();
          return [...ids, await transactionId()];
        }),
      ),
    );
    expect(seen.filter((ids) => new Set(ids).size !== 1)).to.deep.equal([]);
    expect(new Set(seen.flat())).to.have.property('size', 100);
    expect(await names()).to.have.length(100);
  });
});

describe('a read session', () => {
  serveTestApp(() => ({ models: [Entry], bootstrap: { models: [] }, minPool: 2 }));

  before(() => Entry.create({ name: 'one' }));

  const writes: Readonly<Record<string, () => Promise<unknown>>> = {
    ...writeAttempts(Entry, { name: 'two' }),
    'changes a row of a repository': () => new Repository(Entry).update(1, { amount: 1 }),
  };
  for (const [attempt, write] of Object.entries(writes)) {
    it(`has the database refuse code that ${attempt}`, async () => {
      expect(await caughtError(() => dbSession(write))).to.have.nested.property('parent.code', '25006');
      const [one, ...others] = await Entry.findAll({ raw: true });
      expect([one, others]).to.deep.equal([{ id: 1, name: 'one', amount: 0, parent: null }, []]);
    });
  }

  it('sees one snapshot', async () => {
    const counts = await dbSession(async (session) => {
      const before = await session.repository(Entry).list();
      await Entry.create({ name: 'meanwhile' }, { transaction: null });
      return [before.length, await Entry.count()];
    });
    expect(counts).to.deep.equal([1, 1]);
    await Entry.destroy({ where: { name: 'meanwhile' } });
  });

  it('is part of the read session around it', async () => {
    const transactions = await dbSession(async (outer) => [
      outer.transaction,
      await dbSession(async (inner) => inner.transaction),
    ]);
    expect(transactions[0]).to.equal(transactions[1]);
  });

  it('does not take part in the unit of work around it, and so writes nothing there either', async () => {
    const error = await caughtError(() => unitOfWork(() => dbSession(() => Entry.create({ name: 'two' }))));
    expect(error).to.have.nested.property('parent.code', '25006');
  });
});
