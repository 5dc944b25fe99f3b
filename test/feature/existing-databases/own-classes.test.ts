/** Types of PostgreSQL with code of the user's: classes of bodies, rules, hooks and data types of his own, and values that are hidden or never compared. */

import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { IsOptional } from 'class-validator';
import { DataTypes } from 'sequelize';
import {
  BeforeCreate,
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, type CrudOptions, filter, type ModelClass } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY, SERVES_MANY, UNGUARDED } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
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

@Crud({ prefix: '/nets', include: { hosts: UNGUARDED }, filterAllow: { hosts: ['host'] } })
@Table({ tableName: 'nets', timestamps: false })
class Net extends Model {
  @PrimaryKey @Column(DataType.CIDR) declare id: string;
  @HasMany(() => Host) declare hosts: Host[];
}

@Crud({
  prefix: '/hosts',
  endpoints: ['list', 'read', ...(SERVES_MANY ? (['createMany'] as const) : [])],
  include: { net: UNGUARDED },
})
@Table({ tableName: 'hosts', timestamps: false })
class Host extends Model {
  @PrimaryKey @Column(DataType.INET) declare host: string;
  @ForeignKey(() => Net) @Column(DataType.CIDR) declare netId: string | null;
  @BelongsTo(() => Net) declare net: Net | null;
}

const range = (lower: unknown, upper: unknown) => ({ lower, upper, bounds: '[)' });

describe('a column of a type of its own, with code of the user', () => {
  const site = serveTestApp(() => ({
    models: [Booking, Net, Host],
    bootstrap: { logger: new CapturedLog() },
  }));
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

  except(OF_MANY).it('relates rows as a key of networks, in whatever spelling', async () => {
    expect((await site.agent.post('/nets').send({ id: '2001:DB8:0::/32' })).body).to.deep.equal({
      id: '2001:db8::/32',
    });
    const hosts = [
      { host: '2001:db8::1', netId: '2001:db8::/32' },
      { host: '10.0.0.1', netId: null },
    ];
    const sent = [
      { host: '2001:0db8:0::1/128', netId: '2001:0DB8::/32' },
      { host: '10.0.0.1', netId: null },
    ];
    const created = await site.agent.post('/hosts').send(sent);
    expect([created.status, created.body.items]).to.deep.equal([201, hosts]);
    const unknown = await site.agent.post('/hosts').send([{ host: '10.0.0.2', netId: '10.0.0.0/8' }]);
    expect([unknown.status, unknown.body.errors[0].pointer]).to.deep.equal([409, '/0/netId']);
    const [path, q] = ['/nets?include=hosts', 'hosts=any=(host=within=2001:db8::/64)'];
    const { items } = (await site.agent.get(`${path}&q=${encodeURIComponent(q)}`)).body;
    expect(items).to.deep.equal([
      { id: '2001:db8::/32', hosts: { items: hosts.slice(0, 1), has_next: false } },
    ]);
    const read = await site.agent.get('/hosts/2001:DB8::0001?include=net');
    expect(read.body).to.deep.equal({ ...hosts[0], net: { id: '2001:db8::/32' } });
    const refused = await site.agent.get('/hosts/localhost');
    expect([refused.status, refused.body.errors[0].code]).to.deep.equal([400, 'id']);
  });
});

const WORDS = { type: DataType.TSVECTOR, field: 'words' };

@Crud({ prefix: '/hidden' })
@Table({ tableName: 'texts', timestamps: false })
class Hidden extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
  @Column(WORDS) declare words: unknown;
}

@Crud({ prefix: '/exposed', filterAllow: '*' })
@Table({ tableName: 'texts', timestamps: false })
class Exposed extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
  @Expose() @Column(WORDS) declare words: unknown;
}

class TextRead {
  @Expose() id!: number;
  @Expose() words!: string;
}

@Crud({ prefix: '/by-class', readSchema: TextRead })
@Table({ tableName: 'texts', timestamps: false })
class ByClass extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
  @Column(WORDS) declare words: unknown;
}

/** Options that name columns which cannot be compared. */
function shaped(options: CrudOptions): ModelClass {
  @Crud({ prefix: '/shapes', ...options })
  @Table({ tableName: 'shapes', timestamps: false })
  class Shape extends KeyedRow {
    @Column('box') declare area: string;
    @Column('path') declare way: string;
    @Column(DataType.TSVECTOR) declare words: unknown;
  }
  return Shape;
}

const REFUSED = shaped({
  filterAllow: { area: ['=='], way: ['=in='], words: true },
  sortAllow: ['area'],
} as object);

describe('a column that no value is compared with', () => {
  const site = serveTestApp(() => ({
    models: [Hidden, Exposed, ByClass, REFUSED],
    engine: { createAll: false },
    bootstrap: { models: [], logger: new CapturedLog() },
  }));

  it('is hidden where it is a search, unless a decorator or a class shows it, and is never written', async () => {
    await site.engine.sequelize.query(`
      CREATE TABLE texts (id int PRIMARY KEY, title text, words tsvector GENERATED ALWAYS AS (to_tsvector('simple', title)) STORED)`);
    const logger = new CapturedLog();
    const { agent, crud } = await buildApp({
      models: [Hidden, Exposed, ByClass],
      logger,
      indexAdvice: false,
    });
    const words = "'a':1 'b':2";
    for (const [path, shown] of [
      ['/hidden', { id: 1, title: 'a b' }],
      ['/exposed', { id: 2, title: 'a b', words }],
      ['/by-class', { id: 3, words }],
    ] as const) {
      const { status, body } = await agent.post(path).send({ id: shown.id, title: 'a b' });
      expect([status, body], path).to.deep.equal([201, shown]);
      expect((await agent.get(`${path}/${shown.id}`)).body).to.deep.equal(shown);
      const refused = await agent.patch(`${path}/${shown.id}`).send({ words: "'x'" });
      expect([refused.status, refused.body.errors[0].pointer], path).to.deep.equal([422, '/words']);
    }
    expect((await agent.get('/exposed?q=words=isnull=false')).body.total).to.equal(3);
    expect((await agent.get('/exposed?q=words==a')).status).to.equal(400);
    const { schemas } = crud.openapi().components;
    expect(Object.keys(schemas['HiddenRead']?.properties ?? {})).to.deep.equal(['id', 'title']);
    expect(Object.keys(schemas['HiddenCreate']?.properties ?? {})).to.deep.equal(['id', 'title']);
  });

  it('is refused in the options of a model, with the reason', async () => {
    expect(
      await configProblems(() => buildApp({ models: [REFUSED], logger: new CapturedLog() })),
    ).to.deep.equal([
      "Shape: filterAllow.area has the operator '==', which a box column does not have; use some of =isnull=. PostgreSQL compares the areas of such values, and not the values.",
      "Shape: filterAllow.way has the operator '=in=', which a path column does not have; use some of =isnull=. PostgreSQL compares the number of points of paths.",
      "Shape: filterAllow names 'words', which its type tsvector hides from answers; remove it, or its values can be guessed by comparing.",
      "Shape: sortAllow names 'area', of type box, which has no order; remove it.",
    ]);
  });
});
