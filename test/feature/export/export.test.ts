/** All records of a list as a file: CSV and NDJSON, of any number, with all that a list does to its rows. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { parse } from 'csv-parse/sync';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, crudController, filter, Repository } from '../../../src/index.js';
import { NumberedManyTypes } from '../../models/many-types.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

/** More than two chunks, and no multiple of one. */
const ROWS = 4_501;

@Crud({
  export: ['csv', 'ndjson'],
  filterAllow: ['name', 'rank'],
  sortAllow: ['name', 'rank'],
  can: { deleted: true },
  include: { room: { where: 'all' }, books: { where: 'all', size: { default: 1, max: 2 } } },
})
@Table({ tableName: 'shelves', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Shelf extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @Column(DataType.INTEGER) declare rank: number | null;
  @Column(DataType.JSONB) declare notes: unknown;
  @ForeignKey(() => Room) @Column(DataType.INTEGER) declare roomId: number | null;
  @BelongsTo(() => Room) declare room?: Room | null;
  @HasMany(() => Book) declare books?: Book[];
}
// Combinations give controllers of their own to models without one, and those have a method list.
class ShelfController extends crudController(Shelf) {}

@Crud()
@Table({ tableName: 'rooms', timestamps: false })
class Room extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
}

@Crud()
@Table({ tableName: 'books', timestamps: false })
class Book extends NumberedRow {
  @ForeignKey(() => Shelf) @Column(DataType.INTEGER) declare shelfId: number;
}

@Crud({ prefix: '/types', export: ['csv', 'ndjson'], pagination: 'cursor', pageSize: { max: 3 } })
@Table({ tableName: 'types', timestamps: false })
class Typed extends NumberedManyTypes {}
class TypedController extends crudController(Typed) {}

class LineRead {
  @Expose({ name: 'number' }) declare id: number;
  @Expose() get shout(): string {
    return `${(this as unknown as Line).label}!`;
  }
  @Expose() declare label: string;
}

@Crud({
  export: { formats: ['csv', 'ndjson'], maxRows: ROWS, snapshot: { seconds: 60 } },
  sortAllow: ['label'],
  filterAllow: ['id'],
  readSchema: LineRead,
})
@Table({ tableName: 'lines', timestamps: false })
class Line extends NumberedRow {
  @Column(DataType.TEXT) declare label: string | null;
}
class LineController extends crudController(Line) {}

@Crud({
  export: ['csv'],
  scope: { tenant: (request) => request.get('x-tenant') },
  fields: { secret: { read: (request) => request.get('x-tenant') === 'boss' } },
  can: { export: (request) => request.get('x-may') !== 'no' },
  filterAllow: ['secret'],
})
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends NumberedRow {
  @Column(DataType.TEXT) declare tenant: string;
  @Column(DataType.TEXT) declare secret: string;
}
class ParcelController extends crudController(Parcel) {}

@Crud({ export: ['csv'], can: { list: (request) => request.get('x-may') !== 'no' } })
@Table({ tableName: 'letters', timestamps: false })
class Letter extends NumberedRow {
  @Column(DataType.TEXT) declare body: string;
}
class LetterController extends crudController(Letter) {}

const NO_INTERCEPTORS = { values: 'no export goes through the interceptor of the combination' };

except(NO_INTERCEPTORS).describe('exporting a list', () => {
  const site = serveTestApp(() => ({
    models: [Shelf, Room, Book, Typed, Line, Parcel, Letter],
    bootstrap: {
      controllers: [ShelfController, TypedController, LineController, ParcelController, LetterController],
      indexAdvice: false,
    },
  }));
  const fetchText = async (path: string, headers: Record<string, string> = {}) =>
    site.agent.get(path).set(headers).buffer(true).parse(asText);
  const linesOf = async (path: string) =>
    (await fetchText(path)).body
      .split('\n')
      .filter(Boolean)
      .map((line: string) => JSON.parse(line));

  before(async () => {
    await Room.bulkCreate([{ name: 'hall' }]);
    await Shelf.bulkCreate([
      { name: 'plain', rank: 2, notes: null, roomId: 1 },
      { name: '', rank: null, notes: { a: 'x, "y"' } },
      { name: null, rank: -1, notes: ['é', 1], roomId: 1 },
      { name: 'a,b "c"\r\nd', rank: 0, notes: '=1+1' },
      { name: '-1.5', rank: 5, notes: 5 },
      { name: 'gone', rank: 6 },
    ]);
    await Shelf.destroy({ where: { name: 'gone' } });
    await Book.bulkCreate([{ shelfId: 1 }]);
    await Line.sequelize?.query(
      `INSERT INTO lines (label) SELECT CASE WHEN n % 7 = 0 THEN NULL ELSE 'l' || n % 50 END FROM generate_series(1, ${ROWS}) AS n`,
    );
    await Parcel.bulkCreate([
      { tenant: 'a', secret: 's1' },
      { tenant: 'b', secret: 's2' },
      { tenant: 'boss', secret: 's3' },
    ]);
    await Letter.bulkCreate([{ body: 'Dear' }]);
  });

  describe('as CSV', () => {
    it('quotes what has to be quoted, and tells an empty text from NULL', async () => {
      const { status, body, headers } = await fetchText('/shelves?format=csv');
      expect(body).to.equal(
        [
          'id,name,rank,notes,roomId,deletedAt',
          '1,plain,2,,1,',
          '2,"",,"{""a"":""x, \\""y\\""""}",,',
          '3,,-1,"[""é"",1]",1,',
          '4,"a,b ""c""\r\nd",0,"""=1+1""",,',
          '5,-1.5,5,5,,',
          '',
        ].join('\r\n'),
      );
      expect(status).to.equal(200);
      expect(headers).to.include({
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="shelves-${new Date().toISOString().slice(0, 10)}.csv"`,
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        vary: 'Accept',
      });
      expect(parse(body, { columns: true })).to.have.length(5);
    });

    for (const [title, query, expected] of [
      [
        'has the columns in the order asked',
        '&fields=rank,id&sort=rank',
        'rank,id\r\n-1,3\r\n0,4\r\n2,1\r\n5,5\r\n,2\r\n',
      ],
      ['filters', '&fields=id&q=rank>=2', 'id\r\n1\r\n5\r\n'],
      ['has the line of names for no rows', '&fields=id,name&q=rank>99', 'id,name\r\n'],
      ['has deleted records where they are asked for', '&fields=id&deleted=only', 'id\r\n6\r\n'],
      [
        'is safe for spreadsheets where that is asked for, and leaves numbers as they are',
        '&fields=name,rank,notes&q=rank<=0,rank==5&spreadsheet=true',
        '\u{feff}name,rank,notes\r\n,-1,"[""é"",1]"\r\n"a,b ""c""\r\nd",0,"""=1+1"""\r\n-1.5,5,5\r\n',
      ],
    ] as const)
      it(title, async () => expect((await fetchText(`/shelves?format=csv${query}`)).body).to.equal(expected));

    it('guards each beginning of a formula in texts that are no numbers', async () => {
      const texts = [
        '=1+1',
        '+1',
        '+49 170',
        '-1',
        '-1.5e3',
        '-cmd',
        '@x',
        '\tx',
        '\rx',
        ' =1',
        'x=1',
        '--1',
        "'=1",
        '\n=1',
        'a;=1;-b',
        'a;"@b',
        'a; =1',
        'a\n+b',
      ];
      const rows = texts.map((label, index) => ({ id: 10_000 + index, label }));
      await Line.bulkCreate(rows);
      const { body } = await fetchText('/lines?format=csv&q=id>=10000&fields=label&spreadsheet=true');
      await Line.destroy({ where: { id: rows.map(({ id }) => id) } });
      const read = parse(body, { columns: true, bom: true }) as { label: string }[];
      const guarded = ['=1+1', '+49 170', '-cmd', '@x', '\tx', '\rx', '--1'];
      const others: Record<string, string> = {
        '\n=1': "'\n'=1",
        'a;=1;-b': "a;'=1;'-b",
        'a;"@b': `a;"'@b`,
        'a\n+b': "a\n'+b",
      };
      expect(read.map(({ label }) => label)).to.deep.equal(
        texts.map((each) => others[each] ?? (guarded.includes(each) ? `'${each}` : each)),
      );
    });
  });

  describe('as NDJSON', () => {
    it('writes the records of the list, whatever their types are', async () => {
      const values = {
        small: 1,
        whole: -2,
        big: '9007199254740993',
        exact: '-1.5000',
        real: 0.5,
        double: 1e300,
        flag: true,
        moment: new Date('2026-01-31T08:00:00.120Z'),
        day: '2026-01-31',
        time: '08:00:00',
        uuid: '0f8fad5b-d9cb-469f-a165-70867728950e',
        jsonb: { a: [1, 'x'] },
        colour: 'dark green',
        bytes: Buffer.from('hi'),
        short: 'é"',
        words: ['a', ''],
        numbers: [1],
        decimals: ['1.5'],
        sizes: ['s'],
      };
      await Typed.bulkCreate([{}, values, { double: Number.NaN }, { exact: '-0.5' }]);
      const { body: first } = await site.agent.get('/types?size=3');
      const { body: second } = await site.agent.get(`/types?size=3&after=${first.next_cursor}`);
      const items = [...first.items, ...second.items];
      expect(await linesOf('/types?format=ndjson')).to.deep.equal(items);
      expect(await linesOf(`/types?format=ndjson&after=${first.next_cursor}`)).to.deep.equal(items.slice(3));
      // The same values in cells.
      const { body } = await fetchText('/types?format=csv');
      const cells = parse(body, { columns: true }) as Record<string, string>[];
      const cellOf = (value: unknown) =>
        value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
      expect(cells).to.deep.equal(
        items.map((item) =>
          Object.fromEntries(Object.entries(item).map(([name, value]) => [name, cellOf(value)])),
        ),
      );
    });

    it('includes relations to one record', async () => {
      expect(
        await linesOf('/shelves?format=ndjson&include=room&room.fields=name&fields=id&q=rank<3&sort=-rank'),
      ).to.deep.equal([
        { id: 1, room: { name: 'hall' } },
        { id: 4, room: null },
        { id: 3, room: { name: 'hall' } },
      ]);
    });
  });

  describe('is chosen', () => {
    for (const [path, accept, type] of [
      ['/shelves', 'text/csv', 'text/csv; charset=utf-8'],
      ['/shelves', 'application/x-ndjson', 'application/x-ndjson'],
      ['/shelves', 'application/json;q=0.5, text/csv', 'text/csv; charset=utf-8'],
      ['/shelves?f%6frmat=ndjson', 'text/csv', 'application/x-ndjson'],
      ['/shelves', '*/*', 'application/json; charset=utf-8'],
      ['/shelves', 'text/html,application/xhtml+xml,*/*;q=0.8', 'application/json; charset=utf-8'],
      ['/shelves', 'text/csv;q=0.5, application/json', 'application/json; charset=utf-8'],
      ['/rooms', 'text/csv', 'application/json; charset=utf-8'],
    ] as const)
      it(`of ${path} with ${accept} as ${type}`, async () => {
        const { status, headers } = await fetchText(path, { Accept: accept });
        expect([status, headers['content-type']]).to.deep.equal([200, type]);
        expect(headers['vary']).to.equal(path === '/rooms' ? undefined : 'Accept');
      });
  });

  describe('refuses', () => {
    const FORMAT = { parameter: 'format', code: 'export.not-allowed' };
    for (const [query, issue] of [
      [
        'format=xml',
        {
          ...FORMAT,
          detail: "Parameter 'format' is 'xml'; it accepts 'csv', 'ndjson'.",
          allowed: ['csv', 'ndjson'],
        },
      ],
      [
        'format=',
        {
          ...FORMAT,
          detail: "Parameter 'format' is ''; it accepts 'csv', 'ndjson'.",
          allowed: ['csv', 'ndjson'],
        },
      ],
      [
        'format=csv&format=csv',
        { parameter: 'format', code: 'repeated', detail: "Parameter 'format' may be given once." },
      ],
      [
        'format=csv&count=capped',
        {
          parameter: 'count',
          code: 'export.not-allowed',
          detail: "Parameter 'count' is 'capped'; it accepts 'exact'.",
          allowed: ['exact'],
        },
      ],
      [
        'format=csv&spreadsheet=yes',
        {
          parameter: 'spreadsheet',
          code: 'boolean',
          detail: "Parameter 'spreadsheet' is 'yes'; it accepts 'true', 'false'.",
          allowed: ['true', 'false'],
        },
      ],
      [
        'format=csv&checkpoints=true',
        {
          parameter: 'checkpoints',
          code: 'export.not-allowed',
          detail: 'A CSV has no checkpoints; use format=ndjson.',
        },
      ],
      [
        'format=ndjson&spreadsheet=true',
        { parameter: 'spreadsheet', code: 'export.not-allowed', detail: 'Spreadsheets read format=csv.' },
      ],
      [
        'format=csv&include=room',
        {
          parameter: 'include',
          code: 'export.not-allowed',
          detail: 'A CSV has the attributes of the records alone; use format=ndjson to include others.',
        },
      ],
      [
        'format=ndjson&include=books',
        {
          parameter: 'include',
          code: 'export.not-allowed',
          detail:
            "An export includes one record of each relation, and 'books' may have many; export those by themselves.",
        },
      ],
    ] as const)
      it(query, async () =>
        expectProblem(await site.agent.get(`/shelves?${query}`), 400, {
          detail: issue.detail,
          errors: [issue],
        }),
      );

    for (const query of ['page=2', 'size=5', 'before=x', 'consistent=true', 'books.size=1', 'name=x'])
      it(`format=csv&${query}`, async () => {
        const { status, body } = await site.agent.get(`/shelves?format=csv&${query}`);
        expect([status, body.errors.map((each: { code: string }) => each.code)]).to.deep.equal([
          400,
          ['unknown'],
        ]);
      });

    it('the parameters of exports on a list', async () => {
      const { status, body } = await site.agent.get('/shelves?spreadsheet=true');
      expect([status, body.errors[0].code]).to.deep.equal([400, 'unknown']);
    });

    it('a cursor that is none, or of another order', async () => {
      const [, { next_cursor: cursor }] = await linesOf('/lines?format=ndjson&checkpoints=true&q=id==1');
      expect(cursor).to.equal(null);
      for (const query of [
        'after=x',
        `sort=label&after=${(await site.agent.get('/types?size=1')).body.next_cursor}`,
      ]) {
        const { status, body } = await site.agent.get(`/lines?format=ndjson&${query}`);
        expect([status, body.errors[0].parameter], query).to.deep.equal([400, 'after']);
      }
    });

    it('more rows than maxRows, before the first byte', async () => {
      const extra = await Line.create({ label: 'one more' });
      const detail = `An export has ${ROWS} records at most, and these are more; ask for fewer with q.`;
      expectIssue(await site.agent.get('/lines?format=csv'), 400, {
        parameter: 'format',
        code: 'export.too-large',
        detail,
      });
      await extra.destroy();
    });
  });

  describe('of many rows', () => {
    const EVERY = Array.from({ length: ROWS }, (_, index) => index + 1);

    for (const query of ['', '&sort=label', '&sort=-label', '&consistent=true'])
      it(`gives each once${query && ` with ${query}`}, through the read schema`, async () => {
        const { body, headers } = await fetchText(`/lines?format=csv&count=exact${query}`);
        const rows = parse(body, { columns: true }) as { number: string; shout: string; label: string }[];
        expect(rows.map(({ number }) => Number(number)).sort((one, other) => one - other)).to.deep.equal(
          EVERY,
        );
        expect(headers['crud-total']).to.equal(String(ROWS));
        expect(Object.keys(rows[0] ?? {})).to.deep.equal(['number', 'shout', 'label']);
      });

    it('goes on behind a checkpoint, so that each row comes once', async () => {
      const path = '/lines?format=ndjson&checkpoints=true&sort=-label&fields=number';
      const all = await linesOf(path);
      const isCheckpoint = (line: object) => 'next_cursor' in line;
      const rows = all.filter((line: object) => !isCheckpoint(line));
      expect(rows).to.have.length(ROWS);
      expect(all.at(-1)).to.deep.equal({ next_cursor: null });
      const first = all.findIndex(isCheckpoint);
      const rest = await linesOf(`${path}&after=${all[first].next_cursor}`);
      expect(rest).to.deep.equal(all.slice(first + 1));
    });

    it('says the number of rows in a trailer, and has none of a connection that ends', async () => {
      const [response] = (await once(get(`${site.server.url}/lines?format=csv`), 'response')) as [
        IncomingMessage,
      ];
      const body = await textOf(response);
      expect(response.headers['transfer-encoding']).to.equal('chunked');
      expect(response.trailers).to.deep.equal({ 'crud-rows': String(ROWS) });
      expect(body.split('\r\n')).to.have.length(ROWS + 2);
      const socket = await site.server.connect();
      socket.write('GET /lines?format=csv HTTP/1.0\r\n\r\n');
      expect((await textOf(socket)).endsWith(body)).to.equal(true);
    });

    it('answers HEAD with the head alone', async () => {
      const { status, headers, text } = await site.agent.head('/lines?format=csv&count=exact');
      expect([status, headers['crud-total'], text]).to.deep.equal([200, String(ROWS), undefined]);
      expect(headers['content-type']).to.equal('text/csv; charset=utf-8');
    });
  });

  it('is described with the list', () => {
    const { paths } = site.crud.openapi() as { paths: Record<string, { get: DescribedList }> };
    const described = (path: string) => {
      const { parameters, responses } = (paths[path] as { get: DescribedList }).get;
      return { names: parameters.map(({ name }) => name), types: Object.keys(responses[200]?.content ?? {}) };
    };
    const { names, types } = described('/lines');
    expect(types).to.deep.equal(['application/json', 'text/csv', 'application/x-ndjson']);
    expect(names).to.include.members([
      'format',
      'after',
      'count',
      'checkpoints',
      'spreadsheet',
      'consistent',
    ]);
    expect(described('/letters').types).to.deep.equal(['application/json', 'text/csv']);
    expect(described('/letters').names).to.not.include.members(['checkpoints', 'consistent']);
    expect(described('/rooms').types).to.deep.equal(['application/json']);
  });

  it('streams from a repository', async () => {
    const lines = new Repository(Line);
    const ids: number[] = [];
    for await (const { id } of lines.stream({
      filter: filter`id>4`,
      sort: [{ attribute: 'label', descending: true }],
    }))
      ids.push(id);
    expect(new Set(ids).size).to.equal(ROWS - 4);
    expect(ids).to.have.length(ROWS - 4);
    for await (const line of lines.stream()) {
      expect(line.id).to.equal(1);
      break;
    }
  });

  describe('inside the access of a request', () => {
    for (const [tenant, query, expected] of [
      ['a', '', 'id,tenant\r\n1,a\r\n'],
      ['boss', '', 'id,tenant,secret\r\n3,boss,s3\r\n'],
    ] as const)
      it(`gives ${tenant} the rows and columns of the scope`, async () =>
        expect((await fetchText(`/parcels?format=csv${query}`, { 'x-tenant': tenant })).body).to.equal(
          expected,
        ));

    for (const query of ['fields=secret', 'q=secret==s1'])
      it(`does not know ${query} of what may not be read`, async () =>
        expect((await fetchText(`/parcels?format=csv&${query}`, { 'x-tenant': 'a' })).status).to.equal(400));

    it('is refused without a scope, and by can.export, which leaves the list', async () => {
      expect((await fetchText('/parcels?format=csv')).status).to.equal(403);
      const headers = { 'x-tenant': 'a', 'x-may': 'no' };
      expectProblem(await site.agent.get('/parcels?format=csv').set(headers), 403, {
        detail: 'This request may not export Parcel.',
      });
      expect((await fetchText('/parcels', headers)).status).to.equal(200);
    });

    it('is refused by can.list where there is no can.export', async () => {
      expect((await fetchText('/letters?format=csv', { 'x-may': 'no' })).status).to.equal(403);
      expect((await fetchText('/letters?format=csv')).body).to.equal('id,body\r\n1,Dear\r\n');
    });
  });
});

interface DescribedList {
  readonly parameters: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<number, { readonly content: object }>>;
}

/** With the mark of the byte order. */
function asText(response: unknown, done: (error: Error | null, text: string) => void): void {
  const chunks: Buffer[] = [];
  (response as IncomingMessage)
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => done(null, Buffer.concat(chunks).toString()));
}
