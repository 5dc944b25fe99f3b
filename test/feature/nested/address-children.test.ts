/** Children of all kinds of keys and tenants: each request changes the rows that it names, or none. */
import { expect } from 'chai';
import type { Request } from 'express';
import {
  AutoIncrement,
  Column,
  DataType,
  Default,
  ForeignKey,
  HasMany,
  HasOne,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, type CrudOptions, EVERYTHING, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { describeNested } from '../../support/nested-orders.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const { BIGINT, BOOLEAN, CHAR, INTEGER, TEXT, UUID } = DataType;
const WRITES = ['list', 'read', 'create', 'update', 'delete', 'replace', 'createMany', 'updateMany'] as const;
const parent = (nested: object, more: object = {}) =>
  Crud({ endpoints: WRITES, nested, ...more } as CrudOptions);

@parent({ buds: { replace: true } }, { idType: (raw: string) => raw })
@Table({ tableName: 'trees', timestamps: false })
class Tree extends Model {
  @PrimaryKey @AutoIncrement @Column(BIGINT) declare id: string;
  @HasMany(() => Bud) declare buds: Bud[];
}

@Crud()
@Table({ tableName: 'buds', timestamps: false })
class Bud extends Model {
  @PrimaryKey @AutoIncrement @Column({ type: BIGINT, field: 'bud_id' }) declare id: string;
  @ForeignKey(() => Tree) @Column({ type: BIGINT, allowNull: false, field: 'tree' }) declare treeId: string;
  @Column({ type: TEXT, field: 'bud_name' }) declare name: string | null;
}

@parent({ rows: true, face: true })
@Table({ tableName: 'walls', timestamps: false, version: true })
class Wall extends Model {
  @PrimaryKey @Column(CHAR(4)) declare id: string;
  @Column(BOOLEAN) declare touched: boolean | null;
  @HasMany(() => Row) declare rows: Row[];
  @HasOne(() => Face) declare face: Model | null;
}

@Crud()
@Table({ tableName: 'wall_rows', timestamps: false })
class Row extends Model {
  @PrimaryKey @ForeignKey(() => Wall) @Column(CHAR(4)) declare wallId: string;
  @PrimaryKey @Column(INTEGER) declare no: number;
  @Column(TEXT) declare name: string | null;
}

@Crud()
@Table({ tableName: 'faces', timestamps: false })
class Face extends Model {
  @PrimaryKey @ForeignKey(() => Wall) @Column(CHAR(4)) declare wallId: string;
  @Column(TEXT) declare name: string | null;
}

const shown = (request: Request) => {
  const text = request.get('shown');
  return text === 'all' ? EVERYTHING : text !== 'false';
};

@parent({ pages: { replace: true } }, { scope: { shown }, can: { update: () => filter`open==true` } })
@Table({ tableName: 'books', timestamps: false })
class Book extends Model {
  @PrimaryKey @Default(DataType.UUIDV4) @Column(UUID) declare id: string;
  @Column({ type: BOOLEAN, allowNull: false }) declare shown: boolean;
  @Column({ type: BOOLEAN, allowNull: false, defaultValue: true }) declare open: boolean;
  @HasMany(() => Page) declare pages: Page[];
}

const unlocked = () => filter`locked==false`;

@Crud({
  scope: { shown },
  visible: () => filter`secret==false`,
  can: { update: unlocked, delete: unlocked },
  set: { author: (request: Request) => request.get('user') ?? 'nobody' },
} as CrudOptions)
@Table({ tableName: 'pages', timestamps: false })
class Page extends NumberedRow {
  @ForeignKey(() => Book) @Column({ type: UUID, allowNull: false }) declare bookId: string;
  @Column({ type: BOOLEAN, allowNull: false }) declare shown: boolean;
  @Column({ type: BOOLEAN, allowNull: false, defaultValue: false }) declare locked: boolean;
  @Column({ type: BOOLEAN, allowNull: false, defaultValue: false }) declare secret: boolean;
  @Column(TEXT) declare author: string | null;
}

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001';
const TWO = 'aaaaaaaa-0000-4000-8000-000000000002';
const LOW = '9007199254740992';
const HIGH = '9007199254740993';

/** A request of a path, and the status with the pointers of its errors, or with the rows that it leaves otherwise than before. */
type Cell = readonly [
  name: string,
  request: string,
  body: unknown,
  status: number,
  expected: readonly string[],
  headers?: Readonly<Record<string, string>>,
];

const CELLS: readonly Cell[] = [
  // A number of JSON beyond 2^53 is another one by the time that it is parsed.
  [
    'a rounded id of one to delete',
    'PATCH /trees/1',
    `{"buds":{"delete":[${HIGH}]}}`,
    422,
    ['/buds/delete/0'],
  ],
  [
    'a rounded id of one to change',
    'PATCH /trees/1',
    `{"buds":{"update":[{"id":${HIGH}}]}}`,
    422,
    ['/buds/update/0/id'],
  ],
  ['a rounded id of a parent', 'PATCH /trees', `[{"id":${HIGH},"buds":{}}]`, 422, ['/0/id']],
  [
    'ids as texts',
    'PATCH /trees/1',
    { buds: { update: [{ id: HIGH, name: 'x' }], delete: [LOW] } },
    200,
    [`- bud ${LOW} 1`, `- bud ${HIGH} 1`, `+ bud ${HIGH} 1 x`],
  ],
  [
    'ids as numbers',
    'PATCH /trees/2',
    { buds: { update: [{ id: 5, name: 'x' }], delete: [6] } },
    200,
    ['- bud 5 2', '- bud 6 2', '+ bud 5 2 x'],
  ],
  [
    'the bare id of a child of another',
    'PATCH /trees/1',
    { buds: { update: [{ id: 5 }] } },
    404,
    ['/buds/update/0'],
  ],
  [
    'a whole set',
    'PUT /trees/1',
    { buds: [{ id: HIGH }, { name: 'new' }] },
    200,
    [`- bud ${LOW} 1`, '+ bud 7 1 new'],
  ],
  [
    'parts of ids',
    'PATCH /walls/a',
    { rows: { update: [{ no: 1, name: 'x' }], delete: [{ no: 2 }], create: [{ no: 3 }] } },
    200,
    ['- row a 1', '- row a 2', '+ row a 1 x', '+ row a 3'],
  ],
  ['the part of an id', 'PATCH /walls/a', { rows: { delete: [2, '1'] } }, 200, ['- row a 1', '- row a 2']],
  ['the id of a path', 'PATCH /walls/a', { rows: { delete: ['b,1'] } }, 422, ['/rows/delete/0']],
  [
    'another parent in an id',
    'PATCH /walls/a',
    { rows: { update: [{ wallId: 'b', no: 1 }], delete: [{ wallId: 'b', no: 2 }] } },
    422,
    ['/rows/update/0/wallId', '/rows/delete/0/wallId'],
  ],
  [
    'one key twice',
    'PATCH /walls/a',
    { rows: { create: [{ no: 4 }, { no: 4 }] } },
    409,
    ['/rows/create/1/wallId', '/rows/create/1/no'],
  ],
  [
    'parents with a column that has the name of one of the statement',
    'PATCH /walls',
    [
      { id: 'a', touched: true, rows: { create: [{ no: 3 }] } },
      { id: 'b', rows: { create: [{ no: 2 }] } },
    ],
    200,
    ['+ row a 3', '+ row b 2'],
  ],
  [
    'a record that is exchanged',
    'PATCH /walls/b',
    { face: { delete: {}, create: { name: 'new' } } },
    200,
    ['- face b', '+ face b new'],
  ],
  [
    'a record that is not there',
    'PATCH /walls/a',
    { face: { update: { name: 'x' } } },
    404,
    ['/face/update'],
  ],
  ['the record of another', 'PATCH /walls/a', { face: { delete: 'b' } }, 422, ['/face/delete']],
  [
    'several parents of padded keys',
    'PATCH /walls',
    [
      { id: 'a', rows: { update: [{ no: 1, name: 'x' }] } },
      { id: 'b', face: { delete: {} }, rows: { create: [{ no: 2 }] } },
    ],
    200,
    ['- row a 1', '- face b', '+ row a 1 x', '+ row b 2'],
  ],
  [
    'ids in capitals, and values of the server',
    `PATCH /books/${ONE.toUpperCase()}`,
    { pages: { create: [{}], delete: [1] } },
    200,
    ['- page 1 t', '+ page 6 t me'],
    { user: 'me' },
  ],
  [
    'a parent that is created',
    'POST /books',
    { pages: [{}, {}] },
    201,
    ['+ page 6 t nobody', '+ page 7 t nobody'],
  ],
  [
    'one who sees all, and writes the scope of the parent',
    `PATCH /books/${ONE}`,
    { pages: { create: [{ shown: true }] } },
    200,
    ['+ page 6 t nobody'],
    { shown: 'all' },
  ],
  [
    'one who sees all, and writes another scope',
    `PATCH /books/${ONE}`,
    { pages: { create: [{ shown: false }] } },
    422,
    ['/pages/create/0'],
    { shown: 'all' },
  ],
  [
    'one who sees all, and moves a child',
    `PATCH /books/${ONE}`,
    { pages: { update: [{ id: 1, shown: false }] } },
    422,
    ['/pages/update/0/shown'],
    { shown: 'all' },
  ],
  ['a child of another scope', `PATCH /books/${ONE}`, { pages: { delete: [4] } }, 404, ['/pages/delete/0']],
  [
    'a child that is hidden',
    `PATCH /books/${ONE}`,
    { pages: { update: [{ id: 3 }] } },
    404,
    ['/pages/update/0'],
  ],
  [
    'a child that may not be changed',
    `PATCH /books/${ONE}`,
    { pages: { update: [{ id: 2 }] } },
    403,
    ['/pages/update/0'],
  ],
  [
    'a child that may not be deleted',
    `PATCH /books/${ONE}`,
    { pages: { delete: [1, 2] } },
    403,
    ['/pages/delete/1'],
  ],
  ['a set without a child that may not be deleted', `PUT /books/${ONE}`, { pages: [] }, 403, []],
  ['a parent that may not be changed', `PATCH /books/${TWO}`, { pages: { create: [{}] } }, 403, []],
  [
    'values of the server in a body',
    `PATCH /books/${ONE}`,
    { pages: { create: [{ author: 'me' }] } },
    422,
    ['/pages/create/0/author'],
  ],
];

describeNested('children that a request names', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Tree, Bud, Wall, Row, Face, Book, Page],
    engine: { logging: sql.record },
    bootstrap: { indexAdvice: false },
  }));
  const query = async <T extends object>(text: string): Promise<readonly T[]> => {
    const [rows] = await site.engine.sequelize.query(text);
    return rows as T[];
  };
  const rowsNow = async () => {
    const rows = await query<{ text: string }>(`
      SELECT concat_ws(' ', 'bud', bud_id, tree, bud_name) AS text FROM buds
      UNION ALL SELECT concat_ws(' ', 'row', trim("wallId"), no, name) FROM wall_rows
      UNION ALL SELECT concat_ws(' ', 'face', trim("wallId"), name) FROM faces
      UNION ALL SELECT concat_ws(' ', 'page', id, shown, author) FROM pages`);
    return new Set(rows.map(({ text }) => text));
  };

  beforeEach(async () => {
    await emptyTables(site, 'pages', 'books', 'faces', 'wall_rows', 'walls', 'buds', 'trees');
    await query('INSERT INTO trees SELECT FROM generate_series(1, 2)');
    await query(`INSERT INTO buds (bud_id, tree) VALUES (${LOW}, 1), (${HIGH}, 1), (5, 2), (6, 2)`);
    await query(`SELECT setval('buds_bud_id_seq', 6)`);
    await query(`INSERT INTO walls (id, version) VALUES ('a', 0), ('b', 0)`);
    await query(`INSERT INTO wall_rows ("wallId", no) VALUES ('a', 1), ('a', 2), ('b', 1)`);
    await query(`INSERT INTO faces ("wallId") VALUES ('b')`);
    await query(`INSERT INTO books (id, shown, open) VALUES ('${ONE}', true, true), ('${TWO}', true, false)`);
    await query(`INSERT INTO pages ("bookId", shown, locked, secret) VALUES ('${ONE}', true, false, false),
      ('${ONE}', true, true, false), ('${ONE}', true, false, true), ('${ONE}', false, false, false), ('${TWO}', true, false, false)`);
  });

  except({ general: 'Sequelize writes row by row' }).it('have one text for any number of them', async () => {
    await query(`INSERT INTO wall_rows ("wallId", no) SELECT 'a', n FROM generate_series(3, 9) AS n`);
    const texts = new Set<string | undefined>();
    for (const rows of [{ delete: [3] }, { delete: [4, 5] }, { delete: [6, 7, 8] }]) {
      const { statements, result } = await sql.during(() => site.agent.patch('/walls/a').send({ rows }));
      expect(result.status).to.equal(200);
      texts.add(statements.find((each) => each.includes('DELETE')));
    }
    expect([...texts]).to.have.lengthOf(1);
  });

  for (const [name, request, body, status, expected, headers = {}] of CELLS) {
    it(`are right for ${name}`, async () => {
      const [method = '', path = ''] = request.split(' ');
      const before = await rowsNow();
      const answer = await site.agent[method.toLowerCase() as 'patch'](path)
        .set({ 'Content-Type': 'application/json', ...headers })
        .send(typeof body === 'string' ? body : JSON.stringify(body));
      expect(answer.status, answer.text).to.equal(status);
      const after = await rowsNow();
      const changes = [
        ...[...before].filter((each) => !after.has(each)).map((each) => `- ${each}`),
        ...[...after].filter((each) => !before.has(each)).map((each) => `+ ${each}`),
      ];
      const pointers = (answer.body.errors ?? []).map((each: { pointer: string }) => each.pointer);
      expect(status < 400 ? changes : [...changes, ...pointers]).to.have.members([...expected]);
    });
  }
});
