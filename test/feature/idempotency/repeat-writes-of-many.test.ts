/** `Idempotency-Key` on writes of many records, and on PUT: both go through other code than the other writes. */

import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { BULK_ENDPOINTS, OPERATIONS } from '../../../src/declare/endpoint.js';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectProblem } from '../../support/expect-answer.js';
import { expectReplay, OTHER } from '../../support/expect-replay.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: [...OPERATIONS, 'replace', ...BULK_ENDPOINTS],
  filterAllow: ['size'],
})
@Table({ tableName: 'boxes', timestamps: false, version: true, indexes: [{ fields: ['size', 'code'] }] })
class Box extends Model {
  @PrimaryKey @Column(DataType.STRING(10)) declare code: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare size: number;
}

@Crud({ endpoints: ['createMany'] })
@Table({ tableName: 'crates', timestamps: false })
class Crate extends KeyedRow {}

except(OF_MANY).describe('an Idempotency-Key of a resource that writes many records only', () => {
  const site = serveTestApp(() => ({
    models: [Crate],
    bootstrap: { idempotency: { principal: () => 'ann' } },
  }));

  it('[K10] has its table', async () => {
    const rows = [{ id: 1 }, { id: 2 }];
    const send = () => site.agent.post('/crates').set('idempotency-key', 'k1').send(rows);
    expect((await send()).status).to.equal(201);
    expect((await send()).headers['idempotent-replayed']).to.equal('true');
    expect(await Crate.count()).to.equal(2);
  });
});

@Crud({
  endpoints: ['list', 'deleteMany'],
  filterAllow: ['size'],
  can: { read: false, list: true, delete: true },
})
@Table({ tableName: 'sacks', timestamps: false })
class Sack extends KeyedRow {
  @Column(DataType.INTEGER) declare size: number;
}

except(OF_MANY).describe('an Idempotency-Key of a delete by q', () => {
  const site = serveTestApp(() => ({
    models: [Sack],
    bootstrap: { idempotency: { principal: () => 'ann' } },
  }));

  it('repeats the number of records for a request that may read none', async () => {
    await Sack.bulkCreate([1, 2, 3].map((id) => ({ id, size: id })));
    const send = () => site.agent.delete('/sacks?q=size>=2').set('idempotency-key', 'k1');
    const first = await send();
    expect([first.status, first.body]).to.deep.equal([200, { affected: 2 }]);
    const again = await send();
    expect([again.status, again.body]).to.deep.equal([200, { affected: 2 }]);
    expect(again.headers['idempotent-replayed']).to.equal('true');
  });
});

except(OF_MANY).describe('an Idempotency-Key of many records', () => {
  const site = serveTestApp(() => {
    const idempotency = { principal: () => 'ann' };
    return { models: [Box], bootstrap: { idempotency }, minPool: 2 };
  });

  beforeEach(async () => {
    await emptyTables(site, 'boxes', 'crud_idempotency');
    await Box.bulkCreate([
      { code: 'a', size: 1 },
      { code: 'b', size: 2 },
    ]);
  });

  const boxes = async () =>
    (await Box.findAll({ order: ['code'] }))
      .map((each) => `${each.code}${each.size}v${each.version}`)
      .join(' ');

  const send = (method: 'post' | 'patch' | 'put' | 'delete', path: string, body?: object, key = 'k1') =>
    site.agent[method](`/boxes${path}`).set('idempotency-key', key).send(body);
  const C = { code: 'c', size: 3 };
  const A = { code: 'a', size: 9 };

  for (const [what, method, path, body, status, left] of [
    ['a create of many', 'post', '', [C, { code: 'd', size: 4 }], 201, 'a1v0 b2v0 c3v0 d4v0'],
    ['an update of many', 'patch', '', [{ code: 'b', size: 8 }, A], 200, 'a9v1 b8v1'],
    ['a create at the path for many', 'post', '/many', [C], 201, 'a1v0 b2v0 c3v0'],
    ['an update by q', 'patch', '?q=size==1', { size: 7 }, 200, 'a7v1 b2v0'],
    ['a delete by q', 'delete', '?q=size==1', undefined, 200, 'b2v0'],
    ['one that is not atomic', 'post', '?atomic=false', [A, { code: 'e', size: 4 }], 207, 'a1v0 b2v0 e4v0'],
    ['a PUT that creates', 'put', '/c', { size: 3 }, 201, 'a1v0 b2v0 c3v0'],
    ['a PUT that replaces', 'put', '/a', { size: 3 }, 200, 'a3v1 b2v0'],
  ] as const) {
    it(`[K22] has ${what} done once, and repeats its answer`, async () => {
      const first = await send(method, path, body);
      expect(first.status, first.text).to.equal(status);
      expect(await boxes()).to.equal(left);
      await Box.destroy({ where: {} });
      expectReplay(first, await send(method, path, body));
      expect(await boxes()).to.equal('');
    });
  }

  it('[K13 M19] keeps none of a dry run, and of what was refused', async () => {
    expect((await send('post', '?dry_run=true', [C])).status).to.equal(201);
    expect((await send('post', '', [A])).status).to.equal(409);
    const done = await send('post', '', [C]);
    expect([done.status, done.headers['idempotent-replayed']]).to.deep.equal([201, undefined]);
    expect(await boxes()).to.equal('a1v0 b2v0 c3v0');
  });

  it('[K12] refuses another request, and a key that nothing keeps', async () => {
    await send('post', '', [C]);
    expectProblem(await send('post', '', [{ ...C, size: 4 }]), 422, OTHER);
    for (const query of ['q=size==2', 'q=size==1&dry_run=false', 'q=size==1&max_affected=1']) {
      expect((await send('patch', '?q=size==1', { size: 1 }, 'k3')).status).to.equal(200);
      expectProblem(await send('patch', `?${query}`, { size: 1 }, 'k3'), 422, OTHER);
    }
    const { agent } = await buildApp({ models: [Box] });
    for (const request of [
      agent.post('/boxes').send([{ code: 'e', size: 3 }]),
      agent.put('/boxes/e').send({ size: 3 }),
      agent.delete('/boxes?q=size==1'),
    ]) {
      const refused = await request.set('idempotency-key', 'k2');
      expect([refused.status, refused.body.detail]).to.deep.equal([
        400,
        'Idempotency-Key is not kept here, so that the request would be done again, and nothing was done; leave it out, or have the server set the option idempotency.',
      ]);
    }
    expect(await boxes()).to.equal('a1v0 b2v0 c3v0');
  });
});
