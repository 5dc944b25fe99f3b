/** The id of a record as a member of its answers, on all paths. */
// @runs fast

import { expect } from 'chai';
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
import { except, OF_MANY } from '../../support/combination.js';
import { TwoPaths, type WholeRequest } from '../../support/two-paths.js';

const INTEGER = DataType.INTEGER;

@Crud({ include: { lines: true }, subresources: ['lines'] })
@Table({ tableName: 'marked_orders', timestamps: false })
class Order extends NumberedRow {
  @HasMany(() => Line, 'orderId') declare lines?: Line[];
}

@Crud({
  id: { attributes: ['orderId', 'lineNo'], member: 'id' },
  endpoints: EVERY_ENDPOINT,
  include: { order: true },
  filterAllow: ['text'],
  fields: { text: { read: ({ headers }) => headers['x-blind'] === undefined } },
})
@Table({ tableName: 'marked_lines', paranoid: true, version: true, createdAt: false, updatedAt: false })
class Line extends Model {
  @PrimaryKey @ForeignKey(() => Order) @Column(INTEGER) declare orderId: number;
  @PrimaryKey @Column(DataType.STRING(20)) declare lineNo: string;
  @Column(DataType.TEXT) declare text: string | null;
  @BelongsTo(() => Order, 'orderId') declare order?: Order;
}

/** Its records are made for a getter, and its id is one day. */
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

except({
  ...OF_MANY,
  records: 'its overrides guard the rows behind relations',
}).describe('the id as a member of answers', () => {
  let paths: TwoPaths;
  before(async () => {
    paths = await TwoPaths.start({ models: [Order, Line, Day], bootstrap: { indexAdvice: false } });
    await refill();
  });
  after(() => paths[Symbol.asyncDispose]());

  const refill = async (): Promise<unknown> =>
    paths.site.engine.sequelize.query(`
      TRUNCATE marked_orders, marked_lines, marked_days RESTART IDENTITY CASCADE;
      INSERT INTO marked_orders DEFAULT VALUES;
      INSERT INTO marked_lines ("orderId", "lineNo", text, version, "deletedAt") VALUES
        (1, 'a', 'one', 0, NULL), (1, 'b,c', 'two', 3, NULL), (1, 'gone', 'three', 0, '2026-01-02T00:00:00Z');
      INSERT INTO marked_days (day, size) VALUES ('2026-01-31', 1)`);

  const line = (lineNo: string, text: string | null, version: number, id: string) => ({
    orderId: 1,
    lineNo,
    text,
    version,
    deletedAt: null,
    id,
  });
  const [a, b] = [line('a', 'one', 0, '1,a'), line('b,c', 'two', 3, '1,b~2c')];
  const page = (...items: object[]) => ({
    items,
    total: items.length,
    page: 1,
    size: 20,
    pages: 1,
    has_next: false,
    has_prev: false,
  });
  const few = (...items: object[]) => ({ items, has_next: false });
  const day = { day: '2026-01-31', size: 1, double: 2, key: '2026-01-31' };
  const blind = { headers: { 'x-blind': '1' } };
  const { text: _, ...unread } = a;

  for (const [title, request, status, wanted] of [
    ['a list', { path: '/lines' }, 200, page(a, b)],
    ['a read', { path: '/lines/1,b~2c' }, 200, b],
    [
      'fields that have it',
      { path: '/lines?fields=id,text' },
      200,
      page({ text: 'one', id: '1,a' }, { text: 'two', id: '1,b~2c' }),
    ],
    ['fields that have it alone', { path: '/lines/1,a?fields=id' }, 200, { id: '1,a' }],
    ['fields that have it not', { path: '/lines/1,a?fields=text' }, 200, { text: 'one' }],
    ['a request that may read less', { path: '/lines/1,a', ...blind }, 200, unread],
    [
      'a record with a relation',
      { path: '/lines/1,a?fields=id&include=order' },
      200,
      { id: '1,a', order: { id: 1 } },
    ],
    ['a relation to it', { path: '/orders/1?include=lines' }, 200, { id: 1, lines: few(a, b) }],
    [
      'a relation to it, with fields',
      { path: '/orders?include=lines&lines.fields=id' },
      200,
      page({ id: 1, lines: few({ id: '1,a' }, { id: '1,b~2c' }) }),
    ],
    ['a sub-resource', { path: '/orders/1/lines' }, 200, page(a, b)],
    [
      'a create',
      { method: 'POST', path: '/lines', body: { orderId: 1, lineNo: '/' } },
      201,
      line('/', null, 0, '1,~1'),
    ],
    [
      'a change',
      { method: 'PATCH', path: '/lines/1,a', body: { text: 'new' } },
      200,
      { ...a, text: 'new', version: 1 },
    ],
    [
      'a change that may read less',
      { method: 'PATCH', path: '/lines/1,a', body: { text: 'new' }, ...blind },
      200,
      { ...unread, version: 1 },
    ],
    [
      'a replacement',
      { method: 'PUT', path: '/lines/1,d', body: { text: 'new' } },
      201,
      line('d', 'new', 0, '1,d'),
    ],
    [
      'a restored record',
      { method: 'POST', path: '/lines/1,gone/restore' },
      200,
      line('gone', 'three', 1, '1,gone'),
    ],
    [
      'many creates',
      { method: 'POST', path: '/lines', body: [{ orderId: 1, lineNo: 'x' }] },
      201,
      { items: [line('x', null, 0, '1,x')] },
    ],
    [
      'many changes',
      { method: 'PATCH', path: '/lines', body: [{ orderId: 1, lineNo: 'a', text: 'x' }] },
      200,
      { items: [{ ...a, text: 'x', version: 1 }] },
    ],
    ['a record with a getter', { path: '/days' }, 200, page(day)],
    ['fields beside a getter', { path: '/days?fields=key' }, 200, page({ key: day.key })],
    [
      'a change that sends it back',
      { method: 'PATCH', path: `/days/${day.key}`, body: { day: day.day, key: day.key, size: 2 } },
      200,
      { ...day, size: 2, double: 4 },
    ],
    ['a read by it', { path: `/days/${day.key}` }, 200, day],
  ] as const satisfies readonly (readonly [string, WholeRequest, number, object])[])
    it(`is in ${title}`, async () => {
      const { status: got, body } = await paths.same(request, refill);
      await refill();
      expect([got, JSON.parse(body)]).to.deep.equal([status, wanted]);
    });

  for (const [request, status, error] of [
    [
      { method: 'POST', path: '/lines', body: { orderId: 1, lineNo: 'x', id: '1,x' } },
      422,
      { pointer: '/id', code: 'readOnly', detail: 'id cannot be set.' },
    ],
    [
      { method: 'PATCH', path: '/lines/1,a', body: { id: '1,a' } },
      422,
      { pointer: '/id', code: 'readOnly', detail: 'id cannot be set.' },
    ],
    [
      { method: 'PUT', path: '/lines/1,a', body: { id: '1,a' } },
      422,
      { pointer: '/id', code: 'readOnly', detail: 'id cannot be set.' },
    ],
    [
      { method: 'PATCH', path: '/lines', body: [{ orderId: 1, lineNo: 'a', id: '1,a' }] },
      422,
      { pointer: '/0/id', code: 'readOnly', detail: 'id cannot be set.' },
    ],
    [{ path: '/lines?sort=id' }, 400, { parameter: 'sort', code: 'sort.unknown-field' }],
    [{ path: '/lines?q=id==1' }, 400, { parameter: 'q', code: 'q.unknown-field' }],
  ] as const satisfies readonly (readonly [WholeRequest, number, object])[])
    it(`is refused in ${'method' in request ? request.method : 'GET'} ${request.path}`, async () => {
      const { status: got, body } = await paths.same(request, refill);
      expect(got).to.equal(status);
      expect(JSON.parse(body).errors[0]).to.deep.include(error);
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
