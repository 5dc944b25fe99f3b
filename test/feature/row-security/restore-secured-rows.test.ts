/** Soft-deleted records under the row security of PostgreSQL: policies that fail without a tenant see each statement. */
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, filter } from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { forSuite } from '../../support/for-suite.js';
import { TENANTS, TenantDatabase } from '../../support/tenant-database.js';
import { serveTestApp } from '../../support/test-app.js';

/** A rule that may see the record, beside the policies. */
const owned = (request: Request) => (request.get('key') ? filter`id==${request.get('key')}` : true);

@Crud({
  endpoints: ['list', 'read', 'delete', 'restore', 'purge'],
  can: { deleted: true, delete: owned, update: owned },
  etag: 'xmin',
})
@Table({ tableName: 'scans', paranoid: true, createdAt: false, updatedAt: false })
class Scan extends TitledRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
}

describe('soft-deleted records under row security', () => {
  const database = forSuite(() => TenantDatabase.create(['scans']));
  const site = serveTestApp(async () => {
    await database.control.query('ALTER TABLE scans ADD "deletedAt" timestamptz');
    return {
      models: [Scan],
      bootstrap: { rls: { settings: (request) => ({ 'app.tenant': request.get('tenant') }) } },
      engine: { createAll: false },
      database: { url: database.url() },
      minPool: 2,
    };
  });

  beforeEach(() => database.reset());

  for (const path of ['our SQL', 'Sequelize'] as const) {
    it(`[S11] are seen, restored and purged by their tenant alone through ${path}`, async () => {
      const names = path === 'Sequelize' ? ['beforeFind', 'beforeRestore', 'beforeDestroy'] : [];
      using _idle = addedHook(Scan, names);
      const send = async (method: 'get' | 'post' | 'delete', target: string, tenant = 0, key = '') => {
        const { status, body } = await site.agent[method](target).set({ tenant: TENANTS[tenant] ?? '', key });
        return body.total ?? status;
      };
      expect(await send('delete', '/scans/1', 0, '2')).to.equal(403);
      expect(await send('delete', '/scans/1', 1, '2')).to.equal(404);
      expect(await send('delete', '/scans/1', 0, '1')).to.equal(204);
      expect(await send('post', '/scans/1/restore', 0, '2')).to.equal(403);
      expect(await send('get', '/scans?deleted=only')).to.equal(1);
      expect(await send('get', '/scans?deleted=with', 1)).to.equal(4);
      expect(await send('get', '/scans/1?deleted=with', 1)).to.equal(404);
      expect(await send('post', '/scans/1/restore', 1)).to.equal(404);
      expect(await send('delete', '/scans/1/purge', 1)).to.equal(404);
      expect(await send('post', '/scans/1/restore')).to.equal(200);
      expect(await send('delete', '/scans/1/purge')).to.equal(409);
      expect(await send('delete', '/scans/1')).to.equal(204);
      expect(await send('delete', '/scans/1/purge')).to.equal(204);
      expect(await send('get', '/scans?deleted=with')).to.equal(3);
    });
  }
});
