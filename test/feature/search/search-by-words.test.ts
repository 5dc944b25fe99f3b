/** `search` by words: each is in one of the attributes, whatever signs it has, and no answer reveals rows that a request may not see. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { Get } from 'routing-controllers';
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { OPERATIONS } from '../../../src/declare/endpoint.js';
import {
  Crud,
  crudController,
  filter,
  InjectListQuery,
  type ListQuery,
  Repository,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import {
  except,
  SERVES_AGGREGATES,
  SERVES_EXPORTS,
  SERVES_MANY,
  UNGUARDED,
} from '../../support/combination.js';
import { dice } from '../../support/dice.js';
import { forSuite } from '../../support/for-suite.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { TwoPaths } from '../../support/two-paths.js';

const isEditor = (request: Request) => request.get('role') === 'editor';

@Crud<Page>({
  search: ['title', 'author', 'note'],
  filterAllow: ['shelfId', 'title'],
  sortAllow: ['id', 'title'],
  pagination: 'cursor',
  ...(SERVES_AGGREGATES ? { aggregate: { group: ['shelfId'] } } : {}),
  ...(SERVES_EXPORTS ? { export: ['ndjson'] } : {}),
  visible: (request) => filter`owner==${request.get('owner') ?? 'A'}`,
  fields: { note: { read: isEditor } },
})
@Table({ tableName: 'pages', timestamps: false, paranoid: false })
class Page extends NumberedRow {
  @Column(DataType.TEXT) declare title: string | null;
  @Column(DataType.STRING(80)) declare author: string | null;
  @Column(DataType.TEXT) declare note: string | null;
  @Column(DataType.TEXT) declare owner: string;
  @ForeignKey(() => Shelf) @Column(DataType.INTEGER) declare shelfId: number | null;
}

@Crud<Shelf>({
  search: ['name', 'code', 'label'],
  count: { cap: 3 },
  filterAllow: ['name'],
  endpoints: [...OPERATIONS, ...(SERVES_MANY ? (['updateMany', 'deleteMany'] as const) : [])],
  include: { pages: { size: { max: 20 }, ...UNGUARDED } },
  subresources: { pages: UNGUARDED },
})
@Table({ tableName: 'shelves', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
class Shelf extends NumberedRow {
  @Column(DataType.CITEXT) declare name: string;
  @Column(DataType.CHAR(8)) declare code: string | null;
  @Column(DataType.STRING) declare label: string | null;
  @HasMany(() => Page) declare pages?: Page[];
}

/** Only editors may read its text. */
@Crud<Secret>({ search: ['text'], fields: { text: { read: isEditor } } })
@Table({ tableName: 'secrets', timestamps: false })
class Secret extends NumberedRow {
  @Column(DataType.TEXT) declare text: string;
}

class Pages extends crudController(Page) {
  @Get('/of/all')
  all(@InjectListQuery() { filter: found }: ListQuery) {
    return new Repository(Page).unscoped().cursorPage({ filter: found, size: 9, count: 'exact' });
  }
}

const MODELS = [Page, Shelf, Secret];

describe('a search by words', () => {
  const paths = forSuite(async () => {
    const database = await freshDatabase();
    await execute(database.url, 'CREATE EXTENSION citext; CREATE EXTENSION pg_trgm');
    const bootstrap = { logger: new CapturedLog(), indexAdvice: false, controllers: [Pages] };
    return TwoPaths.start({ models: MODELS, database, bootstrap });
  });

  before(async () => {
    await Shelf.bulkCreate([
      { id: 1, name: 'Poetry of the North', code: 'NORTH', label: 'first' },
      { id: 2, name: 'POEMS', code: 'S', label: null },
      { id: 3, name: 'poetic prose', code: 'pos', label: 'x' },
      { id: 4, name: 'epic poetry', code: null, label: 'fourth' },
      { id: 5, name: 'gone poetry', code: null, label: null, deletedAt: new Date() },
    ]);
    await Page.bulkCreate([
      { id: 1, title: '100% wool_knit \\ "quoted" \'it\'', author: 'Ann Lee', owner: 'A', shelfId: 1 },
      { id: 2, title: '100 wools, knitted', author: 'LEE Marvin', owner: 'A', shelfId: 1 },
      { id: 3, title: 'Žluťoučký kůň 🎉 party', author: null, owner: 'A', shelfId: 1, note: 'classified' },
      { id: 4, title: 'מגדל בבל tower', author: '東京都', owner: 'A', shelfId: 2, note: '$1 :name ? wool' },
      { id: 5, title: 'hidden wool', author: 'classified', owner: 'B', shelfId: 1 },
      { id: 6, title: null, author: "O'Neil", owner: 'A', shelfId: null },
    ]);
    await Secret.bulkCreate([{ text: 'top secret' }]);
  });

  const answer = async (path: string, headers: Record<string, string> = {}) => {
    const { status, body } = await paths.same({ path, headers });
    return { status, body: JSON.parse(body) };
  };
  const found = async (path: string, headers: Record<string, string> = {}) => {
    const { status, body } = await answer(path, headers);
    return status === 200 ? body.items.map(({ id }: Page) => id) : body.errors.map(codeOf);
  };
  const codeOf = ({ code }: { code: string }) => code;
  const at = (text: string, path = '/pages') => `${path}?search=${encodeURIComponent(text)}`;

  const TEXTS: readonly (readonly [text: string, found: readonly (number | string)[]])[] = [
    ['100%', [1]],
    ['wool_', [1]],
    ['wool \\', [1]],
    ['"quoted"', [1]],
    ["'it' wool", [1]],
    ["o'neil", [6]],
    ['WOOL', [1, 2]],
    ['lee wool', [1, 2]],
    ['  lee\t wool\n100 ', [1, 2]],
    ['lee wool marvin knitted 100', [2]],
    ['lee tower', []],
    ['kůň', [3]],
    ['ŽLUŤ 🎉', [3]],
    ['בבל', [4]],
    ['東京', [4]],
    ['ee mar', [2]],
    ["' or 1=1 --", ['search.short']],
    ["abc' or 1=1 --", []],
    ['$1 wool', []],
    [':name wool', []],
    ['wool wool', [1, 2]],
    ['京', ['search.short']],
    ['it', ['search.short']],
    ['a b c', ['search.short']],
    ['a-b-c', ['search.short']],
    ['', ['search.empty']],
    ['   ', ['search.empty']],
    ['% _ -- "', ['search.empty']],
    ['🎉', ['search.empty']],
    ['wool\0', ['search.empty']],
    ['wo\u0007ol', ['search.empty']],
    ['one two three four five six', ['search.too-many']],
    ['x'.repeat(64), []],
    ['x'.repeat(65), ['search.too-long']],
    ['🎉'.repeat(63).concat('wool'), ['search.too-long']],
    ['🎉'.repeat(60).concat('wool'), []],
    [`${'ab cd '.repeat(2)}${' '.repeat(187)}wool`, ['search.too-long']],
    [`${' '.repeat(196)}wool`, [1, 2]],
    [`${' '.repeat(197)}wool`, ['search.too-long']],
  ];
  for (const [text, expected] of TEXTS) {
    const shown = text.length > 30 ? `${text.slice(0, 30)}… (${text.length})` : text;
    it(`finds ${JSON.stringify(expected)} by ${JSON.stringify(shown)}`, async () => {
      expect(await found(at(text))).to.deep.equal(expected);
    });
  }

  it('names the parameter and what would do', async () => {
    const { status, body } = await answer(at('it'));
    const detail =
      "Parameter 'search' needs a word with three letters or digits in a row, and 'it' has none.";
    expect({ status, body }).to.deep.equal({
      status: 400,
      body: { detail, errors: [{ parameter: 'search', code: 'search.short', detail }] },
    });
  });

  it('may be given once, and only where it is declared, in lists', async () => {
    expect(await found('/pages?search=wool&search=knit')).to.deep.equal(['repeated']);
    for (const path of ['/pages/1?search=wool', '/shelves/1?search=wool'])
      expect(await found(path), path).to.deep.equal(['unknown']);
    if (!SERVES_MANY) return;
    for (const [method, sent] of [
      ['PATCH', { body: { label: 'x' } }],
      ['DELETE', {}],
    ] as const)
      for (const path of ['/shelves?search=poetry', '/shelves?q=name==POEMS&search=poetry']) {
        const { status, body } = await paths.same({ method, path, ...sent });
        expect([status, JSON.parse(body).errors.map(codeOf)]).to.deep.equal([400, ['unknown']]);
      }
  });

  it('holds beside q, in any order, and in each type of text', async () => {
    expect(await found('/pages?sort=-id&search=wool&q=shelfId==1')).to.deep.equal([2, 1]);
    expect(await found('/pages?q=title==nothing&search=wool')).to.deep.equal([]);
    expect(await found('/pages?q=wrong&search=it')).to.deep.equal(['q.syntax', 'search.short']);
    expect(await found(at('poe', '/shelves'))).to.deep.equal([1, 2, 3, 4]);
    expect(await found(at('north NORTH', '/shelves'))).to.deep.equal([1]);
    expect(await found(at('pos', '/shelves'))).to.deep.equal([3]);
    // The blanks that pad it are no part of a text.
    expect(await found(at('first north', '/shelves'))).to.deep.equal([1]);
  });

  it('counts up to the cap, unless it is told otherwise', async () => {
    const totals = async (path: string) => {
      const { total, total_is } = (await answer(path)).body;
      return [total, total_is];
    };
    expect(await totals(`${at('poe', '/shelves')}&size=1`)).to.deep.equal([3, 'at_least']);
    expect(await totals(`${at('poe', '/shelves')}&size=1&count=exact`)).to.deep.equal([4, 'exact']);
    expect(await totals('/shelves?size=1')).to.deep.equal([3, 'at_least']);
  });

  it('gives each row once over all pages, whose cursors are of this search', async () => {
    const walked: number[] = [];
    let next: string | null = null;
    let first = '';
    do {
      const { body } = await answer(`/pages?size=1&search=lee${next ? `&after=${next}` : ''}`);
      walked.push(...body.items.map(({ id }: Page) => id));
      next = body.next_cursor;
      first ||= String(next);
    } while (next);
    expect(walked).to.deep.equal([1, 2]);
    for (const other of ['', '&search=ann', '&search=wool&q=shelfId==1', '&q=title==lee'])
      expect(await found(`/pages?size=1&after=${first}${other}`), other).to.deep.equal(['cursor.mismatch']);
    // The same words make the same list.
    expect(await found(`/pages?size=1&after=${first}&search=+lee+lee`)).to.deep.equal([2]);
    const { body } = await answer('/pages?size=1');
    expect(await found(`/pages?search=lee&after=${body.next_cursor}`)).to.deep.equal(['cursor.mismatch']);
  });

  it('chooses the rows of sub-resources and of included relations', async () => {
    expect(await found('/shelves/1/pages?search=wool')).to.deep.equal([1, 2]);
    expect(await found('/shelves/1/pages?search=classified')).to.deep.equal([]);
    expect(await found('/shelves/1/pages?search=it')).to.deep.equal(['search.short']);
    const { body } = await answer(
      '/shelves?search=poetry&include=pages&pages.search=wool&pages.fields=id&fields=id&pages.q=title!=x',
    );
    expect(body.items).to.deep.equal([
      { id: 1, pages: { items: [{ id: 1 }, { id: 2 }], has_next: false } },
      { id: 4, pages: { items: [], has_next: false } },
    ]);
    const wrong = await answer('/shelves?include=pages&pages.search=it');
    expect(wrong.body.errors).to.deep.equal([
      {
        parameter: 'pages.search',
        code: 'search.short',
        detail:
          "Parameter 'pages.search' needs a word with three letters or digits in a row, and 'it' has none.",
      },
    ]);
    expect(await found('/shelves?pages.search=wool')).to.deep.equal(['include.missing']);
  });

  const REASON = 'it has a method list, with which no application has aggregates';
  except({ session: REASON, records: REASON }).it('chooses the rows of groups and of exports', async () => {
    const { body } = await answer('/pages/aggregate?group=shelfId&search=wool');
    expect(body.items).to.deep.equal([{ group: { shelfId: 1 }, count: 2 }]);
    expect((await answer('/pages/aggregate?search=classified')).body.items).to.deep.equal([
      { group: {}, count: 0 },
    ]);
    expect(await found('/pages/aggregate?search=it')).to.deep.equal(['search.short']);
    expect(await found('/secrets?search=secret')).to.deep.equal(['unknown']);
    if (!SERVES_EXPORTS) return;
    const exported = await paths.same({ path: '/pages?format=ndjson&search=wool&fields=id' });
    expect(exported.body).to.equal('{"id":1}\n{"id":2}\n');
    expect(await found('/pages?format=ndjson&search=it')).to.deep.equal(['search.short']);
  });

  it('is about what a request may read: others have no such parameter, in the words of any unknown one', async () => {
    expect(await found('/pages?search=classified')).to.deep.equal([]);
    expect(await found('/pages?search=classified', { role: 'editor' })).to.deep.equal([3]);
    expect(await found('/secrets?search=secret', { role: 'editor' })).to.deep.equal([1]);
    const { status, body } = await answer('/secrets?search=secret');
    const detail = "This route has no parameter 'search'. It accepts page, size, sort, q, fields.";
    expect({ status, body }).to.deep.equal({
      status: 400,
      body: { detail, errors: [{ parameter: 'search', code: 'unknown', detail }] },
    });
  });

  it('has its condition in the query that code is given', async () => {
    expect(await found('/pages/of/all?search=wool')).to.deep.equal([1, 2, 5]);
  });

  it('[oracle] tells nothing of values and rows that a request may not see', async () => {
    const random = dice(46);
    const hidden = ['classified', '$1', 'hidden', 'B', 'NORTH'];
    const plain = ['wool', 'lee', 'knit', 'zzz', 'of', '100%', '東京'];
    await paths.site.engine.sequelize.query(
      `INSERT INTO pages (id, title, author, note, owner, "shelfId") SELECT n, 'wool ' || n, 'x', 'public', 'A', 1 FROM generate_series(10, 30) n`,
    );
    const requests = Array.from({ length: 60 }, () => {
      const words = Array.from({ length: 1 + random.roll(3) }, () =>
        random.pick([...plain, ...plain, ...hidden]),
      );
      const size = `&size=${1 + random.roll(5)}`;
      const place = random.pick(['/pages?', '/shelves/1/pages?', '/shelves?include=pages&pages.']);
      return `${place}search=${encodeURIComponent(words.join(' '))}${place.includes('include') ? '' : size}`;
    });
    const answers = () => Promise.all(requests.map(async (path) => JSON.stringify(await answer(path))));
    const before = await answers();
    expect(before.filter((each) => each.includes('"status":200')).length).to.be.greaterThan(30);
    expect(before.join()).to.not.match(/"note"|hidden wool/);
    // Changes values that these requests may not see, and rows of others.
    await paths.site.engine.sequelize.query(
      `UPDATE pages SET note = 'wool lee knit 東京 ' || id; UPDATE pages SET title = 'lee knit', author = 'of 100%' WHERE owner = 'B';
       INSERT INTO pages (id, title, author, owner, "shelfId") SELECT n, 'wool lee', 'knit', 'B', 1 FROM generate_series(40, 49) n`,
    );
    expect(await answers()).to.deep.equal(before);
  });
});
