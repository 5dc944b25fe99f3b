// @runs fast
// @runs unpooled: it starts a pooler of its own
/** Feeds below row security and behind proxies: PgBouncer before the database, and nginx before the application. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { startNginx } from '../../support/nginx.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { startPgBouncer } from '../../support/pgbouncer.js';
import { itWhole } from '../../support/short.js';
import { TenantDatabase } from '../../support/tenant-database.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

const IGNORED = 'lock_timeout, statement_timeout, idle_in_transaction_session_timeout, options';

const tenantOf = ({ headers }: { headers: object }) => `tenant ${(headers as { tenant?: string }).tenant}`;

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'history', 'changes'],
  history: true,
  can: { history: true, deleted: true },
  scope: { tenant: tenantOf },
  filterAllow: ['title'],
})
@Table({ tableName: 'papers', timestamps: false })
class Paper extends TitledRow {
  @Column(DataType.TEXT) declare tenant: string;
}

except(OF_FEEDS).describe('a feed', () => {
  const database = forSuite(async () => {
    const tenants = await TenantDatabase.create(['papers']);
    const { user, password } = tenants.control;
    const url = Object.assign(new URL(tenants.url()), { username: user, password });
    // As a migration: the login of requests owns nothing.
    await (
      await startTestApp({ models: [Paper], database: { url: url.href }, bootstrap: { indexAdvice: false } })
    )[Symbol.asyncDispose]();
    await tenants.control.query(
      `GRANT SELECT ON crud_changes, crud_ticks TO ${tenants.role}; GRANT INSERT, DELETE ON crud_ticks TO ${tenants.role}`,
    );
    return tenants;
  });
  const pooler = forSuite(() => startPgBouncer(database.url(), { ignore_startup_parameters: IGNORED }));
  const site = serveTestApp(() => ({
    models: [Paper],
    database: { url: pooler.url },
    engine: { createAll: false, preparedStatements: false },
    bootstrap: {
      changes: { tick: 50 },
      indexAdvice: false,
      rls: { settings: (request) => ({ 'app.tenant': tenantOf(request) }) },
      history: { actor: tenantOf },
    },
  }));
  const open = async (tenant: number, query = '', base = site.server.url) => {
    const response = await requestStream(`${base}/papers/changes${query}`, { tenant: String(tenant) });
    expect(response.statusCode).to.equal(200);
    return new OpenStream(response).until(({ ids }) => ids.length > 0);
  };
  const opsOf = ({ events }: OpenStream) => events.map(({ op, id }) => `${op} ${id}`);

  it('below row security, behind PgBouncer, has the events of its tenant alone', async () => {
    const streams = [await open(0), await open(1), await open(1, '?q=title==moved')];
    const send = (tenant: number) => ({ tenant: `${tenant}` });
    const created = await site.agent.post('/papers').set(send(1)).send({ title: 'new' }).expect(201);
    const { id } = created.body;
    await site.agent.patch(`/papers/${id}`).set(send(1)).send({ title: 'moved' }).expect(200);
    await site.agent.patch(`/papers/${id}`).set(send(0)).send({ title: 'theirs' }).expect(404);
    // Another writer moves it to the other tenant.
    await database.control.query(`UPDATE papers SET tenant = 'tenant 0' WHERE id = $1`, [id]);
    await site.agent.delete(`/papers/${id}`).set(send(0)).expect(204);
    const wanted = [
      [`create ${id}`, `delete ${id}`],
      [`create ${id}`, `update ${id}`, `delete ${id}`],
      [`create ${id}`, `delete ${id}`],
    ];
    await Promise.all(
      streams.map((each, index) => each.until(({ events }) => events.length >= (wanted[index]?.length ?? 0))),
    );
    await delay(200);
    expect(streams.map(opsOf)).to.deep.equal(wanted);
    const { body: page } = await site.agent.get('/papers/changes?after=start').set(send(1)).expect(200);
    expect(page.items.map(({ op }: { op: string }) => op)).to.include.members(['create', 'update', 'delete']);
    const { body } = await site.agent.get(`/papers/${id}/history`).set(send(0)).expect(200);
    expect(body.items.map(({ op, actor }: Record<string, string>) => [op, actor])).to.deep.equal([
      ['delete', 'tenant 0'],
      ['create', null],
    ]);
    for (const { response } of streams) response.destroy();
  });

  itWhole(
    'behind nginx has each event at once, as the page sets it up and as nginx is by default',
    async () => {
      const usual = ['proxy_http_version 1.1', "proxy_set_header Connection ''"];
      for (const directives of [usual, []]) {
        await using nginx = await startNginx(site.server.url, directives);
        const stream = await open(2, '', nginx.url);
        const insert = () =>
          database.control.query(`INSERT INTO papers (title, tenant) VALUES ('x', 'tenant 2')`);
        await insert();
        await stream.until(({ events }) => events.length === 1, 2_000);
        stream.response.destroy();
        await insert();
        const headers = { tenant: '2', 'Last-Event-ID': stream.ids.at(-1) };
        const again = new OpenStream(await requestStream(`${nginx.url}/papers/changes`, headers));
        await again.until(({ events }) => events.length === 1, 2_000);
        expect(opsOf(again)).to.not.deep.equal(opsOf(stream));
        again.response.destroy();
      }
    },
  );
});
