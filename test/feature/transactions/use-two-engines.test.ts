/** A request that works with two engines: a session of one does not hide the transaction of the other. */
// @runs fast
import { expect } from 'chai';
import { HttpError } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  dbSession,
  type ListQuery,
  Repository,
  unitOfWork,
} from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

@Crud()
@Table({ tableName: 'cities', timestamps: false })
class City extends NamedRow {}

@Table({ tableName: 'entries', timestamps: false })
class Entry extends NamedRow {}

const LYON = { name: 'Lyon' };

describe('a request that works with two engines', () => {
  const main = serveTestApp(() => ({ models: [City] }));
  const audit = serveTestApp(() => ({ models: [Entry], bootstrap: { models: [] }, minPool: 3 }));
  const cities = new Repository(City);
  const entries = new Repository(Entry);

  const inAudit = <T>(work: () => Promise<T>) =>
    unitOfWork(
      async (uow) => {
        await uow.repository(Entry).create({ name: 'before' });
        return work();
      },
      { engine: audit.engine },
    );
  const readAudit = <T>(work: () => Promise<T>) => dbSession(work, { engine: audit.engine });
  const inMain = <T>(work: () => Promise<T>) => unitOfWork(work, { engine: main.engine });
  const stored = async () => ({
    cities: (await cities.list()).map(({ name }) => name),
    entries: (await entries.list()).map(({ name }) => name),
  });

  /** Sends a create to an override that works around the generated method, and refuses the record afterwards. */
  const refusedCreate = async (around: (create: () => Promise<City>) => Promise<unknown>) => {
    class Cities extends crudController(City) {
      override async create(values: CreateValues<City>, context: CrudContext<City>): Promise<City> {
        await around(() => super.create(values, context));
        throw new HttpError(409, 'It is refused.');
      }
    }
    const { agent } = await buildApp({ models: [City], controllers: [Cities] });
    expectProblem(await agent.post('/cities').send(LYON), 409, { detail: 'It is refused.' });
  };

  beforeEach(async () => {
    await emptyTables(main, 'cities');
    await emptyTables(audit, 'entries');
  });

  for (const [whose, create] of Object.entries({
    'the generated method': (generated: () => Promise<City>) => generated(),
    'a repository': () => cities.create(LYON),
    'a model': () => City.create(LYON),
    'a unit of work': () => inMain(() => cities.create(LYON)),
    'a unit of work inside of sessions of both': () =>
      readAudit(() => inMain(() => readAudit(() => cities.create(LYON)))),
  })) {
    it(`undoes what ${whose} has written inside of a unit of the other one`, async () => {
      await refusedCreate((generated) => inAudit(() => create(generated)));
      expect(await stored()).to.deep.equal({ cities: [], entries: ['before'] });
    });

    it(`undoes what ${whose} has written inside of a read session of the other one`, async () => {
      await refusedCreate((generated) => readAudit(() => create(generated)));
      expect(await stored()).to.deep.equal({ cities: [], entries: [] });
    });
  }

  it('undoes what hooks of a model of the other one have written', async () => {
    const copy = async ({ name }: Entry) => {
      await cities.create({ name });
    };
    await withHook(Entry, 'afterCreate', copy, () => refusedCreate(() => entries.create({ name: 'other' })));
    expect(await stored()).to.deep.equal({ cities: [], entries: ['other'] });
  });

  it('commits all of it where nothing is refused', async () => {
    class Cities extends crudController(City) {
      override create(values: CreateValues<City>, context: CrudContext<City>): Promise<City> {
        return inAudit(() => super.create(values, context));
      }
    }
    const { agent } = await buildApp({ models: [City], controllers: [Cities] });
    expectJson(await agent.post('/cities').send(LYON), 201, { id: 1, ...LYON });
    expect(await stored()).to.deep.equal({ cities: ['Lyon'], entries: ['before'] });
  });

  it('cannot write in a GET, inside of a unit of the other one either', async () => {
    class Cities extends crudController(City) {
      override list(query: ListQuery, context: CrudContext<City>) {
        return inAudit(async () => {
          await City.create(LYON);
          return super.list(query, context);
        });
      }
    }
    const logger = new CapturedLog();
    const { agent } = await buildApp({ models: [City], controllers: [Cities], logger });
    expect((await agent.get('/cities')).status).to.equal(500);
    expect(await stored()).to.deep.equal({ cities: [], entries: [] });
  });

  it('refuses a model of the other one in a unit or a session, and in a transaction that is passed', async () => {
    const bound = 'is bound to a unit of work or a session of another engine';
    const writes = [
      () => unitOfWork((uow) => uow.repository(Entry).create(LYON), { engine: main.engine }),
      () => unitOfWork((uow) => entries.with(uow).list(), { engine: main.engine }),
      () => dbSession((session) => session.repository(Entry).list(), { engine: main.engine }),
      () => unitOfWork(({ transaction }) => Entry.create(LYON, { transaction }), { engine: main.engine }),
    ];
    const errors = (await Promise.all(writes.map((work) => caughtError(work)))) as Error[];
    for (const error of errors) expect(error).to.be.instanceOf(TypeError);
    expect(errors.slice(0, 3).every(({ message }) => message.includes(bound))).to.equal(true);
    expect(errors[3]?.message).to.match(/^The transaction of a query is of another Sequelize instance/);
    expect(await stored()).to.deep.equal({ cities: [], entries: [] });
  });

  it('has a unit of work of each, which end one by one', async () => {
    const failed = inMain(async () => {
      await cities.create({ name: 'outer' });
      await inAudit(async () => {
        await cities.create({ name: 'inner' });
        await entries.create({ name: 'inner' });
      });
      throw new Error('no');
    });
    await failed.catch(() => {});
    expect(await stored()).to.deep.equal({ cities: [], entries: ['before', 'inner'] });
  });
});
