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
import { expectReplay } from '../../support/expect-replay.js';
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
    const send = () =>
      site.agent
        .post('/crates')
        .set('idempotency-key', 'k1')
        .send([{ id: 1 }, { id: 2 }]);
    expect((await send()).status).to.equal(201);
    expect((await send()).headers['idempotent-replayed']).to.equal('true');
    expect(await Crate.count()).to.equal(2);
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
    (await Box.findAll({ order: ['code'] })).map(({ code, size, version }) => `${code}${size}v${version}`);

  for (const [what, send, status, left] of [
    [
      'a create of many',
      () =>
        site.agent.post('/boxes').send([
          { code: 'c', size: 3 },
          { code: 'd', size: 4 },
        ]),
      201,
      ['a1v0', 'b2v0', 'c3v0', 'd4v0'],
    ],
    [
      'an update of many',
      () =>
        site.agent.patch('/boxes').send([
          { code: 'b', size: 8 },
          { code: 'a', size: 9 },
        ]),
      200,
      ['a9v1', 'b8v1'],
    ],
    [
      'a create at the path for many',
      () => site.agent.post('/boxes/many').send([{ code: 'c', size: 3 }]),
      201,
      ['a1v0', 'b2v0', 'c3v0'],
    ],
    ['an update by q', () => site.agent.patch('/boxes?q=size==1').send({ size: 7 }), 200, ['a7v1', 'b2v0']],
    ['a delete by q', () => site.agent.delete('/boxes?q=size==1'), 200, ['b2v0']],
    [
      'one that is not atomic',
      () =>
        site.agent.post('/boxes?atomic=false').send([
          { code: 'a', size: 3 },
          { code: 'e', size: 4 },
        ]),
      207,
      ['a1v0', 'b2v0', 'e4v0'],
    ],
    ['a PUT that creates', () => site.agent.put('/boxes/c').send({ size: 3 }), 201, ['a1v0', 'b2v0', 'c3v0']],
    ['a PUT that replaces', () => site.agent.put('/boxes/a').send({ size: 3 }), 200, ['a3v1', 'b2v0']],
  ] as const) {
    it(`[K22] has ${what} done once, and repeats its answer`, async () => {
      const first = await send().set('idempotency-key', 'k1');
      expect(first.status, first.text).to.equal(status);
      expect(await boxes()).to.deep.equal(left);
      await Box.destroy({ where: {} });
      expectReplay(first, await send().set('idempotency-key', 'k1'));
      expect(await boxes()).to.deep.equal([]);
    });
  }

  it('[K13 M19] keeps none of a dry run, and of what was refused', async () => {
    const values = [{ code: 'c', size: 3 }];
    const send = (path: string, body: object) =>
      site.agent.post(path).set('idempotency-key', 'k1').send(body);
    expect((await send('/boxes?dry_run=true', values)).status).to.equal(201);
    expect((await send('/boxes', [{ code: 'a', size: 1 }])).status).to.equal(409);
    const done = await send('/boxes', values);
    expect([done.status, done.headers['idempotent-replayed']]).to.deep.equal([201, undefined]);
    expect(await boxes()).to.deep.equal(['a1v0', 'b2v0', 'c3v0']);
  });

  it('[K12] refuses another request, and a key that nothing keeps', async () => {
    const create = (size: number) =>
      site.agent
        .post('/boxes')
        .set('idempotency-key', 'k1')
        .send([{ code: 'c', size }]);
    await create(3);
    const other = await create(4);
    expectProblem(other, 422, {
      detail: 'This Idempotency-Key was used for another request; use another key.',
    });
    for (const query of ['q=size==2', 'q=size==1&dry_run=false', 'q=size==1&max_affected=1']) {
      const same = (text: string) => site.agent.patch(`/boxes?${text}`).set('idempotency-key', 'k3');
      expect((await same('q=size==1').send({ size: 1 })).status).to.equal(200);
      expectProblem(await same(query).send({ size: 1 }), 422, other.body);
    }
    const { agent } = await buildApp({ models: [Box] });
    for (const refused of [
      await agent
        .post('/boxes')
        .set('idempotency-key', 'k2')
        .send([{ code: 'e', size: 3 }]),
      await agent.put('/boxes/e').set('idempotency-key', 'k2').send({ size: 3 }),
      await agent.delete('/boxes?q=size==1').set('idempotency-key', 'k2'),
    ]) {
      expect([refused.status, refused.body.detail]).to.deep.equal([
        400,
        'Idempotency-Key is not kept here, so that the request would be done again, and nothing was done; leave it out, or have the server set the option idempotency.',
      ]);
    }
    expect(await boxes()).to.deep.equal(['a1v0', 'b2v0', 'c3v0']);
  });
});
