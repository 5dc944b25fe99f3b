/** Changes of many rows with one statement: by their keys, each with its own values, and all rows of a predicate. */
import { expect } from 'chai';
import type { Client } from 'pg';
import { literal, QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { ManyRows } from '../../../src/execute/rows/many-rows.js';
import { type FoundRows, SqlExecutor } from '../../../src/execute/rows/sql-executor.js';
import { aliveRows } from '../../../src/features/soft-delete/deletion.js';
import { Crud } from '../../../src/index.js';
import type { UpdateItem, UpdateMany } from '../../../src/operation/operation.js';
import { allOf, equalTo } from '../../../src/operation/predicates.js';
import type { StatementTarget } from '../../../src/postgres/connections/statement-target.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { infoOf } from '../../support/offline-models.js';
import { HARD_ROWS, PARCEL_COLUMNS, Parcel } from '../../support/parcel.js';
import { connectTo, freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';
import { untilLocked } from '../../support/until-locked.js';

@Crud()
@Table({ tableName: 'jobs', timestamps: true, paranoid: true, version: true })
class Job extends NumberedRow {
  @Column(DataType.STRING(20)) declare title: string | null;
  @Column(DataType.INTEGER) declare size: number | null;
  @Column(DataType.TEXT) declare owner: string | null;
  @Column({ type: DataType.INTEGER, field: 'after_id' }) declare afterId: number | null;
}

/** One connection, as a session would hold it. */
function targetOn(client: Client): StatementTarget {
  const types = { getTypeParser: () => (text: string) => text };
  const run = async (text: string, values: readonly (string | null)[]) => {
    const result = await client.query<string[]>({ text, values: [...values], rowMode: 'array', types });
    return { rows: result.rows, count: result.rowCount ?? 0, parsers: [] };
  };
  return { read: run, write: run };
}

function rowsOf(written: FoundRows | null): FoundRows['rows'] {
  if (!written) throw new Error('Not written.');
  return written.rows;
}

describe('changing many rows', () => {
  const sql = new SqlLog();
  const info = () => infoOf(Job);
  const owned = () => allOf(equalTo('owner', { slot: 'scope.owner' }), aliveRows(info()));
  const ours = { 'scope.owner': 'us' };
  const columns = ['id', 'title', 'size', 'version'];
  let database: TestDatabase;
  const site = serveTestApp(async () => {
    database = await freshDatabase();
    return { models: [Job, Parcel], engine: { logging: sql.record }, database, minPool: 2 };
  });
  let jobs: ManyRows;

  before(() => {
    jobs = new ManyRows(info());
  });

  beforeEach(async () => {
    await emptyTables(site, 'jobs', 'parcels');
    await Job.bulkCreate(
      ['a', 'b', 'c', 'd'].map((title, index) => ({ title, size: index, owner: index < 3 ? 'us' : 'them' })),
    );
  });

  const change = (items: readonly UpdateItem[], more: Partial<UpdateMany> = {}, on?: StatementTarget) =>
    jobs.update({ where: owned(), items, returning: { columns }, ...more }, ours, on);
  const shown = (written: FoundRows | null) => rowsOf(written).map((row) => row.slice(0, columns.length));
  const stored = () =>
    site.engine.sequelize.query('SELECT * FROM jobs ORDER BY id', { type: QueryTypes.SELECT });
  const nothingWrittenBy = async <T>(write: () => Promise<T>): Promise<T> => {
    const before = await stored();
    const result = await write();
    expect(await stored()).to.deep.equal(before);
    return result;
  };

  it('gives each row its own values, in the order asked, with one statement for any number', async () => {
    const items = [
      { key: 3, values: { title: 'C' } },
      { key: 1, values: { title: 'A' } },
    ];
    const { result, statements } = await sql.during(() => change(items));
    expect(shown(result)).to.deep.equal([
      ['3', 'C', '2', '1'],
      ['1', 'A', '0', '1'],
    ]);
    const { statements: again } = await sql.during(() => change([{ key: 2, values: { title: 'B' } }]));
    expect(again).to.deep.equal(statements.slice(-1));
    await Job.bulkCreate(Array.from({ length: 1000 }, () => ({ owner: 'us' })));
    const all = await Job.findAll({ where: { owner: 'us' }, order: [['id', 'DESC']] });
    const written = await change(all.map(({ id }) => ({ key: id, values: { title: `t${id}` } })));
    expect(shown(written).map(([id, title]) => [id, title])).to.deep.equal(
      all.map(({ id }) => [String(id), `t${id}`]),
    );
  });

  it('counts a version and notes the moment for rows that differ only', async () => {
    const before = await Job.findAll({ order: ['id'] });
    const written = await change([
      { key: 1, values: { title: 'a', size: 0 } },
      { key: 2, values: { title: 'b', size: 9 } },
    ]);
    expect(shown(written).map((row) => row[3])).to.deep.equal(['0', '1']);
    const [first, second] = await Job.findAll({ order: ['id'] });
    expect(first?.updatedAt).to.deep.equal(before[0]?.updatedAt);
    expect(Number(second?.updatedAt)).to.be.greaterThan(Number(before[1]?.createdAt) - 1);
    const distinct = 'SELECT count(DISTINCT "updatedAt")::int AS n FROM jobs WHERE id < 3';
    expect((await site.engine.sequelize.query(distinct))[0]).to.deep.equal([{ n: 2 }]);
  });

  it('[M27] changes values of every column type just where single updates do', async () => {
    const model = infoOf(Parcel);
    const returning = { columns: ['version', ...PARCEL_COLUMNS] };
    const one = new SqlExecutor(model);
    const many = new ManyRows(model);
    await Parcel.bulkCreate(PARCEL_COLUMNS.flatMap(() => [{}, {}]));
    const shown = (written: FoundRows | null) =>
      rowsOf(written).map((row) => row.slice(0, returning.columns.length));
    // Each row gets values of one column. Some are those that it has, in other words.
    for (const turn of [1, 2, 3, 3, 2, 0]) {
      const next = PARCEL_COLUMNS.map((name) => ({ [name]: HARD_ROWS[turn]?.[name] }));
      const singly: unknown[] = [];
      for (const [index, set] of next.entries()) {
        const where = equalTo('id', String(2 * index + 1));
        singly.push(...shown(await one.run({ kind: 'update', where, set, returning })));
      }
      const items = next.map((values, index) => ({ key: 2 * index + 2, values }));
      expect(shown(await many.update({ where: null, items, returning }))).to.deep.equal(singly);
    }
  });

  it('asks for the state that the system keeps', async () => {
    const [row] = shown(await change([{ key: 1, values: {} }], { returning: { columns: ['xmin', 'id'] } }));
    const named = (state: string) => change([{ key: 1, values: { title: 'A' }, state }], { state: 'xmin' });
    expect(await named('1')).to.equal(null);
    expect(shown(await named(row?.[0] ?? ''))).to.have.length(1);
  });

  it('leaves to others what it cannot write', () =>
    nothingWrittenBy(async () => {
      expect(await change([{ key: 1, values: { title: literal("'x'") } }])).to.equal(null);
      expect(await change([{ key: 1, values: { id: 8 } }])).to.equal(null);
      const set = { title: literal("'x'") };
      expect(await jobs.updateMatching({ where: null, set, maximum: 5 })).to.equal(null);
      expect(await jobs.updateMatching({ where: null, set: { id: 8 }, maximum: 5 })).to.equal(null);
    }));

  it('[M29] locks rows in the order of their keys, so that opposite batches wait, and do not fail', async () => {
    await using byIndex = await connectTo(database.url);
    await using byScan = await connectTo(database.url);
    await using holder = await connectTo(database.url);
    // In the table the rows are in the opposite order: one connection finds them by the index, the other one by a scan.
    const keys = Array.from({ length: 300 }, (_, index) => 1000 - index);
    await Job.bulkCreate(keys.map((id) => ({ id, owner: 'us' })));
    await byIndex.query('SET enable_seqscan = off; SET enable_bitmapscan = off');
    await byScan.query('SET enable_indexscan = off; SET enable_bitmapscan = off');
    // Each batch has half of its rows when it comes to this one.
    await holder.query('BEGIN; SELECT FROM jobs WHERE id = 850 FOR UPDATE');
    const batch = (sorted: readonly number[], title: string, on: Client) =>
      change(
        sorted.map((key) => ({ key, values: { title } })),
        {},
        targetOn(on),
      );
    const written = Promise.all([batch(keys, 'one', byIndex), batch([...keys].reverse(), 'other', byScan)]);
    await Promise.race([written, untilLocked(site.engine.sequelize, 2)]);
    await holder.query('COMMIT');
    for (const each of await written) expect(rowsOf(each)).to.have.length(keys.length);
    const jobs = await Job.findAll({ where: { id: keys } });
    expect(jobs.map((job) => job.get('version'))).to.deep.equal(keys.map(() => 2));
  });

  it('sees what another transaction has written to a row that it waited for', async () => {
    await using client = await connectTo(database.url);
    await client.query('BEGIN');
    await client.query(`UPDATE jobs SET title = 'theirs', version = 7 WHERE id = 1;
      UPDATE jobs SET owner = 'them' WHERE id = 2`);
    const written = [
      change([{ key: 1, values: { size: 5 }, state: '0' }], { state: 'version' }),
      change([{ key: 2, values: { size: 5 } }]),
    ];
    await untilLocked(site.engine.sequelize, 2);
    await client.query('COMMIT');
    const [changed, gone] = await Promise.all(written);
    expect([changed, gone]).to.deep.equal([null, null]);
    expect(shown(await change([{ key: 1, values: { size: 6 } }]))).to.deep.equal([['1', 'theirs', '6', '8']]);
  });

  it('leaves to others a table whose triggers change rows after an UPDATE, and a view', async () => {
    const query = (text: string) => site.engine.sequelize.query(text);
    await query('CREATE TABLE watched (id int PRIMARY KEY, name text); CREATE VIEW seen AS TABLE watched');
    await query(`CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER noting AFTER UPDATE ON watched FOR EACH ROW EXECUTE FUNCTION noted()`);
    await query("INSERT INTO watched VALUES (1, 'a')");
    const define = (tableName: string) =>
      infoOf(
        site.engine.sequelize.define(
          tableName,
          { id: { type: DataType.INTEGER, primaryKey: true }, name: DataType.TEXT },
          { tableName, timestamps: false },
        ),
      );
    const items = [{ key: 1, values: { name: 'b' } }];
    const returning = { columns: ['name'] };
    const all = { where: null, set: { name: 'b' }, maximum: 1 };
    const [watched, seen] = [define('watched'), define('seen')];
    expect(await new ManyRows(watched).update({ where: null, items, returning })).to.equal(null);
    expect(await new ManyRows(seen).update({ where: null, items, returning })).to.equal(null);
    expect(await new ManyRows(seen).insert({ rows: [{ id: 2 }], returning })).to.equal(null);
    expect(await new ManyRows(seen).updateMatching(all)).to.equal(null);
    expect(await new ManyRows(seen).deleteMatching({ ...all, mark: null })).to.equal(null);
    expect(await new ManyRows(watched).updateMatching(all)).to.have.property('written', 1);
  });
});
