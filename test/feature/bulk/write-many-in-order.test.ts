/** Many records in one request are written as they would be one after the other, also where one statement writes them. */
import { expect } from 'chai';
import { Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

const MANY = ['createMany', 'updateMany', 'deleteMany'] as const;

@Crud({ endpoints: [...MANY], filterAllow: ['name'] })
@Table({ tableName: 'twigs', timestamps: false })
class Twig extends Model {
  @PrimaryKey @Column(DataType.STRING(10)) declare name: string;

  @ForeignKey(() => Twig)
  @Column({ type: DataType.STRING(10), references: { model: 'twigs', key: 'name' } })
  declare parent: string | null;

  @Column({ type: DataType.INTEGER, unique: true }) declare code: number | null;
}

/** Each request sees the second one alone. */
@Crud({ endpoints: [...MANY], filterAllow: ['size'], scope: { id: () => 2 } })
@Table({ tableName: 'drawers', timestamps: false })
class Drawer extends KeyedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare size: number;
}

except(OF_MANY).describe('many records in the order of a request', () => {
  const site = serveTestApp(() => ({ models: [Twig, Drawer] }));
  const twigs = async () => (await Twig.findAll({ order: ['name'] })).map(({ name }) => name);
  const drawers = async () => (await Drawer.findAll({ order: ['id'] })).map(({ id, size }) => [id, size]);

  beforeEach(() => emptyTables(site, 'twigs', 'drawers'));

  it('refer to those that stand before them, and to none behind them', async () => {
    const root = { name: 'root' };
    const leaf = { name: 'leaf', parent: 'root' };
    expect((await site.agent.post('/twigs').send([leaf, root])).status).to.equal(409);
    expect(await twigs()).to.deep.equal([]);
    expect((await site.agent.post('/twigs').send([root, leaf])).status).to.equal(201);
    expect(await twigs()).to.deep.equal(['leaf', 'root']);
  });

  it('take a unique value that one before them has given up, and none that one behind them has', async () => {
    await Twig.bulkCreate([{ name: 'a', code: 1 }, { name: 'b' }]);
    const give = { name: 'a', code: null };
    const take = { name: 'b', code: 1 };
    expect((await site.agent.patch('/twigs').send([take, give])).status).to.equal(409);
    expect((await site.agent.patch('/twigs').send([give, take])).status).to.equal(200);
    expect((await Twig.findByPk('b'))?.code).to.equal(1);
  });

  it('may all refer to one that is among them', async () => {
    await Twig.bulkCreate([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    expect((await site.agent.patch('/twigs?q=name=ge=a').send({ parent: 'b' })).body).to.deep.equal({
      affected: 3,
    });
    expect(await Twig.count({ where: { parent: 'b' } as never })).to.equal(3);
    expect((await site.agent.patch('/twigs?q=name=ge=a').send({ parent: 'none' })).status).to.equal(409);
    expect(await Twig.count({ where: { parent: 'b' } as never })).to.equal(3);
  });

  it('are not deleted where another row still refers to one of them', async () => {
    await Twig.bulkCreate([{ name: 'a' }, { name: 'b', parent: 'a' }, { name: 'c' }]);
    expect((await site.agent.delete('/twigs?q=name=in=(a,b)')).status).to.equal(409);
    expect(await twigs()).to.deep.equal(['a', 'b', 'c']);
    expect((await site.agent.delete('/twigs?q=name=in=(b,c)')).body).to.deep.equal({ affected: 2 });
  });

  it('are those that a scope of the key leaves', async () => {
    await Drawer.bulkCreate([1, 2, 3].map((id) => ({ id, size: 0 })));
    expect((await site.agent.patch('/drawers').send([{ id: 1, size: 5 }])).status).to.equal(404);
    expect((await site.agent.patch('/drawers').send([{ id: 2, size: 6 }])).status).to.equal(200);
    const found = await site.agent.patch('/drawers?q=size=ge=0').send({ size: 7 });
    expect(found.body).to.deep.equal({ affected: 1 });
    expect(await drawers()).to.deep.equal([
      [1, 0],
      [2, 7],
      [3, 0],
    ]);
    expect((await site.agent.delete('/drawers?q=size=ge=0')).body).to.deep.equal({ affected: 1 });
    expect(await drawers()).to.deep.equal([
      [1, 0],
      [3, 0],
    ]);
  });
});
