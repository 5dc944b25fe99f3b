/** Imports of files: each cell by the type of its column, each mistake with its row and line, and all rows or none. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { Interceptor, type InterceptorInterface } from 'routing-controllers';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY, SERVES_EXPORTS } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  import: { modes: ['create', 'update'], maxBytes: '2mb', maxRows: 500, atomicRows: 300 },
  ...(SERVES_EXPORTS ? { export: ['csv', 'ndjson'] as const } : {}),
})
@Table({ tableName: 'places', timestamps: false })
class Place extends NumberedRow {
  @Column({ type: DataType.STRING(5), unique: true }) declare code: string | null;
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @Column(DataType.INTEGER) declare size: number | null;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: true }) declare isOpen: boolean;
  @Column(DataType.TEXT) declare note: string | null;
  @Column(DataType.DECIMAL(8, 2)) declare area: string | null;
  @Column(DataType.BIGINT) declare ships: string | null;
  @Column(DataType.DATE) declare seenAt: Date | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare tags: string[] | null;
  @Column(DataType.JSONB) declare details: unknown;
}

const CSV = 'text/csv';
const LINES = 'application/x-ndjson';

except(OF_MANY).describe('importing a file', () => {
  const site = serveTestApp(() => ({ models: [Place] }));
  const send = (file: string | Buffer, query = '', type = CSV): Promise<Response> =>
    site.agent.post(`/places/import${query}`).set('Content-Type', type).send(file) as never;
  const stored = async (query = '?sort=id&size=100') => {
    const { body } = await site.agent.get(`/places${query}`);
    return body.items.map(({ id, ...others }: Record<string, unknown>) => others);
  };
  const result = (counts: object) => ({
    rows: 0,
    created: 0,
    updated: 0,
    failed: 0,
    errors: [],
    errors_shown: 0,
    ...counts,
  });

  beforeEach(() => emptyTables(site, 'places'));

  it('reads each cell by the type of its column', async () => {
    const file = [
      '\ufeffname,code,size,isOpen,note,area,ships,seenAt,tags,details',
      'Oslo,a,-7,false,"",12.50,9007199254740993,2026-01-31T08:00:00Z,"[""x"",""y""]","{""a"": [1]}"',
      '"São, ""Paulo""",b,,,,,,,,',
      '"two',
      'lines 🎉",c,0,true,"a',
      'b",0.10,1,,[],"""text"""',
    ].join('\r\n');
    expectJson(await send(file), 200, result({ rows: 3, created: 3 }));
    expect(await stored()).to.deep.equal([
      {
        code: 'a',
        name: 'Oslo',
        size: -7,
        isOpen: false,
        note: '',
        area: '12.50',
        ships: '9007199254740993',
        seenAt: '2026-01-31T08:00:00.000Z',
        tags: ['x', 'y'],
        details: { a: [1] },
      },
      {
        code: 'b',
        name: 'São, "Paulo"',
        size: null,
        isOpen: true,
        note: null,
        area: null,
        ships: null,
        seenAt: null,
        tags: null,
        details: null,
      },
      {
        code: 'c',
        name: 'two\r\nlines 🎉',
        size: 0,
        isOpen: true,
        note: 'a\r\nb',
        area: '0.10',
        ships: '1',
        seenAt: null,
        tags: [],
        details: 'text',
      },
    ]);
  });

  (SERVES_EXPORTS ? it : it.skip)('reads what an export has written', async () => {
    await Place.bulkCreate([
      { name: '=1, "2"', code: 'a', size: -1, isOpen: false, note: '', area: '1.50', tags: ['x,y', ''] },
      {
        name: ' \r\n🎉',
        note: null,
        ships: '-9007199254740993',
        seenAt: new Date(1),
        details: { a: [null] },
      },
      { name: 'NULL', note: 'null', details: ['x'], tags: [] },
    ]);
    const before = await stored();
    const names = 'code,name,size,isOpen,note,area,ships,seenAt,tags,details';
    for (const [format, type] of [
      ['csv', CSV],
      ['ndjson', LINES],
    ] as const) {
      const { body } = await site.agent
        .get(`/places?format=${format}&fields=${names}`)
        .buffer(true)
        .parse((response, done) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('end', () => done(null, Buffer.concat(pieces).toString()));
        });
      await emptyTables(site, 'places');
      expectJson(await send(body, '', type), 200, result({ rows: 3, created: 3 }));
      expect(await stored()).to.deep.equal(before);
    }
  });

  it('reads JSON lines as bodies of creates', async () => {
    const file = '{"name":"Oslo","tags":["x"]}\n\n{"name":"Rome","size":3}';
    expectJson(await send(file, '', LINES), 200, result({ rows: 2, created: 2 }));
    expect((await stored()).map(({ name, size, tags }: never) => [name, size, tags])).to.deep.equal([
      ['Oslo', null, ['x']],
      ['Rome', 3, null],
    ]);
  });

  for (const [title, query, file] of [
    ['semicolons', '?delimiter=;', 'name;code\nOslo;a\n'],
    ['tabs', '?delimiter=tab', 'name\tcode\nOslo\ta'],
    ['a compressed file', '', gzipSync('name,code\nOslo,a\n')],
  ] as const) {
    it(`reads ${title}`, async () => {
      const encoded = Buffer.isBuffer(file) ? { 'Content-Encoding': 'gzip' } : {};
      const answer = await site.agent
        .post(`/places/import${query}`)
        .set({ 'Content-Type': CSV, ...encoded })
        .serialize((body: unknown) => body as string)
        .send(file);
      expectJson(answer, 200, result({ rows: 1, created: 1 }));
      expect((await stored()).map((each: { name: string }) => each.name)).to.deep.equal(['Oslo']);
    });
  }

  it('takes an empty line for a row where it is a cell, and for none elsewhere', async () => {
    expectJson(await send('note,name\n\nx,Oslo\n\n'), 200, result({ rows: 1, created: 1 }));
    const { body } = await send('name\nRome\n\n');
    expect(body.errors).to.deep.equal([
      { row: 2, line: 3, pointer: '/name', code: 'isDefined', detail: 'name must not be null.' },
    ]);
  });

  const refusal = (rows: number, failed: number, errors: readonly object[]) => ({
    detail: `${failed} of ${rows} rows are refused, and nothing was stored.`,
    rows,
    failed,
    errors,
    errors_shown: errors.length,
  });

  it('tells all rows that the schema refuses, in a dry run as well, and stores none', async () => {
    await send('name,code\nOld,old\n');
    const file = [
      'name,code,size,isOpen,tags',
      'Oslo,old,1,true,[]',
      '"a',
      'b",toolong,1.5,maybe,[]',
      'x,b',
      'Rome,c,2,true,"[1"',
      ',d,1,true,',
    ].join('\n');
    const at = (row: number, line: number, name: string, code: string, detail: string) => ({
      row,
      line,
      pointer: name && `/${name}`,
      code,
      detail,
    });
    const expected = refusal(5, 4, [
      at(2, 3, 'code', 'maxLength', 'code must be at most 5 characters long.'),
      at(2, 3, 'size', 'isInt', 'size must be an integer.'),
      at(2, 3, 'isOpen', 'isBoolean', 'isOpen must be true or false.'),
      at(
        3,
        5,
        '',
        'columns',
        'The row has 2 cells, and the header has 5; quote a cell that has the delimiter in it.',
      ),
      at(4, 6, 'tags', 'json', 'tags must be JSON, with its quotes doubled inside of a quoted cell.'),
      at(5, 7, 'name', 'isDefined', 'name must not be null.'),
    ]);
    expectProblem(await send(file), 422, expected);
    expectProblem(await send(file, '?dry_run=true'), 422, expected);
    expect(await stored()).to.have.length(1);
  });

  it('tells all rows that the database refuses, in a dry run as well, and stores none', async () => {
    await send('name,code\nOld,x\n');
    const file = 'name,code\nA,a\nB,x\nC,c\nD,a\n';
    const taken = { pointer: '/code', code: 'unique', detail: 'Another Place has the same code.' };
    const expected = refusal(4, 2, [
      { row: 2, line: 3, ...taken },
      { row: 4, line: 5, ...taken },
    ]);
    expectProblem(await send(file), 422, expected);
    expectProblem(await send(file, '?dry_run=true'), 422, expected);
    expect(await stored()).to.have.length(1);
    expectJson(await send('name,code\nA,a\n', '?dry_run=true'), 200, result({ rows: 1, created: 1 }));
    expect(await stored()).to.have.length(1);
  });

  it('shows a hundred errors, and counts all', async () => {
    const { body } = await send(`name,size\n${'x,y\n'.repeat(150)}`);
    expect([body.rows, body.failed, body.errors_shown, body.errors.length]).to.deep.equal([
      150, 150, 100, 100,
    ]);
  });

  it('changes records by their keys', async () => {
    await send('name,code,size\nA,a,1\nB,b,2\n');
    const { items } = (await site.agent.get('/places?sort=id')).body;
    const [first, second] = items.map(({ id }: { id: number }) => id);
    const file = `size,id\n,${first}\n6,${second}\n`;
    expectJson(await send(file, '?mode=update'), 200, result({ rows: 2, updated: 2 }));
    const after = await stored();
    expect(after.map(({ name, size }: never) => [name, size])).to.deep.equal([
      ['A', null],
      ['B', 6],
    ]);
    const missing = {
      row: 2,
      line: 3,
      pointer: '',
      code: 'notFound',
      detail: 'There is no Place with this id.',
    };
    expectProblem(await send(`id,size\n${first},7\n0,6\n`, '?mode=update'), 422, refusal(2, 1, [missing]));
    const detail = `id is that of the line 2, too; a record may stand in a body once.`;
    const twice = { row: 2, line: 3, pointer: '/id', code: 'repeated', detail };
    expectProblem(await send(`id,size\n${first},7\n${first},8`, '?mode=update'), 422, refusal(2, 1, [twice]));
    expect(await stored()).to.deep.equal(after);
    const wrong = { row: 1, line: 2, pointer: '/size', code: 'isInt', detail: 'size must be an integer.' };
    expectProblem(await send(`id,size\n${first},x\n${first},8`, '?mode=update'), 422, refusal(2, 1, [wrong]));
  });

  it('refuses cells that are nested as deep as no body may be', async () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect((await send(`name,details\nA,"${deep(31)}"\n`)).status).to.equal(200);
    for (const levels of [32, 40_000])
      expectProblem(
        await send(`name,details\nA,"${deep(levels)}"\n`),
        422,
        refusal(1, 1, [
          {
            row: 1,
            line: 2,
            pointer: '/details',
            code: 'tooDeep',
            detail: 'The body is nested more than 32 levels deep.',
          },
        ]),
      );
  });

  const COLUMNS = 'code, name, size, isOpen, note, area, ships, seenAt, tags, details';
  const wrong = (status: number, pointer: string, code: string, detail: string) => [
    status,
    [{ pointer, code, detail }],
  ];
  const REFUSED: readonly (readonly [
    title: string,
    file: string | Buffer,
    query: string,
    type: string,
    expected: readonly unknown[],
  ])[] = [
    [
      'a header with mistakes, before any row',
      'nme,code,id,code\nx,y,1,2',
      '',
      CSV,
      [
        400,
        [
          {
            line: 1,
            pointer: '/nme',
            code: 'unknownProperty',
            detail: `There is no such property. Did you mean 'name'? The properties are ${COLUMNS}.`,
          },
          { line: 1, pointer: '/id', code: 'readOnly', detail: 'id cannot be set. Leave the column out.' },
          {
            line: 1,
            pointer: '/code',
            code: 'repeated',
            detail: "The header has the column 'code' twice; keep one.",
          },
          {
            line: 1,
            pointer: '/name',
            code: 'isDefined',
            detail: 'The header has no column name, which is required.',
          },
        ],
      ],
    ],
    ...(
      [
        ['semicolons', 'code;name\r\na;b', '', ';'],
        ['tabs', 'code\tname', '', 'tab'],
        ['commas', 'code,name', '?delimiter=;', ','],
      ] as const
    ).map(([what, file, query, right]): (typeof REFUSED)[number] => [
      `a file of ${what} that is read as one column`,
      file,
      query,
      CSV,
      [
        400,
        [
          {
            line: 1,
            pointer: `/${file.split('\r')[0]}`,
            code: 'unknownProperty',
            detail: `The header has one column, and its name has another delimiter in it; send delimiter=${right}.`,
          },
        ],
      ],
    ]),
    [
      'a change without its key',
      'name\nx',
      '?mode=update',
      CSV,
      [
        400,
        [
          {
            line: 1,
            pointer: '/id',
            code: 'isDefined',
            detail: 'The header has no column id, which is required.',
          },
        ],
      ],
    ],
    [
      'no file',
      '',
      '',
      CSV,
      wrong(400, '', 'missing', 'The request has no body; send a file, such as one of CSV.'),
    ],
    [
      'a file without a header',
      '\ufeff',
      '',
      CSV,
      wrong(400, '', 'empty', 'The body has no header; begin it with the names of the columns.'),
    ],
    [
      'another type',
      'name\nx',
      '',
      'application/json',
      wrong(415, '', 'mediaType', 'The Content-Type must be text/csv or application/x-ndjson.'),
    ],
    [
      'what is no CSV',
      'name\nx\n"y',
      '',
      CSV,
      wrong(
        400,
        '',
        'malformed',
        'The body is not valid CSV: in the row that begins at line 3, a quote is not closed. Double a quote inside of a quoted cell.',
      ),
    ],
    [
      'what is no UTF-8',
      Buffer.concat([Buffer.from(`name\n${'é'.repeat(40_000)}\n`), Buffer.from([0x61, 0xe9, 0x62])]),
      '',
      CSV,
      wrong(
        400,
        '',
        'encoding',
        'The body is not valid UTF-8 at the byte 80007, counted from 0; save the file as UTF-8, and send it again.',
      ),
    ],
    [
      'a row beyond the limit of a record',
      `name\n${'a'.repeat(110_000)}`,
      '',
      CSV,
      wrong(
        413,
        '',
        'tooLarge',
        'The row that begins at line 2 is larger than 102400 bytes, which is the most that one record may have.',
      ),
    ],
    [
      'a line beyond the limit of a record',
      `{"name":"x"}\n{"name":"${'a'.repeat(110_000)}"}\n`,
      '',
      LINES,
      wrong(
        413,
        '',
        'tooLarge',
        'The row that begins at line 2 is larger than 102400 bytes, which is the most that one record may have.',
      ),
    ],
    [
      'a file beyond its limit',
      `name\n${'a\n'.repeat(1_100_000)}`,
      '',
      CSV,
      wrong(413, '', 'tooLarge', 'The body is larger than 2097152 bytes.'),
    ],
    [
      'a compressed file beyond its limit',
      gzipSync(`name\n${`${'a'.repeat(50_000)}\n`.repeat(50)}`),
      '?dry_run=true&atomic=false',
      CSV,
      wrong(413, '', 'tooLarge', 'The body is larger than 2097152 bytes.'),
    ],
    [
      'more rows than are stored together',
      `code,name\n${',\n'.repeat(301)}`,
      '',
      CSV,
      wrong(
        400,
        '',
        'atomicRows',
        'The body has more than 300 rows, and nothing was stored; send it with atomic=false and an Idempotency-Key, or split the file.',
      ),
    ],
    [
      'more rows than a file may have',
      `code,name\n${',\n'.repeat(501)}`,
      '?atomic=false&dry_run=true',
      CSV,
      wrong(413, '', 'tooMany', 'The body has more than 500 rows; split the file.'),
    ],
  ];
  for (const [title, file, query, type, [status, errors]] of REFUSED) {
    it(`refuses ${title}`, async () => {
      const isCompressed = Buffer.isBuffer(file) && file[0] === 0x1f;
      const answer = await site.agent
        .post(`/places/import${query}`)
        .set({ 'Content-Type': type, ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}) })
        .serialize((body: unknown) => body as string)
        .send(file as string);
      expect(answer.body.errors).to.deep.equal(errors);
      expect(answer.status).to.equal(status);
      expect(await stored()).to.deep.equal([]);
      // The connection goes on.
      expectJson(await send('name\nOslo\n'), 200, result({ rows: 1, created: 1 }));
    });
  }

  it('refuses parameters, and tags', async () => {
    const { status, body } = await send('name\nx', '?mode=upset&delimiter=x&atomic=1&foo=1');
    expect(status).to.equal(400);
    expect(body.errors.map(({ parameter, code }: Record<string, string>) => [parameter, code])).to.deep.equal(
      [
        ['foo', 'unknown'],
        ['mode', 'mode.unknown'],
        ['atomic', 'boolean'],
        ['delimiter', 'delimiter.unknown'],
      ],
    );
    const tagged = await site.agent
      .post('/places/import')
      .set({ 'Content-Type': CSV, 'If-Match': '"1"' })
      .send('name\nx');
    expectProblem(tagged, 412, {
      detail:
        'If-Match names states of one Place, and nothing was done; give each row its version, or leave it out.',
    });
  });

  it('tells lines that are no records', async () => {
    const { status, body } = await send('{"name":"x"}\n{bad\n\n[]\n{"id":1,"name":"y"}', '', LINES);
    expect(status).to.equal(422);
    expect(
      body.errors.map(({ row, line, code }: Record<string, unknown>) => [row, line, code]),
    ).to.deep.equal([
      [2, 2, 'malformed'],
      [3, 4, 'isObject'],
      [4, 5, 'readOnly'],
    ]);
  });
});

@Crud({ idType: 'integer', import: { modes: ['create', 'update'] } })
@Table({ tableName: 'tickets', timestamps: false })
class Ticket extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column(DataType.TEXT) declare note: string | null;
}

@Crud({ idType: 'bigint', import: { modes: ['create', 'update'] } })
@Table({ tableName: 'seats', timestamps: false })
class Seat extends NumberedRow {
  @Column(DataType.TEXT) declare note: string | null;
}

except(OF_MANY).describe(
  'importing changes of records whose ids are of another type than their columns',
  () => {
    const site = serveTestApp(() => ({ models: [Ticket, Seat] }));

    for (const name of ['tickets', 'seats'])
      it(`finds the ${name}`, async () => {
        const send = (file: string, query = '') =>
          site.agent.post(`/${name}/import${query}`).set('Content-Type', CSV).send(file);
        expect((await send('note\na\nb\n')).status).to.equal(200);
        const changed = await send('id,note\n1,c\n', '?mode=update');
        expect([changed.status, changed.body.updated]).to.deep.equal([200, 1]);
        const { body } = await site.agent.get(`/${name}?sort=id&fields=note`);
        expect(body.items.map(({ note }: { note: string }) => note)).to.deep.equal(['c', 'b']);
      });
  },
);

@Interceptor()
class Wrapping implements InterceptorInterface {
  intercept(_action: unknown, content: unknown): object {
    return { data: content };
  }
}

@Crud({ import: { modes: ['create'] } })
@Table({ tableName: 'spots', timestamps: false })
class Spot extends NumberedRow {
  @Column(DataType.TEXT) declare code: string | null;
}

except(OF_MANY).describe('importing a file with progress, where an interceptor changes results', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Spot],
    bootstrap: { logger, routing: { interceptors: [Wrapping] } },
  }));

  it('ends with the result, and logs no failure', async () => {
    const answer = await fetch(`${site.server.url}/spots/import`, {
      method: 'POST',
      headers: { 'Content-Type': CSV, Accept: LINES },
      body: 'code\na\nb\n',
    });
    const lines = (await answer.text()).trim().split('\n');
    expect(answer.status).to.equal(200);
    expect(JSON.parse(lines.at(-1) ?? '')).to.include({ complete: true, created: 2 });
    expect(logger.text).to.not.include('TypeError');
  });
});
