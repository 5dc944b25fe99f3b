/** Many records of which another transaction changes some meanwhile: the stored rows are those of one writer. */
import { expect } from 'chai';
import { DataType } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { served } from '../../models/served.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';
import { behind } from '../../support/until-locked.js';

const NUMBER = { type: DataType.INTEGER, allowNull: false };
const crud = { endpoints: ['read', 'updateMany'] };
const Plain = served('plain', { n: NUMBER, m: NUMBER }, { crud });
/** A rule of Sequelize's has Sequelize write it on either path. */
const Ruled = served('ruled', { n: { ...NUMBER, validate: { min: 0 } }, m: NUMBER }, { crud });

except(OF_MANY).describe('many records that others change', () => {
  const site = serveTestApp(() => ({ models: [Plain, Ruled], minPool: 4 }));

  for (const table of ['plain', 'ruled']) {
    const patch = (body: object) => site.agent.patch(`/${table}`).send(body);

    /** The rows, after a request that has waited for a transaction which has changed both. */
    async function rowsBehind(send: () => PromiseLike<Response>): Promise<unknown> {
      const { sequelize } = site.engine;
      await sequelize.query(`TRUNCATE ${table}; INSERT INTO ${table} VALUES (1, 1, 0), (2, 7, 0)`);
      const { status, text } = await behind(sequelize, `UPDATE ${table} SET n = 4, m = 4`, send);
      expect(status, text).to.be.below(300);
      const [rows] = await sequelize.query(`SELECT n, m FROM ${table} ORDER BY id`);
      return rows;
    }

    it(`have all values of an array of one, of ${table}`, async () => {
      expect(await rowsBehind(() => patch([{ id: 1, n: 1, m: 2 }]))).to.deep.equal([
        { n: 1, m: 2 },
        { n: 4, m: 4 },
      ]);
    });
  }
});
