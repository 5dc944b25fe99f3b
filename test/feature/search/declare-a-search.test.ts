/** The option `search`: refused values, the indexes that it needs, and searches that use all of them. */
// @runs fast

import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import { Client } from 'pg';
import { Column, DataType, Sequelize, Table } from 'sequelize-typescript';
import { buildApplication } from '../../../src/bootstrap.js';
import { FEATURES } from '../../../src/features/features.js';
import { type Class, Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { forSuite } from '../../support/for-suite.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { SqlLog } from '../../support/sql-log.js';
import { startTestApp } from '../../support/test-app.js';

@Crud({ search: ['title', 'author', 'code'], filterAllow: ['id'] })
@Table({ tableName: 'tomes', timestamps: false })
class Tome extends NumberedRow {
  @Column({ type: DataType.TEXT, field: 'the title' }) declare title: string;
  @Column(DataType.STRING(80)) declare author: string;
  @Column(DataType.CHAR(12)) declare code: string;
}

@Table({ tableName: 'reports', timestamps: false })
class Report extends NumberedRow {
  @Column(DataType.TEXT) declare title: string;
  @Column({ type: DataType.TEXT, field: 'the body' }) declare body: string;
}

const NEEDED = [
  ['title', '("the title" gin_trgm_ops)'],
  ['author', '("author" gin_trgm_ops)'],
  ['code', '(("code"::text) gin_trgm_ops)'],
].map(
  ([name, key]) =>
    `Tome: no index serves a search by '${name}' (search); CREATE EXTENSION IF NOT EXISTS pg_trgm; ` +
    `CREATE INDEX ON "tomes" USING gin ${key};`,
);

describe('the option search', () => {
  describe('by words', () => {
    const sql = new SqlLog();
    const database = forSuite(() => freshDatabase());
    forSuite(() =>
      startTestApp({
        models: [Tome],
        database: { url: database.url },
        bootstrap: { models: [], logger: new CapturedLog() },
        engine: { logging: sql.record },
      }),
    );

    const advised = async () => {
      const logger = new CapturedLog();
      await buildApp({ models: [Tome], logger });
      return logger.lines
        .flatMap(({ message }) => message.split('\n  '))
        .filter((line) => line.includes('search'));
    };

    it('names each index that is missing, with its extension, and uses all of them', async () => {
      expect(await advised()).to.deep.equal(NEEDED);
      const statements = NEEDED.map((line) => line.slice(line.indexOf(';') + 1));
      await execute(database.url, statements.slice(0, 2).join(''));
      expect(await advised()).to.deep.equal(NEEDED.slice(2));
      await execute(database.url, statements.slice(2).join(''));
      expect(await advised()).to.deep.equal([]);
      await execute(
        database.url,
        `ALTER TABLE tomes ADD wide text;
         INSERT INTO tomes ("the title", author, code, wide) SELECT md5(n::text), md5((n + 7)::text), left(md5((n + 9)::text), 9), repeat('x', 1500)
         FROM generate_series(1, 20000) n; ANALYZE tomes`,
      );
      for (const fastPath of [true, false]) {
        const { agent } = await buildApp({ models: [Tome], logger: new CapturedLog(), fastPath });
        const { statements: sent } = await sql.duringRequest(() =>
          agent.get('/tomes?search=c4ca4238a c4ca&fields=id'),
        );
        const [list = ''] = sent.filter((each) => each.includes('ILIKE'));
        const plan = await explain(
          list,
          ['%c4ca4238a%', '%c4ca%'].flatMap((each) => [each, each, each]),
        );
        expect(plan.match(/Bitmap Index Scan on ("[^"]+"|\S+)/g)?.sort(), plan).to.deep.equal(
          [
            'Bitmap Index Scan on tomes_author_idx',
            'Bitmap Index Scan on tomes_code_idx',
            'Bitmap Index Scan on "tomes_the title_idx"',
          ].sort(),
        );
        expect(plan).to.not.include('Seq Scan');
      }
    });

    async function explain(text: string, values: readonly string[]): Promise<string> {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      try {
        const { rows } = await client.query(`EXPLAIN ${text}`, text.includes('$1') ? [...values] : []);
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      } finally {
        await client.end();
      }
    }

    it('prints them with the other SQL', () => {
      const { sql: print } = buildApplication({ models: [Tome], logger: new CapturedLog() }, FEATURES);
      const expected = NEEDED.map((line) => `-- ${line.replace('; CREATE', '\nCREATE')}\n`);
      expect(print()).to.include(expected.join(''));
    });
  });

  describe('by a vector', () => {
    const database = forSuite(() => freshDatabase());
    forSuite(() =>
      startTestApp({
        models: [Report],
        database: { url: database.url },
        bootstrap: { models: [], logger: new CapturedLog() },
      }),
    );

    const start = async (search: object) => {
      const logger = new CapturedLog();
      const controllers = [crudController(Report, { search: search as never }) as Class];
      await buildApp({ models: [], controllers, logger });
      return logger.lines
        .flatMap(({ message }) => message.split('\n  '))
        .filter((line) => line.includes('search'));
    };

    it('refuses a table that lacks it, with the statement that adds it, and names its index', async () => {
      const options = { vector: 'the words', of: ['title', 'body'], config: 'simple' };
      const [problem = ''] = await configProblems(() => start(options));
      const added =
        `ALTER TABLE "reports" ADD COLUMN "the words" tsvector GENERATED ALWAYS AS ` +
        `(to_tsvector('simple', coalesce("title", '') || ' ' || coalesce("the body", ''))) STORED;`;
      expect(problem).to.equal(
        `Report: search.vector names 'the words', and the table "reports" has no such column; ${added}`,
      );
      const needed = 'CREATE INDEX ON "reports" USING gin ("the words");';
      const controllers = [crudController(Report, { search: options as never }) as Class];
      const { sql: print } = buildApplication(
        { models: [], controllers, logger: new CapturedLog() },
        FEATURES,
      );
      expect(print()).to.include(
        `-- Report: a column that the model lacks\n${added.replace('COLUMN', 'COLUMN IF NOT EXISTS')}\n` +
          `-- Report: no index serves a search (search)\n${needed}\n`,
      );
      await execute(database.url, added);
      expect(await start(options)).to.deep.equal([`Report: no index serves a search (search); ${needed}`]);
      await execute(database.url, needed);
      expect(await start({ ...options, prefix: true })).to.deep.equal([]);
      expect(await configProblems(() => start({ ...options, of: ['title'] }))).to.deep.equal([
        "Report: the vector 'the words' of search is made of 'the body' as well, which search.of lacks, so that a search would find what a " +
          'request may not read; add it there, or take it out of the vector.',
      ]);
      expect(await start({ ...options, config: 'english', prefix: true })).to.deep.equal([
        "Report: search.config is 'english', and the vector 'the words' is made with 'simple', so that a search may find nothing; use the " +
          'same for both.',
        "Report: search.prefix is true, and 'english' keeps the stems of words, so that the beginning of a word may find nothing: runni " +
          "does not find running, whose stem is run. Use 'simple', or leave prefix out.",
      ]);
    });

    it('refuses what is not there, or is no vector', async () => {
      const options = { vector: 'title', of: ['body'], config: 'latin' };
      const missing =
        "Report: search.config is 'latin', which the database lacks; use one of those of SELECT cfgname FROM pg_ts_config.";
      await execute(database.url, 'ALTER TABLE reports ADD plain text, ADD tsv tsvector');
      expect(await configProblems(() => start({ ...options, vector: 'plain' }))).to.deep.equal([
        "Report: search.vector names 'plain', whose column is text; use a column of the type tsvector.",
        missing,
      ]);
      const others = ['latin', 'nowhere.english'].map((config) => ({ ...options, vector: 'tsv', config }));
      for (const each of others)
        expect(await configProblems(() => start(each))).to.deep.equal([
          missing.replace('latin', each.config),
        ]);
    });

    it('is the way to texts of a collation for which PostgreSQL has no words', async () => {
      await execute(
        database.url,
        `ALTER TABLE reports DROP "the words"; CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
         ALTER TABLE reports ALTER title TYPE text COLLATE loose`,
      );
      expect(await configProblems(() => start(['body', 'title']))).to.deep.equal([
        "Report: search names 'title', whose collation loose is not deterministic, and PostgreSQL finds no words in such texts; search a " +
          'vector, or take it out of search.',
      ]);
    });
  });

  describe('with something wrong in it', () => {
    @Table({ tableName: 'odds', timestamps: false })
    class Odd extends NumberedRow {
      @Column(DataType.TEXT) declare name: string;
      @Column(DataType.ENUM('a', 'b')) declare kind: string;
      @Column(DataType.UUID) declare token: string;
      @Column(DataType.ARRAY(DataType.TEXT)) declare tags: string[];
      @Column('tsvector') declare tsv: string;
      @Expose() @Column('tsvector') declare shown: string;
      @Exclude() @Column(DataType.TEXT) declare secret: string;
    }

    const TEXT = { vector: 'tsv', of: ['name'], config: 'english' };
    const USE =
      "use a list of attributes, such as ['name'], or an object such as { vector: 'tsv', of: ['title'], config: 'english' }.";

    const texts = (name: string, type: string) =>
      `Odd: search names '${name}', of type ${type}; words are searched in texts (STRING, TEXT, CITEXT, CHAR) alone, so remove it, or ` +
      'allow it in filterAllow.';

    const WRONG: readonly (readonly [options: unknown, problem: string])[] = [
      [[], `Odd: search is []; ${USE}`],
      ['name', `Odd: search is "name"; ${USE}`],
      [true, `Odd: search is true; ${USE}`],
      [
        ['nam'],
        "Odd: search names 'nam', which is not an attribute. Did you mean 'name'? The attributes are id, name, kind, token, tags, shown.",
      ],
      [
        ['secret'],
        "Odd: search names 'secret', which @Exclude() hides from answers; remove it, or its values can be guessed by comparing.",
      ],
      [
        ['tsv'],
        "Odd: search names 'tsv', which its type tsvector hides from answers; remove it, or its values can be guessed by comparing.",
      ],
      [['name', 'name'], "Odd: search names 'name' twice; name it once."],
      [{ ...TEXT, of: ['name', 'name'] }, "Odd: search.of names 'name' twice; name it once."],
      [['kind'], texts('kind', 'enum')],
      [['token'], texts('token', 'uuid')],
      [['tags'], texts('tags', 'array')],
      [['id'], texts('id', 'integer')],
      [
        { ...TEXT, vektor: 1 },
        "Odd: search has no option 'vektor'. Did you mean 'vector'? The options are vector, of, config, prefix.",
      ],
      [
        { ...TEXT, vector: '' },
        'Odd: search.vector is ""; use an attribute or a column of the type tsvector.',
      ],
      [
        { ...TEXT, of: 'name' },
        'Odd: search.of is "name"; use the list of the attributes that the vector is made of.',
      ],
      [
        { ...TEXT, config: "english'; --" },
        "Odd: search.config is \"english'; --\"; use the configuration that the vector is made with, such as 'english' or 'simple'.",
      ],
      [{ ...TEXT, prefix: 1 }, 'Odd: search.prefix is 1; use true or false.'],
      [
        { ...TEXT, of: ['secret'] },
        "Odd: search.of names 'secret', which @Exclude() hides from answers; remove it, or its values can be guessed by comparing.",
      ],
      [
        { ...TEXT, vector: 'name' },
        "Odd: search.vector names 'name', of type string; it is a tsvector, such as @Column('tsvector').",
      ],
      [
        { ...TEXT, vector: 'shown' },
        "Odd: search.vector names 'shown', which answers show; remove @Expose() from shown, as its words are those of other attributes.",
      ],
    ];
    for (const [value, problem] of WRONG) {
      it(`refuses ${JSON.stringify(value)}`, async () => {
        new Sequelize({ dialect: 'postgres', models: [Odd] });
        const controllers = [crudController(Odd, { search: value as never }) as Class];
        const build = () => buildApp({ models: [], controllers, logger: new CapturedLog() });
        expect(await configProblems(build)).to.deep.equal([problem]);
      });
    }
  });
});
