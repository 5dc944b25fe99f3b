/** The start refuses roles that no policy holds back; and requests, as long as it is not known. */
// @runs fast
import { expect } from 'chai';
import express, { type Request } from 'express';
import { Controller, Get } from 'routing-controllers';
import { Sequelize, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  bootstrap,
  ConfigError,
  Crud,
  configureEngine,
  crudRouter,
  engineLifespan,
} from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TenantDatabase } from '../../support/tenant-database.js';

const TABLE = { timestamps: false } as const;

@Crud()
@Table({ ...TABLE, tableName: 'papers' })
class Paper extends TitledRow {}

@Crud()
@Table({ ...TABLE, tableName: 'pens' })
class Pen extends TitledRow {}

const MODELS = [Paper, Pen];
const rls = {
  settings: (request: Request) => ({ 'app.tenant': request.get('tenant') ?? 'tenant 0' }),
};

describe('the check of row security', () => {
  const database = forSuite(() => TenantDatabase.create(['papers', 'pens']));

  const run = (sql: string) => database.control.query(sql.replaceAll('ROLE_', database.role));

  /** Runs work while something is so. */
  async function during<T>(change: string, undo: string, work: () => Promise<T>): Promise<T> {
    await run(change);
    try {
      return await work();
    } finally {
      await run(undo);
    }
  }

  /** Problems of the start, and the lines of the log. */
  async function start(replicas: readonly string[] = []) {
    const logger = new CapturedLog();
    await using _engine = await engineLifespan(database.url(), { models: MODELS, replicas })();
    const app = express();
    const problems = await bootstrap(app, { models: MODELS, logger, rls }).then(
      () => [],
      (error: unknown) => {
        if (!(error instanceof ConfigError)) throw error;
        return error.problems;
      },
    );
    const { status } = await supertest(app).get('/papers');
    return { problems, status, lines: logger.lines.map(({ message }) => message) };
  }

  it('finds nothing where all is right', async () => {
    expect(await start()).to.deep.equal({ problems: [], status: 200, lines: [] });
  });

  it('refuses a superuser, one with BYPASSRLS, and the owner of a table', async () => {
    const role = `"${database.role}"`;
    const table = '"papers"';
    const cases: readonly (readonly [string, string, string])[] = [
      [
        'ALTER ROLE ROLE_ SUPERUSER',
        'ALTER ROLE ROLE_ NOSUPERUSER',
        `rls: the role ${role} is a superuser, for which no policy holds; ALTER ROLE ${role} NOSUPERUSER NOBYPASSRLS; or connect as another one.`,
      ],
      [
        'ALTER ROLE ROLE_ BYPASSRLS',
        'ALTER ROLE ROLE_ NOBYPASSRLS',
        `rls: the role ${role} passes every policy by; ALTER ROLE ${role} NOBYPASSRLS; mends it.`,
      ],
      [
        'ALTER TABLE papers OWNER TO ROLE_',
        'ALTER TABLE papers OWNER TO CURRENT_USER; GRANT ALL ON papers TO ROLE_',
        `rls: the role ${role} owns ${table}, whose policies do not hold for its owner; ALTER TABLE ${table} FORCE ROW LEVEL SECURITY; mends it.`,
      ],
    ];
    for (const [change, undo, problem] of cases) {
      const { problems, status } = await during(change, undo, () => start());
      expect(problems).to.deep.equal([problem]);
      expect(status).to.equal(503);
    }
    const mended = 'ALTER TABLE papers OWNER TO ROLE_; ALTER TABLE papers FORCE ROW LEVEL SECURITY';
    const undo =
      'ALTER TABLE papers OWNER TO CURRENT_USER; ALTER TABLE papers NO FORCE ROW LEVEL SECURITY; GRANT ALL ON papers TO ROLE_';
    expect((await during(mended, undo, () => start())).problems).to.deep.equal([]);
  });

  it('refuses such a role of a replica, also of one that is down', async () => {
    const role = `reader_${database.role}`;
    const url = database.url(role);
    const down = Object.assign(new URL(url), { port: '1' }).href;
    await during(`CREATE ROLE ${role} LOGIN BYPASSRLS PASSWORD '${role}'`, `DROP ROLE ${role}`, async () => {
      const problem = `rls: the role "${role}" passes every policy by; ALTER ROLE "${role}" NOBYPASSRLS; mends it.`;
      expect((await start([url])).problems).to.deep.equal([problem]);
      expect((await start([database.url(), down])).problems).to.deep.equal([problem]);
    });
  });

  it('warns once of all tables without row security', async () => {
    const { lines, status } = await during(
      'ALTER TABLE papers DISABLE ROW LEVEL SECURITY; ALTER TABLE pens DISABLE ROW LEVEL SECURITY',
      'ALTER TABLE papers ENABLE ROW LEVEL SECURITY; ALTER TABLE pens ENABLE ROW LEVEL SECURITY',
      () => start(),
    );
    expect(status).to.equal(200);
    expect(lines).to.deep.equal([
      'rls: no policy holds for "papers", "pens", of which each request sees all rows; ALTER TABLE … ENABLE ROW LEVEL SECURITY, and CREATE POLICY.',
    ]);
  });

  it('refuses requests until the database has answered', async () => {
    const { port } = new URL(database.url());
    await using proxy = await TcpProxy.before(database.url());
    const logger = new CapturedLog();
    const sequelize = new Sequelize(proxy.url(database.url()), {
      dialect: 'postgres',
      logging: false,
      models: MODELS,
    });
    await using _engine = configureEngine({ sequelize });
    proxy.retarget(1);
    const app = express();
    await bootstrap(app, { models: MODELS, logger, rls });
    expect(logger.lines[0]?.message).to.match(/^rls: the database could not be asked/);
    expectProblem(await supertest(app).get('/papers'), 503, {
      detail: 'The database is not available; try again.',
    });
    proxy.retarget(Number(port));
    expect((await supertest(app).get('/papers')).status).to.equal(200);
    await sequelize.close();
  });

  it('looks at the role of the engine where only routes of the user are served', async () => {
    @Controller('/desk')
    class DeskController {
      @Get('/')
      tell() {
        return {};
      }
    }
    const app = express();
    const agent = supertest(app);
    const options = { models: [], controllers: [DeskController], logger: new CapturedLog(), rls };
    await bootstrap(app, options);
    expect((await agent.get('/desk')).status).to.equal(503);
    await using _engine = await engineLifespan(database.url(), { models: MODELS })();
    const wrong = () => bootstrap(express(), options);
    await during('ALTER ROLE ROLE_ BYPASSRLS', 'ALTER ROLE ROLE_ NOBYPASSRLS', async () => {
      expect((await caughtError(wrong)) as ConfigError).to.be.instanceOf(ConfigError);
      expect((await agent.get('/desk')).status).to.equal(503);
    });
    expect((await agent.get('/desk')).status).to.equal(200);
  });

  it('refuses options that cannot be understood', async () => {
    await using _engine = await engineLifespan(database.url(), { models: MODELS })();
    const problemsOf = async (options: unknown) => {
      const error = await caughtError(() =>
        bootstrap(express(), { models: MODELS, rls: options } as unknown as object),
      );
      return (error as ConfigError).problems;
    };
    expect(await problemsOf(undefined)).to.deep.equal([
      'rls is undefined; use { settings: (request) => ({ … }) }, or leave it out.',
    ]);
    expect(await problemsOf({ setting: 1 })).to.have.length(2);
    expect(await problemsOf({ settings: { 'app.tenant': 'x' } })).to.deep.equal([
      "rls.settings is { 'app.tenant': 'x' }; use a function of the request.",
    ]);
    const wrong = () => crudRouter(Paper, { rls } as object);
    expect((await caughtError(wrong)) as ConfigError).to.be.instanceOf(ConfigError);
  });
});
