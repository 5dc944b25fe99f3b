/** Imports of rows of which another transaction changes some meanwhile: the stored rows are those of one writer. */
import { expect } from 'chai';
import { DataType } from 'sequelize-typescript';
import { Repository } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';
import { behind } from '../../support/until-locked.js';

const NUMBER = { type: DataType.INTEGER, allowNull: false };
const crud = { endpoints: ['read'], import: { modes: ['update', 'upsert'] }, upsert: [['id']] };
const Plain = served('plain', { n: NUMBER }, { crud, base: KeyedRow });
/** A rule of Sequelize's has it written row by row on either path. */
const Ruled = served('ruled', { n: { ...NUMBER, validate: { min: 0 } } }, { crud, base: KeyedRow });

/** The first row has this `n` already, until the other transaction commits. */
const FILE = 'id,n\n1,1\n2,1\n';
const ROWS = [
  { id: 1, n: 1 },
  { id: 2, n: 1 },
];

except(OF_MANY).describe('imports of rows that others change', () => {
  const site = serveTestApp(() => ({ models: [Plain, Ruled], minPool: 4 }));
  const importFile = (table: string, mode: string) =>
    site.agent.post(`/${table}/import?mode=${mode}`).type('text/csv').send(FILE);

  for (const model of [Plain, Ruled]) {
    const table = model.name.toLowerCase();
    const ways: Readonly<Record<string, () => PromiseLike<{ readonly updated?: number }>>> = {
      update: () => importFile(table, 'update').then(({ body }) => body),
      upsert: () => importFile(table, 'upsert').then(({ body }) => body),
      'update of code': () => new Repository(model).importRows(ROWS, { mode: 'update' }),
    };
    for (const [way, send] of Object.entries(ways))
      it(`store all values of ${table} by ${way}`, async () => {
        const { sequelize } = site.engine;
        await sequelize.query(`TRUNCATE ${table}; INSERT INTO ${table} VALUES (1, 1), (2, 7)`);
        const imported = await behind(sequelize, `UPDATE ${table} SET n = 4`, send);
        expect(imported, JSON.stringify(imported)).to.include({ updated: 2, failed: 0 });
        const [rows] = await sequelize.query(`SELECT * FROM ${table} ORDER BY id`);
        expect(rows).to.deep.equal(ROWS);
      });
  }
});
