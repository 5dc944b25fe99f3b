/** A middleware that answers each request in a unit of work of its own: all that the request writes is part of it. */
import { type EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import type { Request, RequestHandler } from 'express';
import { Body, type InterceptorInterface, Post, Req, UseInterceptor } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  InjectUnitOfWork,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { runInUnit } from '../../support/run-in-unit.js';
import { serveTestApp } from '../../support/test-app.js';

@Table({ timestamps: false })
abstract class Named extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
}

@Crud({ prefix: '/plain' })
@Table({ tableName: 'plain' })
class Plain extends Named {}

@Crud({ prefix: '/hooked' })
@Table({ tableName: 'hooked', hooks: { afterCreate: () => {}, afterUpdate: () => {} } })
class Hooked extends Named {}

@Crud({ prefix: '/overridden' })
@Table({ tableName: 'overridden' })
class Overridden extends Named {}

@Crud({ prefix: '/shaped' })
@Table({ tableName: 'shaped', timestamps: false })
class Shaped extends NumberedRow {
  @Column(DataType.TEXT)
  get name(): string {
    return this.getDataValue('name');
  }
  set name(value: string) {
    this.setDataValue('name', value);
  }
}

@Crud({ prefix: '/crowd', endpoints: ['createMany', 'updateMany', 'deleteMany'], filterAllow: ['name'] })
@Table({ tableName: 'crowd' })
class Crowd extends Named {}

@Crud({ prefix: '/kept', history: true })
@Table({ tableName: 'kept' })
class Kept extends Named {}

function rollBack(): never {
  throw new RangeError('rolled back');
}

/** The error of a write that comes when the client has gone. */
let late: Promise<unknown> | undefined;

class Refuse implements InterceptorInterface {
  intercept(): never {
    throw new RangeError('refused');
  }
}

class OverriddenController extends crudController(Overridden) {
  override async create(values: { name: string }, context: CrudContext<Overridden>) {
    const created = await super.create(values, context);
    if (values.name === 'refused') throw new RangeError('too late');
    return created;
  }

  @Post('/left')
  async leave(@Req() request: Request, @InjectUnitOfWork() unit: UnitOfWork) {
    await unit.repository(Overridden).create({ name: 'early' });
    const gone = once(request.res as object as EventEmitter, 'close');
    request.socket.destroy();
    await gone;
    late = caughtError(() => unit.repository(Overridden).create({ name: 'late' }));
    await late;
  }

  @Post('/intercepted')
  @UseInterceptor(Refuse)
  addAndFail(@Body() values: { name: string }, @InjectUnitOfWork() unit: UnitOfWork) {
    return this.inject(values, unit);
  }

  @Post('/injected')
  inject(@Body() { name }: { name: string }, @InjectUnitOfWork() unit: UnitOfWork) {
    return unit.repository(Overridden).create({ name });
  }
}

const MODELS = [Plain, Hooked, Overridden, Shaped];
const ROUTES = ['/plain', '/hooked', '/overridden', '/shaped'];

describe('a middleware that runs requests in a unit of work', () => {
  const log = new CapturedLog();
  const site = serveTestApp(() => {
    // One connection: a second transaction would wait for ever.
    const pool = { max: 1, acquire: 1_000 };
    return { models: [...MODELS, Crowd], engine: { pool }, bootstrap: { models: [] } };
  });
  let agent: BuiltApp['agent'];
  /** Ends the unit when the request has its answer. */
  let end: () => void;
  let outcome: Promise<unknown>;

  const inUnit: RequestHandler = (_request, response, next) => {
    const answered = new Promise((resolve) => response.once('close', resolve));
    const unit = unitOfWork(async () => {
      next();
      await answered;
      end();
    });
    outcome = unit.then(
      () => 'committed',
      (error: Error) => error.message,
    );
  };
  const stored = async (path: string) =>
    (await site.engine.sequelize.query(`SELECT name FROM ${path.split('/')[1]} ORDER BY id`))[0];

  before(async () => {
    const options = { models: MODELS, controllers: [OverriddenController], logger: log };
    ({ agent } = await buildApp(options, (app) => void app.use(inUnit)));
  });

  beforeEach(async () => {
    await emptyTables(site, ...ROUTES.map((path) => path.slice(1)), 'crowd');
    end = () => {};
    log.clear();
  });

  for (const path of [...ROUTES, '/overridden/injected']) {
    it(`commits what POST ${path} has written, when the unit is committed`, async () => {
      const { body, status } = await agent.post(path).send({ name: 'kept' });
      expect(status).to.be.oneOf([200, 201]);
      expect(body).to.deep.equal({ id: 1, name: 'kept' });
      expect(await outcome).to.equal('committed');
      expect(await stored(path)).to.deep.equal([{ name: 'kept' }]);
    });

    it(`writes nothing of POST ${path} where the unit is rolled back`, async () => {
      end = rollBack;
      expect((await agent.post(path).send({ name: 'lost' })).body).to.deep.equal({ id: 1, name: 'lost' });
      expect(await outcome).to.equal('rolled back');
      expect(await stored(path)).to.deep.equal([]);
    });
  }

  for (const path of ROUTES) {
    it(`rolls back changes and deletes of ${path}, too`, async () => {
      await agent.post(path).send({ name: 'kept' }).expect(201);
      await outcome;
      end = rollBack;
      expectJson(await agent.patch(`${path}/1`).send({ name: 'lost' }), 200, { id: 1, name: 'lost' });
      expect(await outcome).to.equal('rolled back');
      await agent.delete(`${path}/1`).expect(204);
      expect(await outcome).to.equal('rolled back');
      expect(await stored(path)).to.deep.equal([{ name: 'kept' }]);
    });
  }

  except(OF_MANY).it('rolls back what is written to many records, too', async () => {
    const { agent: many } = await buildApp({ models: [Crowd], logger: log }, (app) => void app.use(inUnit));
    const items = [{ id: 1, name: 'kept' }];
    expectJson(await many.post('/crowd').send([{ name: 'kept' }]), 201, { items });
    expect(await outcome).to.equal('committed');
    end = rollBack;
    const lost = [{ name: 'lost' }];
    await many.post('/crowd').send(lost).expect(201);
    expect(await outcome).to.equal('rolled back');
    expectJson(await many.patch('/crowd?q=name==kept').send({ name: 'lost' }), 200, { affected: 1 });
    expect(await outcome).to.equal('rolled back');
    expectJson(await many.delete('/crowd?q=name==kept'), 200, { affected: 1 });
    expect(await outcome).to.equal('rolled back');
    expect(await stored('/crowd')).to.deep.equal([{ name: 'kept' }]);
  });

  it('is left by reads, which see what is committed', async () => {
    const options = { models: MODELS, controllers: [OverriddenController], logger: log };
    const reading = await buildApp(options, (app) =>
      app.use((_request, response, next) => {
        const answered = new Promise((resolve) => response.once('close', resolve));
        outcome = unitOfWork(async (unit) => {
          for (const model of MODELS) await unit.repository(model).create({ name: 'early' });
          next();
          await answered;
        });
      }),
    );
    for (const path of ROUTES) {
      await emptyTables(site, ...ROUTES.map((each) => each.slice(1)));
      expect((await reading.agent.get(path).expect(200)).body.items, path).to.deep.equal([]);
      await outcome;
      expect(await stored(path)).to.deep.equal([{ name: 'early' }]);
    }
  });

  it('is rolled back where the client goes away, and later writes of the method fail', async () => {
    await caughtError(() => agent.post('/overridden/left').send({}));
    expect(await outcome).to.include('client has gone');
    expect(await late).to.be.an('error');
    expect(await stored('/overridden')).to.deep.equal([]);
  });

  except({ unit: 'the middleware of the combination rolls back what is answered with an error' }).it(
    'is committed where an interceptor throws behind the writes, as they are without a unit',
    async () => {
      const answer = await agent.post('/overridden/intercepted').send({ name: 'kept' });
      expectProblem(answer, 500, { detail: 'Internal Server Error' });
      expect(await outcome).to.equal('committed');
      expect(await stored('/overridden')).to.deep.equal([{ name: 'kept' }]);
    },
  );

  it('cannot commit what a method has written that failed', async () => {
    const answer = await agent.post('/overridden').send({ name: 'refused' });
    expectProblem(answer, 500, { detail: 'Internal Server Error' });
    expect(await outcome).to.include('savepoint');
    expect(await stored('/overridden')).to.deep.equal([]);
  });
});

describe('a unit of work that has the only connection of the pool', () => {
  const site = serveTestApp(() => ({ models: [Kept], engine: { pool: { max: 1, acquire: 1_000 } } }));

  it('writes rows whose changes are stored', async () => {
    const { agent } = await buildApp({ models: [Kept] }, (app) =>
      app.use(runInUnit(() => site.engine.sequelize)),
    );
    expectJson(await agent.post('/kept').send({ name: 'A' }), 201, { id: 1, name: 'A' });
    const [changes] = await site.engine.sequelize.query('SELECT op FROM crud_changes');
    expect(changes).to.have.length(1);
  });
});
