/** A change is made and answered in one: no answer is that of another request, and nothing is written that the request may not change. */

import { expect } from 'chai';
import { DataType } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { crudController } from '../../../src/index.js';
import { served } from '../../models/served.js';
import { expectProblem } from '../../support/expect-answer.js';
import { passingController } from '../../support/passing-controllers.js';
import { serveTestApp } from '../../support/test-app.js';
import { untilLocked } from '../../support/until-locked.js';

const ONE = { type: DataType.INTEGER, allowNull: false, defaultValue: 1 };
const PLAIN = { n: ONE, tenant: ONE };
/** A rule of Sequelize's has Sequelize write it on either path. */
const RULED = { n: { ...ONE, validate: { min: 0 } }, tenant: ONE };
const SOFT = { timestamps: true, createdAt: false, updatedAt: false, paranoid: true };
const crud = { scope: { tenant: () => 1 } };
const Ruled = served('ruled', RULED, { table: SOFT });
const Counted = served('counted', RULED, { crud, table: { ...SOFT, version: true } });
const Hooked = served('hooked', RULED, { crud, table: { ...SOFT, hooks: { beforeUpdate() {} } } });
/** Its default scope has the row read again. */
const Sighted = served('sighted', RULED, { table: { ...SOFT, defaultScope: { where: { tenant: 1 } } } });
const Called = served('called', RULED, { crud, table: SOFT });
/** Our statements write it on the fast path. */
const Plain = served('plain', PLAIN, { crud });

const SCOPED = ['counted', 'hooked', 'called', 'plain', 'sighted'];
const MODELS = [Ruled, Counted, Hooked, Sighted, Called, Plain];

describe('a change and its answer', () => {
  const site = serveTestApp(() => ({
    models: MODELS,
    bootstrap: { controllers: [passingController(crudController(Called))] },
    // One changes what the other ones are about to write.
    minPool: 6,
  }));
  const query = (text: string) => site.engine.sequelize.query(text);

  const refill = ({ tableName }: { readonly tableName: string }) =>
    query(`TRUNCATE ${tableName} RESTART IDENTITY; INSERT INTO ${tableName} DEFAULT VALUES`);

  beforeEach(() => Promise.all(MODELS.map(refill)));

  /** What is answered to a request that waits for another transaction, which commits then. */
  async function behind(text: string, send: () => PromiseLike<Response>): Promise<Response> {
    const { sequelize } = site.engine;
    const transaction = await sequelize.transaction();
    await sequelize.query(text, { transaction });
    const answer = Promise.resolve(send());
    await untilLocked(sequelize);
    await transaction.commit();
    return answer;
  }

  async function written(table: string): Promise<unknown> {
    const [rows] = await query(`SELECT n FROM ${table}`);
    return rows;
  }

  for (const model of MODELS) {
    const table = model.name.toLowerCase();

    it(`of ${table} are 404, and nothing, where the row goes away before`, async () => {
      const path = `/${table}/1`;
      const detail = `There is no ${model.name} with this id.`;
      const change = () => site.agent.patch(path).send({ n: 7 });
      const deleting = model.options.paranoid ? ['"deletedAt" = now()'] : [];
      const moving = SCOPED.includes(table) ? ['tenant = 2'] : [];
      for (const [what, send] of [
        ...[...deleting, ...moving].map((each) => [each, change] as const),
        ...deleting.map((each) => [each, () => site.agent.delete(path)] as const),
      ]) {
        expectProblem(await behind(`UPDATE ${table} SET ${what}`, send), 404, { detail });
        expect(await written(table)).to.deep.equal([{ n: 1 }]);
        await refill(model);
      }
    });

    it(`[U1] of ${table} are those of one request`, async () => {
      for (let round = 0; round < 10; round += 1) {
        const answers = await Promise.all(
          [2, 3, 4, 5].map(async (n) => ({ n, answer: await site.agent.patch(`/${table}/1`).send({ n }) })),
        );
        const won = answers.filter(({ answer }) => answer.status === 200);
        expect(won).not.to.have.length(0);
        for (const { n, answer } of won) {
          expect(answer.body).to.include({ n });
          if (table === 'counted')
            expect(answer.headers['etag']).to.match(new RegExp(`^"${answer.body.version}[."]`));
        }
        for (const { answer } of answers) expect(answer.status).to.be.oneOf([200, 409]);
        if (table === 'counted')
          expect(new Set(won.map(({ answer }) => answer.headers['etag']))).to.have.property(
            'size',
            won.length,
          );
      }
    });
  }
});
