/** Imports of rows of which another transaction changes some meanwhile: the stored rows are those of one writer. */
import { expect } from 'chai';
import { DataType } from 'sequelize-typescript';
import { served } from '../../models/served.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';
import { behind } from '../../support/until-locked.js';

const NUMBER = { type: DataType.INTEGER, allowNull: false };
const crud = { endpoints: ['read'], import: { modes: ['update'] } };
/** A rule of Sequelize's has it written row by row on either path. */
const Ruled = served('ruled', { n: { ...NUMBER, validate: { min: 0 } }, m: NUMBER }, { crud });

except(OF_MANY).describe('imports of rows that others change', () => {
  const site = serveTestApp(() => ({ models: [Ruled], minPool: 4 }));

  it('store all values of ruled', async () => {
    const { sequelize } = site.engine;
    await sequelize.query('TRUNCATE ruled; INSERT INTO ruled VALUES (1, 1, 0), (2, 7, 0)');
    const { status, body } = await behind(sequelize, 'UPDATE ruled SET n = 4, m = 4', () =>
      site.agent.post('/ruled/import?mode=update').type('text/csv').send('id,n,m\n1,1,4\n2,1,2\n'),
    );
    expect([status, body.updated, body.failed], JSON.stringify(body)).to.deep.equal([200, 2, 0]);
    const [rows] = await sequelize.query('SELECT n, m FROM ruled ORDER BY id');
    expect(rows).to.deep.equal([
      { n: 1, m: 4 },
      { n: 1, m: 2 },
    ]);
  });
});
