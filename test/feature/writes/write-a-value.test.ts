/** Values that a repository writes are those that Sequelize writes, whatever value a user's own code sets. */
// @runs fast
import { expect } from 'chai';
import { literal, QueryTypes } from 'sequelize';
import { Column, CreatedAt, DataType, Table, UpdatedAt } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud, Repository } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTables } from '../../support/serve-tables.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

@Table({ tableName: 'boxes' })
class Box extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false, defaultValue: 'none' }) declare text: unknown;
  @Column(DataType.INTEGER) declare whole: unknown;
  @Column(DataType.BIGINT) declare large: unknown;
  @Column(DataType.DECIMAL(10, 2)) declare exact: unknown;
  @Column(DataType.DOUBLE) declare real: unknown;
  @Column(DataType.BOOLEAN) declare flag: unknown;
  @Column(DataType.DATE) declare moment: unknown;
  @Column(DataType.DATEONLY) declare day: unknown;
  @Column(DataType.TIME) declare hour: unknown;
  @Column(DataType.UUID) declare key: unknown;
  @Column(DataType.ENUM('a', 'b')) declare choice: unknown;
  @Column(DataType.JSONB) declare json: unknown;
  @Column(DataType.ARRAY(DataType.TEXT)) declare list: unknown;
  @Column(DataType.BLOB) declare bytes: unknown;
  @CreatedAt @Column(DataType.DATE) declare born: Date;
  @UpdatedAt @Column(DataType.DATE) declare touched: Date;
}

/** Texts that are equal to those in other letters. */
@Crud({
  endpoints: ['create', 'update', 'replace', 'createMany', 'updateMany', 'upsert'],
  filterAllow: ['id'],
  upsert: [['login']],
  import: { modes: ['upsert'] },
})
@Table({ tableName: 'looses', timestamps: false })
class Loose extends NumberedRow {
  @Column(DataType.TEXT) declare login: string;
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.ENUM('ann', 'Ann')) declare choice: string;
  @Column(DataType.CITEXT) declare word: string;
  @Column(DataType.ARRAY(DataType.TEXT)) declare list: string[];
}

const LOOSE = `
  CREATE EXTENSION citext;
  CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  CREATE DOMAIN name AS text COLLATE loose;
  CREATE TABLE looses (id serial PRIMARY KEY, login text COLLATE loose UNIQUE, name name, choice text COLLATE loose, word citext,
    list text[] COLLATE loose)`;

const TEXTS = [
  '',
  'text',
  'a\0b',
  '$1 \\ \'"',
  'true',
  'yes',
  'a',
  'c',
  'f47ac10b-58cc-4372-a567-0e02b2c3d479',
];
const NUMBERS = [0, -1, 1.5, 2 ** 40, 12345678901234567890n, Number.NaN, Number.POSITIVE_INFINITY];
const DIGITS = ['7', '1.50', '1e3', '9007199254740993'];
const TIMES = ['2026-01-31', '2026-1-1', '31.01.2026', '2026-01-31T10:00:00Z', '10:00'];
const DATES = [new Date(0), new Date(Number.NaN)];
const OBJECTS = [
  { a: [1, null], b: 'x' },
  [],
  ['a', null, 'b,"c"'],
  [1, 2],
  Buffer.from([0, 255]),
  literal("'1'"),
];
const VALUES = [null, undefined, true, ...TEXTS, ...NUMBERS, ...DIGITS, ...TIMES, ...DATES, ...OBJECTS];
const COLUMNS = [
  ...['text', 'whole', 'large', 'exact', 'real', 'flag', 'moment', 'day', 'hour', 'key'],
  ...['choice', 'json', 'list', 'bytes'],
];

describe('a value that is written', () => {
  const boxes = new Repository(Box);
  const site = serveTestApp(() => ({ models: [Box], bootstrap: { models: [] } }));

  /** The stored value, or the error of the write. */
  async function outcome(column: string, write: () => Promise<Box>): Promise<unknown> {
    try {
      const { id } = await write();
      const text = `SELECT "${column}"::text AS value FROM boxes WHERE id = ${id}`;
      return await site.engine.sequelize.query(text, { type: QueryTypes.SELECT });
    } catch (error) {
      const { name, parent } = error as {
        readonly name: string;
        readonly parent?: { readonly code?: string };
      };
      return [name, parent?.code];
    }
  }

  for (const [place, column] of COLUMNS.entries()) {
    it(`is what Sequelize writes: ${column}`, async () => {
      const row = await Box.create({});
      for (const [index, value] of VALUES.entries()) {
        // In short each value is written to half of the columns.
        if ((index + place) % wholeOr(2, 1) !== 0) continue;
        const values = { [column]: value };
        const created = await outcome(column, () => boxes.create(values));
        expect(created, `create ${index}`).to.deep.equal(await outcome(column, () => Box.create(values)));
        const updated = await outcome(column, () => boxes.update(row.id, values));
        const fresh = await Box.create({});
        expect(updated, `update ${index}`).to.deep.equal(await outcome(column, () => fresh.update(values)));
        await row.update({
          text: 'none',
          ...Object.fromEntries(COLUMNS.slice(1).map((name) => [name, null])),
        });
      }
    });
  }

  it('is left out where it is of no column, of the key, or of a timestamp that Sequelize keeps', async () => {
    const values = { text: 'new', nothing: 1, touched: new Date(0) };
    const box = await boxes.create(values);
    expect(box.touched.getTime()).to.be.above(Date.now() - 60_000);
    expect(Object.keys(box.get())).to.not.include('nothing');
    const updated = await boxes.update(box.id, { text: 'newer', id: 999, born: new Date(0) });
    expect(updated.id).to.equal(box.id);
    expect(updated.born).to.deep.equal(box.born);
  });

  it('leaves a record that can be changed, saved and read again', async () => {
    for (const record of [await boxes.create({ text: 'a' }), await boxes.update(1, { text: 'a' })]) {
      expect([record.isNewRecord, record.changed()]).to.deep.equal([false, false]);
      await record.update({ text: 'b' });
      record.set('whole', 7);
      await record.save();
      expect(await record.reload()).to.include({ text: 'b', whole: 7 });
      await record.destroy();
    }
  });
});

except(OF_MANY).describe('letters of a column in which they are equal', () => {
  const { apps, query } = serveTables(LOOSE, [Loose]);
  const large = { login: 'Ann', name: 'Ann', choice: 'Ann', word: 'Ann', list: ['Ann'] };
  const row = 'login,name,choice,word,list\nAnn,Ann,Ann,Ann,"[""Ann""]"\n';

  const writes: Readonly<Record<string, (agent: (typeof apps)[number]['agent']) => PromiseLike<Response>>> = {
    'a change': (agent) => agent.patch('/looses/1').send(large),
    'a replacement': (agent) => agent.put('/looses/1').send(large),
    'a change of many': (agent) => agent.patch('/looses').send([{ id: 1, ...large }]),
    'a change by q': (agent) => agent.patch('/looses?q=id==1').send(large),
    'an upsert': (agent) => agent.post('/looses?on_conflict=login').send(large),
    'an upsert of many': (agent) => agent.post('/looses?on_conflict=login').send([large]),
    'an import': (agent) => agent.post('/looses/import').set('content-type', 'text/csv').send(row),
  };

  for (const [title, write] of Object.entries(writes)) {
    it(`are written by ${title}`, async () => {
      for (const { agent } of apps) {
        await query(`TRUNCATE looses; INSERT INTO looses VALUES (1, 'ann', 'ann', 'ann', 'ann', '{ann}')`);
        const { status, text } = await write(agent);
        expect(status, text).to.equal(200);
        // An upsert leaves the key as it has found it.
        const login = /upsert|import/.test(title) ? 'ann' : 'Ann';
        expect(await query('SELECT * FROM looses')).to.deep.equal([{ id: 1, ...large, login }]);
      }
    });
  }
});
