/** Filters and orders of columns whose attribute is of another type: those that PostgreSQL has for the column, and no answer is a 500. */
// @runs fast
import { expect } from 'chai';
import type { DataType as Type } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { ConfigError, Crud, type ModelClass } from '../../../src/index.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
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
  return !/_place|^doc|^list/.test(name);
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

describe('a filter or an order of a column of another type', () => {
  const site = serveTestApp(() => ({
    models: [UNORDERED, ...PAIR_MODELS],
    engine: { createAll: false },
    bootstrap: { models: [], logger: new CapturedLog() },
  }));
  const execute = (sql: string) => site.engine.sequelize.query(sql);

  it('has the operators of its own type, in one way on both paths', async () => {
    for (const [name, , column, stored] of PAIRS)
      await execute(
        `CREATE TABLE ${name} (id int PRIMARY KEY, value ${column}); INSERT INTO ${name} VALUES (1, ${stored}), (2, NULL)`,
      );
    const apps: BuiltApp[] = [];
    for (const fastPath of [true, false])
      apps.push(
        await buildApp({ models: PAIR_MODELS, fastPath, logger: new CapturedLog(), indexAdvice: false }),
      );
    for (const [name, , , , value, refused] of PAIRS) {
      for (const operator of [
        '==',
        '!=',
        '=in=',
        '=out=',
        '=gt=',
        '=le=',
        '=like=',
        '=ilike=',
        '=contains=',
        '=isnull=',
      ]) {
        const operand =
          operator === '=isnull=' ? 'true' : /in|out/.test(operator) ? `("${value}")` : `"${value}"`;
        const path = `/${name}?q=${encodeURIComponent(`value${operator}${operand}`)}`;
        const [fast, general] = await Promise.all(apps.map(({ agent }) => agent.get(path)));
        expect(fast?.text, path).to.equal(general?.text);
        expect(fast?.status, path).to.be.oneOf(refused.includes(operator) ? [400] : [200, 400, 422]);
      }
      for (const path of [`/${name}?sort=-value&size=1`, `/${name}?sort=value&size=1`].slice(
        isSorted(name) ? 0 : 2,
      )) {
        const [fast, general] = await Promise.all(apps.map(({ agent }) => agent.get(path)));
        expect([fast?.status, fast?.body.items], path).to.deep.equal([200, general?.body.items]);
        const next = await apps[0]?.agent.get(`${path}&after=${fast?.body.next_cursor}`);
        expect(next?.status, path).to.equal(200);
      }
    }
  });

  it('is refused as an order where PostgreSQL has none', async () => {
    await execute('CREATE TABLE unordered (id int PRIMARY KEY, value json)');
    const failure = await buildApp({ models: [UNORDERED], logger: new CapturedLog() }).catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(ConfigError);
    expect((failure as ConfigError).problems).to.deep.equal([
      "unordered: rows are sorted by 'value', whose column is json, which has no order; take it out of sortAllow and defaultSort.",
    ]);
  });
});
