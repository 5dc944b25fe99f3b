/** Filters and orders of columns whose attribute is of another type: those that PostgreSQL has for the column, and no answer is a 500. */
// @runs fast
import { expect } from 'chai';
import type { DataType as Type } from 'sequelize';
import { BelongsTo, Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp, buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { serveTestApp } from '../../support/test-app.js';

const EQUAL = ['==', '!=', '=in=', '=out='];
const COMPARED = [...EQUAL, '=gt=', '=le='];
const PATTERNS = ['=like=', '=ilike='];

/** Each attribute with its column, a value there, one of a filter, and the operators that the column does not have. */
const PAIRS: readonly (readonly [
  name: string,
  type: Type,
  column: string,
  stored: string,
  value: string,
  refused: readonly string[],
])[] = [
  ['flag_number', DataType.BOOLEAN, 'smallint', '1', 'true', []],
  ['word_number', DataType.TEXT, 'integer', '7', '7', PATTERNS],
  ['word_token', DataType.TEXT, 'uuid', 'gen_random_uuid()', 'abc', PATTERNS],
  ['word_host', DataType.TEXT, 'inet', "'::1'", '::1', PATTERNS],
  ['word_place', DataType.TEXT, 'point', "'(1,2)'", '(1,2)', [...COMPARED, ...PATTERNS]],
  ['word_transaction', DataType.TEXT, 'xid', "'7'", '7', [...COMPARED, ...PATTERNS]],
  ['word_route', DataType.TEXT, 'jsonpath', "'$.a'", '$.a', [...COMPARED, ...PATTERNS]],
  ['word_span', DataType.TEXT, 'interval', "'1 day'", 'x', PATTERNS],
  ['word_pairs', DataType.TEXT, 'hstore', "'a=>1'", 'a=>1', [...COMPARED, ...PATTERNS]],
  ['small_number', DataType.INTEGER, 'smallint', '7', '40000', COMPARED],
  ['small_big', DataType.BIGINT, 'integer', '7', '3000000000', COMPARED],
  ['small_decimal', DataType.DECIMAL, 'smallint', '7', '1.5', COMPARED],
  ['small_float', DataType.DOUBLE, 'real', '7', '1e300', COMPARED],
  ['short_decimal', DataType.DECIMAL, 'numeric(4, 1)', '7', '40000', []],
  ['word_list', DataType.TEXT, 'text[]', "'{a}'", 'a', [...COMPARED, ...PATTERNS]],
  ['moment_text', DataType.DATE, 'text', "'2024-01-01'", '2024-01-01T00:00:00.000Z', COMPARED],
  ['moment_number', DataType.DATE, 'bigint', '1', '2024-01-01T00:00:00.000Z', COMPARED],
  ['moment_day', DataType.DATE, 'date', "'2024-01-01'", '2024-01-01T00:00:00.000Z', []],
  ['number_text', DataType.INTEGER, 'text', "'abc'", '7', []],
  ['token_text', DataType.UUID, 'text', "'x'", '7b0a3e0c-0000-4000-8000-0000000000aa', []],
  ['doc_text', DataType.JSONB, 'text', "'x'", 'x', COMPARED],
  ['list_text', DataType.ARRAY(DataType.TEXT), 'text', "'{a}'", 'a', ['=contains=']],
];

function isSorted(name: string): boolean {
  return !/_place|_transaction|_route|_pairs|^doc|^list/.test(name);
}

function modelOf(name: string, type: Type): ModelClass {
  class Pair extends Model {}
  Column(DataType.INTEGER)(Pair.prototype, 'id');
  PrimaryKey(Pair.prototype, 'id');
  Column(type)(Pair.prototype, 'value');
  Object.defineProperty(Pair, 'name', { value: name });
  Table({ tableName: name, timestamps: false })(Pair);
  const sortAllow = isSorted(name) ? ['id', 'value'] : ['id'];
  Crud({ prefix: `/${name}`, pagination: 'cursor', filterAllow: ['value'], sortAllow })(Pair);
  return Pair;
}

const PAIR_MODELS = PAIRS.map(([name, type]) => modelOf(name, type));
const UNORDERED = modelOf('unordered', DataType.TEXT);
const HOST = PAIR_MODELS[PAIRS.findIndex(([name]) => name === 'word_host')] as ModelClass;

@Crud({ prefix: '/rooms', include: { host: UNGUARDED }, filterAllow: { host: ['value'] } } as never)
@Table({ tableName: 'rooms', timestamps: false })
class Room extends KeyedRow {
  @ForeignKey(() => HOST as never) @Column(DataType.INTEGER) declare hostId: number;
  @BelongsTo(() => HOST as never) declare host: object;
}

describe('a filter or an order of a column of another type', () => {
  const site = serveTestApp(() => ({
    models: [UNORDERED, Room, ...PAIR_MODELS],
    engine: { createAll: false },
    bootstrap: { models: [], logger: new CapturedLog() },
  }));
  const execute = (sql: string) => site.engine.sequelize.query(sql);

  it('has the operators of its own type, in one way on both paths', async () => {
    await execute('CREATE EXTENSION hstore');
    for (const [name, , column, stored] of PAIRS)
      await execute(
        `CREATE TABLE ${name} (id int PRIMARY KEY, value ${column}); INSERT INTO ${name} VALUES (1, ${stored}), (2, NULL)`,
      );
    const apps = await buildBoth({ models: PAIR_MODELS });
    for (const [name, , , , value, refused] of PAIRS) {
      for (const operator of [...COMPARED, ...PATTERNS, '=contains=', '=isnull=']) {
        const operand =
          operator === '=isnull=' ? 'true' : /in|out/.test(operator) ? `("${value}")` : `"${value}"`;
        const path = `/${name}?q=${encodeURIComponent(`value${operator}${operand}`)}`;
        const [fast, general] = await Promise.all(apps.map(({ agent }) => agent.get(path)));
        expect(fast?.text, path).to.equal(general?.text);
        expect(fast?.status, path).to.be.oneOf(refused.includes(operator) ? [400] : [200, 400]);
      }
      for (const sort of isSorted(name) ? ['-value', 'value'] : []) {
        const path = `/${name}?sort=${sort}&size=1`;
        const [fast, general] = await Promise.all(apps.map(({ agent }) => agent.get(path)));
        expect([fast?.status, fast?.body.items], path).to.deep.equal([200, general?.body.items]);
        const next = await apps[0].agent.get(`${path}&after=${fast?.body.next_cursor}`);
        expect(next.status, path).to.equal(200);
      }
    }
  });

  it('[P5] is refused with the parameter and the column where PostgreSQL does not read the value', async () => {
    const apps = await buildBoth({ models: PAIR_MODELS });
    const expectRefused = async (name: string, operator: string, code: string, detail: string) => {
      const path = `/${name}?q=value${operator}`;
      for (const { agent } of apps) {
        const { status, body } = await agent.get(path);
        const [{ parameter, code: told }] = body.errors;
        expect([status, parameter, told, body.detail], path).to.deep.equal([400, 'q', code, detail]);
      }
    };
    const unread = 'PostgreSQL does not accept a value in q for its column';
    await expectRefused('word_host', '==abc', 'q.type', `${unread} ('value' is inet).`);
    await expectRefused('word_span', '==abc', 'q.type', `${unread} ('value' is interval).`);
    const outside = "'40000' is outside the range of 'value'.";
    for (const operator of ['==40000', '!=40000', '=gt=40000', '=in=(1,40000)', '=between=(1,40000)'])
      await expectRefused('small_number', operator, 'q.range', outside);
  });

  it('is refused behind a relation, too', async () => {
    await execute('CREATE TABLE rooms (id int PRIMARY KEY, "hostId" int REFERENCES word_host)');
    for (const { agent } of await buildBoth({ models: [Room, HOST] })) {
      expect((await agent.get('/rooms?q=host.value==::1')).status).to.equal(200);
      const { status, body } = await agent.get('/rooms?q=host.value==abc');
      const detail = 'PostgreSQL does not accept a value in q for its column.';
      expect([status, body]).to.deep.equal([
        400,
        { detail, errors: [{ parameter: 'q', code: 'q.type', detail }] },
      ]);
    }
  });

  it('[P5] shows what the driver makes of the type of a column as a text that a body may have', async () => {
    for (const { agent } of await buildBoth({ models: PAIR_MODELS })) {
      for (const [name, shown] of [
        ['word_span', 'P1D'],
        ['word_place', '(1,2)'],
      ] as const) {
        expect((await agent.get(`/${name}/1`)).body).to.deep.equal({ id: 1, value: shown });
        const { status, body } = await agent.patch(`/${name}/1`).send({ value: shown });
        expect([status, body]).to.deep.equal([200, { id: 1, value: shown }]);
      }
    }
  });

  it('is refused at the start as an order where PostgreSQL has none', async () => {
    await execute('CREATE TABLE unordered (id int PRIMARY KEY, value json)');
    const options = { models: [UNORDERED], logger: new CapturedLog() };
    expect(await configProblems(() => buildApp(options))).to.deep.equal([
      "unordered: rows are sorted by 'value', whose column is json, which has no order; take it out of sortAllow and defaultSort.",
    ]);
  });
});
