/** A record with its children that another transaction changes meanwhile: the stored rows, and the answer, are those of one writer. */
import { expect } from 'chai';
import { Column, DataType, ForeignKey, HasMany, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { describeNested } from '../../support/nested-orders.js';
import { serveTestApp } from '../../support/test-app.js';
import { behind } from '../../support/until-locked.js';

const OPTIONS = {
  endpoints: ['read', 'create', 'update', 'replace', 'updateMany'],
  nested: { leaves: { replace: true } },
} as CrudOptions;

/** The database numbers it, so that a PUT creates none. */
@Crud(OPTIONS)
@Table({ tableName: 'trees', timestamps: false })
class Tree extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @HasMany(() => Leaf) declare leaves: Leaf[];
}

/** A PUT may create it. */
@Crud(OPTIONS)
@Table({ tableName: 'bushes', timestamps: false })
class Bush extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare id: number;
  @Column(DataType.TEXT) declare name: string | null;
  @HasMany(() => Needle) declare leaves: Needle[];
}

@Crud()
@Table({ tableName: 'leaves', timestamps: false, indexes: [{ fields: ['treeId'] }] })
class Leaf extends NumberedRow {
  @ForeignKey(() => Tree) @Column({ type: DataType.INTEGER, allowNull: false }) declare treeId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare size: number;
}

@Crud()
@Table({ tableName: 'needles', timestamps: false, indexes: [{ fields: ['bushId'] }] })
class Needle extends NumberedRow {
  @ForeignKey(() => Bush) @Column({ type: DataType.INTEGER, allowNull: false }) declare bushId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare size: number;
}

describeNested('a record and its children that others change', () => {
  const site = serveTestApp(() => ({ models: [Tree, Bush, Leaf, Needle], minPool: 4 }));
  const leaf = { id: 1, size: 1 };
  const changed = { name: 'a', leaves: { update: [leaf] } };

  for (const [table, children] of [
    ['trees', 'leaves'],
    ['bushes', 'needles'],
  ] as const) {
    const path = `/${table}`;
    const cases = {
      PATCH: () => site.agent.patch(`${path}/1`).send(changed),
      PUT: () => site.agent.put(`${path}/1`).send({ name: 'a', leaves: [leaf] }),
      'PATCH of many': () => site.agent.patch(path).send([{ id: 1, ...changed }]),
    };
    for (const [name, send] of Object.entries(cases))
      it(`are those of a ${name} of ${table}`, async () => {
        const { sequelize } = site.engine;
        // The record has its name already, until the other transaction commits.
        await sequelize.query(`TRUNCATE ${table}, ${children};
          INSERT INTO ${table} VALUES (1, 'a'); INSERT INTO ${children} VALUES (1, 1, 3)`);
        const change = `UPDATE ${table} SET name = 'b'; UPDATE ${children} SET size = 5`;
        const { status, body } = await behind(sequelize, change, send);
        expect(status, JSON.stringify(body)).to.equal(200);
        const [rows] = await sequelize.query(`SELECT name, size FROM ${table}, ${children}`);
        expect(rows).to.deep.equal([{ name: 'a', size: 1 }]);
        expect(body.items?.[0] ?? body).to.include({ id: 1, name: 'a' });
      });
  }
});
