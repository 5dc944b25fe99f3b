/** The orders that `sortAllow` declares: by number and by cursor, in both directions, of all executors, against an order made in JavaScript. */
// @runs once
import { expect } from 'chai';
import fc from 'fast-check';
import { Column, DataType, HasMany, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { buildApp, buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { wholeOr } from '../../support/short.js';
import { SqlLog } from '../../support/sql-log.js';
import { startTestApp } from '../../support/test-app.js';
import { TwoPaths } from '../../support/two-paths.js';

type Value = string | number | null;
/** Compares two values other than null. */
type Order = (one: never, other: never) => number;

const byNumber = (one: number, other: number) => one - other;
const byText = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
/** As `lower` of a column with the collation "C", which changes letters of ASCII alone. */
const small = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const byLetters = (one: string, other: string) => byText(small(one), small(other));

/** A value inside of JSON, as PostgreSQL writes its text. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A name of `sort`: the value of a row, the place of NULLs, the order of other values. */
interface Declared {
  of(row: Row): Value;
  readonly nulls?: 'first' | 'last';
  readonly orders: readonly Order[];
}

const DECLARED: Readonly<Record<string, Declared>> = {
  id: { of: ({ id }) => id, orders: [byNumber] },
  low: { of: ({ low }) => low, nulls: 'first', orders: [byNumber] },
  high: { of: ({ high }) => high, nulls: 'last', orders: [byNumber] },
  usual: { of: ({ usual }) => usual, orders: [byNumber] },
  title: { of: ({ title }) => title, orders: [byLetters, byText] },
  'doc.city': { of: ({ doc }) => textOf(doc?.place?.city), nulls: 'first', orders: [byText] },
  'doc.tag': { of: ({ doc }) => textOf(doc?.['a.b\'"$1 ?']), orders: [byText] },
};

const ALLOW = {
  id: true,
  low: { nulls: 'first' },
  high: { nulls: 'last' },
  usual: true,
  title: { ignoreCase: true },
  'doc.city': { json: ['place', 'city'], nulls: 'first' },
  'doc.tag': { json: ['a.b\'"$1 ?'] },
};

/** JSON of any form. */
interface Doc {
  readonly place?: { readonly city?: unknown };
  readonly [key: string]: unknown;
}

abstract class Row extends NumberedRow {
  @Column({ type: DataType.INTEGER, field: 'the low' }) declare low: number | null;
  @Column(DataType.INTEGER) declare high: number | null;
  @Column(DataType.INTEGER) declare usual: number | null;
  @Column({ type: DataType.TEXT, field: 'the title' }) declare title: string | null;
  @Column({ type: DataType.JSONB, field: 'the doc' }) declare doc: Doc | null;
  @Column(DataType.INTEGER) declare groupId: number;
}

const OPTIONS = { sortAllow: ALLOW, defaultSort: '-high,low', pageSize: { default: 100, max: 100 } };

@Crud({ include: { rows: { size: { max: 50 } } }, subresources: ['rows'], pageSize: { max: 20 } } as object)
@Table({ tableName: 'groups', timestamps: false })
class Group extends KeyedRow {
  @HasMany(() => Walked, { foreignKey: 'groupId', constraints: false }) declare rows?: Row[];
}

@Crud({ ...OPTIONS, prefix: '/numbered' } as object)
@Table({ tableName: 'ordered', timestamps: false })
class Numbered extends Row {}

@Crud({ sortAllow: ALLOW, prefix: '/indexed', pagination: 'cursor' } as object)
@Table({ tableName: 'ordered', timestamps: false })
class Indexed extends Row {}

/** Letters of other languages, a collation that ignores case by itself, and a key without case. */
@Crud({
  pagination: 'cursor',
  sortAllow: {
    code: { ignoreCase: true },
    letters: { ignoreCase: true },
    loose: true,
    hidden: true,
    'doc.a': { json: ['a'] },
  },
  fields: {
    hidden: { read: () => false },
    doc: { read: ({ url }: { url: string }) => url.includes('size') },
  },
} as object)
@Table({ tableName: 'words', timestamps: false })
class Word extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare code: string;
  @Column(DataType.TEXT) declare letters: string;
  @Column(DataType.TEXT) declare loose: string;
  @Column(DataType.TEXT) declare hidden: string;
  @Column(DataType.JSONB) declare doc: unknown;
}

const LETTERS = ['Straße', 'STRASSE', 'straße', 'İ', 'i', 'I', 'ı', 'Ä', 'ä', 'a', 'Z', 'ǅ', ''];

@Crud({ ...OPTIONS, prefix: '/walked', pagination: 'cursor' } as object)
@Table({ tableName: 'ordered', timestamps: false })
class Walked extends Row {
  /** NULLs of the columns are sorted, too, although the model does not know of them. */
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'the low' }) declare low: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare usual: number;
}

/** Values that meet one another, NULL more often than others. */
const few = (count: number) => (index: number, step: number) => {
  const value = (index * step) % (count + 2);
  return value < count ? value : null;
};

/** Too long for a cursor, which has the key of its row then. */
const LONG = 'Ab'.repeat(2_000);
const TITLES = ['b', 'B', 'a', 'A', 'Ab', 'aB', 'ß', 'İ', '', '_', 'Z', "o'$1", '\u{1f600}', LONG];

const DOCS: readonly Doc[] = [
  { place: { city: 'Lyon' }, 'a.b\'"$1 ?': 'x' },
  { place: { city: 'lyon' } },
  { place: { city: null }, 'a.b\'"$1 ?': null },
  { place: { city: 5 }, 'a.b\'"$1 ?': 10 },
  { place: { city: 10 }, 'a.b\'"$1 ?': 9 },
  { place: { city: true } },
  { place: [{ city: 'Nice' }] as never },
  { place: { city: ['Nice'] } },
  { place: 'Nice' as never },
  {},
  { place: { city: '' }, 'a.b\'"$1 ?': '' },
];

const ROWS = Array.from({ length: 24 }, (_, index) => ({
  low: few(3)(index, 7),
  high: few(2)(index, 3),
  usual: few(4)(index, 5),
  title: TITLES[(index * 5) % (TITLES.length + 1)] ?? null,
  doc: DOCS[(index * 7) % (DOCS.length + 1)] ?? null,
  groupId: index % 2,
}));

interface Term {
  readonly name: string;
  readonly descending: boolean;
}

/** The ids in an order. */
function expected(rows: readonly Row[], terms: readonly Term[]): number[] {
  const last = terms.at(-1)?.descending ?? false;
  const whole = [...terms, { name: 'id', descending: last }];
  return [...rows].sort((one, other) => compare(one, other, whole)).map(({ id }) => id);
}

function compare(one: Row, other: Row, terms: readonly Term[]): number {
  for (const { name, descending } of terms) {
    const { of, nulls = descending ? 'first' : 'last', orders } = DECLARED[name] as Declared;
    const values = [of(one), of(other)];
    const [first, second] = values.map((value) => (value === null) === (nulls === 'last'));
    if (first !== second) return first ? 1 : -1;
    if (values.includes(null)) continue;
    for (const order of orders) {
      const found = order(values[0] as never, values[1] as never);
      if (found !== 0) return descending ? -found : found;
    }
  }
  return 0;
}

const sortOf = (terms: readonly Term[]) =>
  terms.map(({ name, descending }) => `${descending ? '-' : ''}${name}`).join(',');

const orderArbitrary = fc.uniqueArray(
  fc.record({ name: fc.constantFrom(...Object.keys(DECLARED)), descending: fc.boolean() }),
  { minLength: 1, maxLength: 3, selector: ({ name }) => name },
);

interface Page {
  readonly items: readonly { readonly id: number }[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
}

describe('sorting as sortAllow declares', function () {
  this.timeout(60_000);

  const paths = forSuite(() =>
    TwoPaths.start({ models: [Group, Walked, Numbered, Word], bootstrap: { logger: new CapturedLog() } }),
  );
  let rows: readonly Row[];

  before(async () => {
    await paths.site.engine.sequelize.query('ALTER TABLE ordered ALTER "the title" TYPE text COLLATE "C"');
    await paths.site.engine.sequelize.query(`
      CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      ALTER TABLE words ALTER letters TYPE text COLLATE "und-x-icu", ALTER loose TYPE text COLLATE loose`);
    await Word.bulkCreate(
      LETTERS.map((letters, index) => ({
        code: `${index % 2 ? 'k' : 'K'}${String.fromCharCode(97 + ((index * 5) % 13))}`,
        letters,
        loose: ['b', 'B', 'a', 'A', 'c'][index % 5],
      })),
    );
    await Group.bulkCreate([{ id: 0 }, { id: 1 }]);
    await Numbered.bulkCreate(ROWS);
    rows = await Numbered.findAll();
  });

  /** The answer of both paths, and of Sequelize. */
  async function get<T>(path: string): Promise<T> {
    const { status, body } = await paths.same({ path });
    expect(status, body).to.equal(200);
    return JSON.parse(body) as T;
  }

  const idsOf = ({ items }: Page) => items.map(({ id }) => id);

  it('walks each order forward and backward, over NULLs and ties, and has it by number', async () =>
    await fc.assert(
      fc.asyncProperty(orderArbitrary, fc.integer({ min: 2, max: 9 }), async (terms, size) => {
        const ids = expected(rows, terms);
        const sort = sortOf(terms);
        expect(idsOf(await get<Page>(`/numbered?sort=${sort}`))).to.deep.equal(ids);
        const query = `/walked?sort=${sort}&size=${size}&fields=id`;
        let page = await get<Page>(query);
        const forward = idsOf(page);
        while (page.next_cursor !== null) {
          page = await get<Page>(`${query}&after=${page.next_cursor}`);
          forward.push(...idsOf(page));
        }
        expect(forward).to.deep.equal(ids);
        const backward = idsOf(page);
        while (page.prev_cursor !== null) {
          page = await get<Page>(`${query}&before=${page.prev_cursor}`);
          backward.unshift(...idsOf(page));
        }
        expect(backward).to.deep.equal(ids);
      }),
      { numRuns: wholeOr(8, 40) },
    ));

  it('sorts what is included, and what is listed under a record', async () =>
    await fc.assert(
      fc.asyncProperty(orderArbitrary, async (terms) => {
        const ids = [0, 1].map((group) =>
          expected(
            rows.filter(({ groupId }) => groupId === group),
            terms,
          ),
        );
        const sort = sortOf(terms);
        const { items } = await get<{ items: { rows: Page }[] }>(
          `/groups?include=rows&rows.size=50&rows.sort=${sort}`,
        );
        expect(items.map((item) => idsOf(item.rows))).to.deep.equal(ids);
        expect(idsOf(await get<Page>(`/groups/1/rows?sort=${sort}`))).to.deep.equal(ids[1]);
      }),
      { numRuns: wholeOr(4, 30) },
    ));

  const WORDS: Readonly<Record<string, string>> = {
    letters: 'lower(letters), letters, code',
    '-letters': 'lower(letters) DESC, letters DESC, code DESC',
    code: 'lower(code), code',
    '-code': 'lower(code) DESC, code DESC',
    loose: 'lower(loose) COLLATE "C", code',
    '-loose': 'lower(loose) COLLATE "C" DESC, code DESC',
  };
  for (const [sort, order] of Object.entries(WORDS)) {
    it(`has letters as the database makes them small, by '${sort}'`, async () => {
      const [words] = await paths.site.engine.sequelize.query(`SELECT code FROM words ORDER BY ${order}`);
      const codes = words.map((word) => (word as Word).code);
      const query = `/words?sort=${sort}&size=2&fields=code`;
      const codesOf = ({ items }: { items: readonly Word[] }) => items.map(({ code }) => code);
      let page = await get<Page & { items: Word[] }>(query);
      const walked = codesOf(page);
      while (page.next_cursor !== null) {
        page = await get(`${query}&after=${page.next_cursor}`);
        walked.push(...codesOf(page));
      }
      expect(walked).to.deep.equal(codes);
    });
  }

  it('has no name of what a request may not read', async () => {
    const refused = async (sort: string) =>
      JSON.parse((await paths.same({ path: `/words?sort=${sort}` })).body);
    const allowed = ['code', 'letters', 'loose'];
    for (const sort of ['hidden', 'doc.a', 'doc.b']) {
      const detail = `Cannot sort by '${sort}'. Sortable: code, letters, loose.`;
      const issue = { parameter: 'sort', code: 'sort.unknown-field', detail, allowed };
      expect(await refused(sort)).to.deep.equal({ detail, errors: [issue] });
    }
    expect((await get<Page>('/words?sort=-doc.a&size=1')).items).to.have.lengthOf(1);
  });

  it('has the order of each name in defaultSort, too', async () => {
    const ids = expected(rows, [
      { name: 'high', descending: true },
      { name: 'low', descending: false },
    ]);
    expect(idsOf(await get<Page>('/numbered'))).to.deep.equal(ids);
    expect(idsOf(await get<Page>('/walked'))).to.deep.equal(ids);
  });
});

describe('an order with the indexes that the start names', () => {
  const sql = new SqlLog();
  const site = forSuite(() =>
    startTestApp({ models: [Indexed], bootstrap: { models: [] }, engine: { logging: sql.record } }),
  );

  it('has plans without a sort', async () => {
    const { sequelize } = site.engine;
    const logger = new CapturedLog();
    await buildApp({ models: [Indexed], logger });
    const lines = logger.lines.flatMap(({ message }) => message.match(/CREATE INDEX [^\n]*;/g) ?? []);
    expect(lines).to.have.length.of.at.least(9);
    await sequelize.query(
      `INSERT INTO ordered ("the low", high, usual, "the title", "the doc", "groupId")
       SELECT nullif(n % 700, 0), nullif(n % 600, 0), nullif(n % 500, 0), md5(n::text),
              jsonb_build_object('place', jsonb_build_object('city', md5((n + 1)::text)), 'a.b''"$1 ?', md5((n + 2)::text)), 0
       FROM generate_series(1, 20000) AS n; ${lines.join(' ')} ANALYZE ordered`,
    );
    for (const { agent } of await buildBoth({ models: [Indexed] }))
      for (const name of Object.keys(ALLOW))
        for (const sort of [name, `-${name}`]) {
          const { result, statements } = await sql.during(() => agent.get(`/indexed?size=5&sort=${sort}`));
          expect(result.status).to.equal(200);
          const [list = ''] = statements.filter((each) => each.includes('ORDER BY'));
          const [rows] = await sequelize.query(`EXPLAIN ${list.replace(/;$/, '')}`);
          const plan = rows.map((row) => Object.values(row as object)[0]).join('\n');
          expect(plan, sort).to.match(/Index (?:Only )?Scan/);
          expect(plan, sort).to.not.include('Sort');
        }
  });
});
