/** The log of a failed request: the route and the error, and no value of a client's. */
import { expect } from 'chai';
import express, { type Express, type RequestHandler } from 'express';
import { type ExpressMiddlewareInterface, Get, JsonController, Middleware } from 'routing-controllers';
import { Column, DataType, Table, Unique } from 'sequelize-typescript';
import supertest from 'supertest';
import { bootstrap, Crud, currentEngine, installExceptionHandlers, unitOfWork } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { serveTestApp } from '../../support/test-app.js';

const SECRET = 'secret@example.com';

@Crud({ prefix: '/guests' })
@Table({ tableName: 'guests', timestamps: false })
class Guest extends NumberedRow {
  @Unique @Column({ type: DataType.TEXT, validate: { isNotBad: refuse } }) declare email: string;
}

function refuse(value: string): void {
  if (value.startsWith('bad')) throw new Error(`${value} is not allowed`);
}

@JsonController('/tables')
class TableController {
  @Get('/:number/seats')
  seats(): string[] {
    return [];
  }
}

/** Fails before any route. */
@Middleware({ type: 'before' })
class Guard implements ExpressMiddlewareInterface {
  use(): void {
    throw new Error('not on duty');
  }
}

/** The error of pg, as code of the user's takes it out of Sequelize's. */
async function bareError(sql = 'SELECT $1::integer'): Promise<Error> {
  const { sequelize } = currentEngine();
  const bind = sql.includes('$1') ? { bind: [SECRET] } : {};
  const failure = await sequelize.query(sql, bind).then(
    () => null,
    ({ parent }: { parent: Error }) => parent,
  );
  if (!failure) throw new Error('It did not fail.');
  return Object.assign(failure, { sql: undefined, parameters: undefined });
}

describe('the log of a failure', () => {
  serveTestApp(() => ({ models: [Guest], bootstrap: { models: [] } }));
  const logger = new CapturedLog();

  before(() => Guest.create({ email: SECRET }));

  beforeEach(() => logger.clear());

  describe('when code of an application throws', () => {
    /** The one line of the log when a route throws this error. */
    async function lineOf(make: () => unknown): Promise<Readonly<Record<string, unknown>>> {
      const app = express();
      await bootstrap(app, { models: [], logger });
      app.get('/throw', async (_request, _response, next) => next(await make()));
      installExceptionHandlers(app);
      expect((await supertest(app).get('/throw')).status).to.equal(500);
      expect(logger.lines.map(({ message }) => message)).to.deep.equal(['GET /throw failed']);
      expect(logger.text).not.to.include(SECRET);
      return logger.lines[0]?.details ?? {};
    }

    /** An error that the table of answers lacks. */
    const wrapped = async (make: (inner: Error) => Error) => make(await bareError());

    // A function of the user's may take a code of class 42, too, whose messages are PostgreSQL's otherwise.
    for (const code of ['XX001', '42704']) {
      it(`has the SQLSTATE of a bare error of the database, and none of its values: ${code}`, async () => {
        const raise = `DO $$ BEGIN RAISE 'no room for ${SECRET}' USING ERRCODE = '${code}'; END $$`;
        const line = await lineOf(() => bareError(raise));
        expect(line).to.include({ status: 500, code, routine: 'exec_stmt_raise' });
        expect(line['stack']).to.match(/^ +at /);
      });
    }

    it('has the same of one that is a cause', async () => {
      const wrap = (cause: Error) => new Error('It failed', { cause });
      const { error, cause } = await lineOf(() => wrapped(wrap));
      expect(error).to.equal('Error');
      expect(cause).to.include({ code: '22P02' });
      expect((cause as { stack: string }).stack).to.match(/^ +at /);
    });

    it('has none where the message of another error quotes it', async () => {
      const wrap = (cause: Error) => new TypeError(`It failed: ${cause.message}`, { cause });
      const { error, stack } = await lineOf(() => wrapped(wrap));
      expect(error).to.equal('TypeError');
      expect(stack).to.match(/^ +at /);
    });

    it('has none where it quotes the detail', async () => {
      const twice = (await caughtError(() => Guest.create({ email: SECRET }))) as {
        parent: Error & { detail: string };
      };
      const { stack } = await lineOf(() => new TypeError(twice.parent.detail, { cause: twice }));
      expect(stack).to.match(/^ +at /);
    });

    it('has each error of several', async () => {
      const wrap = (inner: Error) => new AggregateError([new Error('one'), inner], `Two: ${inner.message}`);
      const { errors } = await lineOf(() => wrapped(wrap));
      expect(errors).to.have.length(2);
      const [own, bare] = errors as object[];
      expect(own).to.have.property('stack').that.includes('Error: one');
      expect(bare).to.include({ code: '22P02' });
    });

    const bad = { email: `bad ${SECRET}` };
    for (const [what, fail, told] of [
      ['what a validator said', () => Guest.build(bad).validate(), { error: 'SequelizeValidationError' }],
      [
        'a unique value',
        () => Guest.create({ email: SECRET }),
        { error: 'SequelizeUniqueConstraintError', code: '23505', table: 'guests' },
      ],
      ['the errors of many', () => Guest.bulkCreate([bad], { validate: true }), { error: 'AggregateError' }],
    ] as const) {
      it(`has nothing of ${what}`, async () => {
        const failure = await caughtError(fail);
        const { cause } = await lineOf(() => new Error('It failed', { cause: failure }));
        expect(cause).to.include(told);
      });
    }

    it('has no value when a callback after a commit throws a bare error', async () => {
      const failure = await bareError();
      await unitOfWork(
        async (uow) => {
          uow.afterCommit(() => Promise.reject(failure));
          await uow.repository(Guest).list({});
        },
        { logger },
      );
      expect(logger.text).to.include('22P02').and.not.to.include(SECRET);
    });

    it('has the message and the stack of any other error', async () => {
      for (const own of [{ code: 'EPIPE' }, { code: 'E1001' }, { severity: 'high', code: 'full' }]) {
        const { stack } = await lineOf(() => Object.assign(new Error('the disk is full'), own));
        expect(stack).to.match(/^Error: the disk is full\n +at /);
        logger.clear();
      }
    });
  });

  describe('when a middleware throws', () => {
    const fail: RequestHandler = () => {
      throw new Error('not on duty');
    };

    /** Messages that a request logs. */
    async function messageOf(path: string, prepare: (app: Express) => Promise<unknown>): Promise<string[]> {
      const app = express();
      await prepare(app);
      expect((await supertest(app).get(path)).status).to.equal(500);
      return logger.lines.map(({ message }) => message);
    }

    const guarded = (app: Express) => {
      app.use(fail);
      app.get('/menu/:day', fail);
      app.use('/deep', express.Router().get('/rows/:id', fail));
      const options = { models: [Guest], controllers: [TableController], routePrefix: '/api', logger };
      return bootstrap(app, options);
    };

    it('names the words of its routes, without ids and the query string', async () => {
      const own = ['/api/tables/7/seats', '/menu/sunday', `/${SECRET}/menu/`, '/deep/rows/7', '/'];
      for (const path of [`/api/guests/4711?q=${SECRET}`, ...own]) await messageOf(path, guarded);
      expect(logger.lines.map(({ message }) => message)).to.deep.equal([
        'GET /api/guests/:… failed',
        'GET /api/tables/:…/seats failed',
        'GET /menu/:… failed',
        'GET /:…/menu/ failed',
        'GET /:…/rows/:… failed',
        'GET / failed',
      ]);
    });

    it('names the words where a middleware of routing-controllers throws', async () => {
      const use = (app: Express) =>
        bootstrap(app, { models: [Guest], logger, routing: { middlewares: [Guard] } });
      expect(await messageOf('/guests/4711', use)).to.deep.equal(['GET /guests/:… failed']);
    });

    it('names the route where that is known', async () => {
      const app = express();
      app.get('/menu/:day', fail);
      await bootstrap(app, { models: [], logger });
      await supertest(app).get('/menu/sunday');
      expect(logger.lines.map(({ message }) => message)).to.deep.equal(['GET /menu/:day failed']);
    });
  });
});
