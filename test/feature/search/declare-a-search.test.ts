/** The option `search`: what it refuses, the indexes that it needs, and that a search uses all of them. */
// @runs fast

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
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

  describe('with something wrong in it', () => {
    @Table({ tableName: 'odds', timestamps: false })
    class Odd extends NumberedRow {
      @Column(DataType.TEXT) declare name: string;
      @Column(DataType.ENUM('a', 'b')) declare kind: string;
      @Column(DataType.UUID) declare token: string;
      @Column(DataType.ARRAY(DataType.TEXT)) declare tags: string[];
      @Column('tsvector') declare tsv: string;
      @Exclude() @Column(DataType.TEXT) declare secret: string;
    }

    const texts = (name: string, type: string) =>
      `Odd: search names '${name}', of type ${type}; words are searched in texts (STRING, TEXT, CITEXT, CHAR) alone, so remove it, or ` +
      'allow it in filterAllow.';

    const WRONG: readonly (readonly [options: unknown, problem: string])[] = [
      [[], "Odd: search is []; use a list of attributes, such as ['name']."],
      ['name', 'Odd: search is "name"; use a list of attributes, such as [\'name\'].'],
      [true, "Odd: search is true; use a list of attributes, such as ['name']."],
      [
        ['nam'],
        "Odd: search names 'nam', which is not an attribute. Did you mean 'name'? The attributes are id, name, kind, token, tags.",
      ],
      [
        ['secret'],
        "Odd: search names 'secret', which @Exclude() hides from answers; remove it, or its values can be guessed by comparing.",
      ],
      [
        ['tsv'],
        "Odd: search names 'tsv', which its type tsvector hides from answers; remove it, or its values can be guessed by comparing.",
      ],
      [['kind'], texts('kind', 'enum')],
      [['token'], texts('token', 'uuid')],
      [['tags'], texts('tags', 'array')],
      [['id'], texts('id', 'integer')],
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
