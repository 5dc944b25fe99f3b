/** Transactions of `Sequelize.useCLS`, which queries join without being given one: writes of this library are part of them. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import { expect } from 'chai';
import type { RequestHandler } from 'express';
import { HttpError, Post } from 'routing-controllers';
import { Sequelize as BaseSequelize, ConnectionRefusedError } from 'sequelize';
import { Column, DataType, Sequelize, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  configureEngine,
  crudController,
  type Engine,
  engineLifespan,
  type Id,
  Repository,
  type UpdateValues,
  unitOfWork,
} from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { caughtError } from '../../support/caught-error.js';
import { except } from '../../support/combination.js';
import { deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { listen } from '../../support/listen.js';
import { freshDatabase } from '../../support/postgres.js';

@Crud({ endpoints: ['list', 'read', 'create', 'update', 'delete', 'createMany', 'updateMany'] })
@Table({ tableName: 'cities', timestamps: false })
class City extends NamedRow {
  // Updates of such a column read the row first, and need a transaction.
  @Column(DataType.JSONB) declare notes: object | null;
}

/** As the package cls-hooked has it. */
class Namespace {
  readonly #contexts = new AsyncLocalStorage<Map<string, unknown>>();
  run(work: () => unknown): void {
    this.#contexts.run(new Map(this.#contexts.getStore()), work);
  }
  bind<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R {
    return AsyncResource.bind((...args: A) => work(...args));
  }
  get(name: string): unknown {
    return this.#contexts.getStore()?.get(name);
  }
  set(name: string, value: unknown): void {
    this.#contexts.getStore()?.set(name, value);
  }
}

const REFUSED = new Error('It is undone.');
/** Of another server: the connection of the transaction is sound. */
const LOST = new ConnectionRefusedError(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));

for (const [whose, open] of [
  ['an engine', (url: string) => engineLifespan(url, { models: [City], pool: { max: 1 } })()],
  [
    "an instance of the user's",
    async (url: string) =>
      configureEngine({
        sequelize: new Sequelize(url, { models: [City], logging: false, pool: { max: 1 } }),
      }),
  ],
] as const) {
  describe(`an ambient transaction of ${whose}`, () => {
    let database: Awaited<ReturnType<typeof freshDatabase>>;
    let engine: Engine;
    const cities = new Repository(City);

    before(async () => {
      BaseSequelize.useCLS(new Namespace());
      database = await freshDatabase();
      engine = await open(database.url);
      await engine.sequelize.sync();
    });

    after(async () => {
      await engine[Symbol.asyncDispose]();
      await engine.sequelize.close();
      // There is no other end of it, and other files have none.
      Reflect.deleteProperty(BaseSequelize, '_cls');
      await database.drop();
    });

    beforeEach(async () => {
      await emptyTables({ engine }, 'cities');
      await City.bulkCreate([{ name: 'Lyon' }, { name: 'Nice' }]);
    });

    const names = async () =>
      (await City.findAll({ order: ['id'], transaction: null })).map(({ name }) => name);
    const inAmbient = <T>(work: () => Promise<T>): Promise<T> => engine.sequelize.transaction(work);

    let ended: Promise<unknown> = Promise.resolve();
    /** The whole request is one transaction. An answer that is an error undoes it, and so does the header. */
    const wrap: RequestHandler = (request, response, next) => {
      ended = inAmbient(async () => {
        const closed = once(response, 'close');
        next();
        await closed;
        if (response.statusCode >= 400 || request.get('x-undo')) throw REFUSED;
      }).catch(() => {});
    };

    class Cities extends crudController(City) {
      @Post('/rename')
      async rename(): Promise<never> {
        await cities.create({ name: 'Paris' });
        await cities.update(1, { name: 'Lille', notes: { a: 1 } });
        await cities.delete(2);
        throw new HttpError(409, 'It is refused.');
      }
    }
    /** Sends a request, and waits for the end of its transaction. */
    const send = async (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => {
      const { app } = await buildApp({ models: [City], controllers: [Cities] }, (own) => own.use(wrap));
      await using server = await listen(app);
      const answer = await fetch(`${server.url}${path}`, {
        method,
        headers: { 'Content-Type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      await answer.text();
      await ended;
      return answer.status;
    };

    it('undoes all that an own route has written by a repository', async () => {
      expect(await send('POST', '/cities/rename')).to.equal(409);
      expect(await names()).to.deep.equal(['Lyon', 'Nice']);
    });

    for (const [method, path, body, status] of [
      ['POST', '/cities', { name: 'Paris' }, 201],
      ['POST', '/cities', [{ name: 'Paris' }, { name: 'Brest' }], 201],
      ['PATCH', '/cities/1', { name: 'Paris', notes: { a: 1 } }, 200],
      ['DELETE', '/cities/1', undefined, 204],
    ] as const) {
      it(`undoes ${method} ${path} of ${Array.isArray(body) ? 'several' : 'one'}, also with hooks`, async () => {
        expect(await send(method, path, body, { 'x-undo': '1' })).to.equal(status);
        using _hooks = addedHook(City, 'afterSave', () => {});
        using _destroy = addedHook(City, 'afterDestroy', () => {});
        expect(await send(method, path, body, { 'x-undo': '1' })).to.equal(status);
        expect(await names()).to.deep.equal(['Lyon', 'Nice']);
      });
    }

    /** Each of its methods opens a transaction of its own around the generated one. */
    class OwnTransactions extends crudController(City) {
      override create(values: CreateValues<City>, context: CrudContext<City>): Promise<City> {
        return this.#inOwn(values, () => super.create(values, context));
      }
      override update(id: Id, values: UpdateValues<City>, context: CrudContext<City>): Promise<City> {
        return this.#inOwn(values, () => super.update(id, values, context));
      }
      override remove(id: Id, context: CrudContext<City>): Promise<void> {
        return this.#inOwn({}, () => super.remove(id, context));
      }
      #inOwn<T>({ notes }: Partial<City>, work: () => Promise<T>): Promise<T> {
        return inAmbient(async () => {
          await City.findAll();
          await City.create({ name: 'beside' });
          const result = await work();
          if (notes) throw new HttpError(409, 'It is refused.');
          return result;
        });
      }
    }

    const { it: itOpens } = except({ unit: 'its unit has the only connection' });
    for (const [method, path, body, status, kept] of [
      ['POST', '/cities', { name: 'Paris' }, 201, ['Lyon', 'Nice', 'beside', 'Paris']],
      ['PATCH', '/cities/1', { name: 'Paris' }, 200, ['Paris', 'Nice', 'beside']],
      ['DELETE', '/cities/1', undefined, 204, ['Nice', 'beside']],
      ['POST', '/cities', { name: 'Paris', notes: {} }, 409, ['Lyon', 'Nice']],
      ['PATCH', '/cities/1', { name: 'Paris', notes: {} }, 409, ['Lyon', 'Nice']],
    ] as const)
      itOpens(
        `answers ${status} to ${method} ${path} of an override that opens one, whose work it has`,
        async () => {
          for (const fastPath of [true, false]) {
            await emptyTables({ engine }, 'cities');
            await City.bulkCreate([{ name: 'Lyon' }, { name: 'Nice' }]);
            const { app } = await buildApp({ models: [City], controllers: [OwnTransactions], fastPath });
            await using server = await listen(app);
            const answer = await fetch(`${server.url}${path}`, {
              method,
              headers: { 'Content-Type': 'application/json' },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            });
            expect(answer.status).to.equal(status);
            expect(await names()).to.deep.equal(kept);
          }
        },
      );

    it('commits a change of a row that it has locked', async () => {
      await inAmbient(async () => {
        await City.update({ name: 'locked' }, { where: { id: 1 } });
        await cities.update(1, { notes: { a: 1 } });
        await unitOfWork(async (uow) => uow.repository(City).update(1, { name: 'Lille' }));
      });
      expect(await names()).to.deep.equal(['Lille', 'Nice']);
    });

    for (const [title, cause] of [
      ['that fails', REFUSED],
      ['that another server fails', LOST],
    ] as const)
      it(`goes on after a unit of work ${title}, which is undone alone`, async () => {
        await inAmbient(async () => {
          await cities.create({ name: 'Paris' });
          const failed = unitOfWork(async (uow) => {
            await uow.repository(City).create({ name: 'Brest' });
            await uow.repository(City).update(1, { name: 'Lille' });
            throw cause;
          });
          expect(await caughtError(() => failed)).to.equal(cause);
          await cities.create({ name: 'Metz' });
        });
        expect(await names()).to.deep.equal(['Lyon', 'Nice', 'Paris', 'Metz']);
      });

    it('goes on after a unit of work whose failed query was caught, which is an error', async () => {
      await inAmbient(async () => {
        const failed = unitOfWork(async (uow) => {
          await uow.repository(City).create({ name: 'Brest' });
          await engine.sequelize.query('SELECT 1 / 0', { transaction: uow.transaction }).catch(() => {});
        });
        expect(await caughtError(() => failed)).to.have.property('name', 'RolledBackError');
        await cities.create({ name: 'Metz' });
      });
      expect(await names()).to.deep.equal(['Lyon', 'Nice', 'Metz']);
    });

    it('runs callbacks of a unit of work after its own commit, and none where it is undone', async () => {
      const ran: string[] = [];
      const unit = (name: string) =>
        unitOfWork(async (uow) => {
          await uow.repository(City).create({ name });
          uow.afterCommit(() => ran.push(name));
        });
      await inAmbient(async () => {
        await unit('Paris');
        expect(ran).to.deep.equal([]);
      });
      expect(ran).to.deep.equal(['Paris']);
      await inAmbient(async () => {
        await unit('Brest');
        throw REFUSED;
      }).catch(() => {});
      expect(ran).to.deep.equal(['Paris']);
      expect(await names()).to.deep.equal(['Lyon', 'Nice', 'Paris']);
    });

    it('has one write at a time, and any number in a unit of work', async () => {
      const rename = (name: string) => [1, 2].map((id) => cities.update(id, { name, notes: { id } }));
      let under: readonly Promise<unknown>[] = [];
      const error = await caughtError(() =>
        inAmbient(() => {
          under = rename('twice');
          return Promise.all(under);
        }),
      );
      // One is refused, and the other one, which is under way, has no transaction to write in.
      const ends = await Promise.allSettled(under);
      expect(ends.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
      expect(error).to.have.property(
        'message',
        'A transaction of Sequelize.useCLS has one unit of work, or one write of a repository, at a time; wait for the first one, or ' +
          'put both into one unitOfWork.',
      );
      expect(await names()).to.deep.equal(['Lyon', 'Nice']);
      await inAmbient(() => unitOfWork(() => Promise.all(rename('both'))));
      expect(await names()).to.deep.equal(['both', 'both']);
    });

    it('is none any more once it has ended', async () => {
      const open = deferred();
      const later = await inAmbient(async () => {
        await City.findAll();
        const change = open.promise.then(() => cities.update(1, { name: 'Lille' }));
        return { change };
      });
      open.resolve();
      await later.change;
      expect(await names()).to.deep.equal(['Lille', 'Nice']);
    });
  });
}

@Crud({ prefix: '/towns', endpoints: ['list', 'read', 'create', 'update', 'delete'] })
@Table({ tableName: 'cities', timestamps: false })
class Town extends NamedRow {}

describe('an ambient transaction of another engine', () => {
  it('is joined by no query of an engine, whose tables have the same names', async () => {
    BaseSequelize.useCLS(new Namespace());
    try {
      const [database, other] = [await freshDatabase(), await freshDatabase()];
      await using engine = await engineLifespan(database.url, { models: [City] })();
      await using own = await engineLifespan(other.url, { models: [Town] })();
      for (const each of [engine, own]) await each.sequelize.sync();
      await City.create({ name: 'Lyon' });
      const wrap: RequestHandler = (_request, response, next) => {
        void engine.sequelize.transaction(async () => {
          const closed = once(response, 'close');
          next();
          await closed;
        });
      };
      for (const fastPath of [true, false]) {
        await Town.truncate({ restartIdentity: true });
        const { agent } = await buildApp({ models: [Town], fastPath }, (app) => app.use(wrap));
        expect((await agent.post('/towns').send({ name: 'a' })).body).to.deep.equal({ id: 1, name: 'a' });
        expect((await agent.get('/towns')).body.items).to.deep.equal([{ id: 1, name: 'a' }]);
        expect((await agent.patch('/towns/1').send({ name: 'b' })).body.name).to.equal('b');
        expect((await agent.get('/towns/1')).body).to.deep.equal({ id: 1, name: 'b' });
        expect((await agent.delete('/towns/1')).status).to.equal(204);
        const found = await engine.sequelize.transaction(() => Town.findAll());
        expect(found).to.deep.equal([]);
        expect((await City.findAll()).map(({ id, name }) => ({ id, name }))).to.deep.equal([
          { id: 1, name: 'Lyon' },
        ]);
      }
    } finally {
      Reflect.deleteProperty(BaseSequelize, '_cls');
    }
  });
});
