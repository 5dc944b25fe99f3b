/** Extensions by users: the same bytes, stored rows and values, whichever code runs the SQL and writes the answer. */
// @runs fast
import { expect } from 'chai';
import { Exclude, Expose, Transform } from 'class-transformer';
import { type Action, Interceptor, type InterceptorInterface } from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { AutoIncrement, Column, DataType, PrimaryKey, Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  Crud,
  type CrudContext,
  crudController,
  type Id,
  type ListQuery,
  type ModelClass,
  type Page,
  type ReadQuery,
  type RouteInfo,
  type UpdateValues,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { type Listening, listen } from '../../support/listen.js';
import { inUnit, passingController } from '../../support/passing-controllers.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';
import { ask, type WholeRequest } from '../../support/two-paths.js';

/** A column for each way of writing a value. */
abstract class Columns extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false, field: 'the text' }) declare text: string;
  @Column(DataType.DOUBLE) declare number: number | null;
  @Column(DataType.BIGINT) declare big: string | null;
  @Column(DataType.DECIMAL) declare exact: string | null;
  @Column(DataType.BOOLEAN) declare flag: boolean | null;
  @Column(DataType.DATE) declare moment: Date | null;
  @Column(DataType.DATEONLY) declare day: string | null;
  @Column(DataType.UUID) declare uuid: string | null;
  @Column(DataType.JSONB) declare extra: unknown;
  @Column(DataType.BLOB) declare bytes: Buffer | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare words: string[] | null;
}

const OFFSET = { sortAllow: ['text'], filterAllow: ['text', 'flag'] } as never;
const CURSOR = { sortAllow: ['text'], filterAllow: ['text'], pagination: 'cursor' } as never;
const TABLE = { tableName: 'columns', timestamps: false } as const;

/** Models of the one table: one without extensions, and one for each extension. */
@Crud(OFFSET)
@Table(TABLE)
class Plain extends Columns {}

@Crud(CURSOR)
@Table(TABLE)
class Walked extends Columns {}

@Crud(OFFSET)
@Table(TABLE)
class WithGetter extends Columns {
  @Column({
    type: DataType.TEXT,
    allowNull: false,
    field: 'the text',
    get(this: WithGetter) {
      return `${this.getDataValue('text')} of ${this.id}`;
    },
  })
  declare text: string;
}

@Crud(CURSOR)
@Table(TABLE)
class WithVirtual extends Columns {
  @Column(DataType.VIRTUAL)
  get shout(): object {
    return { text: `${this.text}!`, at: this.moment, nothing: undefined };
  }
}

/** The ids of records whose getters have run. */
const gotten: number[] = [];

/** Getters that change the value that an answer shows. */
@Crud(OFFSET)
@Table(TABLE)
class WithChanges extends Columns {
  @Column({
    type: DataType.BIGINT,
    get(this: WithChanges) {
      gotten.push(this.id);
      if (this.id === 1) this.setDataValue('flag', null);
      if (this.id === 2) this.setDataValue('number', 7);
      if (this.id === 3) this.getDataValue('moment')?.valueOf();
      return this.getDataValue('big');
    },
  })
  declare big: string | null;

  @Column({
    type: DataType.DECIMAL,
    get(this: WithChanges) {
      const moment: unknown = this.getDataValue('moment');
      if (moment instanceof Date) moment.setUTCFullYear(1999);
      return undefined;
    },
  })
  declare exact: string | null;
}

@Crud(OFFSET)
@Table(TABLE)
class WithNote extends Columns {
  /** A value that a client sends is in the answer, and not in the row. */
  @Column(DataType.VIRTUAL(DataType.STRING(20))) declare note: string | null;
}

@Crud(OFFSET)
@Table(TABLE)
class WithTransform extends Columns {
  @Transform(({ value }) => (value === null ? null : `about ${value}`), { toPlainOnly: true })
  @Column(DataType.DOUBLE)
  declare number: number | null;
}

@Crud(OFFSET)
@Table(TABLE)
class WithHiddenKey extends Columns {
  @Exclude({ toPlainOnly: true })
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;
}

class Chosen {
  @Expose() words!: string[];
  @Expose() text!: string;
  @Expose() moment!: Date;
  @Expose() extra!: unknown;
  @Expose() bytes!: Buffer;
  @Expose() big!: string;
  @Expose() exact!: string;
}

class Renamed extends Chosen {
  @Expose({ name: 'Title "x"' }) declare text: string;
  @Expose({ name: 'key' }) id!: number;
}

@Exclude()
class Strict {
  @Expose() id!: number;
  @Expose() uuid!: string;
  @Expose() number!: number;
}

class WithCode {
  @Expose() id!: number;
  @Expose() text!: string;
  @Expose() get length(): number {
    return this.text.length;
  }
}

/** In short, one that renames, and one that computes. */
const READ_CLASSES = wholeOr([Renamed, WithCode], [Chosen, Renamed, Strict, WithCode]);

/** Values that interceptors received. */
const seen: unknown[] = [];

@Interceptor()
class Passing implements InterceptorInterface {
  intercept(_action: Action, content: unknown): unknown {
    seen.push(structuredClone(content));
    return content;
  }
}

/** Changes of an override to a record that it passes on; each shows in the answer. */
const CHANGES: Readonly<Record<string, (record: Plain) => object>> = {
  'sets an attribute': (record) => record.set('number', 7),
  'assigns an attribute': (record) => Object.assign(record, { text: 'assigned' }),
  'writes to the values': (record) => {
    record.dataValues.number = 7;
    return record;
  },
  'replaces the values': (record) => Object.assign(record, { dataValues: { id: 9, text: 'other' } }),
  'takes values away': (record) => Object.assign(record, { dataValues: {} }),
  'changes a moment in place': (record) => {
    const { moment } = record;
    if (moment instanceof Date) moment.setUTCFullYear(1999);
    return record;
  },
  'changes JSON in place': (record) => Object.assign(record, { extra: { before: record.extra } }),
  'looks at everything': (record) => {
    record.get({ plain: true });
    return record;
  },
  'has a getter of its own': (record) => Object.assign(record, { get: (name: string) => `own ${name}` }),
  freezes: (record) => Object.freeze(record),
  'has values of its own': (record) =>
    Object.defineProperty(record, 'dataValues', { value: { id: 9, text: 'other' } }),
  'is of another class': (record) => Object.setPrototypeOf(record, WithGetter.prototype) as object,
  'gives a copy': (record) => record.toJSON(),
  'gives what inherits from it': (record) => Object.create(record),
  'gives a proxy': (record) => new Proxy(record, {}),
  'gives a record of another model': (record) => WithGetter.build(record.toJSON(), { raw: true }),
  'gives a record that was read with less': (record) =>
    Plain.build({ id: record.id }, { raw: true, isNewRecord: false }),
  spreads: (record) => ({ ...record }),
};

let change: (record: Plain) => object;

/** Overrides that pass on changed records. */
class Changing extends crudController<Plain, object>(Plain) {
  override async list(query: ListQuery, context: CrudContext<Plain>): Promise<Page<object>> {
    const page = await super.list(query, context);
    return { ...page, items: page.items.map((record) => change(record as Plain)) };
  }
  override async read(id: Id, query: ReadQuery, context: CrudContext<Plain>) {
    return change((await super.read(id, query, context)) as Plain);
  }
  override async update(id: Id, values: UpdateValues<Plain>, context: CrudContext<Plain>) {
    const record = (await super.update(id, values, context)) as Plain;
    return change(await record.update({ number: 5 }));
  }
}

/** An application with an extension. */
interface Extended {
  readonly what: string;
  readonly options: BootstrapOptions;
  /** Models that it extends. Default: all */
  readonly extended?: readonly ModelClass[];
}

const OVERRIDDEN: readonly ModelClass[] = [Plain, Walked, WithGetter, WithNote];
const OVERRIDES = OVERRIDDEN.map((model) => passingController(crudController(model)));

const EXTENSIONS: readonly Extended[] = [
  ...wholeOr<Extended[]>(
    [],
    [
      { what: 'nothing', options: {} },
      { what: 'overrides', options: { controllers: OVERRIDES }, extended: OVERRIDDEN },
      { what: 'an interceptor', options: { routing: { interceptors: [Passing] } } },
    ],
  ),
  {
    what: 'overrides and an interceptor',
    options: { controllers: OVERRIDES, routing: { interceptors: [Passing] } },
  },
  { what: 'a unit of work', options: { controllers: OVERRIDES.map(inUnit) }, extended: OVERRIDDEN },
  ...READ_CLASSES.flatMap((schema) =>
    wholeOr([{}], [{}, { routing: { interceptors: [Passing] } }]).map((options) => ({
      what: `the read schema ${schema.name} ${'routing' in options ? 'and an interceptor' : ''}`,
      options: {
        ...options,
        controllers: [
          class extends crudController(Plain, { readSchema: schema }) {},
          class extends crudController(Walked, { readSchema: schema }) {},
        ],
      },
      ...('routing' in options ? {} : { extended: [Plain, Walked] }),
    })),
  ),
];

const GIVEN = {
  text: 'é "\\ 🙂',
  number: -0.1,
  big: '9007199254740993',
  exact: '1.50',
  flag: true,
  moment: '2026-01-31T08:00:00.5Z',
  day: '2026-01-31',
  uuid: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
  extra: { b: [1, { next: null }], a: 'x', 2: 1 },
  bytes: 'AP+AYQ==',
  words: ['a', '"', ''],
};

/** Requests of each resource; `key` is the name of a property that its answers have. */
function requestsOf(path: string, key: string): WholeRequest[] {
  const [one, none] = [`${path}/1`, `${path}/99`];
  const note = path === '/with-notes' ? { note: 'given' } : {};
  return [
    ...['', '?size=1', '?size=2&sort=-text', `?fields=${key}`, '?q=text==b', '?q=text==none', '?size=0'].map(
      (query) => ({ path: `${path}${query}` }),
    ),
    ...[one, `${path}/2`, `${one}?fields=${key}`, none, `${path}/x`].map((item) => ({ path: item })),
    { method: 'HEAD', path: one },
    { method: 'HEAD', path },
    { method: 'POST', path, body: GIVEN },
    { method: 'POST', path, body: { text: 'only', ...note } },
    { method: 'POST', path, body: {} },
    { method: 'PATCH', path: one, body: GIVEN },
    { method: 'PATCH', path: one, body: {} },
    { method: 'PATCH', path: one, body: { number: null, ...note } },
    { method: 'PATCH', path: none, body: { text: 'x' } },
    { method: 'DELETE', path: one },
    { method: 'DELETE', path: none },
  ];
}

/** The same routes on both sides. */
interface Sides extends AsyncDisposable {
  readonly fast: Listening;
  readonly general: Listening;
  readonly routes: readonly RouteInfo[];
}

describe('extending a route', () => {
  const MODELS = [
    Plain,
    Walked,
    WithGetter,
    WithVirtual,
    WithChanges,
    WithNote,
    WithTransform,
    WithHiddenKey,
  ];
  const site = serveTestApp(() => ({ models: MODELS, bootstrap: { logger: new CapturedLog() } }));

  async function serve(options: BootstrapOptions): Promise<Sides> {
    const both = {
      models: MODELS,
      ...options,
      cursorSecret: 'a secret of sixteen',
      logger: new CapturedLog(),
    };
    const fast = await buildApp({ ...both, fastPath: true });
    const general = await buildApp({ ...both, fastPath: false });
    const [one, other] = [await listen(fast.app), await listen(general.app)];
    return {
      fast: one,
      general: other,
      routes: fast.crud.routes,
      async [Symbol.asyncDispose]() {
        await one[Symbol.asyncDispose]();
        await other[Symbol.asyncDispose]();
      },
    };
  }

  /** Three rows: with values, without, and with values that only SQL can write. */
  const restore = () =>
    site.engine.sequelize.query(`DELETE FROM columns;
      SELECT setval('columns_id_seq', 1, false);
      INSERT INTO columns ("the text", number, big, exact, flag, moment, day, uuid, extra, bytes, words) VALUES
      ('a', 0.1, 1, 1.10, true, '2026-01-31 08:00:00.1239+00', '2026-01-31', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
        '{"a": [1.50, null, {"__proto__": 1, "constructor": 2}]}', '\\x00ff', '{a,NULL}'),
      ('b', null, null, null, null, null, null, null, null, null, null),
      ('c', 'NaN', -5, 'NaN', false, 'infinity', '0044-03-15 BC', null, '"text"', '', '{{a,b},{c,d}}')`);

  /** All values of the rows, as a text. */
  const stored = async (): Promise<string> => {
    const text = 'SELECT columns::text AS text FROM columns ORDER BY id';
    const rows = await site.engine.sequelize.query<{ text: string }>(text, { type: QueryTypes.SELECT });
    return rows.map((row) => row.text).join('\n');
  };

  const read = async <T>(side: Listening, path: string) => JSON.parse((await ask(side, { path })).body) as T;

  for (const { what, options, extended = MODELS } of EXTENSIONS) {
    describe(`by ${what}`, () => {
      const sides = forSuite(() => serve(options));

      it('gives the same bytes, shows the same values, and stores the same rows', async () => {
        const names = extended.map(({ name }) => name);
        const lists = sides.routes.filter(
          ({ operation, resource }) => operation === 'list' && names.includes(resource),
        );
        expect(lists).to.have.length(extended.length);
        for (const { path } of lists) {
          await restore();
          const given = await stored();
          const { items } = await read<{ items: object[] }>(sides.fast, path);
          const [key = ''] = Object.keys(items[0] ?? {});
          const statuses = new Set<number>();
          for (const wanted of requestsOf(path, encodeURIComponent(key))) {
            const outcomes = [];
            for (const side of [sides.fast, sides.general]) {
              seen.length = 0;
              const answer = await ask(side, wanted);
              const rows = await stored();
              outcomes.push({ answer, rows, seen: [...seen] });
              if (wanted.method === undefined || wanted.method === 'HEAD') expect(rows).to.equal(given);
              else await restore();
            }
            expect(outcomes[0], JSON.stringify(wanted)).to.deep.equal(outcomes[1]);
            statuses.add(outcomes[0]?.answer.status ?? 0);
            const isSeen = options.routing !== undefined && (outcomes[0]?.answer.status ?? 500) < 400;
            expect(outcomes[0]?.seen, JSON.stringify(wanted)).to.have.length(isSeen ? 1 : 0);
          }
          expect([...statuses], path).to.have.members([200, 201, 204, 400, 404, 422]);
        }
      });

      it('gives the same pages by cursor, in both directions', async () => {
        await restore();
        const page = async (place: string) => {
          const path = `/walkeds?size=1&sort=-text${place}`;
          const answer = await ask(sides.fast, { path });
          expect(await ask(sides.general, { path })).to.deep.equal(answer);
          return JSON.parse(answer.body) as { next_cursor: string | null; prev_cursor: string | null };
        };
        const first = await page('');
        const second = await page(`&after=${first.next_cursor}`);
        const third = await page(`&after=${second.next_cursor}`);
        await page(`&before=${third.prev_cursor}`);
        expect(third.next_cursor).to.equal(null);
      });

      if (!options.controllers) {
        it('leaves the SQL of reads as it is', () => {
          const reads = sides.routes.filter(({ method }) => method === 'GET');
          expect(reads.flatMap(({ generalPathReasons }) => generalPathReasons)).to.deep.equal([]);
        });
      }
    });
  }

  it('runs a getter once for each record, also where it changes the record', async () => {
    await using sides = await serve({ models: [WithChanges] });
    await restore();
    for (const side of [sides.fast, sides.general]) {
      gotten.length = 0;
      await ask(side, { path: '/with-changes' });
      await ask(side, { path: '/with-changes/1' });
      expect(gotten).to.deep.equal([1, 2, 3, 1]);
    }
  });

  describe('by an override that changes its records', () => {
    const sides = forSuite(() => serve({ models: [Plain], controllers: [Changing] }));

    for (const [what, changing] of Object.entries(CHANGES))
      it(`gives what it makes of a record: ${what}`, async () => {
        change = changing;
        for (const wanted of [
          { path: '/plains' },
          { path: '/plains?fields=number,text' },
          { path: '/plains/1' },
          { path: '/plains/2?fields=moment' },
          { method: 'PATCH', path: '/plains/1', body: { flag: false } },
        ]) {
          const answers = [];
          for (const side of [sides.fast, sides.general]) {
            await restore();
            answers.push(await ask(side, wanted));
          }
          expect(answers[0], JSON.stringify(wanted)).to.deep.equal(answers[1]);
          expect(answers[0]?.status).to.equal(200);
        }
      });
  });
});
