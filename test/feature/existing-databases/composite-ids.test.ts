/** Records that several attributes address: each type of a part, read, changed and deleted by the `Location` that a create gave. */
import { expect } from 'chai';
import fc from 'fast-check';
import pg from 'pg';
import type { DataType as ColumnDataType } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { idSegment, joinParts, splitParts } from '../../../src/describe/id-text.js';
import { Crud, formatId, readId } from '../../../src/index.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { freshDatabase } from '../../support/postgres.js';
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
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare quantity: number;
}

/** Any two texts. */
@Crud({ pagination: 'cursor' })
@Table({ tableName: 'texts', timestamps: false })
class Text extends Model {
  @Column({ type: DataType.TEXT, primaryKey: true }) declare language: string;
  @Column({ type: DataType.TEXT, primaryKey: true }) declare place: string;
  @Column({ type: DataType.TEXT }) declare value: string | null;
}

const KINDS = ['one', 'two/three', 'four,five'] as const;

/** Two rows differ in one part only, by as little as the type can. */
const TYPES: Readonly<Record<string, { type: ColumnDataType; rows: readonly [string, unknown][] }>> = {
  integer: {
    type: DataType.INTEGER,
    rows: [
      ['-1', -1],
      ['0', 0],
    ],
  },
  bigint: {
    type: DataType.BIGINT,
    rows: [
      ['9007199254740992', '9007199254740992'],
      ['9007199254740993', '9007199254740993'],
    ],
  },
  uuid: {
    type: DataType.UUID,
    rows: [
      ['3fa85f64-5717-4562-b3fc-2c963f66afa6', '3fa85f64-5717-4562-b3fc-2c963f66afa6'],
      ['3fa85f64-5717-4562-b3fc-2c963f66afa7', '3fa85f64-5717-4562-b3fc-2c963f66afa7'],
    ],
  },
  text: {
    type: DataType.TEXT,
    rows: [
      ['', ''],
      ['~0~1~2~3%.', '~/,\\%.'],
    ],
  },
  citext: {
    type: DataType.CITEXT,
    rows: [
      ['a', 'a'],
      ['B', 'B'],
    ],
  },
  char: {
    type: DataType.CHAR(3),
    rows: [
      ['ab', 'ab'],
      ['abc', 'abc'],
    ],
  },
  enum: {
    type: DataType.ENUM(...KINDS),
    rows: [
      ['one', 'one'],
      ['two~1three', 'two/three'],
      ['four~2five', 'four,five'],
    ],
  },
  boolean: {
    type: DataType.BOOLEAN,
    rows: [
      ['false', false],
      ['true', true],
    ],
  },
  decimal: {
    type: DataType.DECIMAL(10, 2),
    rows: [
      ['1.00', '1.00'],
      ['1.01', '1.01'],
    ],
  },
  dateonly: {
    type: DataType.DATEONLY,
    rows: [
      ['2026-01-31', '2026-01-31'],
      ['2026-02-01', '2026-02-01'],
    ],
  },
  time: {
    type: DataType.TIME,
    rows: [
      ['08:00:00', '08:00:00'],
      ['08:00:00.000001', '08:00:00.000001'],
    ],
  },
  date: {
    type: DataType.DATE,
    rows: [
      ['2026-01-31T08:00:00.000Z', '2026-01-31T08:00:00.000Z'],
      ['2026-01-31T08:00:00.001Z', '2026-01-31T08:00:00.001Z'],
    ],
  },
};

/** A model whose id is a part of the type between two others. */
function typedModel(name: string, type: ColumnDataType): typeof Model {
  @Crud({ prefix: `/of-${name}`, pagination: 'cursor', etag: 'xmin' })
  @Table({ tableName: `of_${name}`, modelName: `Of${name}`, timestamps: false })
  class Typed extends Model {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare a: number;
    @Column({ type, primaryKey: true }) declare k: unknown;
    @Column({ type: DataType.INTEGER }) declare value: number | null;
  }
  return Typed;
}

const TYPED = Object.fromEntries(
  Object.entries(TYPES).map(([name, { type }]) => [name, typedModel(name, type)]),
);

except(OF_MANY).describe('an id of several attributes', () => {
  const site = serveTestApp(async () => {
    const database = await freshDatabase();
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query('CREATE EXTENSION citext');
    await client.end();
    return { models: [OrderLine, Text, ...Object.values(TYPED)] as never, database };
  });

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

  for (const [name, { rows }] of Object.entries(TYPES)) {
    it(`may have a part of type ${name}`, async () => {
      const path = `/of-${name}`;
      await emptyTables(site, `of_${name}`);
      const places: string[] = [];
      for (const [text, k] of rows) {
        const created = await site.agent.post(path).send({ a: 1, k, value: 0 });
        expectJson(created, 201, { a: 1, k, value: 0 });
        const location = created.headers['location'] as string;
        expect(decodeURIComponent(location)).to.equal(`${path}/1,${text}`);
        places.push(location);
      }
      for (const [index, [, k]] of rows.entries()) {
        const place = places[index] as string;
        const read = await site.agent.get(place);
        expectJson(read, 200, { a: 1, k, value: 0 });
        const tag = read.headers['etag'] as string;
        expectJson(await site.agent.patch(place).set('If-Match', tag).send({ value: 1 }), 200, {
          a: 1,
          k,
          value: 1,
        });
        await site.agent.patch(place).set('If-Match', tag).send({ value: 2 }).expect(412);
      }
      const walked: unknown[] = [];
      for (let after = ''; ; ) {
        const { body } = await site.agent.get(`${path}?size=1${after}`).expect(200);
        walked.push(...body.items.map(({ k, value }: { k: unknown; value: number }) => [k, value]));
        if (body.next_cursor === null) break;
        after = `&after=${body.next_cursor}`;
      }
      expect(walked).to.have.deep.members(rows.map(([, k]) => [k, 1]));
      for (const [index, place] of places.entries()) {
        expectNothing(await site.agent.delete(place), 204);
        await site.agent.get(place).expect(404);
        const { body } = await site.agent.get(path);
        expect(body.items).to.have.length(rows.length - index - 1);
      }
    });
  }

  it('keeps the microseconds of a moment, which a body has not', async () => {
    await emptyTables(site, 'of_date');
    await site.engine.sequelize.query(
      `INSERT INTO of_date (a, k) VALUES (1, '2026-01-31 08:00:00.123456Z'), (1, '2026-01-31 08:00:00.123457Z')`,
    );
    const body = { a: 1, k: '2026-01-31T08:00:00.123Z', value: null };
    expectJson(await site.agent.get('/of-date/1,2026-01-31T08:00:00.123456Z'), 200, body);
    await site.agent.get('/of-date/1,2026-01-31T08:00:00.123Z').expect(404);
    const id = '1,2026-01-31T09:00:00.123457+01:00';
    expectJson(await site.agent.patch(`/of-date/${id}`).send({ value: 1 }), 200, { ...body, value: 1 });
    expectNothing(await site.agent.delete('/of-date/1,2026-01-31T08:00:00.123456Z'), 204);
    expectJson(await site.agent.get(`/of-date/${id}`), 200, { ...body, value: 1 });
  });

  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc
      .array(fc.constantFrom('~', '/', ',', '\\', '%', '.', '0', '1', 'é', '😀', ' ', '+', '?', '#'), {
        maxLength: 8,
      })
      .map((all) => all.join('')),
  );

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
      { numRuns: 10_000 },
    );
  });

  it('is followed over HTTP, whatever its texts are, as a proxy decodes it, too', async () => {
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
        for (const path of [location, encoded])
          expectJson(await site.agent.get(path), 200, { language, place, value: '1' });
        expectNothing(await site.agent.delete(encoded), 204);
        expect(await Text.count()).to.equal(1);
      }),
      { numRuns: 150 },
    );
  });
});
