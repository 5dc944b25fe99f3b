/** Reading one record: the attributes of its answer, and the answer when there is none. */

import { expect } from 'chai';
import { Exclude, Transform } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'members', underscored: true })
class Member extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false }) declare firstName: string;
  @Column(DataType.STRING(40)) declare lastName: string | null;

  @Transform(({ value }) => `***${String(value).slice(-2)}`, { toPlainOnly: true })
  @Column({ type: DataType.STRING(20), allowNull: false })
  declare phone: string;

  @Exclude({ toPlainOnly: true })
  @Column({ type: DataType.STRING(80), allowNull: false })
  declare passwordHash: string;

  @Column({
    type: DataType.STRING(40),
    get(this: Member) {
      return this.getDataValue('nickname')?.toUpperCase() ?? null;
    },
  })
  declare nickname: string | null;

  @Column({
    type: DataType.VIRTUAL(DataType.STRING, ['firstName', 'lastName']),
    get(this: Member) {
      return [this.firstName, this.lastName].filter(Boolean).join(' ');
    },
  })
  declare fullName: string;
}

const CREATED = new Date('2026-01-31T08:00:00.123Z');

describe('reading a record', () => {
  const site = serveTestApp(() => ({ models: [Member] }));

  before(async () => {
    await Member.bulkCreate([
      {
        firstName: 'Ada',
        lastName: 'Lovelace',
        phone: '0123456789',
        passwordHash: 'x',
        nickname: 'countess',
      },
      { firstName: 'Plato', phone: '42', passwordHash: 'y' },
    ]);
    await site.engine.sequelize.query('UPDATE members SET created_at = $1, updated_at = $1', {
      bind: [CREATED],
    });
  });

  it('gives every attribute that is not hidden, through getters, virtual attributes and transforms, or null', async () => {
    const written = { createdAt: '2026-01-31T08:00:00.123Z', updatedAt: '2026-01-31T08:00:00.123Z' };
    const ada = { firstName: 'Ada', lastName: 'Lovelace', phone: '***89', nickname: 'COUNTESS' };
    const plato = { firstName: 'Plato', lastName: null, phone: '***42', nickname: null };
    for (const record of [
      { id: 1, ...ada, fullName: 'Ada Lovelace', ...written },
      { id: 2, ...plato, fullName: 'Plato', ...written },
    ])
      expectJson(await site.agent.get(`/members/${record.id}`), 200, record);
  });

  it('gives the same record in a list', async () => {
    const { body } = await site.agent.get('/members/1');
    expect((await site.agent.get('/members?size=1')).body.items).to.deep.equal([body]);
  });

  it('answers 404 where there is no such record', async () =>
    expectProblem(await site.agent.get('/members/3'), 404, { detail: 'There is no Member with this id.' }));
});
