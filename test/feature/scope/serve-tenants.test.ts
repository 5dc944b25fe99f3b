/** Row security by a setting that a hook of the pool makes: each request sees and writes the rows of its tenant alone. */
// @runs fast
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import type { Client } from 'pg';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { wholeOr } from '../../support/short.js';
import { ROWS, rowsOf, TENANTS, TenantDatabase } from '../../support/tenant-database.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

@Crud({ prefix: '/papers' })
@Table({ tableName: 'papers', timestamps: false })
class Paper extends TitledRow {
  @Column(DataType.TEXT) declare tenant: string | null;
}

const TENANT = new AsyncLocalStorage<string>();
const CLIENTS = wholeOr(16, 40);

for (const fastPath of [true, false]) {
  describe(`tenants with row security on the ${fastPath ? 'fast' : 'general'} path`, () => {
    const database = forSuite(() => TenantDatabase.create(['papers']));
    let site: TestApp;

    async function start(groupCommit = false): Promise<void> {
      site = await startTestApp({
        models: [Paper],
        database: { url: database.url() },
        engine: { createAll: false, pool: { max: 4 }, groupCommit },
        minPool: 4,
        bootstrap: { fastPath, logger: new CapturedLog() },
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

    afterEach(() => site[Symbol.asyncDispose]());

    /** Sends requests one after the other, and returns the wrong answers. */
    async function visit(client: number): Promise<unknown[]> {
      const number = client % TENANTS.length;
      const tenant = TENANTS[number] as string;
      const [own] = rowsOf(number);
      const [others] = rowsOf((number + 1) % TENANTS.length);
      const title = `of client ${client}`;
      const ask = async (method: 'get' | 'post' | 'patch', path: string, body?: object) => {
        const { status, body: given } = await site.agent[method](path).set('tenant', tenant).send(body);
        return [
          status,
          status === 404 ? null : (given.tenant ?? given.items.map((item: Paper) => item.tenant)),
        ];
      };
      const mine = Array.from({ length: ROWS }, () => tenant);
      const answers = [
        [await ask('get', `/papers/${own}`), [200, tenant]],
        [await ask('get', `/papers?size=${ROWS}`), [200, mine]],
        [await ask('get', `/papers/${others}`), [404, null]],
        [await ask('post', '/papers', { title, tenant }), [201, tenant]],
        [await ask('patch', `/papers/${own}`, { title }), [200, tenant]],
        [await ask('patch', `/papers/${others}`, { title }), [404, null]],
        [await ask('get', `/papers?size=${ROWS}&page=1`), [200, mine]],
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
      // Requests without the hook see nothing, and do not fail.
      await database.control.query(`ALTER ROLE ${database.role} SET app.tenant = 'nobody'`);
      await start();
      let isOver = false;
      const busy = Array.from({ length: 10 }, async () => {
        while (!isOver) await site.agent.get('/papers/1').set('tenant', 'nobody');
      });
      try {
        for (let round = 0; round < 10; round += 1) await site.agent.get('/papers/1').expect(404);
        addHook();
        expect(await visitAll()).to.deep.equal([]);
      } finally {
        isOver = true;
        await Promise.all(busy);
      }
    });
  });
}
