/** The settings of a request are those of its statements, whatever runs them, and of no others. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import {
  type Action,
  Controller,
  createParamDecorator,
  Get,
  HttpError,
  Interceptor,
  type InterceptorInterface,
} from 'routing-controllers';
import type { Transaction } from 'sequelize';
import {
  AfterFind,
  AutoIncrement,
  BeforeBulkCreate,
  Column,
  DataType,
  Model,
  PrimaryKey,
  Sequelize,
  Table,
} from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  configureEngine,
  crudController,
  type EngineOptions,
  InjectRepository,
  type ListQuery,
  type ModelClass,
  Repository,
  unitOfWork,
} from '../../../src/index.js';
import { statementRunner } from '../../../src/postgres/connections/statement-runner.js';
import { currentSettings, runWithSettings, settingsOf } from '../../../src/postgres/session/session.js';
import { TitledRow } from '../../models/rows.js';
import { buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { forSuite } from '../../support/for-suite.js';
import { runInUnit } from '../../support/run-in-unit.js';
import { ROWS, rowsOf, TENANTS, TenantDatabase } from '../../support/tenant-database.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

abstract class Row extends TitledRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
}

@Crud()
@Table({ tableName: 'papers', timestamps: false })
class Paper extends Row {}

/** A request with the tenant that a dependency has set. */
interface KnownRequest extends Request {
  tenant?: string;
}

/** A model whose statements only Sequelize runs. */
@Crud({
  dependencies: [
    (request: KnownRequest, _response, next) => {
      request.tenant = 'tenant 5';
      next();
    },
  ],
})
@Table({ tableName: 'papers', timestamps: false })
class Hooked extends Row {
  @AfterFind
  @BeforeBulkCreate
  static idle(): void {}
}

const MODELS = [Paper, Hooked];
const TENANT = `SELECT current_setting('app.tenant', true)`;
const of = (tenant: string) => settingsOf([['app.tenant', tenant]]);

const DRIVERS: Readonly<Record<string, EngineOptions>> = {
  'with pg': {},
  'without prepared statements': { preparedStatements: false },
};

describe('the settings of statements', () => {
  const database = forSuite(() => TenantDatabase.create(['papers']));

  before(() =>
    database.control.query(`
      CREATE FUNCTION tell_on_primary() RETURNS text LANGUAGE plpgsql AS $f$ BEGIN
        IF current_setting('default_transaction_read_only') = 'on' THEN RAISE 'not here' USING ERRCODE = '40001'; END IF;
        RETURN current_setting('app.tenant', true);
      END $f$`),
  );

  const start = (engine: EngineOptions, bootstrap = {}, models: ModelClass[] = MODELS): Promise<TestApp> =>
    startTestApp({
      models,
      database: { url: database.url() },
      minPool: 4,
      engine: {
        createAll: false,
        pool: { max: 4 },
        groupCommit: engine.preparedStatements !== false,
        ...engine,
      },
      bootstrap: { logger: new CapturedLog(), ...bootstrap },
    });

  for (const [name, engine] of Object.entries(DRIVERS)) {
    describe(name, () => {
      const site = forSuite(() => start(engine));
      const runnerOf = (tenant: string) => {
        const runner = statementRunner(site.engine.sequelize);
        return tenant === '' ? runner : runner.withSettings(of(tenant));
      };

      it('are seen by no other that is sent at the same time', async () => {
        const asked = Array.from({ length: 240 }, async (_, index) => {
          const tenant = index % 4 === 3 ? '' : `tenant ${index % 5}`;
          const on = runnerOf(tenant);
          const form = (['read', 'readPlanned', 'write'] as const)[Math.floor(index / 4) % 3] ?? 'read';
          const text = index % 7 === 6 ? `SELECT 1 / 0, current_setting('app.tenant', true)` : TENANT;
          const isPlanned = form === 'readPlanned';
          const given = form === 'write' ? on.write(text, []) : on.read(text, [], 'papers', isPlanned);
          const seen = await given.then(
            ({ rows }) => rows[0]?.[0] ?? '',
            (error: Error) => error.message,
          );
          expect(seen, `${index}`).to.equal(text === TENANT ? tenant : 'division by zero');
        });
        await Promise.all(asked);
      });

      it('go with a read that is repeated on the primary', async () => {
        const text = 'SELECT tell_on_primary()';
        const { rows } = await runnerOf('tenant 3').read(text, [], 'papers', true);
        expect(rows).to.deep.equal([['tenant 3']]);
        const bySequelize = await runWithSettings(of('tenant 4'), () =>
          site.engine.sequelize.query(text, { type: 'SELECT' }),
        );
        expect(bySequelize).to.deep.equal([{ tell_on_primary: 'tenant 4' }]);
      });

      it('are there from the first statement of a transaction to the last, whoever sends it', async () => {
        const tell = async (transaction: Transaction) => {
          const [rows] = await site.engine.sequelize.query(TENANT, { transaction });
          return (rows[0] as { current_setting: string }).current_setting;
        };
        const papers = new Repository(Paper);
        for (const isOurs of [true, false]) {
          const seen = await runWithSettings(of('tenant 2'), () =>
            unitOfWork(async (uow) => {
              const first = isOurs ? (await papers.list()).length : await tell(uow.transaction);
              await uow
                .savepoint(async () => {
                  await papers.create({ title: 'x', tenant: 'tenant 1' });
                })
                .catch(() => {});
              return [first, await tell(uow.transaction), (await papers.page({ page: 1, size: 9 })).total];
            }),
          );
          expect(seen).to.deep.equal([isOurs ? ROWS : 'tenant 2', 'tenant 2', ROWS]);
        }
      });

      it('are set again where a unit of work is run again', async () => {
        let attempts = 0;
        const work = async () => {
          attempts += 1;
          const own = await new Repository(Paper).list();
          if (attempts === 1)
            await site.engine.sequelize.query(`DO $$ BEGIN RAISE 'again' USING ERRCODE = '40001'; END $$`);
          return own.length;
        };
        const given = await runWithSettings(of('tenant 2'), () => unitOfWork(work, { retryable: true }));
        expect([given, attempts]).to.deep.equal([ROWS, 2]);
      });
    });
  }

  it('reach repositories on an instance of the user', async () => {
    const sequelize = new Sequelize(database.url(), { dialect: 'postgres', logging: false, models: MODELS });
    await using _engine = configureEngine({ sequelize });

    @Controller('/desk')
    class DeskController {
      @Get('/')
      async all(
        @InjectRepository(Paper) papers: Repository<Paper>,
        @InjectRepository(Hooked) hooked: Repository<Hooked>,
      ) {
        const [own] = rowsOf(2);
        const page = await hooked.page({ page: 1, size: 9 });
        const walked = await hooked.cursorPage({ size: 9 });
        const rows = [
          await papers.get(own as number),
          await hooked.get(own as number),
          ...(await hooked.list()),
        ];
        return { tenants: [...rows, ...page.items, ...walked.items].map(({ tenant }) => tenant) };
      }
    }

    const rls = { settings: () => ({ 'app.tenant': 'tenant 2' }) };
    for (const { agent } of await buildBoth({ models: MODELS, controllers: [DeskController], rls })) {
      const { tenants } = (await agent.get('/desk')).body;
      expect(tenants).to.deep.equal(Array(2 + 3 * ROWS).fill('tenant 2'));
      for (const path of ['/papers', '/hookeds']) {
        expect((await agent.get(path)).body.total).to.equal(ROWS);
        const body = { title: 'x', tenant: 'tenant 2' };
        const { id } = (await agent.post(path).send(body)).body;
        expect((await agent.post(path).send({ ...body, tenant: 'tenant 1' })).status).to.equal(403);
        expect((await agent.patch(`${path}/${id}`).send({ title: 'y' })).status).to.equal(200);
        expect((await agent.delete(`${path}/${id}`)).status).to.equal(204);
      }
    }
    await sequelize.close();
  });

  it('reach a unit of work that a request joins, and no request of another tenant joins it', async () => {
    const rls = { settings: (request: Request) => ({ 'app.tenant': request.get('tenant') }) };
    const { engine } = await start({});
    await using _engine = engine;
    const within = runInUnit(() => engine.sequelize);
    for (const { agent } of await buildBoth({ models: MODELS, rls }, (app) => app.use(within))) {
      for (const path of ['/papers', '/hookeds']) {
        const body = { title: 'x', tenant: 'tenant 3' };
        const { status, body: made } = await agent.post(path).set('tenant', 'tenant 3').send(body);
        expect(status).to.equal(201);
        const change = () => agent.patch(`${path}/${made.id}`).send({ title: 'y' });
        expect((await change().set('tenant', 'tenant 4')).status).to.equal(404);
        expect((await change().set('tenant', 'tenant 3')).status).to.equal(200);
        expect((await agent.delete(`${path}/${made.id}`).set('tenant', 'tenant 3')).status).to.equal(204);
      }
    }
    const joined = () =>
      unitOfWork(async () => {
        await runWithSettings(of('tenant 3'), () => Paper.findAll());
        return runWithSettings(of('tenant 4'), () => Paper.findAll());
      });
    expect(await caughtError(joined))
      .to.have.property('message')
      .that.contains('settings of another one');
  });

  it('reach code of the user in parameters, methods, rules, getters and interceptors', async () => {
    const rls = { settings: () => ({ 'app.tenant': 'tenant 2' }) };
    const seen: unknown[] = [];
    const look = async (): Promise<number> => {
      const count = await Paper.count();
      seen.push(count);
      return count;
    };

    @Interceptor()
    class Looking implements InterceptorInterface {
      async intercept(_action: Action, result: object): Promise<object> {
        return { ...result, counted: await look() };
      }
    }
    const Looked = () => createParamDecorator({ value: look });

    @Controller('/counter')
    class Counter {
      @Get('/')
      async count(@Looked() counted: number) {
        return { counted, again: await look() };
      }
    }
    class Overriding extends crudController(Paper) {
      override async list(query: ListQuery, context: CrudContext<Paper>) {
        await look();
        return super.list(query, context);
      }
    }
    class Ruled extends crudController(Paper, { can: { list: async () => (await look()) > 0 } }) {}
    @Crud()
    @Table({ tableName: 'papers', timestamps: false })
    class Told extends Model {
      @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;

      @Column(DataType.TEXT)
      get title(): string {
        // A getter cannot wait for a query.
        seen.push(currentSettings() && ROWS);
        return this.getDataValue('title');
      }
    }

    for (const [path, more] of [
      ['/counter', { controllers: [Counter] }],
      ['/papers', { controllers: [Overriding] }],
      ['/papers', { controllers: [Ruled] }],
      ['/papers', { routing: { interceptors: [Looking] } }],
      ['/tolds/3', { models: [...MODELS, Told] }],
    ] as const) {
      await using site = await start({}, { rls, ...more }, [...MODELS, Told]);
      expect((await site.agent.get(path)).status).to.equal(200);
      expect(new Set(seen.splice(0))).to.deep.equal(new Set([ROWS]));
    }
  });

  describe('are asked', () => {
    let answer: (request: KnownRequest) => unknown;
    let asked = 0;
    const logger = new CapturedLog();
    const statements: string[] = [];

    const site = forSuite(() => {
      const settings = (request: KnownRequest) => {
        asked += 1;
        return answer(request);
      };
      return start({ logging: (text) => void statements.push(text) }, { logger, rls: { settings } });
    });

    it('once for a request, also by a promise', async () => {
      answer = async () => ({ 'app.tenant': 'tenant 1' });
      for (const path of ['/papers', '/hookeds?size=2', '/papers/2']) {
        asked = 0;
        expect((await site.agent.get(path)).status).to.equal(200);
        expect(asked).to.equal(1);
      }
    });

    it('behind the dependencies', async () => {
      answer = (request) => ({ 'app.tenant': request.tenant });
      expect((await site.agent.get('/hookeds')).body.items[0].tenant).to.equal('tenant 5');
      expect((await site.agent.get('/papers')).status).to.equal(403);
    });

    it('before the body is read', async () => {
      answer = () => null;
      const { status } = await site.agent.post('/papers').type('json').send('no object');
      expect(status).to.equal(403);
    });

    it('and refuse with 403 what is missing, and what is thrown as it is', async () => {
      const missing = [
        () => null,
        () => undefined,
        () => ({ 'app.tenant': null }),
        async () => ({ 'app.tenant': undefined }),
      ];
      for (const each of missing) {
        answer = each;
        for (const path of ['/papers', '/hookeds/1']) {
          const { status, body } = await site.agent.get(path);
          expect([status, body]).to.deep.equal([403, { detail: 'This request has no access.' }]);
        }
      }
      answer = () => {
        throw new HttpError(401, 'Who are you?');
      };
      expect((await site.agent.get('/papers')).status).to.equal(401);
    });

    it('and refuse with 500 what is no setting, without its value', async () => {
      const wrong: readonly (readonly [() => unknown, string])[] = [
        [() => ({ tenant: 'secret' }), 'tenant\\", which is no name of a setting'],
        [() => ({ 'app.tenant; SELECT 1': 'secret' }), 'SELECT 1\\", which is no name'],
        [() => ({ 'app.tenant': 4711 }), "rls.settings gave 'app.tenant' something else than a text"],
        [() => ({ 'app.tenant': 'secret\0' }), "rls.settings gave 'app.tenant' something else than a text"],
        [() => ({ 'app.tenant': ['secret'] }), "rls.settings gave 'app.tenant' something else than a text"],
        [() => 'secret', 'rls.settings gave no object'],
        [() => ['secret'], 'rls.settings gave no object'],
        [() => ({}), 'rls.settings gave an object without a setting'],
        [async () => Promise.reject(undefined), ''],
      ];
      for (const [each, reason] of wrong) {
        answer = each;
        logger.clear();
        expect((await site.agent.get('/papers')).status, String(each)).to.equal(500);
        expect(logger.text, String(each))
          .to.include(reason)
          .and.not.to.match(/secret|4711/);
      }
    });

    it('and are not logged with their statements', async () => {
      answer = () => ({ 'app.tenant': TENANTS[1], 'app.token': 'secret' });
      statements.length = 0;
      for (const path of ['/papers', '/hookeds']) {
        await site.agent.get(path);
        await site.agent.post(path).send({ title: 'x', tenant: 'tenant 2' });
      }
      const error = await caughtError(() =>
        runWithSettings(of('secret'), () => site.engine.sequelize.query('SELECT wrong')),
      );
      expect(JSON.stringify([error, statements, logger.lines])).not.to.include('secret');
      expect(statements).not.to.have.length(0);
    });
  });
});
