/** Operations on the rows of a model, as features and handlers give them to the executor. */
import { expect } from 'chai';
import type { Client } from 'pg';
import { Column, DataType, Default, Table } from 'sequelize-typescript';
import { SqlExecutor } from '../../../src/execute/rows/sql-executor.js';
import { aliveRows } from '../../../src/features/soft-delete/deletion.js';
import { Crud } from '../../../src/index.js';
import { allOf, equalTo } from '../../../src/operation/predicates.js';
import type { StatementTarget } from '../../../src/postgres/connections/statement-target.js';
import { TitledRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { infoOf } from '../../support/offline-models.js';
import { connectTo, freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'papers', timestamps: true, paranoid: true })
class Paper extends TitledRow {
  @Default('draft') @Column(DataType.TEXT) declare state: string | null;
  @Column(DataType.INTEGER) declare pages: number | null;
}

/** One connection, in a transaction. */
function targetOn(client: Client): StatementTarget {
  const types = { getTypeParser: () => (text: string) => text };
  const run = async (text: string, values: readonly (string | null)[]) => {
    const result = await client.query<string[]>({ text, values: [...values], rowMode: 'array', types });
    const parsers = result.fields.map(() => (each: string) => each);
    return { rows: result.rows, count: result.rowCount ?? 0, parsers };
  };
  return { read: run, write: run, sharesWrites: false };
}

describe('running operations', () => {
  const sql = new SqlLog();
  const site = serveTestApp(async () => {
    database = await freshDatabase();
    return { models: [Paper], engine: { logging: sql.record }, database };
  });
  let database: TestDatabase;
  let executor: SqlExecutor;
  const id = { slot: 'id' };

  before(async () => {
    executor = new SqlExecutor(infoOf(Paper));
  });

  beforeEach(async () => {
    await emptyTables(site, 'papers');
    await Paper.bulkCreate(
      ['a', 'b', 'c', 'd'].map((title, index) => ({ title, state: index < 2 ? 'new' : 'old' })),
    );
    await Paper.destroy({ where: { title: 'd' } });
  });

  const alive = () => aliveRows(infoOf(Paper));
  const rowOf = () => allOf(equalTo('id', id), alive());

  it('writes a row after all that refers to one which has come meanwhile', async () => {
    const [first, second] = await Paper.findAll({ order: ['id'] });
    await using client = await connectTo(database.url);
    const direct = targetOn(client);
    let writes = 0;
    const on: StatementTarget = {
      ...direct,
      async write(text, values) {
        const result = await direct.write(text, values);
        if (text.startsWith('UPDATE')) writes += 1;
        if (writes === 1) await Paper.update({ title: 'open' }, { where: { id: second?.id } });
        return result;
      },
    };
    const references = [
      { attribute: 'pages', target: infoOf(Paper), key: 'id', where: equalTo('title', 'open') },
    ];
    const operation = {
      kind: 'update',
      where: rowOf(),
      set: { pages: second?.id },
      references,
      returning: { columns: ['pages'] },
    } as const;
    const found = await executor.run(operation, { id: String(first?.id) }, on);
    expect(found?.rows[0]?.[0]).to.equal(String(second?.id));
    expect((await first?.reload())?.pages).to.equal(second?.id);
    expect(writes).to.equal(2);
  });
});
