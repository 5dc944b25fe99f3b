/** Row security by a setting that a hook of the pool makes: each request sees and writes the rows of its tenant alone. */
// @runs fast
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Client } from 'pg';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

@Crud({ prefix: '/papers' })
@Table({ tableName: 'papers', timestamps: false })
class Paper extends TitledRow {
  @Column(DataType.TEXT) declare tenant: string | null;
}

const TENANT = new AsyncLocalStorage<string>();
const TENANTS = Array.from({ length: 20 }, (_, index) => `tenant ${index}`);
/** Of each tenant. */
const PAPERS = 4;
const CLIENTS = 40;

const setUp = (role: string, password: string) => `
  CREATE TABLE papers (
    id serial PRIMARY KEY, title text NOT NULL, tenant text
  );
  ALTER TABLE papers ENABLE ROW LEVEL SECURITY;
  CREATE POLICY own ON papers USING (tenant = current_setting('app.tenant', true));
  INSERT INTO papers (title, tenant)
    SELECT 'paper ' || n, 'tenant ' || (n - 1) / ${PAPERS} FROM generate_series(1, ${TENANTS.length * PAPERS}) AS t (n);
  CREATE ROLE ${role} LOGIN PASSWORD '${password}' NOBYPASSRLS;
  GRANT ALL ON papers, papers_id_seq TO ${role}`;

for (const fastPath of [true, false]) {
  describe(`tenants with row security on the ${fastPath ? 'fast' : 'general'} path`, () => {
    const role = `tenant_${randomBytes(6).toString('hex')}`;
    let database: TestDatabase;
    let control: Client;
    let site: TestApp;

    async function start(groupCommit = false): Promise<void> {
      site = await startTestApp({
        models: [Paper],
        database: { url: urlOf(role), drop: async () => {} },
        engine: { createAll: false, pool: { max: 4 }, groupCommit },
        minPool: 4,
        bootstrap: { fastPath },
        prepare: (app) => {
          app.use((request, _response, next) => TENANT.run(request.get('tenant') ?? '', next));
        },
      });
    }

    function addHook(): void {
      site.engine.sequelize.addHook('afterPoolAcquire', async (connection) => {
        const values = [TENANT.getStore() ?? ''];
        await (connection as unknown as Client).query("SELECT set_config('app.tenant', $1, false)", values);
      });
    }

    function urlOf(user: string): string {
      const url = new URL(database.url);
      Object.assign(url, { username: user, password: user });
      return url.href;
    }

    before(async () => {
      database = await freshDatabase('tenants');
      control = new Client({ connectionString: database.url });
      await control.connect();
      await control.query(setUp(role, role));
    });

    afterEach(() => site[Symbol.asyncDispose]());

    after(async () => {
      await control.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await control.end();
      await database.drop();
    });

    /** One after the other; what was answered wrong. */
    async function visit(client: number): Promise<unknown[]> {
      const number = client % TENANTS.length;
      const tenant = TENANTS[number] as string;
      const own = number * PAPERS + 1;
      const others = ((number + 1) % TENANTS.length) * PAPERS + 1;
      const title = `of client ${client}`;
      const ask = async (method: 'get' | 'post' | 'patch', path: string, body?: object) => {
        const { status, body: given } = await site.agent[method](path).set('tenant', tenant).send(body);
        return [
          status,
          status === 404 ? null : (given.tenant ?? given.items.map((item: Paper) => item.tenant)),
        ];
      };
      const mine = Array.from({ length: PAPERS }, () => tenant);
      const answers = [
        [await ask('get', `/papers/${own}`), [200, tenant]],
        [await ask('get', `/papers?size=${PAPERS}`), [200, mine]],
        [await ask('get', `/papers/${others}`), [404, null]],
        [await ask('post', '/papers', { title, tenant }), [201, tenant]],
        [await ask('patch', `/papers/${own}`, { title }), [200, tenant]],
        [await ask('patch', `/papers/${others}`, { title }), [404, null]],
        [await ask('get', `/papers?size=${PAPERS}&page=1`), [200, mine]],
      ];
      return answers.filter(([given, wanted]) => JSON.stringify(given) !== JSON.stringify(wanted));
    }

    const visitAll = async () =>
      (await Promise.all(Array.from({ length: CLIENTS }, (_, index) => visit(index)))).flat();

    for (const groupCommit of [false, true]) {
      it(`answers each with its own rows ${groupCommit ? 'with' : 'without'} group commit`, async () => {
        await start(groupCommit);
        addHook();
        await visit(1);
        expect(await visitAll()).to.deep.equal([]);
      });
    }

    it('does so from the moment when the hook is added, while connections are shared', async () => {
      await start();
      let isOver = false;
      const busy = Array.from({ length: 10 }, async () => {
        while (!isOver) await site.agent.get('/papers/1');
      });
      try {
        for (let round = 0; round < 10; round += 1) await site.agent.get('/papers/1');
        addHook();
        expect(await visitAll()).to.deep.equal([]);
      } finally {
        isOver = true;
        await Promise.all(busy);
      }
    });
  });
}
