/** Filters that PostgreSQL has for no value of a column: some are refused at the start, and others are no operators of it. */
// @runs fast
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, Model, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { expectIssue } from '../../support/expect-answer.js';
import { serveTables } from '../../support/serve-tables.js';

@Crud({ filterAllow: ['title'] })
@Table({ tableName: 'words', timestamps: false })
class Word extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
}

@Crud({ filterAllow: { word: ['title'] }, include: { word: { where: 'all' } } })
@Table({ tableName: 'uses', timestamps: false })
class Use extends KeyedRow {
  @ForeignKey(() => Word) @Column(DataType.INTEGER) declare wordId: number;
  @BelongsTo(() => Word) declare word?: Word;
}

@Crud({ filterAllow: { title: ['=like=', '=ilike='] } })
@Table({ tableName: 'words', timestamps: false })
class Pattern extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
}

@Crud({ filterAllow: { 'data.size': 'number', 'more.size': 'number' } })
@Table({ tableName: 'things', timestamps: false })
class Thing extends KeyedRow {
  @Column(DataType.JSONB) declare data: object;
  @Column(DataType.JSONB) declare more: object;
}

@Crud({ filterAllow: { thing: { 'data.size': 'number' } }, include: { thing: { where: 'all' } } })
@Table({ tableName: 'parts', timestamps: false })
class Part extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number;
  @ForeignKey(() => Thing) @Column(DataType.INTEGER) declare thingId: number;
  @BelongsTo(() => Thing) declare thing?: Thing;
}

const TABLES = `
  CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  CREATE TABLE words (id int PRIMARY KEY, title text COLLATE nocase);
  CREATE TABLE uses (id int PRIMARY KEY, "wordId" int REFERENCES words);
  CREATE TABLE things (id int PRIMARY KEY, data json, more jsonb);
  CREATE TABLE parts (id int PRIMARY KEY, "thingId" int REFERENCES things);
  INSERT INTO words VALUES (1, 'Ab'), (2, 'b');
  INSERT INTO uses VALUES (1, 1)`;

const HELD = '==, !=, =in=, =out=, =isnull=, =lt=, =le=, =gt=, =ge=, =between=, =notbetween='.split(', ');

except(OF_MANY).describe('a filter that a column does not have', () => {
  const { apps } = serveTables(TABLES, [Word, Use], { others: [Pattern, Thing, Part] });
  const start = (...models: (typeof Thing | typeof Part | typeof Pattern)[]) =>
    configProblems(() => buildApp({ models, logger: new CapturedLog(), indexAdvice: false }));

  for (const operator of ['=like=', '=notlike=', '=ilike=', '=inotlike='])
    it(`is ${operator} of texts that are equal in any case, also behind a relation`, async () => {
      for (const { agent } of apps)
        for (const [path, name] of [
          ['/words', 'title'],
          ['/uses', 'word.title'],
        ] as const) {
          const answer = await agent.get(path).query({ q: `${name}${operator}*a*` });
          expectIssue(answer, 400, {
            code: 'q.operator-not-allowed',
            detail: `'${operator}' is not available for '${name}' (string). Use ${HELD.join(', ')}.`,
            parameter: 'q',
            position: name.length,
            allowed: HELD,
          } as never);
        }
    });

  it('leaves the others as they are', async () => {
    for (const { agent } of apps) {
      const { body } = await agent.get('/words').query({ q: 'title==aB' });
      expect(body.items).to.deep.equal([{ id: 1, title: 'Ab' }]);
      expect((await agent.get('/uses').query({ q: 'word.title==aB' })).body.items).to.have.lengthOf(1);
    }
  });

  it('is refused at the start where it is all that is allowed', async () =>
    expect(await start(Pattern)).to.deep.equal([
      "Pattern: filterAllow names 'title', whose column is text with a collation that is not deterministic, which has no patterns; allow " +
        'other operators.',
    ]));

  it('is refused at the start for a value inside of a column that is not jsonb, also behind a relation', async () => {
    const told = (name: string) =>
      `filterAllow names '${name}', whose column is json, which is not jsonb; take it out of filterAllow, or change the type of the column.`;
    expect(await start(Thing)).to.deep.equal([`Thing: ${told('data.size')}`]);
    expect(await start(Part)).to.deep.equal([`Part: ${told('thing.data.size')}`]);
  });
});
