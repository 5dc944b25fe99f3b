/** Types that Sequelize has no parser or no name for: each is shown, filtered, sorted, walked and written, whatever the role has set. */
// @runs fast
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type ModelClass, type OpenAPIObject } from '../../../src/index.js';
import { COLUMN_TYPES, type ColumnCase } from '../../models/column-types.js';
import { type BuiltApp, buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, onPath } from '../../support/combination.js';
import { schemaChecker } from '../../support/json-schema-checker.js';
import { IS_POOLED } from '../../support/pooler.js';
import { administer, execute as executeIn, freshDatabase } from '../../support/postgres.js';
import { serveTables } from '../../support/serve-tables.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

const SETTINGS = [
  "DateStyle = 'German, DMY'",
  "TimeZone = 'Asia/Kolkata'",
  // A pooler cannot keep them for each of its clients, so that the start refuses them.
  ...(IS_POOLED ? [] : ["IntervalStyle = 'iso_8601'", "extra_float_digits = '-3'"]),
];

/** Made before a connection reads the types of its database. */
const TYPES = `
  CREATE EXTENSION hstore; CREATE EXTENSION ltree; CREATE EXTENSION isn; CREATE EXTENSION citext;
  CREATE TYPE address AS (street text, no int); CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
  CREATE DOMAIN feeling AS mood; CREATE DOMAIN letters AS varchar(5) CHECK (value <> 'none')`;

const OVERRIDES = 'its methods have parameters, which many records at once do not have';
const MANY = onPath({ fast: ['createMany', 'updateMany'] as const, session: [] });

function modelOf(name: string, { type }: ColumnCase): ModelClass {
  class Typed extends Model {}
  Column(DataType.INTEGER)(Typed.prototype, 'id');
  PrimaryKey(Typed.prototype, 'id');
  Column(type)(Typed.prototype, 'value');
  Column(DataType.TEXT)(Typed.prototype, 'note');
  Object.defineProperty(Typed, 'name', { value: name });
  Table({ tableName: name, timestamps: false })(Typed);
  Crud({
    prefix: `/${name}`,
    pagination: 'cursor',
    filterAllow: '*',
    sortAllow: '*',
    endpoints: ['list', 'read', 'create', 'update', ...MANY],
  })(Typed);
  return Typed;
}

/** The name of a model in the document. */
function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)(.)/g, (_, first: string) => first.toUpperCase());
}

const CASES = Object.entries(COLUMN_TYPES).map(([name, each]) => {
  const values = each.values.map((value) => (typeof value === 'string' ? ([value, value] as const) : value));
  return [name, { ...each, values }] as const;
});
const MODELS = CASES.map(([name, each]) => modelOf(name, each));

describe('a column of a type of its own', () => {
  let apps: readonly BuiltApp[];
  let document: OpenAPIObject | undefined;
  let compile: ReturnType<typeof schemaChecker>;
  const zone = process.env['TZ'];

  const site = serveTestApp(async () => {
    const database = await freshDatabase('types');
    const name = new URL(database.url).pathname.slice(1);
    const client = await administer();
    for (const each of SETTINGS) await client.query(`ALTER DATABASE "${name}" SET ${each}`);
    await executeIn(database.url, TYPES);
    return {
      models: MODELS,
      database,
      engine: { createAll: false },
      bootstrap: { models: [], logger: new CapturedLog() },
    };
  });
  const execute = (text: string) => site.engine.sequelize.query(text);
  const select = async <T extends object>(text: string): Promise<T[]> =>
    site.engine.sequelize.query<T>(text, { type: QueryTypes.SELECT });

  before(async () => {
    process.env['TZ'] = 'America/New_York';
    for (const [name, { column, type, values }] of CASES) {
      await execute(`CREATE TABLE ${name} (id int PRIMARY KEY, value ${column ?? String(type)}, note text)`);
      const rows = [...values.map(([stored]) => `'${stored}'`), 'NULL'];
      await execute(
        `INSERT INTO ${name} VALUES ${rows.map((value, index) => `(${index + 1}, ${value})`).join(', ')}`,
      );
    }
    apps = await buildBoth({ models: MODELS });
    document = apps[0]?.crud.openapi();
    compile = schemaChecker(document);
  });

  after(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  /** The answer of both paths, which is the same. */
  const get = async (path: string) => {
    const [fast, general] = await Promise.all(apps.map(({ agent }) => agent.get(path)));
    expect(fast?.text, path).to.equal(general?.text);
    return { status: fast?.status, body: fast?.body };
  };
  const idsOf = (items: readonly { readonly id: number }[]) => items.map(({ id }) => id);

  it('is warned of at the start where its values follow a setting, or are of another type', async () => {
    const logger = new CapturedLog();
    await buildBoth({ models: MODELS, logger });
    const warned = logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect([...new Set(warned.map((each) => each.split(/[,:] /).slice(0, 2).join()))]).to.have.members([
      'amounts.value,the column is money',
      'amount_lists.value,the column is money[]',
      'mood_texts.value is a text,and the column is feeling',
    ]);
  });

  for (const [index, [name, each]] of CASES.entries()) {
    const { values, found, refused, wrong, barred = [], isPadded, isSorted = true, isWritten = true } = each;
    describe(name, () => {
      const shown = [...values.map(([, wire]) => wire), null].map((value, index) => ({
        id: index + 1,
        value,
        note: null,
      }));

      /** Expects rows with equal values to have these ids, and removes the new ones. */
      const expectSameTexts = async (ids: readonly (readonly number[])[]) => {
        const rows = await select<{ ids: number[] }>(
          `SELECT array_agg(id ORDER BY id) AS ids FROM ${name} GROUP BY value::text ORDER BY 1`,
        );
        expect(rows.map((row) => row.ids)).to.deep.equal(ids);
        await execute(`DELETE FROM ${name} WHERE id > 100`);
      };

      it('is shown, and as the document says', async () => {
        const { body } = await get(`/${name}?sort=id&size=100`);
        expect(body.items).to.deep.equal(shown);
        const { value } = document?.components.schemas?.[`${pascal(name)}Read`]?.properties ?? {};
        // A format is a note, and has neither infinity nor a part that is negative; the pattern says what there may be.
        const schema = JSON.parse(
          JSON.stringify(value, (key, each) => (key === 'format' ? undefined : each)),
        );
        const check = compile(schema);
        for (const item of shown)
          expect(check(item.value), JSON.stringify([item, check.errors])).to.equal(true);
      });

      it('is filtered', async () => {
        const ofNull = {
          '=isnull=true': [shown.length],
          '=isnull=false': values.map((_, index) => index + 1),
        };
        for (const [condition, ids] of Object.entries({ ...found, ...ofNull })) {
          const { body } = await get(`/${name}?sort=id&q=value${condition.replaceAll('"', '%22')}`);
          expect(body.items && idsOf(body.items), `${condition} ${JSON.stringify(body)}`).to.deep.equal(ids);
        }
      });

      it('is refused in a filter that has no meaning', async () => {
        for (const [condition, code] of Object.entries(refused)) {
          const { status, body } = await get(`/${name}?q=value${condition.replaceAll('"', '%22')}`);
          expect([status, body.errors?.[0].code], `${condition} ${JSON.stringify(body)}`).to.deep.equal([
            400,
            code,
          ]);
        }
      });

      if (!isSorted)
        it('is left out of what lists are sorted by', async () =>
          expect((await get(`/${name}?sort=value`)).status).to.equal(400));
      else
        it('is walked in its order, to and fro', async () => {
          // In short one of both, with two rows on a page.
          const size = wholeOr(2, 1);
          for (const direction of ['', '-'].filter((_, at) => wholeOr(at === index % 2, true))) {
            const order = direction === '' ? 'value, id' : 'value DESC, id DESC';
            const expected = idsOf(await select<{ id: number }>(`SELECT id FROM ${name} ORDER BY ${order}`));
            const seen: number[] = [];
            let page = (await get(`/${name}?sort=${direction}value&size=${size}`)).body;
            for (;;) {
              seen.push(...idsOf(page.items));
              if (page.next_cursor === null) break;
              page = (await get(`/${name}?sort=${direction}value&size=${size}&after=${page.next_cursor}`))
                .body;
            }
            expect(seen).to.deep.equal(expected);
            const back: number[] = idsOf(page.items);
            for (; page.prev_cursor !== null; back.unshift(...idsOf(page.items)))
              page = (await get(`/${name}?sort=${direction}value&size=${size}&before=${page.prev_cursor}`))
                .body;
            expect(back).to.deep.equal(expected);
          }
        });

      if (!isWritten) return;

      it('takes back what is shown, and writes nothing then', async () => {
        for (const { agent } of apps) {
          for (const record of shown) {
            const row = () => select(`SELECT xmin::text, value::text FROM ${name} WHERE id = ${record.id}`);
            const before = await row();
            const { status, body } = await agent.patch(`/${name}/${record.id}`).send({ value: record.value });
            expect([status, body]).to.deep.equal([200, record]);
            if (!isPadded) expect(await row(), JSON.stringify(record)).to.deep.equal(before);
          }
        }
      });

      it('is created as it was shown', async () => {
        for (const { agent } of apps) {
          for (const record of shown) {
            const created = { ...record, id: record.id + 100 };
            const { status, body } = await agent.post(`/${name}`).send(created);
            expect([status, body]).to.deep.equal([201, created]);
          }
          await expectSameTexts(shown.map(({ id }) => [id, id + 100]));
        }
      });

      except({ session: OVERRIDES }).it('is written with many others', async () => {
        for (const { agent } of apps) {
          const records = shown.map((record) => ({ ...record, id: record.id + 100 }));
          const many = await agent.post(`/${name}`).send(records);
          expect([many.status, many.body.items]).to.deep.equal([201, records]);
          const changes = records.map(({ id }, index) => ({ id, value: records.at(index - 1)?.value }));
          const changed = await agent.patch(`/${name}`).send(changes);
          expect([changed.status, changed.body.items]).to.deep.equal([
            200,
            changes.map((each) => ({ ...each, note: null })),
          ]);
          await expectSameTexts(shown.map(({ id }) => [id, 100 + ((id % shown.length) + 1)]));
        }
      });

      it('is refused in a body that has no such value', async () => {
        for (const { agent } of apps) {
          for (const value of [...wrong, ...barred]) {
            const { status, body } = await agent.post(`/${name}`).send({ id: 999, value });
            const told = barred.includes(value) ? undefined : '/value';
            expect([status, body.errors?.[0].pointer], JSON.stringify([value, body])).to.deep.equal([
              422,
              told,
            ]);
          }
        }
      });
    });
  }
});

/** Arrays that the driver has no parser for: the type of the attribute, that of the column, a value, and its form in answers and bodies. */
const UNPARSED: readonly (readonly [type: unknown, column: string, stored: string, shown: unknown])[] = [
  [DataType.ARRAY(DataType.TEXT), 'email[]', '{a@b.c,"d \\"e\\" @f",NULL}', ['a@b.c', 'd "e" @f', null]],
  [DataType.ARRAY(DataType.TEXT), 'email[]', '[0:1]={@,"@NULL"}', ['@', '@NULL']],
  [
    DataType.ARRAY(DataType.TEXT),
    'email[]',
    '{{@a,@b},{@c,@d}}',
    [
      ['@a', '@b'],
      ['@c', '@d'],
    ],
  ],
  [DataType.ARRAY(DataType.INTEGER), 'positive[]', '{1,2}', [1, 2]],
  [DataType.ARRAY(DataType.DOUBLE), 'size[]', '{1.5,Infinity}', [1.5, 'Infinity']],
  [DataType.ARRAY(DataType.BOOLEAN), 'flag[]', '{t,f}', [true, false]],
  [DataType.ARRAY(DataType.BIGINT), 'large[]', '{9007199254740993}', ['9007199254740993']],
  [
    DataType.ARRAY(DataType.DATE),
    'moment[]',
    '{"2026-01-31 08:00:00.123456+00"}',
    ['2026-01-31T08:00:00.123456Z'],
  ],
  ['ltree[]', 'ltree[]', '{a.b,c}', ['a.b', 'c']],
  ['xml[]', 'xml[]', '{<a>1</a>}', ['<a>1</a>']],
  ['polygon[]', 'polygon[]', '{"((0,0),(1,1),(1,0))"}', ['((0,0),(1,1),(1,0))']],
];

describe('an array that the driver has no parser for', () => {
  const models = UNPARSED.map(([type], index) => modelOf(`array${index}`, { type } as unknown as ColumnCase));
  const tables = UNPARSED.map(
    ([, column], index) => `CREATE TABLE array${index} (id int PRIMARY KEY, value ${column}, note text)`,
  );
  const { apps, query } = serveTables(
    `CREATE EXTENSION ltree; CREATE DOMAIN email AS text CHECK (value LIKE '%@%'); CREATE DOMAIN positive AS int CHECK (value > 0);
     CREATE DOMAIN size AS float8; CREATE DOMAIN flag AS boolean; CREATE DOMAIN large AS bigint; CREATE DOMAIN moment AS timestamptz;
     CREATE TABLE boxes (id int PRIMARY KEY, value box[], note text); ${tables.join(';')}`,
    [...models, modelOf('boxes', { type: 'box[]' } as unknown as ColumnCase)],
  );

  for (const [index, [, column, stored, shown]] of UNPARSED.entries())
    it(`is an array in answers and bodies: ${column} ${stored}`, async () => {
      const path = `/array${index}`;
      for (const { agent } of apps) {
        await query(`TRUNCATE array${index}; INSERT INTO array${index} VALUES (1, '${stored}'), (2, NULL)`);
        expect((await agent.get(`${path}/1`)).body.value).to.deep.equal(shown);
        expect((await agent.get(path)).body.items[0].value).to.deep.equal(shown);
        const { status, body } = await agent.patch(`${path}/2`).send({ value: shown });
        expect([status, body.value]).to.deep.equal([200, shown]);
        const texts = await query(`SELECT DISTINCT to_jsonb(value::text[]) FROM array${index}`);
        expect(texts).to.have.length(1);
      }
    });

  it('is an array in answers where it has boxes, which have another separator', async () => {
    await query(`INSERT INTO boxes VALUES (1, '{(1,1),(0,0);(2,2),(1,1)}')`);
    for (const { agent } of apps)
      expect((await agent.get('/boxes/1')).body.value).to.deep.equal(['(1,1),(0,0)', '(2,2),(1,1)']);
  });
});
