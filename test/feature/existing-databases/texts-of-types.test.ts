/**
 * Columns whose type is no type of Sequelize's, or is compared otherwise than its texts: read, walked, filtered, written and read back on each
 * path, for a database whose own settings are other ones.
 */
// @runs once
import { expect } from 'chai';
import type { DataType as Type } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { TwoPaths, type WholeRequest } from '../../support/two-paths.js';

interface Kind {
  readonly type: Type;
  readonly column: string;
  /** SQL of the values of rows 1, 2 and 3, in ascending order where there is one, and how they are shown. */
  readonly values: readonly (readonly [sql: string, shown: unknown])[];
  /** False where no order is offered. */
  readonly isSorted?: false;
  /** Filters, and the rows that each finds. Row 4 has NULL. */
  readonly found: Readonly<Record<string, readonly number[]>>;
  /** Filters that are refused, and the sentence. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Values of bodies that are refused, by the code of the error; null is the database's refusal. */
  readonly bad?: readonly (readonly [value: unknown, code: string | null])[];
}

const MOODS: Kind['values'] = [
  ["'sad'", 'sad'],
  ["'ok'", 'ok'],
  ["'happy'", 'happy'],
];
const NO_MOOD = { 'value==angry': "'angry' is not one of sad, ok, happy (field 'value')." };
const FOUND_MOODS = { 'value==ok': [2], 'value!=ok': [1, 3], 'value=in=(sad,happy)': [1, 3] };
const CODES: Kind['values'] = [
  ["'a'", 'a'],
  ["'ab'", 'ab'],
  ["'xb'", 'xb'],
];

const KINDS: Readonly<Record<string, Kind>> = {
  mood_label: {
    type: DataType.ENUM('sad', 'ok', 'happy'),
    column: 'feeling',
    values: MOODS,
    found: FOUND_MOODS,
    refused: NO_MOOD,
    bad: [['angry', 'isIn']],
  },
  mood_text: {
    type: DataType.STRING,
    column: 'feeling',
    values: MOODS,
    found: { ...FOUND_MOODS, 'value=gt=sad': [2, 3] },
    refused: NO_MOOD,
    bad: [['angry', null]],
  },
  mood_list: {
    type: DataType.ARRAY(DataType.ENUM('sad', 'ok', 'happy')),
    column: 'mood[]',
    values: [
      ["'{ok,sad}'", ['ok', 'sad']],
      ["'{}'", []],
      ["'{NULL,happy}'", [null, 'happy']],
    ],
    isSorted: false,
    found: { 'value=contains=ok': [1], 'value=overlaps=(sad,happy)': [1, 3], 'value=isempty=true': [2] },
    refused: { 'value=contains=angry': NO_MOOD['value==angry'] },
    bad: [[['angry'], 'isInEach']],
  },
  short_letters: {
    type: DataType.STRING(5),
    column: 'letters',
    values: [
      ["'ab'", 'ab'],
      ["'b'", 'b'],
      ["'c'", 'c'],
    ],
    found: { 'value==ab': [1], 'value=like=*b': [1, 2] },
    bad: [
      ['none', null],
      ['abcdef', 'maxLength'],
    ],
  },
  code: {
    type: DataType.CHAR(4),
    column: 'char(4)',
    values: CODES,
    found: {
      'value==ab': [2],
      "value=='ab  '": [2],
      'value=in=(a,ab)': [1, 2],
      'value=like=a*': [1, 2],
      'value=like=*b': [2, 3],
      'value=ilike=A': [1],
      'value=notlike=ab': [1, 3],
    },
    bad: [['abcde', 'maxLength']],
  },
  code_text: {
    type: DataType.TEXT,
    column: 'char(4)',
    values: CODES,
    found: { 'value==ab': [2], 'value=like=*b': [2, 3] },
    bad: [['abcde', null]],
  },
  codes: {
    type: DataType.ARRAY(DataType.CHAR(4)),
    column: 'char(4)[]',
    values: [
      ["'{ab,c}'", ['ab', 'c']],
      ["'{}'", []],
      ["'{NULL}'", [null]],
    ],
    isSorted: false,
    found: { 'value=contains=ab': [1] },
  },
  word: {
    type: DataType.CITEXT,
    column: 'citext',
    values: [
      ["'Ab'", 'Ab'],
      ["'b'", 'b'],
      ["'C'", 'C'],
    ],
    found: { 'value==AB': [1], 'value=in=(B,c)': [2, 3], 'value=like=a*': [1], 'value=gt=AB': [2, 3] },
  },
  word_text: {
    type: DataType.STRING,
    column: 'citext',
    values: [
      ["'Ab'", 'Ab'],
      ["'b'", 'b'],
      ["'C'", 'C'],
    ],
    found: { 'value==AB': [1], 'value=like=a*': [1] },
  },
};

const TYPES = `
  CREATE EXTENSION citext;
  CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
  CREATE DOMAIN feeling AS mood;
  CREATE DOMAIN letters AS varchar(5) CHECK (value <> 'none')`;

const SETTINGS = `DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET DateStyle = German', current_database());
  EXECUTE format('ALTER DATABASE %I SET IntervalStyle = iso_8601', current_database());
  EXECUTE format('ALTER DATABASE %I SET TimeZone = %L', current_database(), 'Asia/Kolkata');
END $$`;

function modelOf(name: string, type: Type): ModelClass {
  class Kept extends Model {}
  Column(DataType.INTEGER)(Kept.prototype, 'id');
  PrimaryKey(Kept.prototype, 'id');
  Column(type)(Kept.prototype, 'value');
  Object.defineProperty(Kept, 'name', { value: name });
  Table({ tableName: name, timestamps: false })(Kept);
  Crud({
    prefix: `/${name}`,
    pagination: 'cursor',
    filterAllow: '*',
    sortAllow: '*',
    endpoints: ['list', 'read', 'create', 'update', 'replace', 'createMany', 'updateMany'],
  })(Kept);
  return Kept;
}

/** Rows are found by texts that have a padding in the table. */
@Crud({ prefix: '/lands', pagination: 'cursor', endpoints: ['list', 'read', 'create', 'update', 'delete'] })
@Table({ tableName: 'lands', timestamps: false })
class Land extends Model {
  @PrimaryKey @Column(DataType.CHAR(5)) declare code: string;
  @Column(DataType.TEXT) declare name: string | null;
}

describe('a column of an existing database', () => {
  const zone = process.env['TZ'];
  after(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  const models = [...Object.entries(KINDS).map(([name, { type }]) => modelOf(name, type)), Land];
  const paths = forSuite(async () => {
    process.env['TZ'] = 'America/New_York';
    const database = await freshDatabase('types');
    const tables = Object.entries(KINDS).map(
      ([name, { column }]) => `CREATE TABLE ${name} (id int PRIMARY KEY, value ${column})`,
    );
    const lands = 'CREATE TABLE lands (code char(5) PRIMARY KEY, name text)';
    await execute(database.url, [TYPES, ...tables, lands, SETTINGS].join(';\n'));
    const bootstrap = { logger: new CapturedLog(), indexAdvice: false };
    return TwoPaths.start({ models, database, engine: { createAll: false }, bootstrap });
  });

  async function send(wanted: WholeRequest, undo?: () => Promise<unknown>) {
    const { status, headers, body } = await paths.same(wanted, undo);
    return { status, headers, body: JSON.parse(body || 'null') };
  }

  /** The ids of all rows, a page each: forward, and back from the last one. */
  async function walk(table: string, sort: string): Promise<readonly number[]> {
    const ids: number[] = [];
    let [next, back] = ['', ''];
    for (;;) {
      const { body } = await send({ path: `/${table}?size=1&sort=${sort}${next}` });
      ids.push(body.items[0].id);
      back = body.prev_cursor;
      if (!body.has_next) break;
      next = `&after=${body.next_cursor}`;
    }
    while (back) {
      const { body } = await send({ path: `/${table}?size=1&sort=${sort}&before=${back}` });
      ids.push(body.items[0].id);
      back = body.prev_cursor;
    }
    return ids;
  }

  for (const [name, { values, isSorted = true, found, refused = {}, bad = [] }] of Object.entries(KINDS)) {
    const texts = [...values.map(([sql]) => sql), 'NULL'].map((sql, index) => `(${index + 1}, ${sql})`);
    const fill = () =>
      paths.site.engine.sequelize.query(`TRUNCATE ${name}; INSERT INTO ${name} VALUES ${texts}`);
    const shown = [...values.map(([, value]) => value), null];

    it(`is listed, walked and filtered: ${name}`, async () => {
      await fill();
      const { body } = await send({ path: `/${name}` });
      expect(body.items).to.deep.equal(shown.map((value, index) => ({ id: index + 1, value })));
      expect((await send({ path: `/${name}/1` })).body).to.deep.equal({ id: 1, value: shown[0] });
      for (const [q, ids] of Object.entries({
        'value=isnull=true': [4],
        'value=isnull=false': [1, 2, 3],
        ...found,
      })) {
        const list = await send({ path: `/${name}?q=${encodeURIComponent(q)}` });
        expect(list.body.items?.map(({ id }: { id: number }) => id) ?? list.body, q).to.deep.equal(ids);
      }
      for (const [q, detail] of Object.entries(refused)) {
        const { status, body: problem } = await send({ path: `/${name}?q=${encodeURIComponent(q)}` });
        expect([status, problem.detail], q).to.deep.equal([400, detail]);
      }
      if (!isSorted) expect((await send({ path: `/${name}?sort=value` })).status).to.equal(400);
      else {
        expect(await walk(name, 'value')).to.deep.equal([1, 2, 3, 4, 3, 2, 1]);
        expect(await walk(name, '-value')).to.deep.equal([4, 3, 2, 1, 2, 3, 4]);
      }
    });

    it(`takes back what it shows: ${name}`, async () => {
      await fill();
      const same = async (wanted: WholeRequest, status: number, body: unknown) => {
        const answer = await send(wanted, fill);
        expect([answer.status, answer.body], JSON.stringify(wanted)).to.deep.equal([status, body]);
      };
      for (const [index, value] of shown.entries()) {
        const id = index + 1;
        await same({ method: 'PATCH', path: `/${name}/${id}`, body: { value } }, 200, { id, value });
      }
      const value = shown[0];
      await same({ method: 'PATCH', path: `/${name}/2`, body: { value } }, 200, { id: 2, value });
      await same({ method: 'PUT', path: `/${name}/3`, body: { value } }, 200, { id: 3, value });
      await same({ method: 'POST', path: `/${name}`, body: { id: 5, value } }, 201, { id: 5, value });
      const items = shown.map((each, index) => ({ id: index + 6, value: each }));
      await same({ method: 'POST', path: `/${name}`, body: items }, 201, { items });
      const changes = shown.map((each, index) => ({ id: 4 - index, value: each }));
      await same({ method: 'PATCH', path: `/${name}`, body: changes }, 200, { items: changes });
      for (const [wrong, code] of bad) {
        const answer = await send({ method: 'PATCH', path: `/${name}/1`, body: { value: wrong } }, fill);
        const [issue] = answer.body.errors ?? [{ code: null }];
        expect([answer.status, issue.code], JSON.stringify(answer.body)).to.deep.equal([422, code]);
      }
    });
  }

  it('is a key without its padding, in addresses and cursors', async () => {
    const empty = () =>
      paths.site.engine.sequelize.query("TRUNCATE lands; INSERT INTO lands VALUES ('at', 'A'), ('be', 'B')");
    await empty();
    const made = await send({ method: 'POST', path: '/lands', body: { code: 'ch', name: 'C' } }, empty);
    expect([made.status, made.body]).to.deep.equal([201, { code: 'ch', name: 'C' }]);
    expect(made.headers).to.include('Location: /lands/ch');
    for (const path of ['/lands/at', '/lands/at%20%20'])
      expect((await send({ path })).body).to.deep.equal({ code: 'at', name: 'A' });
    const first = await send({ path: '/lands?size=1' });
    const second = await send({ path: `/lands?size=1&after=${first.body.next_cursor}` });
    expect(second.body.items).to.deep.equal([{ code: 'be', name: 'B' }]);
    const changed = await send({ method: 'PATCH', path: '/lands/be', body: { name: 'X' } }, empty);
    expect([changed.status, changed.body]).to.deep.equal([200, { code: 'be', name: 'X' }]);
    expect((await send({ method: 'DELETE', path: '/lands/be' }, empty)).status).to.equal(204);
  });
});
