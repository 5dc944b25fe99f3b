/** Records of a page equal those that Sequelize makes of the same rows. */
import { inspect } from 'node:util';
import { expect } from 'chai';
import type { FindOptions } from 'sequelize';
import { Column, DataType, DefaultScope, type Model, Table } from 'sequelize-typescript';
import { Crud, Repository } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { serveTestApp } from '../../support/test-app.js';

abstract class Row extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
}

@Crud()
@Table({ tableName: 'specimens' })
class Specimen extends Row {
  @Column({ type: DataType.DECIMAL(10, 2), field: 'the price' }) declare price: string | null;
  @Column(DataType.BIGINT) declare count: string | null;
  @Column(DataType.DATE(6)) declare moment: Date | null;
  @Column(DataType.DATEONLY) declare day: string | null;
  @Column(DataType.BOOLEAN) declare isOpen: boolean | null;

  /** A boolean that the table holds as text. */
  @Column(DataType.BOOLEAN) declare isKnown: boolean | null;
  @Column(DataType.JSONB) declare json: unknown;
  @Column(DataType.BLOB) declare bytes: Buffer | null;
  @Column(DataType.ARRAY(DataType.INTEGER)) declare numbers: number[] | null;
  @Column(DataType.RANGE(DataType.INTEGER)) declare range: unknown;

  @Column({
    type: DataType.TEXT,
    get(this: Specimen) {
      return `<${this.getDataValue('note' as never)}>`;
    },
    set(this: Specimen, value: string) {
      this.setDataValue('note' as never, value.trim() as never);
    },
  })
  declare note: string | null;

  @Column({
    type: DataType.VIRTUAL(DataType.TEXT, ['name', 'note']),
    get(this: Specimen) {
      return `${this.name} ${this.note}`;
    },
  })
  declare both: string;
}

@Crud()
@DefaultScope(() => ({ attributes: ['id'] }))
@Table({ tableName: 'scoped', timestamps: false })
class Scoped extends Row {}

@Crud()
@Table({ tableName: 'fielded', timestamps: false })
class Fielded extends Row {
  readonly readAt = new Date(0);
}

describe('records of a page', () => {
  const specimens = new Repository(Specimen);
  serveTestApp(() => ({
    models: [Specimen, Scoped, Fielded],
  }));

  before(async () => {
    await Specimen.sequelize?.query('ALTER TABLE specimens ALTER "isKnown" TYPE text');
    await Specimen.sequelize?.query(`
      INSERT INTO specimens VALUES
        (1, 'a', 1.5, 9007199254740993, '2026-01-31 10:00:00.123456Z', '2026-01-31', true, 'true', '{"a": [1]}',
          '\\x00ff', '{1,2}', '[1,5)', 'n', now(), now()),
        (2, NULL, NULL, NULL, 'infinity', '-infinity', NULL, NULL, 'null', NULL, NULL, 'empty', NULL, now(), now()),
        (3, 'c', 2, 7, '1999-12-31 10:00:00Z', '1999-12-31', false, 'false', '7', '', '{}', '(,)', '', now(), now())`);
    await Scoped.create({ name: 'a' });
    await Fielded.create({ name: 'a' });
  });

  /** Everything that a record is made of. */
  const partsOf = (record: Model) => ({ ...record, prototype: Object.getPrototypeOf(record) as object });

  async function expectSame(found: readonly Model[], options: FindOptions): Promise<void> {
    const expected = await Specimen.findAll(options);
    expect(found.map(partsOf)).to.deep.equal(expected.map(partsOf));
    expect(found.map((each) => Object.keys(each.get()))).to.deep.equal(
      expected.map((each) => Object.keys(each.get())),
    );
    expect(JSON.stringify(found)).to.equal(JSON.stringify(expected));
  }

  it('are what Sequelize makes itself', async () => {
    const { items } = await specimens.page({ page: 1, size: 5 });
    expect(items).to.have.length(3);
    await expectSame(items, { order: [['id', 'ASC']] });
  });

  it('are so on pages by cursor, where the places are read along', async () => {
    const sort = [{ attribute: 'id', descending: true }];
    const { items } = await specimens.cursorPage({ size: 2, sort });
    await expectSame(items, { order: [['id', 'DESC']], limit: 2 });
    const byName = await specimens.cursorPage({ size: 2, sort: [{ attribute: 'name', descending: false }] });
    // Records do not show that the places of the cursor were read, too.
    const expected = await Specimen.findAll({ order: [['name', 'ASC']], limit: 2 });
    expect(byName.items.map(partsOf)).to.deep.equal(expected.map(partsOf));
  });

  it('cannot be told from them before the first look, whichever that is', async () => {
    const looks: Readonly<Record<string, (record: Specimen) => unknown>> = {
      inspect: (record) => inspect(record, { depth: 5 }),
      keys: (record) => Object.keys(record),
      'for in': (record) => {
        const names: string[] = [];
        for (const name in record) names.push(name);
        return names;
      },
      symbols: (record) => Object.getOwnPropertySymbols({ ...record }),
      values: (record) => record.dataValues,
      'previous values': (record) => record.previous(),
      change: (record) => record.set('name', 'new').changed(),
      'values that are replaced': (record) => Object.assign(record, { dataValues: { id: 7 } }).get(),
      clone: (record) => structuredClone(record.dataValues),
      freeze: (record) => Object.freeze(record).get(),
      inherit: (record) => (Object.create(record) as Specimen).get(),
      proxy: (record) => new Proxy(record, {}).get(),
      JSON: (record) => JSON.stringify(record),
    };
    for (const [name, look] of Object.entries(looks)) {
      const found = await specimens.get(1);
      const expected = (await Specimen.findOne({ where: { id: 1 } })) as Specimen;
      expect(look(found), name).to.deep.equal(look(expected));
      if (name === 'freeze') continue;
      expect(partsOf(found), name).to.deep.equal(partsOf(expected));
      expect(Object.getOwnPropertyDescriptors({ ...found })).to.deep.equal(
        Object.getOwnPropertyDescriptors({ ...expected }),
      );
      expect(Object.getOwnPropertyDescriptor(found, 'dataValues')).to.deep.equal(
        Object.getOwnPropertyDescriptor(expected, 'dataValues'),
      );
    }
  });

  it('can be changed, saved and read again', async () => {
    const { items } = await specimens.page({ page: 1, size: 1 });
    const [first] = items as [Specimen];
    first.name = 'changed';
    expect([first.changed(), first.previous('name')]).to.deep.equal([['name'], 'a']);
    await first.save();
    await first.reload();
    expect([first.name, first.changed(), first.isKnown]).to.deep.equal(['changed', false, true]);
  });

  it("are Sequelize's own where a scope says what is read", async () => {
    const { items } = await new Repository(Scoped).page({ page: 1, size: 5 });
    expect(items.map(partsOf)).to.deep.equal((await Scoped.findAll()).map(partsOf));
  });

  it("are Sequelize's own where the class has fields", async () => {
    const { items } = await new Repository(Fielded).page({ page: 1, size: 5 });
    expect(items.map(({ readAt }) => readAt)).to.deep.equal([new Date(0)]);
  });
});
