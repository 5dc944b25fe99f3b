/** A transaction in which a statement failed, and whose code went on: it is rolled back, and the answer says so. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { BadRequestError, Param, Post } from 'routing-controllers';
import { Column, DataType, Sequelize, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  configureEngine,
  crudController,
  dbSession,
  type Engine,
  InjectUnitOfWork,
  Repository,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except } from '../../support/combination.js';
import { deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false, unique: true }) declare text: string;
}

@Crud()
@Table({ tableName: 'memos', timestamps: false })
class Memo extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false, unique: true }) declare text: string;
}

const committed: string[] = [];
/** Callbacks after a commit wait for it. */
let stopped = deferred();
/** A promise that a method began and did not wait for. */
let late: Promise<unknown> = Promise.resolve();

class MemoController extends crudController(Memo) {
  override async create(values: CreateValues<Memo>, context: CrudContext<Memo>) {
    const memo = await super.create(values, context);
    if (memo.text === 'branch') {
      late = stopped.promise.then(() => super.create({ text: 'late' }, context));
      await Promise.all([late, Promise.reject(new RangeError('refused'))]);
    }
    if (memo.text.startsWith('caught')) await super.create(values, context).catch(() => {});
    return memo;
  }

  @Post('/:text/caught')
  async caught(@Param('text') text: string, @InjectUnitOfWork() uow: UnitOfWork) {
    uow.afterCommit(() => committed.push(text));
    await uow.repository(Memo).create({ text });
    await caughtError(() => uow.repository(Memo).create({ text }));
    return { done: true };
  }

  @Post('/:text/forever')
  async forever(@Param('text') text: string, @InjectUnitOfWork() uow: UnitOfWork) {
    uow.afterCommit(() => stopped.promise);
    uow.afterCommit(() => committed.push(text));
    await uow.repository(Memo).create({ text });
    return { done: true };
  }

  @Post('/:text/nested')
  async nested(@Param('text') text: string) {
    await unitOfWork(async (uow) => {
      uow.afterCommit(() => committed.push(text));
      await Memo.create({ text });
      await unitOfWork(() => Promise.reject(new Error('refused'))).catch(() => {});
    });
    return { done: true };
  }
}

/** An engine, and the end of it and of its database. */
interface Home extends AsyncDisposable {
  readonly engine: Engine;
}

/** Swallows the results of statements that end a transaction. */
class SilentSequelize extends Sequelize {
  // An override with the signature of Sequelize's `query`; the type of its result is that of the base.
  override async query(...args: Parameters<Sequelize['query']>): Promise<never> {
    const answer = await super.query(...args);
    return (args[0] === 'COMMIT;' ? undefined : answer) as never;
  }
}

async function startOwn(Instance = Sequelize): Promise<Home> {
  const database = await freshDatabase();
  const sequelize = new Instance(database.url, { models: [Note], logging: false, pool: { max: 2 } });
  await sequelize.sync();
  const engine = configureEngine({ sequelize });
  return {
    engine,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await sequelize.close();
      await database.drop();
    },
  };
}

const startLifespan = (): Promise<Home> =>
  startTestApp({ models: [Note], bootstrap: { models: [] }, minPool: 2 });

for (const [whose, start] of [
  ['of an engine', startLifespan],
  ["of a Sequelize instance of the user's", () => startOwn()],
  ["of an instance of the user's that hides what a COMMIT answers", () => startOwn(SilentSequelize)],
] as const) {
  describe(`a unit of work ${whose}`, () => {
    const home = forSuite(() => start());

    const texts = async () => (await Note.findAll({ order: ['text'] })).map(({ text }) => text);
    const add = (uow: UnitOfWork, text: string) => uow.repository(Note).create({ text });
    const nestedFailure = () => unitOfWork(() => Promise.reject(new RangeError('refused')));

    beforeEach(async () => {
      committed.length = 0;
      await Note.destroy({ where: {} });
    });

    const failures: Readonly<Record<string, (uow: UnitOfWork) => Promise<unknown>>> = {
      'whose code caught the error of a query': (uow) => add(uow, 'one').catch(() => {}),
      'that does not wait for a query that fails': async ({ transaction }) => {
        home.engine.sequelize.query('SELECT pg_sleep(0.05); SELECT 1 / 0', { transaction }).catch(() => {});
        await nextTurn();
      },
      'whose code caught the error of a unit inside': () => nestedFailure().catch(() => {}),
      'whose code caught the error of a query in a unit inside': () =>
        unitOfWork((inner) => add(inner, 'one')).catch(() => {}),
    };
    for (const [what, fail] of Object.entries(failures)) {
      it(`fails ${what}`, async () => {
        const error = await caughtError(() =>
          unitOfWork(async (uow) => {
            uow.afterCommit(() => committed.push('one'));
            await add(uow, 'one');
            await fail(uow);
          }),
        );
        expect(error).to.be.an('error').and.have.property('message').that.includes('savepoint');
        expect(await texts()).to.deep.equal([]);
        expect(committed).to.deep.equal([]);
      });
    }

    it('names the error of the unit inside as the cause', async () => {
      const error = await caughtError(() => unitOfWork(() => nestedFailure().catch(() => {})));
      expect(error).to.have.nested.property('cause.message', 'refused');
    });

    it('undoes a savepoint in which the error of a unit inside was caught, and goes on', async () => {
      await unitOfWork(async (uow) => {
        await add(uow, 'one');
        const error = await caughtError(() =>
          uow.savepoint(async () => {
            await add(uow, 'two');
            await nestedFailure().catch(() => {});
          }),
        );
        expect(error).to.have.nested.property('cause.message', 'refused');
      });
      expect(await texts()).to.deep.equal(['one']);
    });

    it('fails in a read session, too, where its writes are refused and the errors caught', async () => {
      const error = await caughtError(() =>
        dbSession(() => unitOfWork((uow) => add(uow, 'one').catch(() => {}))),
      );
      expect(error).to.have.property('message').that.includes('savepoint');
    });

    for (const [what, write] of [
      ['a query', () => new Repository(Note).create({ text: 'late' })],
      ['a unit of work', () => unitOfWork((uow) => add(uow, 'late'))],
    ] as const) {
      it(`refuses ${what} of a branch that goes on after another one has thrown`, async () => {
        const thrown = deferred();
        let late: Promise<unknown> = thrown.promise;
        await caughtError(() =>
          unitOfWork(async (uow) => {
            await add(uow, 'one');
            late = thrown.promise.then(() => new Repository(Note).list()).then(write);
            await Promise.all([late, Promise.reject(new RangeError('refused'))]);
          }),
        );
        thrown.resolve();
        expect(String(await caughtError(() => late))).to.include('rolled back');
        expect(await texts()).to.deep.equal([]);
      });
    }

    it('has a write go on that is no part of it', async () => {
      const thrown = deferred();
      let late: Promise<unknown> = thrown.promise;
      await caughtError(() =>
        unitOfWork(() => {
          late = thrown.promise.then(() => Note.create({ text: 'late' }, { transaction: null }));
          return Promise.reject(new RangeError('refused'));
        }),
      );
      thrown.resolve();
      await late;
      expect(await texts()).to.deep.equal(['late']);
    });

    it('says nothing of a read session that goes on: what was read is right', async () => {
      await Note.create({ text: 'one' });
      const found = await dbSession(async (session) => {
        const notes = await session.repository(Note).list();
        await caughtError(() => session.repository(Note).create({ text: 'two' }));
        return notes.length;
      });
      expect(found).to.equal(1);
    });
  });
}

describe('a write in which an error was caught', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Memo],
    bootstrap: { controllers: [MemoController], logger },
    engine: { pool: { max: 1 } },
  }));

  beforeEach(async () => {
    committed.length = 0;
    logger.clear();
    await emptyTables(site, 'memos');
  });

  const expectRolledBack = async (path: string, body: object = {}) => {
    expectProblem(await site.agent.post(path).send(body), 500, { detail: 'Internal Server Error' });
    expect(await Memo.count()).to.equal(0);
    expect(committed).to.deep.equal([]);
    expect(logger.lines).to.have.length(1);
    expect(logger.text).to.include('savepoint');
  };

  for (const [whose, path, body] of [
    ['a route with a unit of work', '/memos/one/caught', {}],
    ['a unit of work that a route runs itself', '/memos/one/nested', {}],
    ['an overridden method', '/memos', { text: 'caught' }],
  ] as const) {
    it(`is no success of ${whose}`, () => expectRolledBack(path, body));
  }

  it('is no success of a write with a hook', async () => {
    const repository = new Repository(Memo);
    const fail = async (memo: Memo) => {
      await site.engine.sequelize.query(`INSERT INTO memos (text) VALUES ('${memo.text}')`).catch(() => {});
    };
    await withHook(Memo, 'afterCreate', fail, async () => {
      await expectRolledBack('/memos', { text: 'one' });
      const error = await caughtError(() => repository.create({ text: 'one' }));
      expect(error).to.have.property('message').that.includes('savepoint');
    });
  });

  it('is no success of a repository of the user, nothing of which stays', async () => {
    class Memos extends Repository<Memo> {
      static override model = Memo;
      override async create(values: CreateValues<Memo>): Promise<Memo> {
        await super.create(values);
        throw new RangeError('refused');
      }
    }
    class MemosController extends crudController(Memos) {}
    const controllers = [MemosController];
    const { agent } = await buildApp({ models: [], controllers, logger: new CapturedLog() });
    expect((await agent.post('/memos').send({ text: 'kept' })).status).to.equal(500);
    expect(await Memo.count({ where: { text: 'kept' } })).to.equal(0);
  });

  it('is answered while a callback after its commit has not ended', async () => {
    stopped = deferred();
    expect((await site.agent.post('/memos/one/forever')).body).to.deep.equal({ done: true });
    expect((await site.agent.post('/memos/two/forever')).body).to.deep.equal({ done: true });
    expect(await Memo.count()).to.equal(2);
    expect(committed).to.deep.equal([]);
    stopped.resolve();
    while (committed.length < 2) await sleep(2);
    expect(committed).to.deep.equal(['one', 'two']);
  });

  it('writes nothing more in a branch that goes on after another one has thrown', async () => {
    stopped = deferred();
    const answer = await site.agent.post('/memos').send({ text: 'branch' });
    expectProblem(answer, 500, { detail: 'Internal Server Error' });
    stopped.resolve();
    expect(String(await caughtError(() => late))).to.include('rolled back');
    expect(await Memo.count()).to.equal(0);
  });
});

@Crud()
@Table({ tableName: 'drafts', timestamps: false })
class Draft extends NumberedRow {
  @Column(DataType.STRING(40)) declare text: string;
}

class DraftController extends crudController(Draft) {
  override async create(values: CreateValues<Draft>, context: CrudContext<Draft>): Promise<Draft> {
    await super.create(values, context);
    const { response } = context;
    response.status(202).json({ accepted: values.text });
    if (values.text === 'refused') throw new BadRequestError('no');
    return response as unknown as Draft;
  }
}

describe('a write whose method answers by itself', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Draft],
    bootstrap: { controllers: [DraftController], logger, indexAdvice: false },
  }));

  before(() =>
    site.engine.sequelize.query(
      'ALTER TABLE drafts ADD CONSTRAINT one_text UNIQUE (text) DEFERRABLE INITIALLY DEFERRED',
    ),
  );

  const isSent = except({ unit: 'its middleware holds the answer until the commit' });
  isSent.it('is in the log where it is undone behind the answer', async () => {
    for (const [text, isLogged] of [
      ['one', false],
      ['one', true],
      ['refused', true],
    ] as const) {
      logger.clear();
      const { status, body } = await site.agent.post('/drafts').send({ text });
      expect([status, body]).to.deep.equal([202, { accepted: text }]);
      for (let tries = 0; isLogged && logger.lines.length === 0 && tries < 200; tries++) await sleep(5);
      expect(logger.lines.map(({ level }) => level)).to.deep.equal(isLogged ? ['error'] : []);
      if (isLogged) expect(logger.text).to.include('was answered with 202').and.include('undone');
    }
    expect(await Draft.count()).to.equal(1);
  });
});
