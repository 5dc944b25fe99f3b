/** Records that several attributes address, or one of any type: read, changed, replaced and deleted by the `Location` of a create. */

import { request as sendRequest } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import type { DataType as ColumnDataType } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { idSegment, joinParts, splitParts } from '../../../src/describe/id-text.js';
import { Crud, type CrudOptions, crudController, EVERYTHING, formatId, readId } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { listen } from '../../support/listen.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  pagination: 'cursor',
  filterAllow: ['quantity'],
  sortAllow: ['quantity', 'orderId', 'lineNo'],
})
@Table({ tableName: 'order_lines', timestamps: false, version: true })
class OrderLine extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'order_id' }) declare orderId: number;
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'line_no' }) declare lineNo: number;
  @Column({ type: DataType.INTEGER, defaultValue: 1 }) declare quantity: number | null;
}

/** Any two texts. */
@Crud({ pagination: 'cursor' })
@Table({ tableName: 'texts', timestamps: false })
class Text extends Model {
  @Column({ type: DataType.TEXT, primaryKey: true }) declare language: string;
  @Column({ type: DataType.TEXT, primaryKey: true }) declare place: string;
  @Column({ type: DataType.TEXT }) declare value: string | null;
}

/** Its tags do not reveal its version. */
@Crud({ fields: { version: { read: () => false } } })
@Table({ tableName: 'sealed_lines', timestamps: false, version: true })
class SealedLine extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare a: number;
  @Column({ type: DataType.TEXT, primaryKey: true }) declare b: string;
  @Column({ type: DataType.INTEGER }) declare value: number | null;
}

@Crud({ id: ['on', 'price', 'at', 'day'], endpoints: ['read', 'replace'] })
@Table({ tableName: 'quotes', timestamps: false })
class Quote extends Model {
  @PrimaryKey @Column(DataType.BOOLEAN) declare on: boolean;
  @PrimaryKey @Column(DataType.DECIMAL(8, 2)) declare price: string;
  @PrimaryKey @Column(DataType.DATE) declare at: Date;
  @PrimaryKey @Column(DataType.DATEONLY) declare day: string;
  @Column(DataType.TEXT) declare note: string | null;
}

const KINDS = ['one', 'two/three', 'four,five'] as const;

const UUIDS = ['3fa85f64-5717-4562-b3fc-2c963f66afa6', '3fa85f64-5717-4562-b3fc-2c963f66afa7'];

/** Values that differ by as little as the type can, with the texts of their parts where those are others. */
const VALUES: Readonly<Record<string, readonly [ColumnDataType, ...unknown[]]>> = {
  integer: [DataType.INTEGER, -1, 0],
  bigint: [DataType.BIGINT, '9007199254740992', '9007199254740993'],
  uuid: [DataType.UUID, ...UUIDS],
  text: [DataType.TEXT, '', ['~0~1~2~3%.', '~/,\\%.']],
  citext: [DataType.CITEXT, 'a', 'B'],
  char: [DataType.CHAR(3), 'ab', 'abc'],
  enum: [DataType.ENUM(...KINDS), 'one', ['two~1three', 'two/three'], ['four~2five', 'four,five']],
  boolean: [DataType.BOOLEAN, false, true],
  decimal: [DataType.DECIMAL(10, 2), '1.00', '1.01'],
  dateonly: [DataType.DATEONLY, '2026-01-31', '2026-02-01'],
  time: [DataType.TIME, '08:00:00', '08:00:00.000001'],
  date: [DataType.DATE, '2026-01-31T08:00:00.000Z', '2026-01-31T08:00:00.001Z'],
};
type Part = readonly [text: string, value: unknown];
const TYPES = Object.fromEntries(
  Object.entries(VALUES).map(([name, [type, ...values]]) => [
    name,
    {
      type,
      rows: values.map((each) => (Array.isArray(each) ? each : [String(each), each]) as unknown as Part),
    },
  ]),
);

const TYPED_OPTIONS = {
  pagination: 'cursor',
  etag: 'xmin',
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'replace', 'updateMany'],
} as const;

/** A model whose id is a part of the type behind another one. */
function typedModel(name: string, type: ColumnDataType): typeof Model {
  @Crud({ prefix: `/of-${name}`, ...TYPED_OPTIONS })
  @Table({ tableName: `of_${name}`, modelName: `Of${name}`, timestamps: false })
  class Typed extends Model {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare a: number;
    @Column({ type, primaryKey: true }) declare k: unknown;
    @Column({ type: DataType.INTEGER }) declare value: number | null;
  }
  return Typed;
}

/** A model whose id is of the type. */
function keyedModel(name: string, type: ColumnDataType): typeof Model {
  @Crud({ prefix: `/by-${name}`, ...TYPED_OPTIONS })
  @Table({ tableName: `by_${name}`, modelName: `By${name}`, timestamps: false })
  class Keyed extends Model {
    @Column({ type, primaryKey: true }) declare k: unknown;
    @Column({ type: DataType.INTEGER }) declare value: number | null;
  }
  return Keyed;
}

/** An id alone has no empty text. */
const KEYED = Object.entries(TYPES).filter(([name]) => name !== 'text');

const TYPED = [
  ...Object.entries(TYPES).map(([name, { type }]) => typedModel(name, type)),
  ...KEYED.map(([name, { type }]) => keyedModel(name, type)),
];

/** Each type as a part of an id, and as one alone. */
const SHAPES = [
  ...Object.entries(TYPES).map(([name, { rows }]) => ({ name, of: 'of', start: '1,', head: { a: 1 }, rows })),
  ...KEYED.map(([name, { rows }]) => ({ name, of: 'by', start: '', head: {}, rows: rows.map(alone) })),
];

/** Only parts are escaped. */
function alone([, k]: readonly [string, unknown]): readonly [string, unknown] {
  return [String(k), k];
}

except(OF_MANY).describe('an id of several attributes', () => {
  const site = serveTestApp(async () => {
    const database = await freshDatabase();
    await execute(
      database.url,
      `CREATE EXTENSION citext; CREATE TABLE quotes ("on" boolean, price numeric(8, 2), at timestamp, day date, note text,
        PRIMARY KEY ("on", price, at, day))`,
    );
    return { models: [OrderLine, SealedLine, Text, Quote, ...TYPED] as never, database };
  });

  /** Writes `,` for `%2C` in paths, as some do. */
  const proxy = forSuite(() =>
    listen((request, response) => {
      const { method, headers, url = '' } = request;
      const path = url.replace(/%2C/gi, ',');
      const forwarded = sendRequest({ host: '127.0.0.1', port: site.server.port, method, headers, path });
      forwarded.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    }),
  );

  beforeEach(() => emptyTables(site, 'order_lines', 'texts'));

  const line = { orderId: 10248, lineNo: 11, quantity: 1, version: 0 };

  it('addresses one record: create, read, change, delete, with Location and tags', async () => {
    const other = { orderId: 10248, lineNo: 12, quantity: 1, version: 0 };
    const created = await site.agent.post('/order-lines').send({ orderId: 10248, lineNo: 11 });
    expectJson(created, 201, line);
    expect(created.headers['location']).to.equal('/order-lines/10248,11');
    await site.agent.post('/order-lines').send({ orderId: 10248, lineNo: 12 }).expect(201);
    for (const path of ['/order-lines/10248,11', '/order-lines/10248%2C11'])
      expectJson(await site.agent.get(path), 200, line);
    await site.agent.head('/order-lines/10248,11').expect(200);
    await site.agent.patch('/order-lines/10248,11').set('If-Match', '"7"').send({ quantity: 2 }).expect(412);
    const changed = { ...line, quantity: 2, version: 1 };
    expectJson(
      await site.agent.patch('/order-lines/10248,11').set('If-Match', '"0"').send({ quantity: 2 }),
      200,
      changed,
    );
    expectJson(await site.agent.get('/order-lines/10248,11?fields=quantity'), 200, { quantity: 2 });
    expectJson(await site.agent.get('/order-lines/10248,12'), 200, other);
    expectNothing(await site.agent.delete('/order-lines/10248,11').set('If-Match', '"1"'), 204);
    expectProblem(await site.agent.get('/order-lines/10248,11'), 404, {
      detail: 'There is no OrderLine with this orderId,lineNo.',
    });
    expectJson(await site.agent.get('/order-lines/10248,12'), 200, other);
  });

  it('is refused where it is none, with the parts that it has', async () => {
    const parts = 'it must be orderId,lineNo: an integer, an integer.';
    for (const id of ['10248', '10248,', ',11', '1,2,3', '1,~9', '1,2~', '1,x', '~0,1', '1;2', '1,2%2F'])
      for (const verb of ['get', 'patch', 'delete'] as const)
        expectIssue(
          await site.agent[verb](`/order-lines/${id}`).send(verb === 'patch' ? {} : undefined),
          400,
          {
            parameter: 'id',
            code: 'id',
            detail: `'${decodeURIComponent(id)}' is not a valid id; ${parts}`,
          },
        );
    for (const id of ['1,2147483648', '99999999999999999999,1', '1,2'])
      expectProblem(await site.agent.get(`/order-lines/${id}`), 404, {
        detail: 'There is no OrderLine with this orderId,lineNo.',
      });
  });

  it('is no part of a change, and required of a new record', async () => {
    await OrderLine.create({ orderId: 10248, lineNo: 11 });
    expectIssue(await site.agent.patch('/order-lines/10248,11').send({ lineNo: 12 }), 422, {
      pointer: '/lineNo',
      code: 'readOnly',
      detail: 'lineNo cannot be set.',
    } as never);
    expectIssue(await site.agent.post('/order-lines').send({ orderId: 1 }), 422, {
      pointer: '/lineNo',
      code: 'isDefined',
      detail: 'lineNo is required.',
    });
  });

  it('is what a tag with a hidden version is for', async () => {
    await SealedLine.bulkCreate(['x', 'y'].map((b) => ({ a: 1, b, value: 0 })));
    const change = (id: string, tag: string) =>
      site.agent.patch(`/sealed-lines/${id}`).set('If-Match', tag).send({ value: 1 });
    const read = await site.agent.get('/sealed-lines/1,x');
    expectJson(read, 200, { a: 1, b: 'x', value: 0 });
    const tag = read.headers['etag'] as string;
    await change('1,y', tag).expect(412);
    expectJson(await change('1,x', tag), 200, { a: 1, b: 'x', value: 1 });
    await change('1,x', tag).expect(412);
  });

  it('is as long as a path may be', async () => {
    const longest = { language: 'x'.repeat(3999), place: '', value: null };
    const created = await site.agent.post('/texts').send(longest);
    expectJson(created, 201, longest);
    expectJson(await site.agent.get(created.headers['location'] as string), 200, longest);
    for (const [language, place] of [
      ['x'.repeat(3999), 'y'],
      ['', 'é'.repeat(700)],
    ])
      expectIssue(await site.agent.post('/texts').send({ language, place }), 422, {
        pointer: '/language',
        code: 'isAddressable',
        detail:
          'language,place must be able to stand in a path together: they cannot have over 4000 characters when percent-encoded.',
      });
  });

  it('is the order of rows that a list sorts alike, and each comes once', async () => {
    const rows = [1, 2, 3].flatMap((orderId) =>
      [1, 2, 3].map((lineNo) => ({ orderId, lineNo, quantity: lineNo === 3 ? null : orderId % 2 })),
    );
    await OrderLine.bulkCreate(rows);
    const walk = async (query: string) => {
      const walked: object[] = [];
      for (let place = ''; ; ) {
        const path = `/order-lines?size=3&fields=orderId,lineNo,quantity&${query}${place}`;
        const { body } = await site.agent.get(path).expect(200);
        walked.push(...body.items);
        if (body.next_cursor === null) return walked;
        place = `&after=${body.next_cursor}`;
      }
    };
    type Terms = (row: (typeof rows)[number]) => readonly number[];
    const orders: Readonly<Record<string, Terms>> = {
      '': ({ orderId, lineNo }) => [orderId, lineNo],
      'sort=-orderId': ({ orderId, lineNo }) => [-orderId, -lineNo],
      'sort=lineNo,-orderId': ({ orderId, lineNo }) => [lineNo, -orderId],
      'sort=quantity': ({ orderId, lineNo, quantity }) => [quantity ?? 9, orderId, lineNo],
      'sort=-quantity': ({ orderId, lineNo, quantity }) => [-(quantity ?? 9), -orderId, -lineNo],
    };
    for (const [query, order] of Object.entries(orders)) {
      const sorted = rows.toSorted((one, other) => {
        const [left, right] = [order(one), order(other)];
        const first = left.findIndex((each, index) => each !== right[index]);
        return (left[first] ?? 0) - (right[first] ?? 0);
      });
      expect(await walk(query), query).to.deep.equal(sorted);
    }
  });

  it('is described by its parts', async () => {
    const { body } = await site.agent.get('/openapi.json').expect(200);
    const [id] = body.paths['/order-lines/{id}'].get.parameters;
    expect(id).to.deep.equal({
      name: 'id',
      in: 'path',
      required: true,
      description:
        'The orderId, the lineNo, joined by commas. In a part `~0` is `~`, `~1` is `/`, `~2` is `,` and `~3` is `\\`.',
      schema: {
        type: 'string',
        pattern: '^(?:0|-?[1-9][0-9]*),(?:0|-?[1-9][0-9]*)$',
        examples: ['10248,11'],
        'x-key': ['orderId', 'lineNo'],
      },
    });
  });

  it('is read and written by functions', () => {
    const id = readId(OrderLine, '10248,11');
    expect(id).to.deep.equal({ orderId: 10248, lineNo: 11 });
    expect(id).to.be.frozen;
    expect(formatId(OrderLine, Object(id))).to.equal('10248,11');
    expect(formatId(Text, Text.build({ language: 'en GB', place: 'home/title' }))).to.equal(
      'en GB,home~1title',
    );
    expect(() => formatId(OrderLine, { orderId: 1 })).to.throw(TypeError, 'orderId and lineNo');
  });

  for (const { name, of, start, head, rows } of SHAPES) {
    it(`may ${start === '' ? 'be' : 'have a part'} of type ${name}`, async () => {
      const path = `/${of}-${name}`;
      await emptyTables(site, `${of}_${name}`);
      const places: string[] = [];
      for (const [text, k] of rows) {
        const created = await site.agent.post(path).send({ ...head, k, value: 0 });
        expectJson(created, 201, { ...head, k, value: 0 });
        const location = created.headers['location'] as string;
        expect(decodeURIComponent(location)).to.equal(`${path}/${start}${text}`);
        places.push(location);
      }
      if (path === '/by-char') expectJson(await site.agent.get(`${path}/ab%20`), 200, { k: 'ab', value: 0 });
      for (const [index, [, k]] of rows.entries()) {
        const place = places[index] as string;
        const read = await site.agent.get(place);
        expectJson(read, 200, { ...head, k, value: 0 });
        const tag = read.headers['etag'] as string;
        const change = site.agent.patch(place).set('If-Match', tag).send({ value: 2 });
        expectJson(await change, 200, { ...head, k, value: 2 });
        await site.agent.patch(place).set('If-Match', tag).send({ value: 3 }).expect(412);
        expectJson(await site.agent.put(place).send({ value: 3 }), 200, { ...head, k, value: 3 });
        const many = await site.agent.patch(path).send([{ ...head, k, value: 1 }]);
        expectJson(many, 200, { items: [{ ...head, k, value: 1 }] });
      }
      const walk = async (first: string) => {
        const walked: unknown[] = [];
        for (let page = first; ; ) {
          const { body } = await site.agent.get(`${path}?size=1${page}`).expect(200);
          walked.push(...body.items.map(({ k, value }: { k: unknown; value: number }) => [k, value]));
          if (body.next_cursor === null) return { walked, last: body };
          page = `&after=${body.next_cursor}`;
        }
      };
      const { walked, last } = await walk('');
      expect(walked).to.have.deep.members(rows.map(([, k]) => [k, 1]));
      const back: unknown[] = [];
      for (let before = last.prev_cursor; before !== null; ) {
        const { body } = await site.agent.get(`${path}?size=1&before=${before}`).expect(200);
        back.unshift(...body.items.map(({ k, value }: { k: unknown; value: number }) => [k, value]));
        before = body.prev_cursor;
      }
      expect(back).to.deep.equal(walked.slice(0, -1));
      for (const [index, place] of places.entries()) {
        expectNothing(await site.agent.delete(place), 204);
        await site.agent.get(place).expect(404);
        const { body } = await site.agent.get(path);
        expect(body.items).to.have.length(rows.length - index - 1);
        expectJson(await site.agent.put(place).send({ value: 4 }), 201, {
          ...head,
          k: rows[index]?.[1],
          value: 4,
        });
        expectNothing(await site.agent.delete(place), 204);
      }
    });
  }

  it('is refused where it is no value of its type', async () => {
    for (const [name, text, expected] of [
      ['boolean', 't', 'true or false'],
      ['decimal', '1e3', 'a decimal number'],
      ['dateonly', '2026-02-30', 'a date such as 2026-01-31'],
      ['time', '25:00', 'a time of day such as 08:00:00'],
      ['date', '2026-01-31', 'a date and time with an offset, such as 2026-01-31T08:00:00Z'],
    ])
      expectIssue(await site.agent.get(`/by-${name}/${text}`), 400, {
        parameter: 'id',
        code: 'id',
        detail: `'${text}' is not a valid id; it must be ${expected}.`,
      });
    const { body } = await site.agent.get('/openapi.json').expect(200);
    const schemaOf = (name: string) => body.paths[`/by-${name}/{id}`].get.parameters[0].schema;
    expect(schemaOf('boolean')).to.deep.equal({ type: 'boolean' });
    expect(schemaOf('dateonly')).to.deep.equal({ type: 'string', minLength: 1, examples: ['2026-01-31'] });
  });

  for (const { of, start, head } of SHAPES.filter(({ name }) => name === 'date')) {
    it(`keeps the microseconds of a moment, which a body has not, with ${start === '' ? 'no part' : 'a part'} beside it`, async () => {
      await emptyTables(site, `${of}_date`);
      const [columns, values] = start === '' ? ['', ''] : ['a, ', '1, '];
      await site.engine.sequelize.query(
        `INSERT INTO ${of}_date (${columns}k) VALUES (${values}'2026-01-31 08:00:00.123456Z'), (${values}'2026-01-31 08:00:00.123457Z')`,
      );
      const place = `/${of}-date/${start}`;
      const body = { ...head, k: '2026-01-31T08:00:00.123Z', value: null };
      expectJson(await site.agent.get(`${place}2026-01-31T08:00:00.123456Z`), 200, body);
      await site.agent.get(`${place}2026-01-31T08:00:00.123Z`).expect(404);
      const id = `${place}2026-01-31T09:00:00.123457+01:00`;
      expectJson(await site.agent.patch(id).send({ value: 1 }), 200, { ...body, value: 1 });
      expectNothing(await site.agent.delete(`${place}2026-01-31T08:00:00.123456Z`), 204);
      expectJson(await site.agent.get(id), 200, { ...body, value: 1 });
    });
  }

  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc
      .array(fc.constantFrom('~', '/', ',', '\\', '%', '.', '0', '1', 'é', '😀', ' ', '+', '?', '#'), {
        maxLength: 8,
      })
      .map((all) => all.join('')),
  );

  it('is that of a row that a PUT creates and replaces, of a moment without a zone as well', async () => {
    const path = '/quotes/true,1.50,2026-01-31T08:00:00.123456,2026-02-01';
    const row = { on: true, price: '1.50', at: '2026-01-31T08:00:00.123456', day: '2026-02-01' };
    for (const [status, note] of [
      [201, 'first'],
      [200, 'second'],
    ] as const) {
      const answer = await site.agent.put(path).send({ note });
      expect([answer.status, answer.body]).to.deep.equal([status, { ...row, note }]);
    }
    expect((await site.agent.put(path).send({ ...row, on: false })).body.errors[0].pointer).to.equal('/on');
    expect((await site.agent.get(path)).body).to.deep.equal({ ...row, note: 'second' });
  });

  it('is written in one way, and read back', () => {
    const texts = new Map<string, string>();
    fc.assert(
      fc.property(fc.array(part, { minLength: 2, maxLength: 4 }), (parts) => {
        const text = joinParts(parts);
        expect(splitParts(text)).to.deep.equal(parts);
        expect(text).to.not.match(/[/\\]/);
        const known = texts.get(text);
        expect(known ?? JSON.stringify(parts)).to.equal(JSON.stringify(parts));
        texts.set(text, JSON.stringify(parts));
        expect(decodeURIComponent(encodeURIComponent(text))).to.equal(text);
      }),
      { numRuns: wholeOr(200, 10_000) },
    );
  });

  it('is followed over HTTP, whatever its texts are, also through a proxy that decodes commas', async () => {
    const proxied = supertest(proxy.url);
    const storable = part.filter((text) => !text.includes('\0') && text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.tuple(storable, storable), async ([language, place]) => {
        await emptyTables(site, 'texts');
        await Text.create({ language: `${language}x`, place, value: 'other' });
        const created = await site.agent.post('/texts').send({ language, place, value: '1' });
        expectJson(created, 201, { language, place, value: '1' });
        const location = created.headers['location'] as string;
        expect(location).to.equal(
          `/texts/${idSegment(
            [
              { name: 'language', type: { kind: 'string' } },
              { name: 'place', type: { kind: 'string' } },
            ] as never,
            { language, place },
          )}`,
        );
        const encoded = location.replaceAll(',', '%2C');
        for (const agent of [site.agent, proxied])
          for (const path of [location, encoded])
            expectJson(await agent.get(path), 200, { language, place, value: '1' });
        const changed = await proxied.patch(encoded).send({ value: '2' });
        expectJson(changed, 200, { language, place, value: '2' });
        expectNothing(await proxied.delete(encoded), 204);
        expect(await Text.count()).to.equal(1);
        const again = await proxied.post('/texts').send({ language, place, value: '3' });
        expect([again.status, again.headers['location']]).to.deep.equal([201, location]);
        expectNothing(await site.agent.delete(encoded), 204);
        expect(await Text.count()).to.equal(1);
      }),
      { numRuns: wholeOr(6, 150) },
    );
  });
});

/** The rows of a tenant have their numbers. A scope of `=1` is one value, and that of `1` is a list. */
@Crud({
  id: ['id'],
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'replace'],
  defaultSort: 'tenantId,id',
  scope: {
    tenantId: (request) => {
      const tenants = request.get('x-tenant') ?? '1';
      if (tenants.startsWith('=')) return Number(tenants.slice(1));
      return tenants === 'all' ? EVERYTHING : tenants.split(',').map(Number);
    },
  },
})
@Table({ tableName: 'invoices', timestamps: false, version: true })
class Invoice extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'tenant_id' }) declare tenantId: number;
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;
}

@Table({ tableName: 'pairs', timestamps: false })
class Pair extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare a: number;
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare b: number;
}

describe('the start of a model with a key of several columns', () => {
  const site = serveTestApp(() => ({ models: [Pair], bootstrap: { models: [] } }));

  async function start(constraint: string, options: CrudOptions<Pair>): Promise<string> {
    await site.engine.sequelize.query(
      `DROP TABLE pairs; CREATE TABLE pairs (a int NOT NULL, b int NOT NULL, ${constraint})`,
    );
    const logger = new CapturedLog();
    class Pairs extends crudController(Pair, options) {}
    const problems = await buildApp({ models: [], controllers: [Pairs], logger, indexAdvice: false }).then(
      () => '',
      (error: Error) => error.message,
    );
    return `${problems}${logger.text.replaceAll('\\"', '"')}`;
  }

  it('tells an order that is that of no index', async () => {
    expect(await start('PRIMARY KEY (b, a)', {})).to.include(
      `Pair: its id is a,b, and the index of the table "pairs" is over ("b", "a"), which serves pages in another order only; write id: ['b', 'a']`,
    );
    expect(await start('PRIMARY KEY (b, a)', { id: ['b', 'a'] })).to.not.include('its id is');
    expect(await start('PRIMARY KEY (a, b)', {})).to.not.include('its id is');
  });

  it('refuses a key that no index has exactly', async () => {
    const head = 'no unique index or constraint of the table "pairs" is over "a", "b" exactly';
    for (const constraint of ['UNIQUE (a)', 'CHECK (a > b)'])
      expect(await start(constraint, {}), constraint).to.include(head);
    // A part of the key needs a scope over the others.
    expect(await start('PRIMARY KEY (a, b)', { id: 'b' })).to.include(
      'no unique index of the table "pairs" is over "b" alone',
    );
    expect(await start('PRIMARY KEY (a, b)', { id: 'b', scope: { a: () => 1 } })).to.not.include(
      'no unique index',
    );
  });
});

except(OF_MANY).describe('a key of a tenant and a number', () => {
  const site = serveTestApp(() => ({ models: [Invoice] }));

  beforeEach(async () => {
    await emptyTables(site, 'invoices');
    await Invoice.bulkCreate([
      { tenantId: 1, id: 7, text: 'one' },
      { tenantId: 2, id: 7, text: 'two' },
      { tenantId: 2, id: 8, text: 'eight' },
    ]);
  });

  const rows = async () =>
    (await Invoice.findAll({ order: ['tenantId', 'id'] })).map(
      ({ tenantId, id, text }) => `${tenantId},${id}: ${text}`,
    );
  const send = (verb: 'get' | 'put' | 'patch' | 'delete', path: string, tenants: string, body?: object) =>
    site.agent[verb](path).set('x-tenant', tenants).send(body);

  it('leaves the tenant out of the path', async () => {
    const seven = { tenantId: 1, id: 7, text: 'one', version: 0 };
    expectJson(await send('get', '/invoices/7', '1'), 200, seven);
    expectJson(await send('patch', '/invoices/7', '1', { text: 'changed' }), 200, {
      ...seven,
      text: 'changed',
      version: 1,
    });
    const missing = await send('get', '/invoices/9', '1');
    for (const verb of ['get', 'patch', 'delete'] as const) {
      const answer = await send(verb, '/invoices/8', '1', verb === 'patch' ? { text: 'x' } : undefined);
      expectProblem(answer, 404, { detail: 'There is no Invoice with this id.' });
      expect(answer.text).to.equal(missing.text);
    }
    expectNothing(await send('delete', '/invoices/7', '1'), 204);
    expect(await rows()).to.deep.equal(['2,7: two', '2,8: eight']);
    const created = await site.agent
      .post('/invoices')
      .set('x-tenant', '1')
      .send({ tenantId: 1, id: 8, text: 'mine' });
    expectJson(created, 201, { tenantId: 1, id: 8, text: 'mine', version: 0 });
    expect(created.headers['location']).to.equal('/invoices/8');
  });

  it('replaces a row of the tenant, or creates it', async () => {
    const seven = { tenantId: 2, id: 7, text: 'x', version: 1 };
    expectJson(await send('put', '/invoices/7', '=2', { text: 'x' }), 200, seven);
    const created = await send('put', '/invoices/8', '=1', { text: 'y' });
    expectJson(created, 201, { tenantId: 1, id: 8, text: 'y', version: 0 });
    expect(created.headers['location']).to.equal('/invoices/8');
    const after = ['1,7: one', '1,8: y', '2,7: x', '2,8: eight'];
    expect(await rows()).to.deep.equal(after);
    await send('put', '/invoices/8', '=1', { tenantId: 2, text: 'z' }).expect(422);
    // A new row needs one tenant.
    for (const tenants of ['1,2', 'all'])
      expect((await send('put', '/invoices/9', tenants, { text: 'z' })).status).to.equal(422);
    await send('put', '/invoices/7', 'all', { text: 'z' }).expect(409);
    expect(await rows()).to.deep.equal(after);
  });

  it('is 409 where a scope has two of a number, and nothing is written', async () => {
    const before = await rows();
    for (const tenants of ['1,2', 'all'])
      for (const verb of ['get', 'patch', 'delete'] as const) {
        const answer = await send(verb, '/invoices/7', tenants, verb === 'patch' ? { text: 'x' } : undefined);
        expect([answer.status, await rows()], `${verb} ${tenants}`).to.deep.equal([409, before]);
      }
    const eight = { tenantId: 2, id: 8, text: 'x', version: 1 };
    expectJson(await send('patch', '/invoices/8', 'all', { text: 'x' }), 200, eight);
  });

  it('names the reason why Sequelize writes its rows', () => {
    const several = 'no unique key of the table is id, so that a write may find several rows';
    for (const { operation, generalPathReasons } of site.crud.routes) {
      const isByKey = operation === 'update' || operation === 'replace' || operation === 'delete';
      expect(generalPathReasons.includes(several), String(operation)).to.equal(isByKey);
    }
  });
});
