/** `POST /?on_conflict=…`: changes the record that has a unique key, or creates one; by our SQL, by Sequelize, and by overrides. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { Authorized } from 'routing-controllers';
import { Column, DataType, Index, Model, Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  Crud,
  type CrudController,
  crudController,
  EVERYTHING,
  filter,
  type ModelClass,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { expectJson } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { attach } from '../../support/offline-models.js';
import { passingController } from '../../support/passing-controllers.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { serveTables } from '../../support/serve-tables.js';
import { serveTestApp } from '../../support/test-app.js';
import { ask as send, TwoPaths } from '../../support/two-paths.js';

const isStaff = (request: Request) => request.get('user') === 'staff';
const userOf = (request: Request) => request.get('user') ?? null;

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'restore', 'createMany', 'upsert'],
  upsert: [['country', 'name'], ['code']],
  bulk: { max: 4 },
  filterAllow: ['id'],
  scope: { tenant: (request) => Number(request.get('tenant') ?? 1) },
  visible: () => filter`isHidden==false`,
  can: {
    create: (request) => request.get('user') !== 'reader',
    update: (request) => (isStaff(request) ? EVERYTHING : filter`isLocked==false`),
  },
  fields: {
    code: { update: false },
    note: { write: isStaff },
    kind: { update: false },
    pin: { read: false, update: false },
  },
  set: { maker: { on: 'create', value: userOf }, editor: { on: 'both', value: userOf } },
})
@Table({ tableName: 'places', paranoid: true, version: true })
class Place extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Index({ name: 'places_name', unique: true })
  @Column({ type: DataType.CITEXT, allowNull: false })
  declare name: string;
  @Index({ name: 'places_name', unique: true })
  @Column({ type: DataType.STRING(2), allowNull: false })
  declare country: string;
  @Column({ type: DataType.STRING(10), unique: true }) declare code: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 7 }) declare people: number;
  @Column({ type: DataType.STRING(10) }) declare note: string | null;
  @Column({ type: DataType.STRING(10) }) declare kind: string | null;
  @Column({ type: DataType.STRING(10) }) declare pin: string | null;
  @Column({ type: DataType.STRING(10) }) declare maker: string | null;
  @Column({ type: DataType.STRING(10) }) declare editor: string | null;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare isHidden: boolean;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare isLocked: boolean;
}

const THEN = new Date('2026-01-01T00:00:00Z');
const OLD = { people: 1, note: 'old', kind: 'city', maker: 'bob', editor: 'bob', version: 3 };
const ROWS = [
  { id: 1, name: 'Paris', code: 'PAR' },
  { id: 2, name: 'Lyon', code: 'LYS', isHidden: true },
  { id: 3, name: 'Nice', code: 'NCE', tenant: 2 },
  { id: 4, name: 'Metz', code: 'MZM', isLocked: true },
  { id: 5, name: 'Caen', code: 'CFR', deletedAt: THEN },
  { id: 6, name: 'Tours', code: null },
].map((each) => ({
  tenant: 1,
  country: 'FR',
  pin: '1234',
  ...OLD,
  createdAt: THEN,
  updatedAt: THEN,
  ...each,
}));

const MOMENTS = /^(?:creat|updat|delet)edAt$/;

/** A record as it is shown, without the moments of its writes. */
const shown = (values: object) => ({ tenant: 1, country: 'FR', isHidden: false, isLocked: false, ...values });
const paris = (values: object) => shown({ id: 1, name: 'Paris', code: 'PAR', ...OLD, ...values });
const made = (values: object) =>
  shown({
    id: 21,
    code: null,
    people: 7,
    note: null,
    kind: null,
    maker: 'ann',
    editor: 'ann',
    version: 0,
    ...values,
  });
const BY_CODE = '/places?on_conflict=code';
const BY_NAME = '/places?on_conflict=country,name';
const named = (name: string, values: object = {}) => ({ country: 'FR', name, ...values });
const coded = (code: string | null, name: string, values: object = {}) => named(name, { code, ...values });

/** The path, the body, the status, and the record or the problem of the answer. */
type Case = readonly [
  path: string,
  body: unknown,
  status: number,
  answer: object,
  headers?: Readonly<Record<string, string>>,
];

const issue = (code: string, detail: string, at: object) => ({ detail, errors: [{ ...at, code, detail }] });
const taken = (name: string, at = '') =>
  issue('unique', `Another Place has the same ${name}.`, { pointer: `${at}/${name}` });

const NO_CODE = issue(
  'isDefined',
  'code is a part of the key that on_conflict names, so that it must have a value.',
  { pointer: '/code' },
);
const closed = (name: string) => issue('readOnly', `${name} cannot be set.`, { pointer: `/${name}` });
const twice = (key: string, at: string) => ({
  detail: 'The body has 2 problems.',
  errors: [0, 1].map((item) => ({
    pointer: `/${item}${at}`,
    code: 'repeated',
    detail: `${key} is that of the item ${1 - item}, too; a record may stand in a body once.`,
  })),
});
const aside = (header: string) => ({
  detail: `${header} is about one Place, and on_conflict finds it by the body, so that nothing was done; leave it out.`,
});
/** The same problem as that of any create. */
const nameTaken = (at = '') => ({
  detail: 'Another record has the same unique value.',
  errors: ['name', 'country'].map((name) => taken(name, at).errors[0]),
});

const CASES: Readonly<Record<string, Case>> = {
  'changes what the body has': [
    BY_CODE,
    coded('PAR', 'Paris', { people: 2 }),
    200,
    paris({ people: 2, editor: 'ann', version: 4 }),
  ],
  'changes a part of another key': [
    BY_CODE,
    coded('PAR', 'Lutetia'),
    200,
    paris({ name: 'Lutetia', editor: 'ann', version: 4 }),
  ],
  'finds a row as the column compares': [
    '/places?on_conflict=name,country',
    named('PARIS', { people: 2 }),
    200,
    paris({ people: 2, editor: 'ann', version: 4 }),
  ],
  'leaves what is as it should be': [
    BY_NAME,
    named('Paris', { people: 1 }),
    200,
    paris({ editor: 'ann', version: 4 }),
  ],
  'changes nothing for a key alone': [BY_NAME, named('Paris'), 200, paris({})],
  'keeps the row': [`${BY_NAME}&on_conflict_do=nothing`, named('Paris', { people: 2 }), 200, paris({})],
  'creates with defaults': [BY_CODE, coded('BRE', 'Brest'), 201, made({ name: 'Brest', code: 'BRE' })],
  'creates where nothing is done else': [
    `${BY_NAME}&on_conflict_do=nothing`,
    named('Brest', { people: 2 }),
    201,
    made({ name: 'Brest', people: 2 }),
  ],
  'creates beside a NULL of the key': [
    BY_CODE,
    coded('XXX', 'Brest'),
    201,
    made({ name: 'Brest', code: 'XXX' }),
  ],
  'refuses a NULL in the key': [BY_CODE, coded(null, 'Brest'), 422, NO_CODE],
  'refuses a key without a value': [BY_CODE, named('Brest'), 422, NO_CODE],
  'refuses another key': [
    '/places?on_conflict=name',
    named('Brest'),
    400,
    {
      detail: "Parameter 'on_conflict' is 'name'; it accepts 'country,name', 'code'.",
      errors: [
        {
          parameter: 'on_conflict',
          code: 'on_conflict.unknown',
          detail: "Parameter 'on_conflict' is 'name'; it accepts 'country,name', 'code'.",
          allowed: ['country,name', 'code'],
        },
      ],
    },
  ],
  'refuses a misspelled parameter': [
    '/places?on_conflit=code',
    coded('PAR', 'Paris'),
    400,
    {
      detail:
        "This route has no parameter 'on_conflit'. Did you mean 'on_conflict'? It accepts on_conflict, on_conflict_do, atomic, dry_run.",
      errors: [
        {
          parameter: 'on_conflit',
          code: 'unknown',
          detail:
            "This route has no parameter 'on_conflit'. Did you mean 'on_conflict'? It accepts on_conflict, on_conflict_do, atomic, dry_run.",
        },
      ],
    },
  ],
  'refuses another word': [
    `${BY_CODE}&on_conflict_do=ignore`,
    coded('PAR', 'Paris'),
    400,
    {
      detail: "Parameter 'on_conflict_do' is 'ignore'; it accepts 'update', 'nothing'.",
      errors: [
        {
          parameter: 'on_conflict_do',
          code: 'on_conflict_do.unknown',
          detail: "Parameter 'on_conflict_do' is 'ignore'; it accepts 'update', 'nothing'.",
          allowed: ['update', 'nothing'],
        },
      ],
    },
  ],
  'refuses a word without a key': [
    '/places?on_conflict_do=nothing',
    named('Brest'),
    400,
    issue('required', "Parameter 'on_conflict' names the key by which a record is found, and is missing.", {
      parameter: 'on_conflict',
    }),
  ],
  'refuses another parameter': [
    `${BY_CODE}&atomic=false`,
    coded('PAR', 'Paris'),
    400,
    issue('unknown', "This route has no parameter 'atomic'. It accepts on_conflict, on_conflict_do.", {
      parameter: 'atomic',
    }),
  ],
  'refuses If-Match': [BY_CODE, coded('PAR', 'Paris'), 412, aside('If-Match'), { 'If-Match': '"3"' }],
  'refuses If-None-Match': [
    BY_CODE,
    coded('PAR', 'Paris'),
    412,
    aside('If-None-Match'),
    { 'If-None-Match': '*' },
  ],
  'takes an attribute that stays': [
    BY_CODE,
    coded('PAR', 'Paris', { kind: 'city' }),
    200,
    paris({ editor: 'ann', version: 4 }),
  ],
  'refuses to change an attribute that stays': [
    BY_CODE,
    coded('PAR', 'Paris', { kind: 'town' }),
    409,
    taken('code'),
  ],
  'compares no attribute that answers do not show': [
    BY_CODE,
    coded('PAR', 'Paris', { pin: '1234' }),
    409,
    taken('code'),
  ],
  'gives a new row an attribute that stays': [
    BY_CODE,
    coded('BRE', 'Brest', { kind: 'town' }),
    201,
    made({ name: 'Brest', code: 'BRE', kind: 'town' }),
  ],
  'refuses an attribute that others set': [
    BY_CODE,
    coded('PAR', 'Paris', { note: 'new' }),
    422,
    closed('note'),
  ],
  'refuses the scope': [BY_CODE, coded('PAR', 'Paris', { tenant: 1 }), 422, closed('tenant')],
  'sees no row of another tenant': [BY_CODE, coded('NCE', 'Brest'), 409, taken('code')],
  'sees no row of another tenant by its name': [BY_NAME, named('Nice'), 409, nameTaken()],
  'sees no hidden row': [BY_CODE, coded('LYS', 'Brest'), 409, taken('code')],
  'refuses a row that may not be changed': [
    BY_CODE,
    coded('MZM', 'Metz', { people: 2 }),
    403,
    { detail: 'This request may not update this Place.' },
  ],
  'refuses a row that may not be changed, and is kept': [
    `${BY_CODE}&on_conflict_do=nothing`,
    coded('MZM', 'Metz', { people: 2 }),
    403,
    { detail: 'This request may not update this Place.' },
  ],
  'names restore for a deleted row': [
    BY_CODE,
    coded('CFR', 'Brest'),
    409,
    {
      detail: 'A soft-deleted Place has this code, and nothing was written; restore it, or use another code.',
    },
  ],
  'refuses a unique value of another row': [BY_NAME, coded('MZM', 'Paris'), 409, taken('code')],
  'needs both rules': [
    BY_CODE,
    coded('PAR', 'Paris'),
    403,
    { detail: 'This request may not upsert Place.' },
    { user: 'reader' },
  ],
  'changes many, and creates': [
    BY_CODE,
    [coded('PAR', 'Paris', { people: 2 }), coded('BRE', 'Brest'), coded('XXX', 'Laon')],
    200,
    {
      items: [
        paris({ people: 2, editor: 'ann', version: 4 }),
        made({ name: 'Brest', code: 'BRE' }),
        made({ id: 22, name: 'Laon', code: 'XXX' }),
      ],
      created: [false, true, true],
    },
  ],
  'changes many that have parts of each other': [
    BY_NAME,
    [named('Brest', { people: 2 }), named('PARIS'), named('Laon'), named('Tours', { people: 3 })],
    200,
    {
      items: [
        made({ name: 'Brest', people: 2 }),
        paris({}),
        made({ id: 22, name: 'Laon' }),
        paris({ id: 6, name: 'Tours', code: null, people: 3, editor: 'ann', version: 4 }),
      ],
      created: [true, false, true, false],
    },
  ],
  'keeps many': [
    `${BY_NAME}&on_conflict_do=nothing`,
    [named('Paris', { people: 2 }), named('Brest', { people: 2 })],
    200,
    { items: [paris({}), made({ name: 'Brest', people: 2 })], created: [false, true] },
  ],
  'sees no row of another tenant among many': [
    BY_NAME,
    [named('Paris', { people: 2 }), named('Nice', { people: 2 })],
    409,
    nameTaken('/1'),
  ],
  'refuses many with one that may not be changed': [
    BY_NAME,
    [named('Paris', { people: 2 }), named('Metz', { people: 2 })],
    403,
    {
      detail: 'This request may not update this Place.',
      errors: [{ pointer: '/1', code: 'forbidden', detail: 'This request may not update this Place.' }],
    },
  ],
  'refuses a key that stands twice': [
    BY_CODE,
    [coded('PAR', 'Paris'), coded('PAR', 'Brest')],
    422,
    twice('code', '/code'),
  ],
  'refuses a key that the column compares as one': [
    BY_NAME,
    [named('Paris'), named('PARIS')],
    422,
    twice('country,name', ''),
  ],
  'refuses a new key that the column compares as one': [
    BY_NAME,
    [named('Brest'), named('BREST')],
    422,
    twice('country,name', ''),
  ],
  'refuses many with a problem': [
    BY_CODE,
    [coded('PAR', 'Paris', { people: 2 }), coded('NCE', 'Brest')],
    409,
    taken('code', '/1'),
  ],
  'refuses too many': [
    BY_CODE,
    Array.from({ length: 5 }, () => coded('PAR', 'Paris')),
    413,
    issue('tooMany', 'The body has 5 items; at most 4 are accepted.', { pointer: '' }),
  ],
  'writes each by itself': [
    `${BY_CODE}&atomic=false`,
    [coded('PAR', 'Paris', { people: 2 }), coded('BRE', 'Brest'), coded('NCE', 'Laon')],
    207,
    {
      items: [
        { status: 200, item: paris({ people: 2, editor: 'ann', version: 4 }) },
        { status: 201, item: made({ name: 'Brest', code: 'BRE' }) },
        {
          status: 409,
          problem: taken('code', '/2'),
        },
      ],
    },
  ],
  'undoes many': [
    `${BY_CODE}&dry_run=true`,
    [coded('PAR', 'Paris', { people: 2 }), coded('BRE', 'Brest')],
    200,
    {
      items: [paris({ people: 2, editor: 'ann', version: 4 }), made({ name: 'Brest', code: 'BRE' })],
      created: [false, true],
    },
  ],
};

const Passing = passingController(crudController(Place)) as unknown as new () => CrudController;
const APPLICATIONS: Readonly<Record<string, BootstrapOptions>> = {
  'generated routes': { idempotency: { principal: userOf } },
  'overrides that call super': { controllers: [Passing] },
};

const IGNORED = 'no preference is followed where interceptors take part';

for (const [kind, options] of Object.entries(APPLICATIONS)) {
  except(options.controllers ? {} : OF_MANY).describe(`an upsert, with ${kind}`, function () {
    this.timeout(60_000);
    const paths = forSuite(async () => {
      const database = await freshDatabase();
      await execute(database.url, 'CREATE EXTENSION citext');
      return TwoPaths.start({ database, models: [Place] as ModelClass[], minPool: 2, bootstrap: options });
    });
    const query = (text: string) => paths.site.engine.sequelize.query(text);
    const reset = async () => {
      await query('TRUNCATE places RESTART IDENTITY');
      await Place.bulkCreate(ROWS as never[], { hooks: false });
      await query("SELECT setval('places_id_seq', 20)");
    };
    const stored = async () =>
      JSON.stringify(await Place.findAll({ paranoid: false, order: ['id'], raw: true }));
    beforeEach(reset);

    for (const [name, [path, body, status, answer, headers]] of Object.entries(CASES))
      it(name, async () => {
        const before = await stored();
        const request = { method: 'POST', path, body, headers: { user: 'ann', ...headers } };
        const bySequelize = () => paths.withHooks(() => send(paths.general, request));
        for (const ask of [
          () => send(paths.fast, request),
          () => send(paths.general, request),
          bySequelize,
        ]) {
          await reset();
          const found = await ask();
          const plain = JSON.parse(found.body, (key, value) => (MOMENTS.test(key) ? undefined : value));
          expect(plain).to.deep.equal(answer);
          expect(found.status).to.equal(status);
          if (status >= 400 || path.includes('dry_run')) expect(await stored()).to.equal(before);
          const { items = [], ...one } = JSON.parse(found.body);
          for (const { id, version, createdAt, updatedAt } of [one, ...items])
            if (id === 1)
              expect([createdAt, updatedAt === THEN.toISOString()], 'moments').to.deep.equal([
                THEN.toISOString(),
                version === OLD.version,
              ]);
          if (status === 201) expect(found.headers).to.include(`Location: /places/${plain.id}`);
        }
      });

    it('creates once, whatever comes at once', async () => {
      const request = {
        method: 'POST',
        path: BY_CODE,
        body: coded('BRE', 'Brest'),
        headers: { user: 'ann' },
      };
      for (const site of [paths.fast, paths.general]) {
        await reset();
        const found = await Promise.all(Array.from({ length: 8 }, () => send(site, request)));
        expect(found.map(({ status }) => status).sort()).to.deep.equal([...Array(7).fill(200), 201]);
        expect(await Place.count({ where: { code: 'BRE' } })).to.equal(1);
      }
    });

    except({ values: IGNORED }).it('is answered without the record', async () => {
      const headers = { user: 'ann', Prefer: 'return=minimal' };
      for (const [body, status] of [
        [coded('PAR', 'Paris', { people: 2 }), 204],
        [coded('BRE', 'Brest'), 201],
      ] as const) {
        const { status: found, body: text } = await send(paths.fast, {
          method: 'POST',
          path: BY_CODE,
          body,
          headers,
        });
        expect([found, text]).to.deep.equal([status, '']);
      }
    });

    if (options.idempotency)
      it('is done once under a key', async () => {
        for (const site of [paths.fast, paths.general])
          for (const [key, body] of Object.entries({
            one: coded('BRE', 'Brest'),
            other: coded('BRE', 'Brest', { people: 3 }),
            many: [coded('PAR', 'Paris'), coded('XXX', 'Laon')],
          })) {
            if (key === 'one') await reset();
            const headers = { user: 'ann', 'Idempotency-Key': `"${site.port} ${key}"` };
            const ask = () => send(site, { method: 'POST', path: BY_CODE, body, headers });
            const { status, body: answer } = await ask();
            expect(status).to.equal(key === 'one' ? 201 : 200);
            const again = await ask();
            expect([again.status, again.body]).to.deep.equal([status, answer]);
            expect(again.headers).to.include('Idempotent-Replayed: true');
          }
      });

    it('leaves creates as they are', async () => {
      const create = (body: unknown) =>
        send(paths.fast, { method: 'POST', path: '/places', body, headers: { user: 'ann' } });
      expect((await create(coded('PAR', 'Brest'))).status).to.equal(409);
      expect((await create([coded('BRE', 'Brest')])).status).to.equal(201);
    });
  });
}

const { STRING } = DataType;
const keyed = (name: string, crud: object) =>
  served(name, { code: STRING(10), kind: STRING(10), secret: STRING(10) }, { crud });
const UPSERT = { endpoints: ['create', 'update', 'upsert'], upsert: [['code']] };

except(OF_MANY).describe('the option upsert', () => {
  const cases: Readonly<Record<string, readonly [crud: object, problem: string]>> = {
    'is a list of keys': [
      { ...UPSERT, upsert: ['code'] },
      "upsert is [ 'code' ]; use a list of keys, each a list of attributes: [['code']].",
    ],
    'has keys': [
      { ...UPSERT, upsert: [] },
      "upsert is []; use a list of keys, each a list of attributes: [['code']].",
    ],
    'names attributes': [
      { ...UPSERT, upsert: [['cod']] },
      "upsert names 'cod', which is not an attribute. Did you mean 'code'? The attributes are id, code, kind, secret.",
    ],
    'names a key once': [
      {
        ...UPSERT,
        upsert: [
          ['code', 'kind'],
          ['kind', 'code'],
        ],
      },
      "upsert names 'kind,code' twice; name it once.",
    ],
    'names what a body may have': [
      { ...UPSERT, fields: { code: { create: false } } },
      "upsert names 'code', which no request gives a new record; let bodies have it, or name another attribute.",
    ],
    'is needed by the endpoint': [
      { endpoints: ['create', 'upsert'] },
      "endpoints has 'upsert', and no option upsert names its keys; write upsert: [['code']], or leave it out.",
    ],
    'is of use': [
      { upsert: [['code']], import: { modes: ['create'] } },
      "upsert names keys that nothing uses; name 'upsert' in endpoints or in import.modes, or leave it out.",
    ],
    'needs creates': [
      { ...UPSERT, endpoints: ['update', 'upsert'] },
      "endpoints has 'upsert', which is a POST with on_conflict, and not 'create'; add 'create'.",
    ],
  };
  for (const [name, [crud, problem]] of Object.entries(cases))
    it(name, async () => {
      const Model = keyed('things', crud);
      const problems = await configProblems(() => buildApp({ models: [attach(Model as never)] }));
      expect(problems).to.deep.equal([`Things: ${problem}`]);
    });

  it('is not passed by guards of updates', async () => {
    const Model = keyed('guarded', UPSERT);
    const Guarded = passingController(crudController(attach(Model as never)));
    Authorized()(Guarded.prototype, 'update');
    const problems = await configProblems(() =>
      buildApp({ models: [Model], controllers: [Guarded], routing: { authorizationChecker: () => true } }),
    );
    expect(problems.join()).to.include(
      "Passing.update has decorators that guard it, and endpoints has 'upsert'",
    );
  });

  const TABLES: Readonly<Record<string, readonly [sql: string, isRight?: boolean]>> = {
    plain: ['CREATE UNIQUE INDEX ON plain (code, kind)', true],
    turned: ['CREATE UNIQUE INDEX ON turned (kind, code)', true],
    none: ['CREATE INDEX ON none (code, kind)'],
    narrow: ['CREATE UNIQUE INDEX ON narrow (code)'],
    wide: ['CREATE UNIQUE INDEX ON wide (code, kind, secret)'],
    partial: ['CREATE UNIQUE INDEX ON partial (code, kind) WHERE secret IS NULL'],
    computed: ['CREATE UNIQUE INDEX ON computed (code, lower(kind))'],
    late: ['ALTER TABLE late ADD UNIQUE (code, kind) DEFERRABLE'],
  };
  const models = new Map(
    Object.keys(TABLES).map((name) => [name, keyed(name, { ...UPSERT, upsert: [['code', 'kind']] })]),
  );
  const site = serveTestApp(() => ({ models: [...models.values()], bootstrap: { models: [] } }));
  for (const [name, [sql, isRight]] of Object.entries(TABLES))
    it(`${isRight ? 'takes' : 'refuses'} the index of ${name}`, async () => {
      await site.engine.sequelize.query(sql);
      const start = () => buildApp({ models: [models.get(name) as ModelClass], logger: new CapturedLog() });
      if (isRight) await start();
      else
        expect(await configProblems(start)).to.deep.equal([
          `${name.replace(/^./, (first) => first.toUpperCase())}: upsert names ['code', 'kind'], and no unique index of the table "${name}" is over exactly ` +
            `"code", "kind"; CREATE UNIQUE INDEX ON "${name}" ("code", "kind"); Indexes over some rows, over an expression or over more columns do not ` +
            'count, nor DEFERRABLE ones and those of another collation.',
        ]);
    });

  it('is in the document of creates, and in the table of routes', async () => {
    const Model = models.get('plain') as ModelClass;
    const { agent, crud } = await buildApp({ models: [Model], logger: new CapturedLog() });
    const { body } = await agent.get('/openapi.json');
    const creating = crud.routes.find(({ method }) => method === 'POST');
    expect(creating?.joined).to.deep.equal(['upsert']);
    const { parameters, requestBody, responses } = body.paths['/plain'].post;
    expect(
      parameters
        .filter((each: { in: string }) => each.in === 'query')
        .map(({ name, schema }: never) => [name, schema]),
    ).to.deep.equal([
      ['on_conflict', { type: 'string', enum: ['code,kind'] }],
      ['on_conflict_do', { type: 'string', enum: ['update', 'nothing'] }],
    ]);
    const one = { $ref: '#/components/schemas/PlainCreate' };
    expect(requestBody.content['application/json'].schema).to.deep.equal({
      oneOf: [one, { type: 'array', items: one, minItems: 1, maxItems: 100 }],
    });
    expect(Object.keys(responses).filter((status) => status < '300')).to.deep.equal(['200', '201']);
    expect(responses['200'].content['application/json'].schema.oneOf).to.have.length(2);
  });
});

except(OF_MANY).describe('an upsert of tables that exist', () => {
  const ENDPOINTS = ['read', 'create', 'update', 'upsert'];
  const KEYED = { endpoints: ENDPOINTS, upsert: [['code']], import: { modes: ['create', 'upsert'] } };
  const of = (name: string, columns: Parameters<typeof served>[1], crud: object, table: object = {}) =>
    served(name, columns, { crud: { ...KEYED, ...crud }, table });
  const columns = { code: DataType.TEXT, amount: DataType.INTEGER };
  const models = [
    served(
      'parted',
      { code: { type: DataType.TEXT, primaryKey: true }, amount: DataType.INTEGER },
      {
        base: Model,
        crud: { ...KEYED, etag: 'xmin' },
        table: { timestamps: false },
      },
    ),
    of('numbered', { ...columns, twice: DataType.INTEGER }, { readOnly: ['twice'] }),
    of('watched', columns, { etag: 'xmin' }),
    of('priced', { code: DataType.DECIMAL(10, 2), amount: DataType.INTEGER }, {}),
  ];
  const { apps, query } = serveTables(
    `CREATE TABLE parted (code text PRIMARY KEY, amount int) PARTITION BY HASH (code);
     CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
     CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
     CREATE TABLE numbered (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code text UNIQUE, amount int CHECK (amount > 0),
       twice int GENERATED ALWAYS AS (amount * 2) STORED);
     CREATE TABLE watched (id serial PRIMARY KEY, code text UNIQUE, amount int);
     CREATE FUNCTION add_one() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN UPDATE watched SET amount = NEW.amount + 1 WHERE id = NEW.id; RETURN NULL; END';
     CREATE TRIGGER add AFTER UPDATE ON watched FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION add_one();
     CREATE TABLE priced (id serial PRIMARY KEY, code numeric UNIQUE, amount int)`,
    models,
    // On a busy machine clients wait for each other longer than usual.
    {
      engine: {
        dialectOptions: { lock_timeout: 30_000, statement_timeout: 30_000 },
        pool: { acquire: 30_000 },
      },
    },
  );
  const cases: Readonly<Record<string, (code: string, amount: number, id: number) => object>> = {
    parted: (code, amount) => ({ code, amount }),
    numbered: (code, amount, id) => ({ id, code, amount, twice: amount * 2 }),
    watched: (code, amount, id) => ({ id, code, amount: amount === 1 ? 1 : amount + 1 }),
    priced: (code, amount, id) => ({ id, code, amount }),
  };
  for (const [name, shownAs] of Object.entries(cases))
    it(`writes ${name}`, async () => {
      const code = (value: number) => (name === 'priced' ? `${value}.00` : `${value}`);
      for (const { agent } of apps) {
        await query(`TRUNCATE ${name} RESTART IDENTITY`);
        const path = `/${name}?on_conflict=code`;
        const send = (body: object) => agent.post(path).send(body);
        expectJson(await send({ code: code(1), amount: 1 }), 201, shownAs(code(1), 1, 1));
        expectJson(await send({ code: code(1), amount: 2 }), 200, shownAs(code(1), 2, 1));
        const many = [
          { code: code(1), amount: 5 },
          { code: code(7), amount: 1 },
        ];
        const items = [shownAs(code(1), 5, 1), shownAs(code(7), 1, 2)];
        expectJson(await send(many), 200, { items, created: [false, true] });
        const twice = await send([many[1], { ...many[1], code: '7' }]);
        expect(twice.body.errors.map(({ code: word }: { code: string }) => word)).to.deep.equal([
          'repeated',
          'repeated',
        ]);
        expect(twice.status).to.equal(422);
      }
    });

  it('is answered to each of 16 clients that send the same keys in different orders', async function () {
    this.timeout(60_000);
    const codes = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const turned = (by: number) =>
      codes.map((_, index) => codes[(index * (by % 2 === 0 ? 3 : 5) + by) % 8] as string);
    for (const [app, known] of [0, 1].flatMap((at) => [[at, 0] as const, [at, 8] as const])) {
      const { agent } = apps[app] as (typeof apps)[number];
      await query(`TRUNCATE numbered RESTART IDENTITY;
        INSERT INTO numbered (code, amount) SELECT 'c' || n, 1 FROM generate_series(${known} - 1, 0, -2) AS n`);
      const send = (by: number) =>
        agent.post('/numbered?on_conflict=code').send(turned(by).map((code) => ({ code, amount: by + 1 })));
      const answers = await Promise.all(Array.from({ length: 16 }, (_, by) => send(by)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(16).fill(200));
      const created = answers.flatMap(({ body }) => body.created).filter(Boolean);
      expect(created).to.have.length(8 - known / 2);
      for (const [by, { body }] of answers.entries())
        expect(body.items.map(({ code }: { code: string }) => code)).to.deep.equal(turned(by));
      const rows = await query('SELECT count(DISTINCT amount) AS amounts, count(*) AS rows FROM numbered');
      expect(rows).to.deep.equal([{ amounts: '1', rows: '8' }]);
    }
  });

  for (const [name, shownAs] of Object.entries(cases))
    it(`imports into ${name}, where the later of two rows in different chunks wins`, async () => {
      // Row by row, as on the other path, so many would take seconds.
      const isShort = name === 'watched';
      const count = isShort ? 20 : 1_001;
      const codes = Array.from({ length: count }, (_, index) => (index % 1_000) + 1);
      const files = [1, 5].map((amount) =>
        codes.map((code, index) => `${code},${amount + (index < 1_000 ? 0 : 3)}\n`).join(''),
      );
      for (const { agent } of isShort ? apps : apps.slice(0, 1)) {
        await query(`TRUNCATE ${name} RESTART IDENTITY`);
        const send = (mode: string, file = '') =>
          agent
            .post(`/${name}/import?mode=${mode}`)
            .set('Content-Type', 'text/csv')
            .send(`code,amount\n${file}`);
        const refused = await send('create', `${files[0]}${isShort ? '1,1\n' : ''}`);
        const [error] = refused.body.errors;
        expect([refused.status, error.row, error.code]).to.deep.equal([422, isShort ? 21 : 1_001, 'unique']);
        expect(await query(`SELECT FROM ${name}`)).to.deep.equal([]);
        for (const [file, created] of [
          [files[0], isShort ? 20 : 1_000],
          [files[1], 0],
        ] as const) {
          const { body } = await send('upsert', file);
          expect(body).to.include({ rows: count, created, updated: count - created, failed: 0 });
        }
        const [first] = await query(`SELECT * FROM ${name} WHERE code = '1'`);
        const { id } = first as { readonly id?: number };
        expect(first).to.deep.equal({
          ...shownAs('1', isShort ? 5 : 8, 1),
          ...(id === undefined ? {} : { id }),
        });
      }
    });
});
