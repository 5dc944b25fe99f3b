/** Writes, relations and sub-resources of a model whose key has several columns, on all paths. */
// @runs fast

import { expect } from 'chai';
import pg from 'pg';
import {
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { EVERY_ENDPOINT } from '../../models/endpoints.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { expectJson } from '../../support/expect-answer.js';
import { expectReplay } from '../../support/expect-replay.js';
import { freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';
import { TwoPaths, type WholeRequest } from '../../support/two-paths.js';

const INTEGER = DataType.INTEGER;

@Crud({
  endpoints: ['list', 'read', 'create'],
  include: { lines: { size: { default: 2 }, count: { default: 'exact', allow: ['exact'] } } },
  subresources: ['lines'],
  filterAllow: { lines: ['text'] },
})
@Table({ tableName: 'key_orders', timestamps: false })
class Order extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @HasMany(() => Line, 'orderId') declare lines?: Line[];
}

@Crud({
  endpoints: EVERY_ENDPOINT,
  pagination: 'cursor',
  include: { order: true },
  filterAllow: ['text', 'orderId', 'lineNo'],
  sortAllow: ['text', 'orderId'],
  subresources: ['parcels'],
})
@Table({ tableName: 'key_lines', paranoid: true, version: 'revision', createdAt: false, updatedAt: false })
class Line extends Model {
  @PrimaryKey @ForeignKey(() => Order) @Column(INTEGER) declare orderId: number;
  @PrimaryKey @Column(DataType.STRING(20)) declare lineNo: string;
  @Column({ type: DataType.TEXT, defaultValue: 'none' }) declare text: string | null;
  @Column({ type: DataType.STRING(20), unique: true }) declare serial: string | null;
  @Column({ type: INTEGER, allowNull: false, defaultValue: 0 }) declare revision: number;
  @BelongsTo(() => Order, 'orderId') declare order?: Order;

  @HasMany(() => Parcel, { foreignKey: 'serial', sourceKey: 'serial', constraints: false })
  declare parcels?: Parcel[];
}

@Crud({ endpoints: ['list'], sortAllow: ['code'] })
@Table({ tableName: 'key_parcels', timestamps: false })
class Parcel extends NumberedRow {
  @Column(DataType.TEXT) declare code: string;
  @Column(DataType.STRING(20)) declare serial: string | null;
}

@Crud({ scope: { owner: () => 'me' }, endpoints: ['read', 'create', 'replace'] })
@Table({ tableName: 'moments', timestamps: false, version: true })
class Moment extends Model {
  @Column({ type: DataType.DATE, primaryKey: true }) declare at: Date;
  @Column({ type: DataType.BOOLEAN, primaryKey: true }) declare kind: boolean;
  @Column({ type: DataType.TEXT }) declare text: string | null;
  @Column({ type: DataType.TEXT }) declare owner: string | null;
}

@Crud()
@Table({ tableName: 'instants', timestamps: false })
class Instant extends Model {
  @Column({ type: DataType.DATE, primaryKey: true }) declare at: Date;
  @Column({ type: DataType.TEXT }) declare text: string | null;
}

/** New rows have microseconds, and the row of another has the milliseconds of one. */
const MOMENTS = `
  CREATE TABLE moments (at timestamptz DEFAULT '2026-01-31 08:00:01.123456Z', kind boolean, text text, owner text, version integer DEFAULT 0,
    PRIMARY KEY (at, kind));
  CREATE TABLE instants (at timestamptz DEFAULT '2026-01-31 08:00:01.123456Z' PRIMARY KEY, text text);
  CREATE FUNCTION make() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.text = concat(NEW.text, ''!''); RETURN NEW; END';
  CREATE TRIGGER make BEFORE INSERT ON moments FOR EACH ROW EXECUTE FUNCTION make()`;

describe('a key of several columns', () => {
  let paths: TwoPaths;
  before(async () => {
    paths = await TwoPaths.start({ models: [Order, Line, Parcel], bootstrap: { indexAdvice: false } });
    await refill();
  });
  after(() => paths[Symbol.asyncDispose]());

  const refill = async (): Promise<unknown> =>
    paths.site.engine.sequelize.query(`
      TRUNCATE key_orders, key_lines, key_parcels RESTART IDENTITY CASCADE;
      INSERT INTO key_orders (name) VALUES ('first'), ('second'), ('empty');
      INSERT INTO key_lines ("orderId", "lineNo", text, serial, revision, "deletedAt") VALUES
        (1, 'a', 'one', 's1', 0, NULL), (1, 'b,c', 'two', NULL, 3, NULL), (1, 'c', 'three', NULL, 0, NULL),
        (2, 'a', 'one', NULL, 0, NULL), (2, 'x~/y', 'five', NULL, 0, NULL), (2, 'gone', 'six', NULL, 1, '2026-01-02T00:00:00Z');
      INSERT INTO key_parcels (code, serial) VALUES ('p1', 's1'), ('p2', 's1'), ('p3', NULL)`);

  const ask = async (request: WholeRequest) => {
    const { status, body } = await paths.same(request, refill);
    await refill();
    return { status, body: body === '' ? null : JSON.parse(body) };
  };
  const line = (orderId: number, lineNo: string, more: object) => ({
    orderId,
    lineNo,
    text: 'none',
    serial: null,
    revision: 0,
    deletedAt: null,
    ...more,
  });

  for (const [title, request, status, wanted] of [
    [
      'creates many, in the order of the body',
      {
        method: 'POST',
        path: '/lines',
        body: [
          { orderId: 3, lineNo: 'z' },
          { orderId: 3, lineNo: 'a', text: 'A' },
        ],
      },
      201,
      { items: [line(3, 'z', {}), line(3, 'a', { text: 'A' })] },
    ],
    [
      'changes many by all parts of their keys',
      {
        method: 'PATCH',
        path: '/lines',
        body: [
          { orderId: 2, lineNo: 'a', text: 'changed' },
          { orderId: 1, lineNo: 'b,c', revision: 3, text: 'too' },
        ],
      },
      200,
      {
        items: [line(2, 'a', { text: 'changed', revision: 1 }), line(1, 'b,c', { text: 'too', revision: 4 })],
      },
    ],
    [
      'needs each part in an item',
      { method: 'PATCH', path: '/lines', body: [{ orderId: 2, text: 'changed' }] },
      422,
      { errors: [{ pointer: '/0/lineNo', code: 'isDefined', detail: 'lineNo is required.' }] },
    ],
    [
      'refuses one record twice in a body',
      {
        method: 'PATCH',
        path: '/lines',
        body: [
          { orderId: 2, lineNo: 'a', text: 'b' },
          { orderId: 1, lineNo: 'a', text: 'c' },
          { orderId: 2, lineNo: 'a', text: 'd' },
        ],
      },
      422,
      {
        errors: [
          {
            pointer: '/2',
            code: 'repeated',
            detail: 'orderId,lineNo is that of the item 0, too; a record may stand in a body once.',
          },
        ],
      },
    ],
    [
      'changes what a filter finds',
      { method: 'PATCH', path: '/lines?q=text==one', body: { text: 'same' } },
      200,
      { affected: 2 },
    ],
    ['deletes what a filter finds', { method: 'DELETE', path: '/lines?q=orderId==1' }, 200, { affected: 3 }],
    [
      'replaces a record',
      { method: 'PUT', path: '/lines/2,a', body: { serial: 's2' } },
      200,
      line(2, 'a', { serial: 's2', revision: 1 }),
    ],
    [
      'creates a record by its path',
      { method: 'PUT', path: '/lines/3,q~2r', body: { text: 'new' } },
      201,
      line(3, 'q,r', { text: 'new' }),
    ],
    [
      'refuses another key in the body than in the path',
      { method: 'PUT', path: '/lines/3,q', body: { lineNo: 'r' } },
      422,
      {
        errors: [
          {
            pointer: '/lineNo',
            code: 'key',
            detail: 'lineNo is that of the path; leave it out, or send the same.',
          },
        ],
      },
    ],
    [
      'restores a record',
      { method: 'POST', path: '/lines/2,gone/restore' },
      200,
      line(2, 'gone', { text: 'six', revision: 2 }),
    ],
    ['purges a record', { method: 'DELETE', path: '/lines/2,gone/purge' }, 204, null],
    [
      'includes rows of such keys',
      { path: '/orders/1?include=lines' },
      200,
      {
        id: 1,
        name: 'first',
        lines: {
          items: [line(1, 'a', { text: 'one', serial: 's1' }), line(1, 'b,c', { text: 'two', revision: 3 })],
          has_next: true,
          total: 3,
          total_is: 'exact',
        },
      },
    ],
    [
      'includes the row that such a row belongs to',
      { path: '/lines/2,x~0~1y?include=order' },
      200,
      line(2, 'x~/y', { text: 'five', order: { id: 2, name: 'second' } }),
    ],
    [
      'filters by such rows',
      { path: '/orders?q=lines=any=(text==five)' },
      200,
      {
        items: [{ id: 2, name: 'second' }],
        total: 1,
        page: 1,
        size: 20,
        pages: 1,
        has_next: false,
        has_prev: false,
      },
    ],
  ] as const) {
    it(title, async () => {
      const { status: found, body } = await ask(request);
      expect(found, JSON.stringify(body)).to.equal(status);
      if (status < 400) expect(body).to.deep.equal(wanted);
      else expect(body.errors).to.deep.equal((wanted as { readonly errors: unknown }).errors);
    });
  }

  it('lists the rows of such a parent, and such rows of a parent', async () => {
    const parcels = await ask({ path: '/lines/1,a/parcels?sort=code' });
    expect(parcels.body.items.map(({ code }: { readonly code: string }) => code)).to.deep.equal(['p1', 'p2']);
    expect((await ask({ path: '/lines/1,zz/parcels' })).status).to.equal(404);
    const keys: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const { body } = await ask({ path: `/orders/1/lines?size=1${next && `&after=${next}`}` });
      keys.push(...body.items.map(({ lineNo }: { readonly lineNo: string }) => lineNo));
      next = body.next_cursor;
    }
    expect(keys).to.deep.equal(['a', 'b,c', 'c']);
  });
});

describe('a moment in the key of a new row', () => {
  const site = serveTestApp(async () => {
    const database = await freshDatabase();
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query(MOMENTS);
    await client.end();
    return { models: [Moment, Instant], database, bootstrap: { idempotency: { principal: () => 'me' } } };
  });

  for (const hooks of [[], ['beforeFind', 'beforeSave']]) {
    it(`is never that of another moment of the millisecond${hooks.length > 0 ? ', through Sequelize' : ''}`, async () => {
      using _moments = addedHook(Moment, hooks);
      using _instants = addedHook(Instant, hooks);
      await site.engine.sequelize.query(
        `DELETE FROM moments; DELETE FROM instants;
         INSERT INTO moments VALUES ('2026-01-31 08:00:00.123Z', true, 'secret', 'other')`,
      );
      const shown = (second: number, more: object) => {
        return { at: `2026-01-31T08:00:0${second}.123Z`, kind: true, owner: 'me', version: 0, ...more };
      };
      const place = (seconds: string) => `/moments/2026-01-31T08:00:${seconds}Z,true`;
      const created = await site.agent.post('/moments').send({ kind: true, text: 'a' });
      expectJson(created, 201, shown(1, { text: 'a!' }));
      expect(decodeURIComponent(String(created.headers['location']))).to.equal(place('01.123456'));
      const path = place('00.123457');
      const put = await site.agent.put(path).send({ text: 'b' });
      expectJson(put, 201, shown(0, { text: 'b!' }));
      expect(decodeURIComponent(String(put.headers['location']))).to.equal(path);
      const { at } = shown(0, {});
      const changed = shown(0, { text: 'c', version: 1 });
      expectJson(await site.agent.put(path).send({ at, kind: true, text: 'c' }), 200, changed);
      expectJson(await site.agent.get(path), 200, changed);
      const moved = await site.agent.put(path).send({ at: shown(1, {}).at, text: 'd' });
      expect([moved.status, moved.body.errors[0].pointer]).to.deep.equal([422, '/at']);
      const repeated = (url: string) =>
        site.agent.put(url).set('Idempotency-Key', `comma-${hooks.length}`).send({ text: 'c' });
      expectReplay(await repeated(path), await repeated(path.replace(',', '%2C')));
      expectJson(await site.agent.get(place('01.123456')), 200, shown(1, { text: 'a!' }));
      const instant = await site.agent.post('/instants').send({ text: 'a' });
      expectJson(instant, 201, { at: shown(1, {}).at, text: 'a' });
      const found = String(instant.headers['location']);
      expect(decodeURIComponent(found)).to.equal('/instants/2026-01-31T08:00:01.123456Z');
      expectJson(await site.agent.get(found), 200, { at: shown(1, {}).at, text: 'a' });
    });
  }
});
