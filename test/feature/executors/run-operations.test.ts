/** Operations on the rows of a model, as features and handlers give them to the executor. */

import { expect } from 'chai';
import type { Client } from 'pg';
import { Column, DataType, Table } from 'sequelize-typescript';
import { SqlExecutor } from '../../../src/execute/rows/sql-executor.js';
import { Crud } from '../../../src/index.js';
import { equalTo } from '../../../src/operation/predicates.js';
import type { StatementTarget } from '../../../src/postgres/connections/statement-target.js';
import { TitledRow } from '../../models/rows.js';
import { forSuite } from '../../support/for-suite.js';
import { infoOf } from '../../support/offline-models.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'papers', timestamps: false })
class Paper extends TitledRow {
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
  return { read: run, write: run };
}

describe('running operations', () => {
  const database = forSuite(() => freshDatabase());
  serveTestApp(() => ({ models: [Paper], database: { url: database.url } }));

  it('writes a row after all that refers to one which has come meanwhile', async () => {
    const [first, second] = await Paper.bulkCreate([{ title: 'a' }, { title: 'b' }]);
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
    const target = infoOf(Paper);
    const operation = {
      kind: 'update',
      where: equalTo('id', { slot: 'id' }),
      set: { pages: second?.id },
      references: [{ attribute: 'pages', target, key: 'id', where: equalTo('title', 'open') }],
      returning: { columns: ['pages'] },
    } as const;
    const found = await new SqlExecutor(target).run(operation, { id: String(first?.id) }, on);
    expect(found?.rows[0]?.[0]).to.equal(String(second?.id));
    expect((await first?.reload())?.pages).to.equal(second?.id);
    expect(writes).to.equal(2);
  });
});
