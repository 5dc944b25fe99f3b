/** Reads, writes, relations and sub-resources of a model whose key has several columns, and whose answers have it as one member, on all paths. */
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
import { except, OF_MANY } from '../../support/combination.js';
import { expectJson } from '../../support/expect-answer.js';
import { expectReplay } from '../../support/expect-replay.js';
import { forSuite } from '../../support/for-suite.js';
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
  id: { attributes: ['orderId', 'lineNo'], member: 'id' },
  endpoints: EVERY_ENDPOINT,
  pagination: 'cursor',
  include: { order: true },
  filterAllow: ['text', 'orderId', 'lineNo'],
  sortAllow: ['text', 'orderId'],
  subresources: ['parcels'],
  fields: { text: { read: ({ headers }) => headers['x-blind'] === undefined } },
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

/** A model with a getter, so that its records are made. Its id is one day. */
@Crud({
  id: { attributes: 'day', member: 'key' },
  endpoints: ['list', 'read', 'create', 'update', 'updateMany'],
  sentBack: 'ignore-unchanged',
})
@Table({ tableName: 'marked_days', timestamps: false })
class Day extends Model {
  @PrimaryKey @Column(DataType.DATEONLY) declare day: string;
  @Column(INTEGER) declare size: number;
  @Column(DataType.VIRTUAL)
  get double(): number {
    return this.size * 2;
  }
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

except({
  ...OF_MANY,
  records: 'its overrides guard the rows behind relations',
}).describe('a key of several columns', () => {
  const paths = forSuite(() =>
    TwoPaths.start({ models: [Order, Line, Parcel, Day], bootstrap: { indexAdvice: false } }),
  );
  const refill = async (): Promise<unknown> =>
    paths.site.engine.sequelize.query(`
      TRUNCATE key_orders, key_lines, key_parcels, marked_days RESTART IDENTITY CASCADE;
      INSERT INTO key_orders (name) VALUES ('first'), ('second'), ('empty');
      INSERT INTO key_lines ("orderId", "lineNo", text, serial, revision, "deletedAt") VALUES
        (1, 'a', 'one', 's1', 0, NULL), (1, 'b,c', 'two', NULL, 3, NULL), (1, 'c', 'three', NULL, 0, NULL),
        (2, 'a', 'one', NULL, 0, NULL), (2, 'x~/y', 'five', NULL, 0, NULL), (2, 'gone', 'six', NULL, 1, '2026-01-02T00:00:00Z');
      INSERT INTO key_parcels (code, serial) VALUES ('p1', 's1'), ('p2', 's1'), ('p3', NULL);
      INSERT INTO marked_days (day, size) VALUES ('2026-01-31', 1)`);
  before(() => refill());

  const ask = async (request: WholeRequest) => {
    const { status, body } = await paths.same(request, refill);
    await refill();
    return { status, body: body === '' ? null : JSON.parse(body) };
  };
  const line = (orderId: number, lineNo: string, more: object = {}, id = `${orderId},${lineNo}`) => {
    const usual = { text: 'none', serial: null, revision: 0, deletedAt: null };
    return { orderId, lineNo, ...usual, ...more, id };
  };
  const [a, b] = [
    line(1, 'a', { text: 'one', serial: 's1' }),
    line(1, 'b,c', { text: 'two', revision: 3 }, '1,b~2c'),
  ];
  const five = line(2, 'x~/y', { text: 'five' }, '2,x~0~1y');
  const pages = { has_next: false, has_prev: false };
  const page = (...items: object[]) => ({
    items,
    total: items.length,
    page: 1,
    size: 20,
    pages: 1,
    ...pages,
  });
  const walked = (...items: object[]) => ({ items, ...pages, next_cursor: null, prev_cursor: null });
  const day = { day: '2026-01-31', size: 1, double: 2, key: '2026-01-31' };
  const blind = { headers: { 'x-blind': '1' } };
  const { text: _, ...unread } = a;
  const post = (path: string, body?: unknown) => ({ method: 'POST', path, body });
  const patch = (path: string, body: unknown) => ({ method: 'PATCH', path, body });
  const put = (path: string, body: unknown) => ({ method: 'PUT', path, body });

  for (const [title, request, status, wanted] of [
    ['is in a list', { path: '/lines?q=lineNo==a' }, 200, walked(a, line(2, 'a', { text: 'one' }))],
    ['is in a read', { path: '/lines/1,b~2c' }, 200, b],
    [
      'is in fields that have it',
      { path: '/lines?fields=id,text&q=orderId==2' },
      200,
      walked({ text: 'one', id: '2,a' }, { text: 'five', id: five.id }),
    ],
    ['is in fields that have it alone', { path: '/lines/1,a?fields=id' }, 200, { id: '1,a' }],
    ['is in no fields that have it not', { path: '/lines/1,a?fields=text' }, 200, { text: 'one' }],
    ['is in what a request may read that may read less', { path: '/lines/1,a', ...blind }, 200, unread],
    [
      'includes rows of such keys',
      { path: '/orders/1?include=lines' },
      200,
      { id: 1, name: 'first', lines: { items: [a, b], has_next: true, total: 3, total_is: 'exact' } },
    ],
    [
      'includes the row that such a row belongs to',
      { path: '/lines/2,x~0~1y?include=order&fields=id' },
      200,
      { id: five.id, order: { id: 2, name: 'second' } },
    ],
    [
      'filters by such rows, and includes fields of them',
      { path: '/orders?q=lines=any=(text==five)&include=lines&lines.fields=id&lines.q=text==five' },
      200,
      page({
        id: 2,
        name: 'second',
        lines: { items: [{ id: five.id }], has_next: false, total: 1, total_is: 'exact' },
      }),
    ],
    ['creates one', post('/lines', { orderId: 3, lineNo: '/' }), 201, line(3, '/', {}, '3,~1')],
    [
      'creates many, in the order of the body',
      post('/lines', [
        { orderId: 3, lineNo: 'z' },
        { orderId: 3, lineNo: 'a', text: 'A' },
      ]),
      201,
      { items: [line(3, 'z'), line(3, 'a', { text: 'A' })] },
    ],
    ['changes one', patch('/lines/1,a', { text: 'new' }), 200, { ...a, text: 'new', revision: 1 }],
    [
      'changes one for a request that may read less',
      { ...patch('/lines/1,a', { text: 'new' }), ...blind },
      200,
      { ...unread, revision: 1 },
    ],
    [
      'changes many by all parts of their keys',
      patch('/lines', [
        { orderId: 2, lineNo: 'a', text: 'changed' },
        { orderId: 1, lineNo: 'b,c', revision: 3, text: 'too' },
      ]),
      200,
      { items: [line(2, 'a', { text: 'changed', revision: 1 }), { ...b, text: 'too', revision: 4 }] },
    ],
    ['changes what a filter finds', patch('/lines?q=text==one', { text: 'same' }), 200, { affected: 2 }],
    ['deletes what a filter finds', { method: 'DELETE', path: '/lines?q=orderId==1' }, 200, { affected: 3 }],
    [
      'replaces a record',
      put('/lines/2,a', { serial: 's2' }),
      200,
      line(2, 'a', { serial: 's2', revision: 1 }),
    ],
    [
      'creates a record by its path',
      put('/lines/3,q~2r', { text: 'new' }),
      201,
      line(3, 'q,r', { text: 'new' }, '3,q~2r'),
    ],
    ['restores a record', post('/lines/2,gone/restore'), 200, line(2, 'gone', { text: 'six', revision: 2 })],
    ['purges a record', { method: 'DELETE', path: '/lines/2,gone/purge' }, 204, null],
    ['is in a record with a getter', { path: '/days' }, 200, page(day)],
    ['is in fields beside a getter', { path: '/days?fields=key' }, 200, page({ key: day.key })],
  ] as const satisfies readonly (readonly [string, WholeRequest, number, object | null])[])
    it(title, async () => {
      expect(await ask(request)).to.deep.equal({ status, body: wanted });
    });

  const REASON = 'interceptors of the application switch the option sentBack off';
  except({ values: REASON }).it('is taken where a change sends it back', async () => {
    const request = patch(`/days/${day.key}`, { day: day.day, key: day.key, size: 2 });
    expect(await ask(request)).to.deep.equal({ status: 200, body: { ...day, size: 2, double: 4 } });
  });

  const readOnly = (pointer: string) => ({ pointer, code: 'readOnly', detail: 'id cannot be set.' });
  for (const [request, status, error] of [
    [post('/lines', { orderId: 1, lineNo: 'x', id: '1,x' }), 422, readOnly('/id')],
    [patch('/lines/1,a', { id: '1,a' }), 422, readOnly('/id')],
    [put('/lines/1,a', { id: '1,a' }), 422, readOnly('/id')],
    [patch('/lines', [{ orderId: 1, lineNo: 'a', id: '1,a' }]), 422, readOnly('/0/id')],
    [{ path: '/lines?sort=id' }, 400, { parameter: 'sort', code: 'sort.unknown-field' }],
    [{ path: '/lines?q=id==1' }, 400, { parameter: 'q', code: 'q.unknown-field' }],
    [
      patch('/lines', [{ orderId: 2, text: 'no part' }]),
      422,
      { pointer: '/0/lineNo', code: 'isDefined', detail: 'lineNo is required.' },
    ],
    [
      patch(
        '/lines',
        [2, 1, 2].map((orderId) => ({ orderId, lineNo: 'a', text: 'b' })),
      ),
      422,
      {
        pointer: '/0',
        code: 'repeated',
        detail: 'orderId,lineNo is that of the item 2, too; a record may stand in a body once.',
      },
    ],
    [
      put('/lines/3,q', { lineNo: 'r' }),
      422,
      {
        pointer: '/lineNo',
        code: 'key',
        detail: 'lineNo is that of the path; leave it out, or send the same.',
      },
    ],
  ] as const satisfies readonly (readonly [WholeRequest, number, object])[])
    it(`is refused in ${JSON.stringify(request)}`, async () => {
      const { status: got, body } = await ask(request);
      expect(got).to.equal(status);
      // Both items of one record are named.
      expect(body.errors).to.have.length(error.code === 'repeated' ? 2 : 1);
      expect(body.errors[0]).to.deep.include(error);
    });

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

  it('is described', async () => {
    const { body } = await paths.site.agent.get('/openapi.json').expect(200);
    const { get, patch } = body.paths['/lines/{id}'];
    const schemaOf = ({ content }: { content: Record<string, { schema: { $ref: string } }> }) =>
      body.components.schemas[Object.values(content)[0]?.schema.$ref.split('/').pop() ?? ''];
    const [shown, sent] = [schemaOf(get.responses['200']), schemaOf(patch.requestBody)];
    expect(shown.properties.id).to.deep.equal({
      description: body.paths['/lines/{id}'].get.parameters[0].description,
      ...body.paths['/lines/{id}'].get.parameters[0].schema,
      readOnly: true,
    });
    expect(shown.required).to.include('id');
    expect(sent.properties).to.not.have.property('id');
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
