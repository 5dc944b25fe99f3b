/** `search` by a vector of PostgreSQL: stems, phrases, alternatives, absent words and beginnings, and no row without one of the words. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { Get } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  Crud,
  crudController,
  InjectListQuery,
  type ListQuery,
  type OffsetListQuery,
  Repository,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { SERVES_EXPORTS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { TwoPaths } from '../../support/two-paths.js';

const isEditor = (request: Request) => request.get('role') === 'editor';

/** The model lacks the column of the vector. */
@Crud<Article>({
  search: { vector: 'tsv', of: ['title', 'body'], config: 'english' },
  filterAllow: ['title'],
  pagination: 'cursor',
  fields: { body: { read: isEditor } },
})
@Table({ tableName: 'articles', timestamps: false })
class Article extends NumberedRow {
  @Column(DataType.TEXT) declare title: string;
  @Column(DataType.TEXT) declare body: string;
}

@Crud<Term>({
  search: { vector: 'words', of: ['text'], config: 'pg_catalog.simple', prefix: true },
  endpoints: ['list', 'read', 'create', 'update'],
})
@Table({ tableName: 'terms', timestamps: false })
class Term extends NumberedRow {
  @Column(DataType.TEXT) declare text: string;
  @Column({ type: 'tsvector', field: 'the words' }) declare words: string;
}

@Crud({
  search: { vector: 'tsv', of: ['text'], config: 'english', prefix: true },
  sortAllow: ['id'],
  pageSize: { default: 20, max: 1000 },
  ...(SERVES_EXPORTS ? { export: ['ndjson'] } : {}),
})
@Table({ tableName: 'papers', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
class Paper extends NumberedRow {
  @Column(DataType.TEXT) declare text: string;
}

class Papers extends crudController(Paper) {
  @Get('/of/own')
  own(@InjectListQuery() query: ListQuery) {
    return new Repository(Paper).page(query as OffsetListQuery);
  }

  @Get('/of/cursors')
  cursors(@InjectListQuery() query: ListQuery) {
    return new Repository(Paper).cursorPage({ ...query, kind: 'cursor', after: null } as never);
  }
}

const TABLES = `
  CREATE TABLE papers (id serial PRIMARY KEY, text text, "deletedAt" timestamptz,
    tsv tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED);
  CREATE INDEX ON papers USING gin (tsv);
  INSERT INTO papers (text) VALUES ('one whale'), ('whale, whale and whale'), ('a whale and another whale'), ('whales'), ('no fish'),
    ('$1 whale ? :id whale');
  INSERT INTO papers (text, "deletedAt") VALUES ('whale whale whale whale', now());
  CREATE TABLE articles (id serial PRIMARY KEY, title text, body text, tsv tsvector GENERATED ALWAYS AS
    (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(body, ''))) STORED);
  CREATE TABLE terms (id serial PRIMARY KEY, text text, "the words" tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED);
  INSERT INTO articles (title, body) VALUES ('Cats run', 'A running dog'), ('The exact phrase', 'is here'), ('A phrase', 'exact, though'),
    ('Birds', 'fly over the house'), (NULL, NULL);
  INSERT INTO terms (text) VALUES ('microscopy of cells'), ('micro electronics'), ('a macroscopic exact phrase'), ('the phrase exact'), ('foo bar'),
    ('foo barn'), ('Ünïcode wörter'), ('b12 vitamin')`;

describe('a search by a vector', () => {
  const paths = forSuite(async () => {
    const database = await freshDatabase();
    await execute(database.url, TABLES);
    const bootstrap = { logger: new CapturedLog(), indexAdvice: false, controllers: [Papers] };
    return TwoPaths.start({ models: [Article, Term, Paper], database, bootstrap });
  });

  const answer = async (path: string, headers: Record<string, string> = { role: 'editor' }) => {
    const { status, body } = await paths.same({ path, headers });
    return { status, body: JSON.parse(body) };
  };
  const found = async (path: string, text: string, headers?: Record<string, string>) => {
    const { status, body } = await answer(`${path}search=${encodeURIComponent(text)}`, headers);
    if (status === 200) return body.items.map(({ id }: Article) => id);
    return body.errors.map(({ code }: { code: string }) => code);
  };

  const TEXTS: readonly (readonly [text: string, found: readonly (number | string)[]])[] = [
    ['running', [1]],
    ['cat dogs', [1]],
    ['exact phrase', [2, 3]],
    ['"exact phrase"', [2]],
    ['"exact phrase', [2]],
    ['cat or bird', [1, 4]],
    ['cat OR bird', [1, 4]],
    ['phrase -though', [2]],
    ['phrase -"exact phrase"', [3]],
    ['the', []],
    ['the of and', []],
    ['the -cat', []],
    ['"the" or -cat', ['search.negative']],
    ['-cat', ['search.negative']],
    ['- cat', ['search.negative']],
    ['-"exact phrase" -cat', ['search.negative']],
    ['bird or -cat', ['search.negative']],
    ['-cat or bird', ['search.negative']],
    ['bird - cat', [4]],
    ['or', []],
    ['a & b | !c (', []],
    ["' or 1=1 --", []],
    [':* \\ $1 bird', []],
    ['!bird', [4]],
    ['', ['search.empty']],
    ['" "', ['search.empty']],
    ['bird\0', ['search.empty']],
    ['one two three four five six', ['search.too-many']],
    ['cat or cat or cat or cat or cat', [1]],
    ['x'.repeat(65), ['search.too-long']],
  ];
  for (const [text, expected] of TEXTS) {
    it(`finds ${JSON.stringify(expected)} by ${JSON.stringify(text.slice(0, 40))}`, async () => {
      expect(await found('/articles?', text)).to.deep.equal(expected);
    });
  }

  const BEGINNINGS: readonly (readonly [text: string, found: readonly (number | string)[]])[] = [
    ['micro', [1, 2]],
    ['MICRO', [1, 2]],
    ['micros', [1]],
    ['cells micro', [1]],
    ['micro cells', []],
    ['m', []],
    ['b', []],
    ['b1', [8]],
    ['wör', [7]],
    ['ünï wörter', []],
    ['wörter ünï', [7]],
    ['foo ba', [5, 6]],
    ['foo bar', [5, 6]],
    ['foo "bar"', [5]],
    ['foo -bar', [6]],
    ['foo -ba', [5, 6]],
    ['-bar foo', [6]],
    ['-bar fo', [6]],
    ['"exact phrase"', [3]],
    ['"exact phrase', [3]],
    ['"exact phrase" macro', [3]],
    ['cells or vit', [1, 8]],
    ['vitamin or foo bar', [5, 6, 8]],
    ['zzz or foo bar', [5, 6]],
    ["micro':*", [2]],
    ['mic:*', []],
  ];
  for (const [text, expected] of BEGINNINGS) {
    it(`finds ${JSON.stringify(expected)} by the beginning ${JSON.stringify(text)}`, async () => {
      expect(await found('/terms?', text)).to.deep.equal(expected);
    });
  }

  it('says what a search of absent words lacks', async () => {
    const { status, body } = await answer('/articles?search=-cat');
    const detail =
      "Parameter 'search' says which words are not there; add one that is, before or behind each 'or'.";
    expect({ status, body }).to.deep.equal({
      status: 400,
      body: { detail, errors: [{ parameter: 'search', code: 'search.negative', detail }] },
    });
  });

  it('is unknown to a request that may not read all that the vector is made of', async () => {
    expect(await found('/articles?', 'cat', {})).to.deep.equal(['unknown']);
    expect(await found('/articles?q=title==Birds&', 'birds')).to.deep.equal([4]);
  });

  it('belongs to its cursors', async () => {
    const { body } = await answer('/articles?size=1&search=exact+phrase');
    const after = `/articles?size=1&after=${body.next_cursor}&`;
    expect(await found(after, 'exact phrase')).to.deep.equal([3]);
    expect(await found(after, 'phrase exact')).to.deep.equal(['cursor.mismatch']);
  });

  it('neither shows nor takes its vector', async () => {
    expect((await answer('/terms?search=barn')).body.items).to.deep.equal([{ id: 6, text: 'foo barn' }]);
    expect(await found('/terms?fields=words&', 'barn')).to.deep.equal(['fields.unknown']);
    expect(await found('/terms?sort=words&', 'barn')).to.deep.equal(['sort.unknown-field']);
    const { status, body } = await paths.same({
      method: 'PATCH',
      path: '/terms/6',
      body: { words: 'x' },
    });
    expect([status, JSON.parse(body).errors.map(({ code }: { code: string }) => code)]).to.deep.equal([
      422,
      ['unknownProperty'],
    ]);
  });

  describe('by relevance', () => {
    it('has the best hits first, those of equal rank by their key, on pages by number', async () => {
      for (const path of ['/papers?sort=relevance&', '/papers/of/own?sort=relevance&']) {
        expect(await found(path, 'whale'), path).to.deep.equal([2, 3, 6, 1, 4]);
        expect(await found(path, 'whal'), path).to.deep.equal([2, 3, 6, 1, 4]);
        expect(await found(`${path}size=2&page=2&`, 'whale'), path).to.deep.equal([6, 1]);
      }
      const { body } = await answer('/papers?sort=relevance&size=1&search=whale&fields=id');
      expect(body).to.deep.equal({
        ...{ items: [{ id: 2 }], total: 5, page: 1, size: 1, pages: 5 },
        ...{ has_next: true, has_prev: false },
      });
      expect(await found('/papers?', 'whale')).to.deep.equal([1, 2, 3, 4, 6]);
    });

    const ALONE =
      'relevance is alone in sort, and has no other direction; leave the rest out, or sort by attributes.';
    const NO_PAGES =
      'An order by relevance has pages by number alone, and this list has none; sort by an attribute.';
    const END = 'Pages of an order by relevance end at 1000 rows; sort by an attribute to read more.';
    const REFUSED: readonly (readonly [path: string, detail: string])[] = [
      [
        '/papers?sort=relevance',
        'An order by relevance is that of a search; add search, or sort by an attribute.',
      ],
      ['/papers?search=whale&sort=-relevance', ALONE],
      ['/papers?search=whale&sort=relevance,id', ALONE],
      ['/papers?search=whale&sort=id&sort=relevance', ALONE],
      ['/papers?search=whale&sort=relevance&page=11&size=100', END],
      ['/papers?search=whale&sort=relevance&page=2&size=1000', END],
      ...(SERVES_EXPORTS ? [['/papers?search=whale&sort=relevance&format=ndjson', NO_PAGES] as const] : []),
      ['/articles?search=cat&sort=relevance', NO_PAGES],
    ];
    for (const [path, detail] of REFUSED) {
      it(`refuses ${path}`, async () => {
        expect(await answer(path)).to.deep.equal({
          status: 400,
          body: { detail, errors: [{ parameter: 'sort', code: 'sort.relevance', detail }] },
        });
      });
    }

    it('leaves the other problems to be told alone', async () => {
      expect(await found('/papers?sort=relevance&', '-whale')).to.deep.equal(['search.negative']);
      expect((await answer('/papers/of/cursors?search=whale&sort=relevance')).status).to.equal(500);
    });

    it('ends in time where tens of thousands are found, and reaches a thousand of them', async () => {
      await paths.site.engine.sequelize.query(
        `INSERT INTO papers (text) SELECT 'a squid ' || repeat('squid ', n % 7) FROM generate_series(1, 46000) n; ANALYZE papers`,
      );
      const { status, body } = await answer('/papers?search=squid&sort=relevance&page=10&size=100');
      expect([status, body.items.length, body.total]).to.deep.equal([200, 100, 46_000]);
      expect(body.items.every(({ text }: Paper) => text === `a squid ${'squid '.repeat(6)}`)).to.equal(true);
    });
  });
});
