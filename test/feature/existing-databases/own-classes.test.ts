/** Ranges, networks, intervals and money with code of the user's: classes of bodies, rules, hooks, and data types of his own. */

import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { IsOptional } from 'class-validator';
import { DataTypes } from 'sequelize';
import { BeforeCreate, Column, DataType, Table } from 'sequelize-typescript';
import { Crud, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { serveTestApp } from '../../support/test-app.js';

/** A type that Sequelize lacks, as people write it. */
class INTERVAL extends DataTypes.ABSTRACT {
  static override readonly key = 'INTERVAL';
  override readonly key = 'INTERVAL';
  override toSql(): string {
    return 'INTERVAL';
  }
}

class BookingBody {
  @Expose() @IsOptional() declare during?: unknown;
  @Expose() @IsOptional() declare fee?: unknown;
  @Expose() @IsOptional() declare seats?: unknown;
  @Expose() @IsOptional() declare host?: unknown;
}

const hooked: unknown[] = [];

@Crud({
  createSchema: BookingBody,
  filterAllow: { during: ['=contains=', '=overlaps=', '=within='], stay: ['>'], host: ['=within='] },
  visible: (request) =>
    filter`during=overlaps=${'[2026-01-01,2027-01-01)'};host=within=${request.get('network') ?? '::/0'}`,
})
@Table({ tableName: 'bookings', timestamps: false })
class Booking extends NumberedRow {
  @Column(DataType.RANGE(DataType.DATEONLY)) declare during: unknown;
  @Column('money') declare fee: string | null;
  @Column('int4multirange') declare seats: string | null;
  @Column(DataType.INET) declare host: string | null;
  @Column(new INTERVAL() as never) declare stay: string | null;

  @BeforeCreate
  static see({ during, fee, seats }: Booking): void {
    hooked.push({ during, fee, seats });
  }
}

const range = (lower: unknown, upper: unknown) => ({ lower, upper, bounds: '[)' });

describe('a column of a type of its own, with code of the user', () => {
  const site = serveTestApp(() => ({ models: [Booking], bootstrap: { logger: new CapturedLog() } }));
  const sent = {
    during: range('2026-03-01', '2026-03-08'),
    fee: '12.50',
    seats: [range(1, 3)],
    host: '10.1.2.3',
  };

  it('takes the forms of answers through a class of his, and hooks see what Sequelize has', async () => {
    const headers = { network: '10.0.0.0/8' };
    const { status, body } = await site.agent.post('/bookings').set(headers).send(sent);
    expect([status, body]).to.deep.equal([201, { id: 1, ...sent, stay: null }]);
    expect(hooked).to.deep.equal([
      {
        during: [
          { value: '2026-03-01', inclusive: true },
          { value: '2026-03-08', inclusive: false },
        ],
        fee: '12.50',
        seats: '{[1,3)}',
      },
    ]);
    const patched = await site.agent.patch('/bookings/1').set(headers).send({ stay: 'P1DT2H' });
    expect([patched.status, patched.body.stay]).to.deep.equal([200, 'P1DT2H']);
    expect((await site.agent.get('/bookings?q=stay>P1D').set(headers)).body.total).to.equal(1);
    expect((await site.agent.get('/bookings/1').set({ network: '11.0.0.0/8' })).status).to.equal(404);
  });

  it('refuses other values in such a class', async () => {
    for (const [name, value, code] of [
      ['during', '[2026-03-01,2026-03-08)', 'isRange'],
      ['during', ['2026-03-08'], 'isRange'],
      ['during', ['2026-02-30', null], 'isRange'],
      ['during', range('2026-03-08', '2026-03-01'), 'isRange'],
      ['fee', '12.345', 'isMoney'],
      ['seats', '{[1,3)}', 'isMultirange'],
      ['host', 'localhost', 'isNetwork'],
    ] as const) {
      const { status, body } = await site.agent.post('/bookings').send({ ...sent, [name]: value });
      expect([status, body.errors?.[0].pointer, body.errors?.[0].code]).to.deep.equal([
        422,
        `/${name}`,
        code,
      ]);
    }
    const own = await site.agent
      .post('/bookings')
      .set({ network: '10.0.0.0/8' })
      .send({ ...sent, during: ['2026-03-01', null] });
    expect([own.status, own.body.during]).to.deep.equal([201, range('2026-03-01', null)]);
  });
});
