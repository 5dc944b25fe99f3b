/** A transaction ends whatever is thrown in it: also values that cannot be read, described or logged. */
import { expect } from 'chai';
import { IsInt } from 'class-validator';
import type { Response } from 'express';
import { Body, type ExpressErrorMiddlewareInterface, Middleware, Param, Post } from 'routing-controllers';
import { ValidationError, type ValidationErrorItem } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  dbSession,
  InjectUnitOfWork,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { poolStates } from '../../support/connections.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectProblem } from '../../support/expect-answer.js';
import { onEnd } from '../../support/on-end.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

function refuse(): never {
  throw new Error('This cannot be read.');
}

/** An error of which each of these properties throws when it is read. */
function unreadableError(...names: readonly string[]): Error {
  const error = new Error('no');
  for (const name of names) Object.defineProperty(error, name, { get: refuse });
  return error;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const THROWN: Readonly<Record<string, () => unknown>> = {
  'an error whose message and stack throw': () => unreadableError('stack', 'message', 'name'),
  'an error whose parent, cause and code throw': () => unreadableError('parent', 'cause', 'code', 'httpCode'),
  'a proxy that throws when its class is asked for': () => new Proxy({}, { getPrototypeOf: refuse }),
  'a proxy that throws when anything is read': () => new Proxy(new Error('no'), { get: refuse, has: refuse }),
  'a revoked proxy': revoked,
  'a validation error of plain objects': () =>
    new ValidationError('no', [{ path: 'text' }, null] as unknown as ValidationErrorItem[]),
  'a plain object': () => ({ code: 7 }),
  null: () => null,
};

let thrown: () => unknown = () => null;

@Crud()
@Table({ tableName: 'drafts', timestamps: false })
class Draft extends NumberedRow {
  @Column({
    type: DataType.STRING(40),
    validate: {
      spoken(text: unknown) {
        if (text === 'plain') throw { code: 7 };
        if (text === 'empty') throw {};
      },
    },
  })
  declare text: string;
}

class Checked {
  @IsInt() count!: number;
}

/** An error handler that answers everything itself. */
@Middleware({ type: 'after' })
class AnsweringMiddleware implements ExpressErrorMiddlewareInterface {
  error(_error: unknown, _request: unknown, response: Response): void {
    response.status(418).json({});
  }
}

class DraftController extends crudController(Draft) {
  override async create(values: CreateValues<Draft>, context: CrudContext<Draft>) {
    const draft = await super.create(values, context);
    if (values.text === 'thrown') throw thrown();
    return draft;
  }

  @Post('/:way/checked')
  checked(@InjectUnitOfWork() _uow: UnitOfWork, @Body() body: Checked) {
    return body;
  }

  @Post('/:way/throw')
  async throw(@Param('way') way: string, @InjectUnitOfWork() uow: UnitOfWork) {
    await uow.repository(Draft).create({ text: 'unit' });
    const fail = async () => {
      throw thrown();
    };
    if (way === 'savepoint') await uow.savepoint(fail);
    if (way === 'unit') await unitOfWork(fail);
    return fail();
  }
}

describe('a transaction in which something is thrown', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Draft],
    bootstrap: { controllers: [DraftController], logger },
    // A connection that is not given back is missed soon.
    engine: { pool: { max: 1, acquire: 1_000 } },
    prepare: (app) =>
      app.use(
        onEnd(() => {
          inUse = poolStates(site.engine).reduce((sum, { using }) => sum + using, 0);
        }),
      ),
  }));
  /** Connections in use when an answer was written. */
  let inUse: number | undefined;

  const expectWrites = async () => {
    expect(await Draft.count()).to.equal(0);
    expect((await site.agent.post('/drafts').send({ text: 'next' })).status).to.equal(201);
  };

  beforeEach(async () => {
    logger.clear();
    await emptyTables(site, 'drafts');
  });

  for (const [what, make] of Object.entries(THROWN)) {
    it(`[E2] ends in a request after ${what}`, async () => {
      thrown = make;
      const ways = ['/drafts/savepoint/throw', '/drafts/unit/throw', '/drafts/plain/throw', '/drafts'];
      for (const path of ways) {
        const response = await site.agent.post(path).send({ text: 'thrown' });
        expect(response.status, path).to.be.oneOf([422, 500]);
        expect(response.type).to.equal('application/problem+json');
        expect(inUse, `${path} is answered behind the rollback`).to.equal(0);
      }
      await expectWrites();
    });

    it(`ends in a unit of work and a read session after ${what}`, async () => {
      const value = make();
      const fail = async () => {
        throw value;
      };
      const failing = async (uow: UnitOfWork) => {
        await uow.repository(Draft).create({ text: 'unit' });
        await uow.savepoint(fail);
      };
      for (const run of [
        () => unitOfWork(failing),
        () => unitOfWork(failing, { retryable: true }),
        () => dbSession<unknown>(fail),
      ]) {
        // Compared without `expect`, which would read the value to show it. A promise rejects with it without reading it.
        expect(await run().catch((error: unknown) => error === value)).to.equal(true);
      }
      await expectWrites();
    });

    it(`ends in a hook after ${what}`, async () => {
      const hook = () => {
        throw make();
      };
      const send = () => site.agent.post('/drafts').send({ text: 'one' });
      expect((await withHook(Draft, 'afterCreate', hook, send)).status).to.be.oneOf([422, 500]);
      await expectWrites();
    });
  }

  it("ends where a parameter is wrong and an error handler of the user's answers", async () => {
    const routing = { middlewares: [AnsweringMiddleware] };
    const { agent } = await buildApp({ models: [Draft], controllers: [DraftController], routing, logger });
    await agent.post('/drafts/any/checked').send({ count: 'many' }).expect(418);
    await expectWrites();
  });

  for (const text of ['plain', 'empty']) {
    it(`ends after a rule that throws a plain object: ${text}`, async () => {
      expectProblem(await site.agent.post('/drafts').send({ text }), 422, {
        detail: 'text is not valid',
        errors: [{ pointer: '/text', code: 'spoken', detail: 'text is not valid' }],
      });
      await expectWrites();
    });
  }
});
