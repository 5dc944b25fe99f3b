/** Tenants whose requests share connections, batches of reads and group commits. */
// @runs fast
import { expect } from 'chai';
import { CapturedLog } from '../../support/captured-log.js';
import { SERVED, Task } from '../../support/tenant-tasks.js';
import { serveTestApp } from '../../support/test-app.js';
import { ask } from '../../support/two-paths.js';

describe('sixteen tenants at the same time', () => {
  const TENANTS = Array.from({ length: 16 }, (_, index) => `T${index}`);
  const site = serveTestApp(() => ({
    models: SERVED,
    bootstrap: { fastPath: true, logger: new CapturedLog() },
    engine: { groupCommit: true, pool: { max: 2 } },
  }));

  it('share connections and batches, and see and change their own rows', async () => {
    const send = (tenant: string, method: string, path: string, body?: object) =>
      ask(site.server, { method, path, headers: { tenant }, ...(body ? { body } : {}) });
    const ids = new Map<string, number[]>();
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        TENANTS.map(async (tenant) => {
          const created = await send(tenant, 'POST', '/tasks', { title: `of ${tenant}` });
          const row = JSON.parse(created.body);
          expect(row.tenant).to.equal(tenant);
          ids.set(tenant, [...(ids.get(tenant) ?? []), row.id]);
        }),
      );
      await Promise.all(
        TENANTS.map(async (tenant, index) => {
          const other = ids.get(TENANTS[(index + 1) % 16] as string)?.[0];
          const own = ids.get(tenant)?.[0];
          const answers = await Promise.all([
            send(tenant, 'GET', '/tasks'),
            send(tenant, 'GET', '/walks?size=100'),
            send(tenant, 'GET', `/tasks/${own}`),
            send(tenant, 'GET', `/tasks/${other}`),
            send(tenant, 'PATCH', `/tasks/${own}`, { title: `${round} of ${tenant}` }),
            send(tenant, 'PATCH', `/tasks/${other}`, { title: `by ${tenant}` }),
            send(tenant, 'DELETE', `/tasks/${other}`),
          ]);
          expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 404, 200, 404, 404]);
          const lists = answers.slice(0, 2).map(({ body }) => JSON.parse(body).items as Task[]);
          for (const items of lists) {
            expect(items.map(({ id }) => id)).to.deep.equal(ids.get(tenant));
            expect(new Set(items.map((item) => item.tenant))).to.deep.equal(new Set([tenant]));
          }
        }),
      );
    }
    expect(await Task.count({ where: { title: TENANTS.map((tenant) => `by ${tenant}`) } })).to.equal(0);
  });
});
