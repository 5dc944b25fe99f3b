/** Parameters that bring a repository, a unit of work or a read session, on every kind of route. */
import { once } from 'node:events';
import { expect } from 'chai';
import { IsInt } from 'class-validator';
import { Body, Get, JsonController, Param, Post } from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  currentEngine,
  type Id,
  InjectRepository,
  InjectSession,
  InjectUnitOfWork,
  type ReadQuery,
  type ReadSession,
  Repository,
  type UnitOfWork,
  type UpdateValues,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'tasks', timestamps: false })
class Task extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false, unique: true }) declare title: string;
  @Column(DataType.INTEGER) declare parent: number | null;
}

@Table({ tableName: 'events', timestamps: false })
class Event extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false }) declare text: string;
}

class EventRepository extends Repository<Event> {
  static override model = Event;
  record(text: string) {
    return this.create({ text });
  }
}

const DEFERRED = `
  ALTER TABLE tasks ADD FOREIGN KEY (parent) REFERENCES tasks DEFERRABLE INITIALLY DEFERRED`;
const MISSING_PARENT = {
  pointer: '/parent',
  code: 'foreignKey',
  detail: 'The value of parent refers to a record that does not exist.',
};

/** Callbacks that ran after commits; `isAnswering` is true where the answer had begun by then. */
const committed: { what: string; isAnswering: boolean }[] = [];
/** The transaction that a query runs in, whatever its options. */
async function currentTransaction(): Promise<string> {
  const [row] = await currentEngine().sequelize.query<{ id: string }>(
    'SELECT pg_current_xact_id()::text AS id',
    { type: QueryTypes.SELECT },
  );
  return row?.id ?? 'none';
}

class Count {
  @IsInt() declare count: number;
}

interface Given {
  readonly title: string;
  readonly uow: UnitOfWork;
  readonly same: UnitOfWork;
  readonly session: ReadSession;
  readonly tasks: Repository<Task>;
  readonly events: EventRepository;
}

/** Code of the user's, which a test sets: a route answers with its result. */
let work: (given: Given) => unknown;
const run = (given: Partial<Given>): unknown => work(given as Given);

class TaskController extends crudController(Task) {
  @Post('/:title/work')
  inUnit(
    @Param('title') title: string,
    @InjectUnitOfWork() uow: UnitOfWork,
    @InjectUnitOfWork() same: UnitOfWork,
    @InjectRepository(Task) tasks: Repository<Task>,
    @InjectRepository(EventRepository) events: EventRepository,
  ) {
    return run({ title, uow, same, tasks, events });
  }

  @Get('/work')
  inSession(@InjectSession() session: ReadSession, @InjectRepository(Task) tasks: Repository<Task>) {
    return run({ session, tasks });
  }

  @Post('/:title/checked')
  addChecked(
    @Param('title') title: string,
    @InjectUnitOfWork() uow: UnitOfWork,
    @Body() { count }: Count,
    @InjectSession() _session: ReadSession,
  ) {
    return uow.repository(Task).create({ title: `${title} ${count}` });
  }

  override async create(
    values: CreateValues<Task>,
    context: CrudContext<Task>,
    @InjectUnitOfWork() uow?: UnitOfWork,
  ): Promise<Task> {
    uow?.afterCommit(() => {
      committed.push({ what: String(values.title), isAnswering: context.response.headersSent });
    });
    await uow?.repository(Event).create({ text: `create ${values.title}` });
    return super.create(values, context);
  }

  override async update(
    id: Id,
    values: UpdateValues<Task>,
    context: CrudContext<Task>,
    @InjectRepository(EventRepository) events?: EventRepository,
  ): Promise<Task> {
    await events?.record(`update ${id}`);
    return super.update(id, values, context);
  }

  /** Notes that a record was read. */
  override async read(
    id: Id,
    query: ReadQuery,
    context: CrudContext<Task>,
    @InjectUnitOfWork() uow?: UnitOfWork,
  ): Promise<Task> {
    await uow?.repository(Task).update(id, { title: 'read' });
    return super.read(id, query, context);
  }
}

@JsonController('/tools')
class ToolController {
  @Post('/unit')
  inUnit(@InjectUnitOfWork() uow: UnitOfWork) {
    return run({ uow });
  }

  @Get('/session')
  @Post('/session')
  inSession(
    @InjectSession() session: ReadSession,
    @InjectRepository(EventRepository) events: EventRepository,
  ) {
    return run({ session, events });
  }
}

describe('an injected parameter', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Task, Event],
    // One: everything in a request shares a connection of each pool.
    engine: { pool: { max: 1, acquire: 10_000 } },
    bootstrap: { models: [Task], controllers: [TaskController, ToolController], logger },
  }));

  const post = (path: string, body: object = {}) => site.agent.post(path).send(body);
  const stored = async (): Promise<readonly string[]> => [
    ...(await Task.findAll({ order: ['id'] })).map(({ title }) => title),
    ...(await Event.findAll({ order: ['id'] })).map(({ text }) => `event ${text}`),
  ];

  before(() => site.engine.sequelize.query(DEFERRED));

  beforeEach(async () => {
    logger.clear();
    committed.length = 0;
    await emptyTables(site, 'tasks', 'events');
  });

  describe('of an added route', () => {
    const showTransactions: typeof work = async ({ title, uow, same, events }) => {
      await events.record(title);
      await same.repository(Task).create({ title });
      const rows = await uow.repository(EventRepository).list({ where: { text: title } });
      return { ids: [await currentTransaction(), await currentTransaction()], rows: rows.length };
    };

    it('[E2] makes one transaction of all that the route does, and undoes all of it when a part fails', async () => {
      work = async ({ title, uow, tasks, events }) => {
        await events.record(title);
        await uow.repository(Task).create({ title });
        await tasks.create({ title });
      };
      expect((await post('/tasks/one/work')).status).to.equal(409);
      expect(await stored()).to.deep.equal([]);
    });

    it('[E1] answers with an error when the commit fails, and never with success', async () => {
      work = ({ title, uow }) => {
        uow.afterCommit(() => committed.push({ what: title, isAnswering: false }));
        return uow.repository(Task).create({ title, parent: 999 });
      };
      expectIssue(await post('/tasks/one/work'), 409, MISSING_PARENT);
      expect(await stored()).to.deep.equal([]);
      expect(committed).to.deep.equal([]);
    });

    it('gives its connection back when another parameter is wrong', async () => {
      for (const body of [{ count: 'many' }, {}]) {
        const response = await post('/tasks/one/checked', body);
        expect(response.status).to.equal(422);
        expect(response.body.errors).to.deep.include({
          pointer: '/count',
          code: 'isInt',
          detail: 'count must be an integer number.',
        });
      }
      expect((await post('/tasks/one/checked', { count: 2 })).body).to.include({ title: 'one 2' });
      expect(await stored()).to.deep.equal(['one 2']);
    });

    it('[E10] keeps a hundred requests at the same time apart', async () => {
      work = showTransactions;
      const numbers = Array.from({ length: 100 }, (_, number) => number);
      const answers = await Promise.all(numbers.map((number) => post(`/tasks/${number}/work`)));
      expect(answers.filter(({ body }) => new Set(body.ids).size !== 1 || body.rows !== 1)).to.deep.equal([]);
      expect(new Set(answers.flatMap(({ body }) => body.ids))).to.have.property('size', 100);
    });

    it('reads with repositories on the snapshot of the session', async () => {
      await Task.create({ title: 'one' });
      work = async ({ session, tasks }) => {
        const rows = await session.repository(Task).list();
        return { counts: [rows.length, (await tasks.list()).length, await Task.count()] };
      };
      expectJson(await site.agent.get('/tasks/work'), 200, { counts: [1, 1, 1] });
    });

    it('refuses to write in a read session', async () => {
      work = ({ session }) => session.repository(Task).create({ title: 'spoilt' });
      expectProblem(await site.agent.get('/tasks/work'), 500, { detail: 'Internal Server Error' });
      expect(logger.lines[0]?.details).to.include({ code: '25006', status: 500 });
      expect(await stored()).to.deep.equal([]);
    });
  });

  it('of a client that goes away rolls back', async () => {
    const [reached, until] = [deferred(), deferred()];
    work = async ({ title, uow }) => {
      await uow.repository(Task).create({ title });
      uow.afterCommit(() => committed.push({ what: title, isAnswering: false }));
      reached.resolve();
      await until.promise;
      return { done: true };
    };
    const closed = once(site.server.server, 'request').then(([, response]) => once(response, 'close'));
    const request = new AbortController();
    const answer = fetch(`${site.server.url}/tasks/lost/work`, { method: 'POST', signal: request.signal });
    await reached.promise;
    request.abort();
    await answer.catch(() => {});
    await closed;
    until.resolve();
    // The only connection is free again when the request has ended.
    expect(await stored()).to.deep.equal([]);
    expect(committed).to.deep.equal([]);
  });

  describe('of an overridden method', () => {
    it('commits before the answer is written, and undoes all where the generated part fails', async () => {
      expect((await post('/tasks', { title: 'one' })).status).to.equal(201);
      expect((await post('/tasks', { title: 'one' })).status).to.equal(409);
      expect(committed).to.deep.equal([{ what: 'one', isAnswering: false }]);
      expect(await stored()).to.deep.equal(['one', 'event create one']);
    });

    it('answers with an error when the commit fails', async () => {
      const response = await post('/tasks', { title: 'one', parent: 999 });
      expectIssue(response, 409, MISSING_PARENT);
      expect(response.headers).to.not.have.property('location');
      expect(await stored()).to.deep.equal([]);
      expect(committed).to.deep.equal([]);
    });

    it('makes one transaction without being asked for a unit of work', async () => {
      await Task.create({ title: 'one' });
      expect((await site.agent.patch('/tasks/1').send({ title: 'uno' })).body).to.include({ title: 'uno' });
      expect((await site.agent.patch('/tasks/2').send({ title: 'due' })).status).to.equal(404);
      expect(await stored()).to.deep.equal(['uno', 'event update 1']);
    });

    it('gives its connection back when the body or the id is wrong', async () => {
      expect((await post('/tasks', { titel: 'one' })).status).to.equal(422);
      expect((await site.agent.patch('/tasks/x').send({ title: 'one' })).status).to.equal(400);
      expect(committed).to.deep.equal([]);
    });

    it('reads a record in the unit of work that the method asked for, and sees what it has written', async () => {
      await Task.create({ title: 'one' });
      expectJson(await site.agent.get('/tasks/1'), 200, { id: 1, title: 'read', parent: null });
      expect(await stored()).to.deep.equal(['read']);
    });
  });

  describe('of a hand-written controller', () => {
    const addEvent = (text: string) => {
      work = async ({ uow }) => {
        await new EventRepository().with(uow).record(text);
        await new EventRepository().record(`${text} again`);
        if (text === 'bad') throw new TypeError('bad');
        return uow.repository(Task).create({ title: text });
      };
      return post('/tools/unit');
    };

    it('commits, repositories without a session included, and rolls back on a throw', async () => {
      expectProblem(await addEvent('bad'), 500, { detail: 'Internal Server Error' });
      expect(await stored()).to.deep.equal([]);
      expectJson(await addEvent('good'), 200, { id: 1, title: 'good', parent: null });
      expect(await stored()).to.deep.equal(['good', 'event good', 'event good again']);
    });

    it('reads one snapshot in a session, whatever is written meanwhile', async () => {
      await Event.create({ text: 'before' });
      work = async ({ session }) => {
        const events = session.repository(Event);
        const first = await events.list();
        await Event.create({ text: 'between' }, { transaction: null });
        return { counts: [first.length, (await events.list()).length] };
      };
      expectJson(await site.agent.get('/tools/session'), 200, { counts: [1, 1] });
      expect(await stored()).to.deep.equal(['event before', 'event between']);
    });

    it('writes with a repository beside a read session', async () => {
      work = async ({ session, events }) => {
        const { length } = await session.repository(Event).list();
        await events.record('beside');
        return { length };
      };
      expectJson(await post('/tools/session'), 200, { length: 0 });
      expect(await stored()).to.deep.equal(['event beside']);
    });

    it('answers and logs a query behind a rollback of its own', async () => {
      work = async ({ uow: { transaction } }) => {
        await transaction.rollback();
        return Event.create({ text: 'never' }, { transaction });
      };
      expectProblem(await post('/tools/unit'), 500, { detail: 'Internal Server Error' });
      expect(logger.lines[0]?.details).to.include({ status: 500 });
      expect(await stored()).to.deep.equal([]);
    });
  });
});
