/** Many clients at once: of those that cannot all succeed, one does, and the others are told. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { meetingOf } from '../../support/meeting.js';
import { serveTestApp } from '../../support/test-app.js';

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

  it('[E4] lets one of two updates of a version through', async () => {
    await Seat.create({ number: '1A' });
    using _hook = addedHook(Seat, 'beforeUpdate', meetingOf(2));
    const answers = await Promise.all(
      ['Ann', 'Bob'].map((guest) => site.agent.patch('/seats/1').send({ guest })),
    );
    const [won, lost] = answers.toSorted((one, other) => one.status - other.status);
    expect(won?.status).to.equal(200);
    expectProblem(lost ?? expect.fail(), 409, {
      detail: 'Somebody else changed this Seat at the same time; read it again and repeat the change.',
    });
    expect((await site.agent.get('/seats/1')).body).to.deep.equal(won?.body);
  });

  it('lets each of twenty updates through, or tells its client: none is lost', async () => {
    await Seat.create({ number: '1A' });
    const guests = Array.from({ length: 20 }, (_, guest) => `guest ${guest}`);
    const answers = await Promise.all(guests.map((guest) => site.agent.patch('/seats/1').send({ guest })));
    const won = answers.filter(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 409)).to.have.length(20 - won.length);
    expect((await Seat.findByPk(1, { rejectOnEmpty: true })).get('version')).to.equal(won.length);
  });

  it('lets one of ten deletes succeed', async () => {
    await Seat.create({ number: '1A' });
    const requests = Array.from({ length: 10 }, () => site.agent.delete('/seats/1'));
    const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([204, ...Array(9).fill(404)]);
  });
});
