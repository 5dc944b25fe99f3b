/** Many clients at once: of those that cannot all succeed, one does, and the others get an error. A change and its answer are those of one request. */

import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { addedHook } from '../../support/added-hook.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { passingController } from '../../support/passing-controllers.js';
import { serveTestApp } from '../../support/test-app.js';
import { behind } from '../../support/until-locked.js';

@Crud()
@Table({ tableName: 'seats', timestamps: false, version: true })
class Seat extends NumberedRow {
  @Column({ type: DataType.STRING(10), allowNull: false, unique: true }) declare number: string;
  @Column(DataType.STRING(20)) declare guest: string | null;
}

describe('writing at the same time', () => {
  const site = serveTestApp(() => ({ models: [Seat], minPool: 2 }));

  beforeEach(() => emptyTables(site, 'seats'));

  it('[E7] gives one of fifty creates of a unique value to its client, and 409 to the others', async () => {
    const requests = Array.from({ length: 50 }, () => site.agent.post('/seats').send({ number: '1A' }));
    const answers = await Promise.all(requests);
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).to.have.length(49);
    for (const answer of refused) {
      expectIssue(answer, 409, {
        pointer: '/number',
        code: 'unique',
        detail: 'Another Seat has the same number.',
      });
    }
    expect(await Seat.count()).to.equal(1);
  });

  it('[E4] lets two updates of a version through, one after the other', async () => {
    await Seat.create({ number: '1A' });
    const seen: unknown[] = [];
    using _hook = addedHook(Seat, 'beforeUpdate', async (seat: Seat) => {
      seen.push(seat.get('version'));
      await setTimeout(50);
    });
    const answers = await Promise.all(
      [{ guest: 'Ann' }, { number: '1B' }].map((change) => site.agent.patch('/seats/1').send(change)),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(seen).to.deep.equal([0, 1]);
    expect((await site.agent.get('/seats/1')).body).to.include({ guest: 'Ann', number: '1B', version: 2 });
  });

  it('lets each of twenty updates through: none is lost', async () => {
    await Seat.create({ number: '1A' });
    const guests = Array.from({ length: 20 }, (_, guest) => `guest ${guest}`);
    const answers = await Promise.all(guests.map((guest) => site.agent.patch('/seats/1').send({ guest })));
    expect(answers.map(({ status }) => status)).to.deep.equal(guests.map(() => 200));
    const versions = answers.map(({ body }) => body.version).toSorted((one, other) => one - other);
    expect(versions).to.deep.equal(guests.map((_, index) => index + 1));
  });

  it('lets one of ten deletes succeed', async () => {
    await Seat.create({ number: '1A' });
    const requests = Array.from({ length: 10 }, () => site.agent.delete('/seats/1'));
    const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([204, ...Array(9).fill(404)]);
  });
});

const ONE = { type: DataType.INTEGER, allowNull: false, defaultValue: 1 };
const PLAIN = { n: ONE, m: ONE, tenant: ONE };
/** A rule of Sequelize's has Sequelize write it on either path. */
const RULED = { n: { ...ONE, validate: { min: 0 } }, m: ONE, tenant: ONE };
const SOFT = { timestamps: true, createdAt: false, updatedAt: false, paranoid: true };
const open = { endpoints: ['list', 'read', 'create', 'update', 'replace', 'delete'] };
const crud = { ...open, scope: { tenant: () => 1 } };
const Ruled = served('ruled', RULED, { crud: open, table: SOFT });
const Counted = served('counted', RULED, { crud, table: { ...SOFT, version: true } });
const Hooked = served('hooked', RULED, { crud, table: { ...SOFT, hooks: { beforeUpdate() {} } } });
/** Its default scope has the row read again. */
const Sighted = served('sighted', RULED, {
  crud: open,
  table: { ...SOFT, defaultScope: { where: { tenant: 1 } } },
});
const Called = served('called', RULED, { crud, table: SOFT });
/** Our statements write it on the fast path. */
const Plain = served('plain', PLAIN, { crud });

const SCOPED = ['counted', 'hooked', 'called', 'plain', 'sighted'];
const MODELS = [Ruled, Counted, Hooked, Sighted, Called, Plain];

describe('a change and its answer', () => {
  const site = serveTestApp(() => ({
    models: MODELS,
    bootstrap: { controllers: [passingController(crudController(Called))] },
    // One request changes the rows that the others are about to write.
    minPool: 6,
  }));
  const sequelize = () => site.engine.sequelize;
  const query = (text: string) => sequelize().query(text);

  const refill = ({ tableName }: { readonly tableName: string }) =>
    query(`TRUNCATE ${tableName} RESTART IDENTITY; INSERT INTO ${tableName} DEFAULT VALUES`);

  beforeEach(() => Promise.all(MODELS.map(refill)));

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
        expectProblem(await behind(sequelize(), `UPDATE ${table} SET ${what}`, send), 404, { detail });
        expect(await written(table)).to.deep.equal([{ n: 1 }]);
        await refill(model);
      }
    });

    for (const method of ['patch', 'put'] as const)
      it(`by ${method} of ${table} are no mixture with the change that the request has waited for`, async () => {
        // The row has this `n` already, until the other transaction commits.
        const values = { n: 1, m: 2 };
        const send = () => site.agent[method](`/${table}/1`).send(values);
        const { status, body } = await behind(sequelize(), `UPDATE ${table} SET n = 5, m = 7`, send);
        expect(status, JSON.stringify(body)).to.equal(200);
        expect(body).to.include(values);
        const [rows] = await query(`SELECT n, m FROM ${table}`);
        expect(rows).to.deep.equal([values]);
      });

    it(`[U1] of ${table} are those of one request`, async () => {
      for (let round = 0; round < 10; round += 1) {
        const answers = await Promise.all(
          [2, 3, 4, 5].map(async (n) => ({ n, answer: await site.agent.patch(`/${table}/1`).send({ n }) })),
        );
        expect(answers.map(({ answer }) => answer.status)).to.deep.equal([200, 200, 200, 200]);
        for (const { n, answer } of answers) {
          expect(answer.body).to.include({ n });
          if (table === 'counted')
            expect(answer.headers['etag']).to.match(new RegExp(`^"${answer.body.version}[."]`));
        }
        if (table === 'counted')
          expect(new Set(answers.map(({ answer }) => answer.headers['etag']))).to.have.property(
            'size',
            answers.length,
          );
      }
    });
  }
});
