/** A GET cannot write, whatever the code that it runs tries: the server has set its connections read-only. */
import { expect } from 'chai';
import express from 'express';
import { QueryTypes } from 'sequelize';
import { Column, DataType, HasMany, Model, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  Crud,
  type CrudContext,
  crudController,
  crudRouter,
  type Id,
  type ListQuery,
  type ReadQuery,
  Repository,
  unitOfWork,
} from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { onPath, UNGUARDED } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { IS_POOLED } from '../../support/pooler.js';
import { serveTestApp, startTestApp, type TestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';
import { writeAttempts } from '../../support/write-attempts.js';

@Crud()
@Table({ tableName: 'rooms', timestamps: false })
class Room extends NamedRow {}

@Crud({ pagination: 'cursor' })
@Table({ tableName: 'halls', timestamps: false })
class Hall extends NamedRow {}

/** Finds by a method of its own, which writes. */
@Crud({ pagination: 'cursor' })
@Table({ tableName: 'attics', timestamps: false })
class Attic extends NumberedRow {
  static override findAll = async function findAll(this: typeof Attic, options: object) {
    await Visit.create();
    return Model.findAll.call(this, options);
  } as typeof Model.findAll;
}

/** A repository of the user's, which writes. */
class Rooms extends Repository<Room> {
  static override model = Room;
  override async get(id: Id): Promise<Room> {
    await Visit.create();
    return super.get(id);
  }
}

@Crud({ include: { stairs: UNGUARDED } })
@Table({ tableName: 'wings', timestamps: false })
class Wing extends NumberedRow {
  @HasMany(() => Stair, { foreignKey: 'wingId', constraints: false }) declare stairs?: Stair[];
}

@Crud()
@Table({ tableName: 'stairs', timestamps: false, indexes: [{ fields: ['wingId'] }] })
class Stair extends NumberedRow {
  @Column(DataType.INTEGER) declare wingId: number;
}

@Table({ tableName: 'visits', timestamps: false })
class Visit extends NumberedRow {}

const MODELS = [Room, Hall, Attic, Wing, Stair];
const INSERT = 'INSERT INTO visits DEFAULT VALUES';
const FIND_HOOKS = ['beforeFind', 'afterFind'] as const;
const PATHS = ['/rooms', '/rooms/1', '/halls', '/halls?after=', '/halls/1'];

describe('a GET', () => {
  const logger = new CapturedLog();
  let site: TestApp;
  let cursor: string;

  /** Attempts of a hook to write. */
  const ATTEMPTS: Readonly<Record<string, () => Promise<unknown>>> = {
    ...writeAttempts(Visit, {}),
    'creates records in bulk': () => Visit.bulkCreate([{}, {}]),
    'changes records': () => Visit.update({ id: 8 }, { where: { id: 7 } }),
    'deletes records': () => Visit.destroy({ where: {} }),
    'writes with a repository': () => new Repository(Visit).create({}),
    'opens a transaction in a unit of work': () =>
      unitOfWork(() => site.engine.sequelize.transaction((transaction) => Visit.create({}, { transaction }))),
    'sends SQL and says that it is an INSERT': () =>
      site.engine.sequelize.query(INSERT, { type: QueryTypes.INSERT }),
  };

  before(async () => {
    // Two: a transaction in a unit of work is a second one, beside that of an injected session, or of PgBouncer, a third one.
    const max = IS_POOLED ? 3 : onPath({ fast: 2, session: 3 });
    site = await startTestApp({
      models: [...MODELS, Visit],
      bootstrap: { models: MODELS, logger },
      engine: { pool: { max } },
      minPool: max,
    });
    await Room.bulkCreate([{ name: 'A' }, { name: 'B' }]);
    await Hall.bulkCreate([{ name: 'A' }, { name: 'B' }]);
    await Wing.create();
    await Stair.create({ wingId: 1 });
    cursor = (await site.agent.get('/halls?size=1')).body.next_cursor;
  });

  beforeEach(async () => {
    logger.clear();
    await emptyTables(site, 'visits');
    await Visit.create({ id: 7 });
  });

  after(() => site[Symbol.asyncDispose]());

  /** Runs work while a hook of both models tries something. */
  const whileHooked = <T>(hook: string, attempt: () => Promise<unknown>, work: () => PromiseLike<T>) =>
    withHook(Room, hook, attempt, () => withHook(Hall, hook, attempt, work));
  const get = (path: string) => site.agent.get(path.replace('after=', `after=${cursor}`));
  const create = () => Visit.create();
  const storedVisits = () => Visit.findAll({ raw: true });

  for (const [attempt, work] of Object.entries(ATTEMPTS)) {
    it(`[E12] writes nothing where a hook ${attempt}`, async () => {
      for (const hook of FIND_HOOKS) {
        await whileHooked(hook, work, async () => {
          for (const path of PATHS) {
            expectProblem(await get(path), 500, { detail: 'Internal Server Error' });
            expect((await site.agent.head(path.replace('after=', `after=${cursor}`))).status).to.equal(500);
          }
        });
      }
      expect(await storedVisits()).to.deep.equal([{ id: 7 }]);
      // The first failure of each route is logged at once, and the others as a number.
      expect(logger.codes).to.deep.equal(['25006']);
      expect(logger.lines.length).to.be.at.least(PATHS.length - 1);
    });
  }

  it('writes nothing where the hook takes no notice of the refusal', async () => {
    const attempt = () => caughtError(() => Visit.create());
    const found = await whileHooked('afterFind', attempt, () => get('/rooms/1'));
    expectJson(found, 200, { id: 1, name: 'A' });
    expect(await storedVisits()).to.deep.equal([{ id: 7 }]);
  });

  it('answers as ever when the hook is gone', async () => {
    await whileHooked('afterFind', create, () => get('/rooms/1'));
    expectJson(await get('/rooms/1'), 200, { id: 1, name: 'A' });
  });

  it('[E12] writes nothing in an overridden method either', async () => {
    class RoomController extends crudController(Room) {
      override async list(query: ListQuery, context: CrudContext<Room>) {
        await context.repository.create({ name: 'C' });
        return super.list(query, context);
      }
      override async read(id: Id, query: ReadQuery, context: CrudContext<Room>) {
        await site.engine.sequelize.query(INSERT);
        return super.read(id, query, context);
      }
    }
    const { agent } = await buildApp({ models: [Room], controllers: [RoomController], logger });
    for (const path of ['/rooms', '/rooms/1']) {
      expectProblem(await agent.get(path), 500, { detail: 'Internal Server Error' });
    }
    expect(await storedVisits()).to.deep.equal([{ id: 7 }]);
    expect(await Room.count()).to.equal(2);
  });

  for (const [whose, send] of [
    [
      'a hook of Sequelize itself',
      () => withHook(site.engine.sequelize, 'afterFind', create, () => get('/rooms/1')),
    ],
    [
      'a hook of a model that is included',
      () => withHook(Stair, 'afterFind', create, () => get('/wings/1?include=stairs')),
    ],
    ['a method in the place of one of Sequelize', () => get('/attics')],
    [
      "a repository of the user's",
      async () => {
        const controllers = [crudController(Rooms)] as never[];
        return (await buildApp({ models: [], controllers, logger })).agent.get('/rooms/1');
      },
    ],
    [
      'a repository of a router that is mounted by itself',
      () => supertest(express().use('/rooms', crudRouter(Rooms, { logger } as never))).get('/rooms/1'),
    ],
  ] as const) {
    it(`[E12] writes nothing in ${whose}`, async () => {
      expectProblem(await send(), 500, { detail: 'Internal Server Error' });
      expect(await storedVisits()).to.deep.equal([{ id: 7 }]);
    });
  }

  it('reads on connections that the server has set read-only', async () => {
    class RoomController extends crudController(Room) {
      override async read(_id: Id, _query: ReadQuery, _context: CrudContext<Room>): Promise<Room> {
        const [row] = await site.engine.sequelize.query<{ name: string }>(
          "SELECT current_setting('transaction_read_only') AS name",
          { type: QueryTypes.SELECT },
        );
        return Room.build({ id: 1, name: row?.name });
      }
    }
    const { agent } = await buildApp({ models: [Room], controllers: [RoomController], logger });
    expectJson(await agent.get('/rooms/1'), 200, { id: 1, name: 'on' });
  });
});

describe('a GET whose hooks read', () => {
  const site = serveTestApp(() => ({ models: [Room], engine: { pool: { max: 1, acquire: 3_000 } } }));

  before(() => Room.create({ name: 'A' }));

  it('needs one connection for all of it, SQL of any kind included', async () => {
    let reads = 0;
    using _hook = addedHook(Room, 'beforeFind', async () => {
      reads += 1;
      if (reads > 2) return;
      await site.engine.sequelize.query('SELECT 1');
      await Room.findAll();
    });
    expectJson(await site.agent.get('/rooms/1'), 200, { id: 1, name: 'A' });
    reads = 0;
    expect((await site.agent.get('/rooms?size=1')).body).to.deep.include({ items: [{ id: 1, name: 'A' }] });
  });
});
