/** Row security and nested writes: policies hold for the rows of each statement, also where it fails and children are written in turn. */
import { expect } from 'chai';
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { forSuite } from '../../support/for-suite.js';
import { describeNested } from '../../support/nested-orders.js';
import { TenantDatabase } from '../../support/tenant-database.js';
import { startTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['read', 'create', 'update', 'delete', 'replace', 'updateMany'],
  filterAllow: ['title'],
  nested: { items: { replace: true } },
})
@Table({ tableName: 'boxes', timestamps: false })
class Box extends TitledRow {
  @HasMany(() => Item) declare items: Item[];
}

@Crud({ endpoints: ['list', 'create', 'update', 'delete'] })
@Table({ tableName: 'items', timestamps: false })
class Item extends TitledRow {
  @ForeignKey(() => Box) @Column({ type: DataType.INTEGER, allowNull: false }) declare boxId: number;
}

describeNested('nested writes with row security', () => {
  let database: TenantDatabase;
  before(async () => {
    database = await TenantDatabase.create(['boxes', 'items']);
    // The item n is in the box n, and both are of one tenant.
    await database.control.query(`ALTER TABLE items ADD "boxId" int NOT NULL DEFAULT currval('items_id_seq');
      ALTER TABLE items ADD UNIQUE ("boxId", title)`);
  });
  const site = forSuite(() =>
    startTestApp({
      models: [Box, Item],
      database: { url: database.url() },
      engine: { createAll: false },
      bootstrap: {
        indexAdvice: false,
        rls: { settings: (request) => ({ 'app.tenant': request.get('tenant') ?? '' }) },
      },
    }),
  );
  beforeEach(() => database.reset());
  after(() => database[Symbol.asyncDispose]());

  const tenant = { tenant: 'tenant 0' };
  const itemsOf = async (box: number) => {
    const found = await database.control.query<{ text: string }>(
      `SELECT concat_ws(', ', title, tenant) AS text FROM items WHERE "boxId" = ${box} ORDER BY id`,
    );
    return found.rows.map(({ text }) => text);
  };

  it('write all children with the settings of their request', async () => {
    const created = await site.agent
      .post('/boxes')
      .set(tenant)
      .send({ title: 'new', items: [{ title: 'one' }, { title: 'two' }] });
    expect(created.status, created.text).to.equal(201);
    expect(await itemsOf(created.body.id)).to.deep.equal(['one, tenant 0', 'two, tenant 0']);
    const changed = await site.agent
      .patch('/boxes/1')
      .set(tenant)
      .send({ items: { update: [{ id: 1, title: 'x' }], create: [{ title: 'y' }] } });
    expect(changed.body.items.items).to.have.lengthOf(2);
    expect(await itemsOf(1)).to.deep.equal(['x, tenant 0', 'y, tenant 0']);
  });

  it('find no box and no item of another tenant', async () => {
    const answers = [];
    for (const id of [2, 777])
      answers.push(
        await site.agent
          .patch('/boxes/1')
          .set(tenant)
          .send({ items: { delete: [1, id] } }),
        await site.agent
          .patch(`/boxes/${id}`)
          .set(tenant)
          .send({ items: { create: [{ title: 'y' }] } }),
      );
    expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404, 404]);
    expect(answers[0]?.text).to.equal(answers[2]?.text);
    expect(answers[1]?.text).to.equal(answers[3]?.text);
    expect(await itemsOf(1)).to.deep.equal(['row 1, tenant 0']);
  });

  it('leave items that a policy hides where a whole set is written', async () => {
    await database.control.query(`UPDATE items SET "boxId" = 1 WHERE id = 2`);
    const { status } = await site.agent
      .put('/boxes/1')
      .set(tenant)
      .send({ title: 'b', items: [{ title: 'new' }] });
    expect(status).to.equal(200);
    expect(await itemsOf(1)).to.deep.equal(['row 2, tenant 1', 'new, tenant 0']);
  });

  it('name the child that is refused, and leave no setting behind', async () => {
    const body = { items: { create: [{ title: 'y' }, { title: 'y' }] } };
    const { body: problem, status } = await site.agent.patch('/boxes/1').set(tenant).send(body);
    expect(status).to.equal(409);
    expect(problem.errors[0].pointer).to.match(/^.items.create.1./);
    const other = await site.agent.get('/boxes/1').set('tenant', 'tenant 1');
    expect(other.status).to.equal(404);
    expect(await itemsOf(1)).to.deep.equal(['row 1, tenant 0']);
  });
});
