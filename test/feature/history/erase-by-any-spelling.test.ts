/** Erasure by a key that PostgreSQL writes otherwise than code does: the changes of its row are found, be the record there or gone. */
import { expect } from 'chai';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { Crud, type ModelClass, Repository } from '../../../src/index.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

/** Tables by name: the type of the key, its text in the row, and the id that code has. */
const KEYS = {
  padded: [DataType.CHAR(5), 'ab', 'ab'],
  words: [DataType.CITEXT, 'Ab', 'aB'],
  numbers: [DataType.DECIMAL, '7', '7.00'],
  amounts: [DataType.DECIMAL(9, 2), '7', '7.000'],
  moments: [DataType.DATE, '2026-01-31 08:00:00.5+00', new Date('2026-01-31T08:00:00.500Z')],
} as const;

const models = Object.entries(KEYS).map(([tableName, [type]]) => {
  const Keyed = { [`Of_${tableName}`]: class extends Model {} }[`Of_${tableName}`] as unknown as ModelClass;
  Column({ type, primaryKey: true })(Keyed.prototype, 'key');
  Column(DataType.TEXT)(Keyed.prototype, 'name');
  Table({ tableName, timestamps: false })(Keyed);
  Crud({ history: true })(Keyed);
  return Keyed;
});

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('the erasure by a key', () => {
  const site = serveTestApp(async () => {
    const database = await freshDatabase();
    await execute(database.url, 'CREATE EXTENSION citext');
    const engine = { timezone: '+02:00' };
    return { database, models, engine, bootstrap: { indexAdvice: false } };
  });
  const sql = (text: string) => site.engine.sequelize.query(text);

  beforeEach(() => emptyTables(site, ...Object.keys(KEYS), 'crud_changes'));

  for (const [index, [table, [, text, id]]] of Object.entries(KEYS).entries())
    for (const isGone of [false, true])
      it(`finds the changes of a record that is ${isGone ? 'gone' : 'there'}: ${table}`, async () => {
        await sql(`INSERT INTO "${table}" VALUES ('${text}', 'secret')`);
        if (isGone) await sql(`DELETE FROM "${table}"`);
        const repository = new Repository(models[index] as ModelClass);
        expect(await repository.eraseHistory(id as never)).to.equal(isGone ? 2 : 1);
        const [left] = await sql(`SELECT FROM crud_changes WHERE (old, new)::text LIKE '%secret%'`);
        expect(left).to.deep.equal([]);
      });

  it('finds the changes of each spelling that a key had', async () => {
    await sql(`INSERT INTO words VALUES ('Mr', 'secret'); UPDATE words SET key = 'MR'; DELETE FROM words`);
    expect(await new Repository(models[1] as ModelClass).eraseHistory('mr' as never)).to.equal(4);
  });
});
