/** An association whose key is not unique joins rows of others. The start refuses it, and one whose constraint does something else. */
import { expect } from 'chai';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  HasOne,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { ConfigError, Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'parents', timestamps: false })
class Parent extends KeyedRow {
  @Column(DataType.TEXT) declare code: string | null;
  @HasMany(() => Child, { foreignKey: 'parentId', onDelete: 'RESTRICT' }) declare children?: Child[];

  @HasMany(() => Coded, { foreignKey: 'code', sourceKey: 'code', constraints: false })
  declare coded?: Coded[];

  @HasOne(() => Coded, { foreignKey: 'code', sourceKey: 'code', constraints: false }) declare one?: object;

  @BelongsToMany(() => Parent, {
    through: () => Pair,
    foreignKey: 'a',
    otherKey: 'b',
    sourceKey: 'code',
    targetKey: 'id',
    constraints: false,
  })
  declare others?: Parent[];
}

@Crud()
@Table({ tableName: 'children', timestamps: false })
class Child extends KeyedRow {
  @ForeignKey(() => Parent)
  @Column({ type: DataType.INTEGER, field: 'parent id' })
  declare parentId: number | null;

  @BelongsTo(() => Parent, { foreignKey: 'parentId' }) declare parent?: object;
}

@Crud()
@Table({ tableName: 'parents', timestamps: false })
class Owner extends KeyedRow {
  @HasOne(() => Owned, { foreignKey: 'parentId' }) declare owned?: object;
}

@Crud()
@Table({ tableName: 'children', timestamps: false })
class Owned extends KeyedRow {
  @ForeignKey(() => Owner)
  @Column({ type: DataType.INTEGER, field: 'parent id' })
  declare parentId: number | null;

  @BelongsTo(() => Owner, { foreignKey: 'parentId' }) declare owner?: object;
}

@Crud()
@Table({ tableName: 'coded', timestamps: false })
class Coded extends KeyedRow {
  @Column(DataType.TEXT) declare code: string | null;

  @BelongsTo(() => Parent, { foreignKey: 'code', targetKey: 'code', constraints: false })
  declare parent?: object;
}

@Table({ tableName: 'pairs', timestamps: false })
class Pair extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare a: string;
  @PrimaryKey @Column(DataType.INTEGER) declare b: number;
}

const TABLES = `
  DROP TABLE IF EXISTS children, parents, coded, pairs;
  CREATE TABLE parents (id int PRIMARY KEY, code text);
  CREATE TABLE children (id int PRIMARY KEY, "parent id" int);
  CREATE TABLE coded (id int PRIMARY KEY, code text);
  CREATE TABLE pairs (a text, b int, PRIMARY KEY (a, b))`;
const UNIQUE = 'CREATE UNIQUE INDEX ON parents (code)';

describe('an association', () => {
  const site = serveTestApp(() => ({
    models: [Parent, Child, Coded, Pair, Owner, Owned],
    engine: { createAll: false },
    bootstrap: { models: [], logger: new CapturedLog() },
  }));

  /** Problems of the start, and the lines of the log. */
  async function start(models: readonly (typeof Model)[], ...statements: readonly string[]) {
    await site.engine.sequelize.query([TABLES, ...statements].join(';'));
    const logger = new CapturedLog();
    try {
      await buildApp({ models: models as never, logger, indexAdvice: false });
      const lines = logger.lines.map(({ level, message }) => `${level} ${message}`);
      // Each test serves some of the models.
      return lines.filter((line) => !line.includes(' @Crud and no routes'));
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
  }

  const joins = (association: string) =>
    `${association} joins by Parent.code, and no unique index or constraint of the table "parents" is over "code" alone, so that records ` +
    'would be joined with those of others; CREATE UNIQUE INDEX ON "parents" ("code"); where its values are unique, or give the ' +
    'association a key that is (targetKey, sourceKey). A key of several columns is no association: use @BelongsToKey and @HasManyKey of ' +
    'crud-controllers.';

  it('[P3] to one record by a key that is not unique is refused', async () => {
    expect(await start([Coded])).to.deep.equal([joins('Coded.parent')]);
    const partial = 'CREATE UNIQUE INDEX ON parents (code) WHERE id > 0';
    expect(await start([Coded], partial)).to.deep.equal([joins('Coded.parent')]);
    const two = 'CREATE UNIQUE INDEX ON parents (code, id)';
    expect(await start([Coded], two)).to.deep.equal([joins('Coded.parent')]);
  });

  it('to many by an attribute with equal values is taken, and one by a part of a primary key is refused', async () => {
    expect(await start([Parent])).to.deep.equal([]);
    const tables =
      'ALTER TABLE parents DROP CONSTRAINT parents_pkey; ALTER TABLE parents ADD PRIMARY KEY (id, code)';
    const [key, children] = await start([Parent, Child], tables);
    expect(key).to.include('Parent.id: no unique index');
    expect(children).to.include('Parent.children joins by Parent.id');
  });

  it('by a unique key is taken, and so is one of a view', async () => {
    expect(await start([Parent, Coded], UNIQUE)).to.deep.equal([]);
    const view =
      'ALTER TABLE parents RENAME TO all_parents; CREATE VIEW parents AS SELECT * FROM all_parents';
    expect(await start([Coded], view)).to.deep.equal([]);
    await site.engine.sequelize.query('DROP VIEW parents; DROP TABLE all_parents');
  });

  describe('whose constraint', () => {
    const constraint = (action: string) =>
      `ALTER TABLE children ADD CONSTRAINT "Own" FOREIGN KEY ("parent id") REFERENCES parents ${action}`;
    const told = (has: string, effect: string) =>
      `warn Parent.children: its onDelete is RESTRICT, and the constraint "Own" of the table "children" has ON DELETE ${has}, so that ` +
      `DELETE of a Parent ${effect}; say the same in both.`;

    for (const [action, effect] of [
      ['CASCADE', 'deletes its records of Child, too'],
      ['SET NULL', 'empties Child.parentId'],
    ] as const) {
      it(`[P3] has ${action} where the model refuses is told, once for both sides`, async () => {
        const lines = await start([Parent, Child], UNIQUE, constraint(`ON DELETE ${action}`));
        expect(lines).to.deep.equal([told(action, effect)]);
        expect(await start([Child], UNIQUE, constraint(`ON DELETE ${action}`))).to.deep.equal(lines);
      });
    }

    it('agrees is not', async () => {
      for (const action of ['', 'ON DELETE RESTRICT', 'ON DELETE NO ACTION DEFERRABLE']) {
        expect(await start([Parent, Child], UNIQUE, constraint(action)), action).to.deep.equal([]);
      }
    });

    it('[P3] is not judged by the onDelete that Sequelize fills in for a HasOne without one', async () => {
      expect(await start([Owner, Owned], UNIQUE, constraint(''))).to.deep.equal([]);
      expect(await start([Owner, Owned], UNIQUE, constraint('ON DELETE CASCADE'))).to.deep.equal([]);
    });

    it('refuses where the model cascades is told', async () => {
      const { children } = Parent.associations as unknown as Record<
        string,
        { options: { onDelete?: string } }
      >;
      const options = children?.options ?? {};
      options.onDelete = 'CASCADE';
      try {
        expect(await start([Parent], UNIQUE, constraint(''))).to.deep.equal([
          'warn Parent.children: its onDelete is CASCADE, and the constraint "Own" of the table "children" has ON DELETE NO ACTION, so ' +
            'that DELETE of a Parent that has records of Child is refused; say the same in both.',
        ]);
        expect(await start([Parent], UNIQUE, constraint('ON DELETE CASCADE'))).to.deep.equal([]);
        delete options.onDelete;
        expect(await start([Parent], UNIQUE, constraint(''))).to.deep.equal([]);
        expect(await start([Parent], UNIQUE, constraint('ON DELETE CASCADE'))).to.deep.equal([
          'warn Child.parentId: no association of it has an onDelete, and the constraint "Own" of the table "children" has ON DELETE CASCADE, ' +
            'so that DELETE of a Parent deletes its records of Child, too; say the same in both.',
        ]);
      } finally {
        options.onDelete = 'RESTRICT';
      }
    });
  });
});
