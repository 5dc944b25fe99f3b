/** A client that goes away while its request is at work: all is rolled back at once, and the rest of the work fails. */
import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { RequestHandler } from 'express';
import { Get, JsonController, Param, Post, UseBefore } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  dbSession,
  type Id,
  InjectSession,
  InjectUnitOfWork,
  type ReadQuery,
  type ReadSession,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import { TextRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'letters', timestamps: false })
class Letter extends TextRow {}

/** A place in a method of a controller where it waits, and the code that it runs then. */
interface Stop {
  /** Called by the method when it has come here. */
  reach(): void;
  readonly opened: Promise<void>;
  readonly rest: (uow?: UnitOfWork | ReadSession) => Promise<unknown>;
  /** Called by the method with the result of the rest. */
  end(outcome: unknown): void;
}

let stop: Stop | undefined;

/** Waits until the test opens, runs the rest, and passes on its error. */
async function pass(session?: UnitOfWork | ReadSession): Promise<unknown> {
  if (!stop) throw new Error('No test is under way');
  const { reach, opened, rest, end } = stop;
  reach();
  await opened;
  try {
    const result = await rest(session);
    end(result);
    return { result };
  } catch (error) {
    end(error);
    throw error;
  }
}

/** Names of methods that were called for a client that had gone. */
const called: string[] = [];

/** Waits until the test opens, has the request go on, and passes on the result of the rest. */
const waitBefore: RequestHandler = async (_request, _response, next) => {
  if (!stop) throw new Error('No test is under way');
  const { reach, opened, rest, end } = stop;
  reach();
  await opened;
  next();
  // The rest of the method has requested its connection by then.
  await nextTurn();
  end(await rest());
};

class LetterController extends crudController(Letter) {
  override async create(values: CreateValues<Letter>, context: CrudContext<Letter>) {
    const letter = await super.create(values, context);
    await pass();
    return letter;
  }

  override async read(id: Id, query: ReadQuery, context: CrudContext<Letter>) {
    const letter = await super.read(id, query, context);
    await pass();
    return letter;
  }

  @Post('/:text/write')
  async write(@Param('text') text: string, @InjectUnitOfWork() uow: UnitOfWork) {
    await uow.repository(Letter).create({ text });
    return pass(uow);
  }

  @Post('/:text/busy')
  async busy(@Param('text') text: string, @InjectUnitOfWork() uow: UnitOfWork) {
    await uow.repository(Letter).create({ text });
    const query = Letter.sequelize?.query('SELECT pg_sleep(0.2)', { transaction: uow.transaction });
    await pass(uow).finally(() => query?.catch(() => {}));
    return { done: true };
  }
}

@JsonController('/by-hand')
class HandController {
  @Post('/late/:text')
  @UseBefore(waitBefore)
  write(@Param('text') text: string, @InjectUnitOfWork() uow: UnitOfWork) {
    called.push('write');
    return uow.repository(Letter).create({ text });
  }

  @Get('/late')
  @UseBefore(waitBefore)
  read(@InjectSession() session: ReadSession) {
    called.push('read');
    return session.repository(Letter).list();
  }

  @Get('/report')
  async report(@InjectSession() session: ReadSession) {
    await session.repository(Letter).list();
    return pass(session);
  }
}

describe('a client that goes away', () => {
  const logger = new CapturedLog();

  const site = serveTestApp(() => ({
    models: [Letter],
    bootstrap: { controllers: [LetterController, HandController], logger },
    engine: { pool: { max: 1, acquire: 2_000 } },
  }));

  beforeEach(async () => {
    logger.clear();
    await emptyTables(site, 'letters');
  });

  /** Sends a request, goes away while its method waits, and returns the result of the rest of that method. */
  const leave = async (
    method: string,
    path: string,
    { rest, meanwhile = async () => {} }: { rest: Stop['rest']; meanwhile?: () => Promise<unknown> },
  ): Promise<unknown> => {
    const reached = deferred();
    const opened = deferred();
    const ended = deferred<unknown>();
    stop = { reach: reached.resolve, opened: opened.promise, rest, end: ended.resolve };
    const closed = once(site.server.server, 'request').then(([, response]) => once(response, 'close'));
    const socket = await site.server.connect();
    const body = '{"text":"lost"}';
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n` +
        (method === 'GET' ? '\r\n' : `Content-Length: ${body.length}\r\n\r\n${body}`),
    );
    await reached.promise;
    socket.destroy();
    await once(socket, 'close');
    await closed;
    try {
      await meanwhile();
    } finally {
      opened.resolve();
    }
    return ended.promise;
  };

  /** This write needs the only connection. */
  const writeOther = () => Letter.create({ text: 'other' }, { transaction: null });
  const texts = async () => (await Letter.findAll({ useMaster: true })).map(({ text }) => text);

  for (const path of ['/letters', '/letters/lost/write', '/letters/lost/busy']) {
    it(`[A15] gives the connection and the locks of POST ${path} back before its method goes on`, async () => {
      await leave('POST', path, { meanwhile: writeOther, rest: async () => {} });
      expect(await texts()).to.deep.equal(['other']);
      expect(logger.lines).to.deep.equal([]);
    });
  }

  it('[A15] gives the connections of GETs back, too', async () => {
    const { id } = await writeOther();
    const read = async () => expect(await Letter.count()).to.equal(1);
    await leave('GET', '/by-hand/report', { meanwhile: read, rest: async () => {} });
    await leave('GET', `/letters/${id}`, { meanwhile: read, rest: async () => {} });
    expect(logger.lines).to.deep.equal([]);
  });

  const rests: Readonly<Record<string, Stop['rest']>> = {
    'a query of a model': () => Letter.create({ text: 'late' }),
    'a query in SQL': () => site.engine.sequelize.query("INSERT INTO letters (text) VALUES ('late')"),
    'a unit of work': () => unitOfWork(() => Letter.create({ text: 'late' })),
  };
  for (const [what, rest] of Object.entries(rests)) {
    for (const path of ['/letters', '/letters/lost/write']) {
      it(`fails ${what} that POST ${path} goes on with`, async () => {
        const outcome = await leave('POST', path, { rest });
        expect(outcome)
          .to.be.an('error')
          .and.have.property('message')
          .that.matches(/client has gone/);
        expect(await texts()).to.deep.equal([]);
        expect(logger.lines).to.deep.equal([]);
      });
    }

    it(`fails ${what} that a GET goes on with, which writes nothing after it either`, async () => {
      const { id } = await writeOther();
      expect(await leave('GET', `/letters/${id}`, { rest })).to.be.an('error');
      expect(await texts()).to.deep.equal(['other']);
    });
  }

  it('fails what its method does with the transaction and a savepoint, and logs nothing of it', async () => {
    for (const rest of [
      (uow) => uow?.repository(Letter).create({ text: 'late' }),
      (uow) => (uow as UnitOfWork).savepoint(() => Letter.create({ text: 'late' })),
    ] as ((uow?: UnitOfWork | ReadSession) => Promise<unknown>)[]) {
      expect(await leave('POST', '/letters/lost/write', { rest })).to.be.an('error');
    }
    const list: Stop['rest'] = (session) => session?.repository(Letter).list() as never;
    expect(await leave('GET', '/by-hand/report', { rest: list })).to.be.an('error');
    expect(await texts()).to.deep.equal([]);
    expect(logger.lines).to.deep.equal([]);
  });

  const isEnded = except({ unit: 'its middleware ends the unit, and reports what comes later' });
  isEnded.it('begins nothing for a method that has not been called by then', async () => {
    called.length = 0;
    await leave('POST', '/by-hand/late/lost', { rest: writeOther });
    // This read needs the only connection for reads.
    await leave('GET', '/by-hand/late', { rest: () => Letter.count() });
    expect(called).to.deep.equal([]);
    expect(await texts()).to.deep.equal(['other']);
    expect(logger.lines).to.deep.equal([]);
  });

  it('has errors of the method itself logged as ever', async () => {
    await leave('POST', '/letters/lost/write', { rest: () => Promise.reject(new RangeError('a bug')) });
    while (logger.lines.length === 0) await sleep(2);
    expect(logger.text).to.include('a bug');
  });

  it('has what its method does in sessions of its own go on', () =>
    leave('POST', '/letters/lost/write', {
      rest: () => dbSession(async () => expect(await Letter.count()).to.equal(0)),
    }).then((outcome) => expect(outcome).not.to.be.an('error')));

  it('does not notice one that stays', async () => {
    stop = { reach: () => {}, opened: Promise.resolve(), rest: async () => 1, end: () => {} };
    expect((await site.agent.post('/letters/kept/write')).body).to.deep.equal({ result: 1 });
    expect(await texts()).to.deep.equal(['kept']);
  });

  afterEach(() => {
    stop = undefined;
  });
});
