/** `search` by a vector of PostgreSQL: stems, phrases, alternatives, absent words and beginnings, and nothing that no word asks for. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
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

const TABLES = `
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
    const bootstrap = { logger: new CapturedLog(), indexAdvice: false };
    return TwoPaths.start({ models: [Article, Term], database, bootstrap });
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
});
