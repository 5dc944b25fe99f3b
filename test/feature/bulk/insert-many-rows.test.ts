/** Inserts of many rows with one statement, against those of single rows. */
import { expect } from 'chai';
import { literal } from 'sequelize';
import { Column, DataType, Default, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { ManyRows } from '../../../src/execute/rows/many-rows.js';
import { type FoundRows, SqlExecutor } from '../../../src/execute/rows/sql-executor.js';
import { Crud } from '../../../src/index.js';
import { forgetTriggers } from '../../../src/postgres/session/table-triggers.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { infoOf } from '../../support/offline-models.js';
import { HARD_ROWS, PARCEL_COLUMNS, Parcel } from '../../support/parcel.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'parts', timestamps: true })
class Part extends NumberedRow {
  @Column({ type: DataType.STRING(10), allowNull: false }) declare name: string;
  @Default('new') @Column(DataType.TEXT) declare state: string | null;
  @Column(DataType.INTEGER) declare size: number | null;
  @Column({ type: DataType.INTEGER, field: 'whole_id' }) declare wholeId: number | null;
  @Column(DataType.TEXT) declare note: string | null;
}

@Crud()
@Table({ tableName: 'labels', timestamps: false })
class Label extends Model {
  @PrimaryKey @Default(DataType.UUIDV4) @Column(DataType.UUID) declare code: string;
  @Column(DataType.ARRAY(DataType.ARRAY(DataType.INTEGER))) declare grid: number[][] | null;
}

/** The rows that were written. */
function rowsOf(written: FoundRows | null): FoundRows['rows'] {
  if (!written) throw new Error('Not written.');
  return written.rows;
}

describe('inserting many rows', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({ models: [Part, Label, Parcel], engine: { logging: sql.record } }));
  let parts: ManyRows;

  before(async () => {
    parts = new ManyRows(infoOf(Part));
    await query(`ALTER TABLE parts ALTER size SET DEFAULT 7,
      ADD FOREIGN KEY (whole_id) REFERENCES parts DEFERRABLE`);
  });

  beforeEach(() => emptyTables(site, 'parts', 'labels', 'parcels'));

  const query = (text: string) => site.engine.sequelize.query(text).then(([rows]) => rows as object[]);
  const returning = { columns: ['id', 'name', 'size'] };
  const insert = (rows: readonly object[], many = parts) =>
    many.insert({ rows: rows.map((row) => ({ ...row })), returning });
  /** The columns that are selected. */
  const shown = (written: FoundRows | null, count = 3) => rowsOf(written).map((row) => row.slice(0, count));

  it('[M27] stores values of every column type as single inserts do', async () => {
    const info = infoOf(Parcel);
    const selected = { columns: PARCEL_COLUMNS };
    const one = new SqlExecutor(info);
    const singly: unknown[] = [];
    for (const row of HARD_ROWS) {
      const written = await one.run({ kind: 'insert', row, returning: selected });
      singly.push(rowsOf(written)[0]?.slice(0, PARCEL_COLUMNS.length));
    }
    const many = await new ManyRows(info).insert({ rows: HARD_ROWS, returning: selected });
    expect(shown(many, PARCEL_COLUMNS.length)).to.deep.equal(singly);
  });

  it('[M28] gives each row the defaults of what it lacks, and keeps the order', async () => {
    const written = await insert([
      { name: 'a' },
      { name: 'b', size: null },
      { id: 90, name: 'c' },
      { name: 'd', size: 3 },
    ]);
    const found = shown(written);
    expect(found.map(([, ...others]) => others)).to.deep.equal([
      ['a', '7'],
      ['b', null],
      ['c', '7'],
      ['d', '3'],
    ]);
    expect(found[2]?.[0]).to.equal('90');
    const stored = await Part.findAll({ order: ['name'] });
    expect(stored.map(({ id, state }) => [String(id), state])).to.deep.equal(
      found.map(([id]) => [id ?? '', 'new']),
    );
    expect(stored.every(({ createdAt }) => createdAt instanceof Date)).to.equal(true);
  });

  it('[M28] finds rows again by keys that are given or made before, and refuses arrays of arrays', async () => {
    const many = new ManyRows(infoOf(Label));
    const codes = ['ffffffff-0000-4000-8000-000000000000', '00000000-0000-4000-8000-00000000000A'];
    const selected = { columns: ['code'] };
    const given = await many.insert({ rows: codes.map((code) => ({ code })), returning: selected });
    expect(shown(given, 1)).to.deep.equal(codes.map((code) => [code.toLowerCase()]));
    const made = await many.insert({ rows: [{}, {}, {}], returning: selected });
    expect(new Set(shown(made, 1).flat()).size).to.equal(3);
    expect(await many.insert({ rows: [{ grid: [[1], [2]] }, {}], returning: selected })).to.equal(null);
  });

  it('writes columns of types that the model does not know, in a schema of their own', async () => {
    await query(`CREATE SCHEMA "own schema"; SET search_path = "own schema";
      CREATE DOMAIN few AS text[] CHECK (cardinality(VALUE) < 3); CREATE DOMAIN short AS varchar(3) NOT NULL;
      CREATE TYPE mood AS ENUM ('b', 'a');
      CREATE TABLE "own types" (id short PRIMARY KEY, tags few, mood mood, moods mood[], price numeric(5, 1));
      RESET search_path`);
    const model = site.engine.sequelize.define(
      'OwnType',
      {
        id: { type: DataType.TEXT, primaryKey: true },
        tags: DataType.ARRAY(DataType.TEXT),
        mood: DataType.TEXT,
        moods: DataType.ARRAY(DataType.TEXT),
        price: DataType.DECIMAL,
      },
      { tableName: 'own types', schema: 'own schema', timestamps: false },
    );
    const many = new ManyRows(infoOf(model));
    const columns = ['id', 'tags', 'mood', 'moods', 'price'];
    const others = { mood: 'a', moods: ['a', 'b'], price: '1.25' };
    const row = (id: string, ...tags: string[]) => ({ id, tags, ...others });
    const write = (rows: readonly ReturnType<typeof row>[]) => many.insert({ rows, returning: { columns } });
    expect(shown(await write([row('b', 'x', 'y'), row('a', 'z'), row('c')]), columns.length)).to.deep.equal([
      ['b', '{x,y}', 'a', '{a,b}', '1.3'],
      ['a', '{z}', 'a', '{a,b}', '1.3'],
      ['c', '{}', 'a', '{a,b}', '1.3'],
    ]);
    const items = [
      { key: 'c', values: { tags: ['n'], moods: null } },
      { key: 'a', values: { price: '2' } },
    ];
    const changed = await many.update({ where: null, items, returning: { columns } });
    expect(shown(changed, columns.length)).to.deep.equal([
      ['c', '{n}', 'a', null, '1.3'],
      ['a', '{z}', 'a', '{a,b}', '2.0'],
    ]);
    const error = await write([row('d'), row('e', '1', '2', '3')]).catch((each: unknown) => each);
    expect(error).to.have.nested.property('parent.code', '23514');
    expect(await model.count()).to.equal(3);
  });

  it('leaves to others what it cannot be sure of', async () => {
    expect(await insert([{ name: 'a' }, { name: literal("'b'") }])).to.equal(null);
    expect(await insert([{ name: 'a' }, { size: 1 }])).to.equal(null);
    const shapes = Array.from({ length: 16 }, (_, index) => ({
      name: 'a',
      ...(index & 1 ? { size: 1 } : {}),
      ...(index & 2 ? { wholeId: null } : {}),
      ...(index & 4 ? { id: 100 + index } : {}),
      ...(index & 8 ? { note: null } : {}),
    }));
    expect(await insert(shapes.slice(0, 9))).to.equal(null);
    expect(await Part.count()).to.equal(0);
    expect(rowsOf(await insert(shapes.slice(8)))).to.have.length(8);
    expect(await Part.count()).to.equal(8);
  });

  const SERIAL = 'serial PRIMARY KEY';
  const INT = 'int PRIMARY KEY DEFAULT';
  const ODD =
    'int GENERATED ALWAYS AS IDENTITY (START 5 INCREMENT -2 MINVALUE -5000 MAXVALUE 5000) PRIMARY KEY';
  const TRIGGER = 'INSERT ON "own keys" FOR EACH ROW EXECUTE FUNCTION';
  /** Tables that differ only in the source of their keys, or in the triggers that change their rows. */
  const TABLES: readonly (readonly [name: string, isSure: boolean, key: string, more?: string])[] = [
    ['a key that the database always gives', true, ODD],
    ['a key that the database can give', true, 'int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY'],
    ['a sequence of another table', true, `${INT} nextval('parts_id_seq')`],
    ['a key that is computed', false, `${INT} 1000 - nextval('parts_id_seq')`],
    [
      'a trigger that may change a new row',
      false,
      SERIAL,
      `; CREATE TRIGGER t BEFORE ${TRIGGER} suppress_redundant_updates_trigger()`,
    ],
    ['a trigger that runs afterwards', false, SERIAL, `; CREATE TRIGGER t AFTER ${TRIGGER} noted()`],
    [
      'a trigger that runs after another write',
      true,
      SERIAL,
      `; CREATE TRIGGER t AFTER ${TRIGGER.replace('INSERT', 'DELETE')} noted()`,
    ],
    ['partitions', true, SERIAL, 'PARTITION BY RANGE (id); CREATE TABLE low PARTITION OF "own keys" DEFAULT'],
    ['a rule', false, SERIAL, '; CREATE RULE r AS ON DELETE TO "own keys" DO ALSO NOTHING'],
  ];

  for (const [name, isSure, key, more = ''] of TABLES) {
    it(`${isSure ? 'writes' : 'leaves to others'} rows of a table with ${name}`, async () => {
      const model = site.engine.sequelize.define(
        'OwnKey',
        { id: { type: DataType.INTEGER, primaryKey: true, autoIncrement: true }, name: DataType.TEXT },
        { tableName: 'own keys', timestamps: false },
      );
      await query(`CREATE OR REPLACE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        DROP TABLE IF EXISTS "own keys" CASCADE; CREATE TABLE "own keys" (id ${key}, name text) ${more}`);
      const names = Array.from({ length: 40 }, (_, index) => `${(index * 17) % 40}`);
      forgetTriggers(site.engine.sequelize);
      const written = await new ManyRows(infoOf(model)).insert({
        rows: names.map((each) => ({ name: each })),
        returning: { columns: ['id', 'name'] },
      });
      const stored = await query('SELECT id::text, name FROM "own keys" AS o ORDER BY o.id');
      if (!isSure) {
        expect(written).to.equal(null);
        expect(stored).to.have.length(0);
        return;
      }
      expect(shown(written, 2).map(([, each]) => each)).to.deep.equal(names);
      expect(shown(written, 2).sort(([a], [b]) => Number(a) - Number(b))).to.deep.equal(
        stored.map((row) => Object.values(row)),
      );
    });
  }
});
