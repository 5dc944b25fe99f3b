/** Whatever a user plugs in that the fast path would pass by sends its routes on the general one, and shows in the answer. */
// @runs fast

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import type { RequestHandler } from 'express';
import {
  type Action,
  Header,
  HttpCode,
  Interceptor,
  type InterceptorInterface,
  Middleware,
  OnUndefined,
  UseAfter,
  UseInterceptor,
} from 'routing-controllers';
import { literal } from 'sequelize';
import {
  Column,
  DataType,
  DeletedAt,
  ForeignKey,
  HasMany,
  Model,
  Table,
  UpdatedAt,
} from 'sequelize-typescript';
import type { Test } from 'supertest';
import {
  type BootstrapOptions,
  Crud,
  type CrudContext,
  crudController,
  type ModelClass,
  type ReadQuery,
  Repository,
  type RouteInfo,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { addedHook } from '../../support/added-hook.js';
import { type BuiltApp, buildApp, buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

abstract class Row extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: true }) declare name: string | null;
}

const PLAIN = { timestamps: false } as const;
const ALL = ['list', 'read', 'create', 'update', 'delete'];
const RECORDS = ['list', 'read', 'create', 'update'];
const WRITES = ['create', 'update'];

@Crud()
@Table(PLAIN)
class Plain extends Row {}

@Crud()
@Table(PLAIN)
class WithField extends NumberedRow {
  prefix = 'field';

  @Column({ type: DataType.STRING(40) })
  get name(): string {
    return `${this.prefix} ${this.getDataValue('name')}`;
  }
}

@Crud()
@Table(PLAIN)
class WithPrivateField extends NumberedRow {
  readonly #prefix = 'private';

  @Column({ type: DataType.STRING(40) })
  get name(): string {
    return `${this.#prefix} ${this.getDataValue('name')}`;
  }
}

@Crud()
@Table(PLAIN)
class WithSetter extends NumberedRow {
  @Column({ type: DataType.STRING(40) })
  set name(value: string) {
    this.setDataValue('name', `set ${value}`);
  }
}

@Crud()
@Table(PLAIN)
class WithRule extends Row {
  @Column({ type: DataType.STRING(40), validate: { notIn: [['bad']] } }) declare label: string | null;
}

@Crud()
@Table({
  ...PLAIN,
  validate: {
    isNamed(this: WithModelRule) {
      if (this.name === 'bad') throw new Error('is bad');
    },
  },
})
class WithModelRule extends Row {}

@Crud()
@Table(PLAIN)
class WithStatic extends Row {
  static override build(values?: object, options?: object): never {
    // biome-ignore lint/complexity/noThisInStatic: the model that is built is the one it is called on
    return super.build({ ...values, name: 'built' }, options) as never;
  }
}

@Crud()
@Table(PLAIN)
class WithMethod extends Row {
  override get(name?: unknown, options?: unknown): never {
    const value = super.get(name as never, options as never) as unknown;
    return (name === 'name' ? `method ${value}` : value) as never;
  }
}

@Crud()
@Table(PLAIN)
class WithConstructor extends Row {
  constructor(values?: Record<string, unknown>, options?: object) {
    super(values, options);
    if (this.name) this.setDataValue('name', `made ${this.name}`);
  }
}

class NameOnly {
  @Expose() declare name: string;
}

@Crud({ readSchema: NameOnly })
@Table(PLAIN)
class WithReadSchema extends Row {}

@Crud({ idType: (raw) => Number(raw.replace('no-', '')) })
@Table(PLAIN)
class WithIds extends Row {}

@Crud()
@Table({ createdAt: false })
class WithOwnMoment extends Row {
  @UpdatedAt @Column({ type: DataType.DATE, defaultValue: new Date(0) }) declare touched: Date;
}

@Crud()
@Table({ createdAt: false, updatedAt: false, paranoid: true })
class WithOwnEnd extends Row {
  @DeletedAt @Column({ type: DataType.DATE, defaultValue: new Date(0) }) declare ended: Date;
}

const NAME = { name: DataType.STRING(40) };
const WithVersion = served('versions', NAME, { table: { version: true } });
const WithDocuments = served('documents', { ...NAME, document: DataType.JSON });
const WithRange = served('ranges', { ...NAME, range: DataType.RANGE(DataType.INTEGER) });
const WithScope = served('scopes', NAME, { table: { defaultScope: { where: { name: 'shown' } } } });
const Triggered = served('triggereds', NAME);
const WithLiteral = served('literals', {
  ...NAME,
  sum: { type: DataType.INTEGER, defaultValue: literal('1 + 2') },
});
const WithCascade = served('cascades', { ...NAME, parent: DataType.TEXT });

class OverriddenController extends crudController(Plain) {
  override async read(id: number, query: ReadQuery, context: CrudContext<Plain>): Promise<Plain> {
    const row = await super.read(id, query, context);
    row.name = `overridden ${row.name}`;
    return row;
  }
}

class StoredRepository extends Repository<Plain> {
  static override model = Plain;
  override async find(id: number): Promise<Plain | null> {
    const row = await super.find(id);
    if (row) row.name = `stored ${row.name}`;
    return row;
  }
}

class StoredController extends crudController(StoredRepository) {}

@Crud()
@Table(PLAIN)
class WithTableDefault extends Row {
  @Exclude({ toClassOnly: true })
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare made: number;
}

@Crud()
@Table(PLAIN)
class WithJson extends Row {
  override toJSON(): never {
    return { id: this.id, secret: 'x' } as never;
  }
}

@Crud()
@Table(PLAIN)
class WithParts extends Row {
  @ForeignKey(() => WithParts) @Column(DataType.INTEGER) declare wholeId: number | null;
  @HasMany(() => WithParts, { onDelete: 'CASCADE', hooks: true }) declare parts: WithParts[];
}

@Crud()
@Table(PLAIN)
class WithFieldMethod extends Row {
  override save = async (options?: never): Promise<this> => {
    this.name = `saved ${this.name}`;
    return Model.prototype.save.call(this, options) as Promise<this>;
  };
}

const seen: string[] = [];

@Interceptor()
class Wrap implements InterceptorInterface {
  intercept(_action: Action, content: unknown): unknown {
    return { wrapped: content };
  }
}

@Middleware({ type: 'after' })
class After {
  use(_request: unknown, _response: unknown, next: () => void): void {
    seen.push('after');
    next();
  }
}

/** Says something of generated methods without an override. */
class DecoratedController extends crudController(Plain) {}
for (const [method, decorate] of [
  ['read', HttpCode(203)],
  ['create', Header('X-Made', 'yes')],
  ['remove', OnUndefined(202)],
] as const) {
  decorate(DecoratedController.prototype, method);
}

@UseInterceptor(Wrap)
class InterceptedController extends crudController(Plain) {}

@UseAfter(After)
class FollowedController extends crudController(Plain) {}

const MODELS = [
  Plain,
  WithField,
  WithPrivateField,
  WithSetter,
  WithScope,
  WithRule,
  WithModelRule,
  WithVersion,
  WithStatic,
  WithMethod,
  WithConstructor,
  WithReadSchema,
  WithIds,
  WithDocuments,
  WithRange,
  WithOwnMoment,
  WithOwnEnd,
  Triggered,
  WithLiteral,
  WithCascade,
  WithTableDefault,
  WithJson,
  WithParts,
  WithFieldMethod,
];

/** Shows that a plug-in has its effect: by the name of row 1 when it is read, which is stored as `shown`, or by a test of its own. */
type Effect = string | ((agent: BuiltApp['agent'], path: string) => Promise<unknown>);

const FIELDS = 'the model has getters, and fields that its constructor sets';

const CASES: readonly (readonly [
  model: ModelClass,
  operations: readonly string[],
  reason: string,
  effect: Effect,
])[] = [
  [Plain, ALL, 'fastPath is false', 'shown'],
  [WithField, RECORDS, FIELDS, 'field shown'],
  [WithPrivateField, RECORDS, FIELDS, 'private shown'],
  [WithStatic, ALL, 'the model overrides static build', 'built'],
  [WithMethod, ALL, 'the model overrides get', 'method shown'],
  [WithConstructor, ALL, 'the model overrides the constructor', 'made shown'],
  [WithDocuments, ['update'], 'document is of a type that only Sequelize compares', 'shown'],
  [WithRange, WRITES, 'range is of a type that only Sequelize writes', 'shown'],
  [WithOwnMoment, WRITES, 'touched is not a plain timestamp', 'shown'],
  [
    WithSetter,
    WRITES,
    'name has a setter',
    async (agent, path) =>
      expect((await agent.patch(`${path}/1`).send({ name: 'x' })).body.name).to.equal('set x'),
  ],
  [
    WithScope,
    ALL,
    'the model has a default scope',
    async (agent, path) => {
      await WithScope.update({ name: 'hidden' }, { where: {} });
      await agent.get(`${path}/1`).expect(404);
    },
  ],
  [
    WithRule,
    WRITES,
    'label has validation rules of Sequelize',
    (agent, path) => agent.post(path).send({ label: 'bad' }).expect(422),
  ],
  [
    WithModelRule,
    WRITES,
    'the model has validation rules of Sequelize',
    (agent, path) => agent.patch(`${path}/1`).send({ name: 'bad' }).expect(422),
  ],
  [
    WithFieldMethod,
    ALL,
    'the model overrides save',
    async (agent, path) => expect((await agent.post(path).send({ name: 'x' })).body.name).to.equal('saved x'),
  ],
  [
    WithParts,
    ['delete'],
    'the hooks of parts run when a record is deleted',
    async (agent, path) => {
      await agent.post(path).send({ name: 'part', wholeId: 1 });
      using _hook = addedHook(WithParts, 'beforeDestroy', ({ name }: WithParts) => seen.push(String(name)));
      await agent.delete(`${path}/1`).expect(204);
      expect(seen).to.deep.equal(['shown', 'part']);
    },
  ],
  [
    WithOwnEnd,
    ALL,
    'ended is not a plain timestamp',
    async (agent, path) => {
      await agent.delete(`${path}/1`).expect(204);
      await agent.get(`${path}/1`).expect(404);
    },
  ],
];

const SHOWN = { id: 1, name: 'shown' };

/** Plug-ins that leave the SQL as it is, and the answer for row 1 with them. */
const OWN_SQL: readonly (readonly [
  what: string,
  model: ModelClass,
  options: BootstrapOptions,
  body: object,
])[] = [
  ['a version', WithVersion, {}, { ...SHOWN, version: 0 }],
  ['a read schema', WithReadSchema, {}, { name: 'shown' }],
  ['toJSON, which both paths call', WithJson, {}, { id: 1 }],
  ["ids that code of the user's reads", WithIds, {}, SHOWN],
  ['an override', Plain, { controllers: [OverriddenController] }, { id: 1, name: 'overridden shown' }],
  ["a repository of the user's", Plain, { controllers: [StoredController] }, { id: 1, name: 'stored shown' }],
  ['interceptors of the controller', Plain, { controllers: [InterceptedController] }, { wrapped: SHOWN }],
  ['interceptors of the application', Plain, { routing: { interceptors: [Wrap] } }, { wrapped: SHOWN }],
  ['a middleware of the controller after the answer', Plain, { controllers: [FollowedController] }, SHOWN],
  ['middlewares of the application after an answer', Plain, { routing: { middlewares: [After] } }, SHOWN],
];

/** The operations that have a reason, in their usual order; one that has it twice comes twice. */
function operationsWith(routes: readonly RouteInfo[], reason: string): string[] {
  return ALL.flatMap((operation) =>
    routes
      .filter((route) => route.operation === operation)
      .flatMap(({ generalPathReasons }) => generalPathReasons.filter((each) => each === reason))
      .map(() => operation),
  );
}

describe('the general path', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({ models: MODELS, engine: { logging: sql.record } }));

  const serve = (options: BootstrapOptions, prepare?: Parameters<typeof buildApp>[1]) =>
    buildApp({ fastPath: true, logger: new CapturedLog(), ...options }, prepare);

  /** Sequelize ends its statements; the fast path does not. */
  async function isGeneral(work: () => PromiseLike<unknown>): Promise<boolean> {
    const { statements } = await sql.during(work);
    expect(statements).to.not.deep.equal([]);
    return statements.every((statement) => statement.endsWith(';'));
  }

  beforeEach(async () => {
    seen.length = 0;
    await emptyTables(site, ...MODELS.map((model) => String(model.getTableName())));
    const insertions = MODELS.map((model) => {
      const made = model === WithTableDefault ? ['(name, made)', "('shown', 1)"] : ['(name)', "('shown')"];
      return `INSERT INTO "${model.getTableName()}" ${made.join(' VALUES ')}`;
    });
    await site.engine.sequelize.query(insertions.join(';'));
    await site.engine.sequelize.query(`UPDATE "${WithOwnEnd.getTableName()}" SET ended = to_timestamp(0)`);
    await site.engine.sequelize.query(`UPDATE "${WithVersion.getTableName()}" SET version = 0`);
  });

  it('is not taken by a model that has nothing of the kind', async () => {
    const { agent, crud } = await serve({ models: [Plain] });
    expect(crud.routes.flatMap(({ generalPathReasons }) => generalPathReasons)).to.deep.equal([]);
    expect(await isGeneral(() => agent.get('/plains/1'))).to.equal(false);
  });

  for (const [model, operations, reason, effect] of CASES) {
    it(`is taken because ${reason}: ${model.name}`, async () => {
      const { agent, crud } = await serve({ models: [model], fastPath: model !== Plain });
      const path = crud.routes.find(({ operation }) => operation === 'list')?.path ?? '';
      expect(operationsWith(crud.routes, reason)).to.deep.equal(operations);
      if (operations.includes('read')) {
        expect(await isGeneral(() => agent.get(`${path}/1`))).to.equal(true);
      }
      if (typeof effect === 'function') await effect(agent, path);
      else expect((await agent.get(`${path}/1`)).body.name).to.equal(effect);
    });
  }

  for (const [what, model, options, body] of OWN_SQL) {
    it(`is not needed for ${what}`, async () => {
      const { agent, crud } = await serve({ models: [model], ...options });
      expect(crud.routes.flatMap(({ generalPathReasons }) => generalPathReasons)).to.deep.equal([]);
      const path = crud.routes.find(({ operation }) => operation === 'list')?.path ?? '';
      const id = model === WithIds ? 'no-1' : '1';
      expect(await isGeneral(() => agent.get(`${path}/${id}`).expect(200, body))).to.equal(false);
      expect(seen).to.deep.equal(what.includes('middleware') ? ['after'] : []);
    });
  }

  it('is not needed for decorators that change the answer', async () => {
    const { agent, crud } = await serve({ models: [Plain], controllers: [DecoratedController] });
    expect(crud.routes.flatMap(({ generalPathReasons }) => generalPathReasons)).to.deep.equal([]);
    await agent.get('/plains/1').expect(203);
    expect((await agent.post('/plains').send({})).headers).to.include({ 'x-made': 'yes' });
    await agent.delete('/plains/1').expect(202);
  });

  describe('is taken for a request', () => {
    /** Runs work while there is a hook; the names of the hooks that ran are in `seen`. */
    async function hooked(target: object, name: string, work: () => PromiseLike<unknown>): Promise<void> {
      using _hook = addedHook(target, name, () => void seen.push(name));
      await work();
      expect(seen).to.include(name);
    }

    const HOOKS: readonly (readonly [names: readonly string[], send: (agent: BuiltApp['agent']) => Test])[] =
      [
        [
          ['beforeFind', 'beforeFindAfterExpandIncludeAll', 'beforeFindAfterOptions', 'afterFind'],
          (agent) => agent.get('/plains/1').expect(200, SHOWN),
        ],
        [
          ['beforeValidate', 'afterValidate', 'beforeCreate', 'afterCreate', 'beforeSave', 'afterSave'],
          (agent) => agent.post('/plains').send({}).expect(201),
        ],
        [
          ['beforeUpdate', 'afterUpdate'],
          (agent) => agent.patch('/plains/1').send({ name: 'x' }).expect(200),
        ],
        [
          ['beforeDestroy', 'afterDestroy', 'beforeBulkDestroy', 'afterBulkDestroy'],
          (agent) => agent.delete('/plains/1').expect(204),
        ],
      ];
    for (const [names, send] of HOOKS) {
      for (const level of ['model', 'instance'] as const) {
        for (const name of names) {
          it(`when the ${level} has been given a hook ${name}`, async () => {
            const { agent } = await serve({ models: [Plain] });
            await hooked(level === 'model' ? Plain : site.engine.sequelize, name, async () => {
              await send(agent);
              expect(seen).to.deep.equal([name]);
            });
          });
        }
      }
    }

    it('when a list is read past a hook', async () => {
      const { agent } = await serve({ models: [Plain] });
      await hooked(Plain, 'afterFind', () => agent.get('/plains').expect(200));
    });

    it('when the instance has been given a hook of queries', async () => {
      const { agent } = await serve({ models: [Plain] });
      for (const name of ['beforeQuery', 'afterQuery']) {
        await hooked(site.engine.sequelize, name, () => agent.get('/plains/1').expect(200));
        await hooked(site.engine.sequelize, name, () => agent.post('/plains').send({}).expect(201));
      }
    });

    it('when the list is counted past a hook', async () => {
      const { agent } = await serve({ models: [Plain] });
      await hooked(Plain, 'beforeCount', () => agent.get('/plains?size=1').expect(200));
    });

    it('when the model has been given a scope', async () => {
      const { agent } = await serve({ models: [Plain] });
      Plain.addScope('defaultScope', { where: { name: 'other' } }, { override: true });
      const { status } = await agent.get('/plains/1');
      const { total } = (await agent.get('/plains')).body;
      Plain.addScope('defaultScope', {}, { override: true });
      expect([status, total]).to.deep.equal([404, 0]);
      await agent.get('/plains/1').expect(200);
    });

    it('when it is inside of a unit of work', async () => {
      const inUnit: RequestHandler = (_request, response, next) => {
        const finished = new Promise((resolve) => response.once('close', resolve));
        unitOfWork(async () => {
          next();
          await finished;
          throw new Error('roll back');
        }).catch(() => seen.push('rolled back'));
      };
      const { agent } = await serve({ models: [Plain] }, (app) => void app.use(inUnit));
      await agent.patch('/plains/1').send({ name: 'changed' }).expect(200);
      while (seen.length < 1) await sleep(2);
      expect(await Plain.findAll({ raw: true })).to.deep.equal([SHOWN]);
    });

    it('when a middleware has another response.json or response.send', async () => {
      for (const method of ['json', 'send'] as const) {
        const replace: RequestHandler = (_request, response, next) => {
          const own = response[method].bind(response);
          response[method] = (body: unknown) => {
            response[method] = own;
            return own(method === 'json' ? { data: body } : `{"data":${body}}`);
          };
          next();
        };
        const { agent } = await serve({ models: [Plain] }, (app) => void app.use(replace));
        expect(JSON.parse((await agent.get('/plains/1')).text)).to.deep.equal({ data: SHOWN });
      }
    });

    it('when a setting of the application changes what JSON looks like', async () => {
      const text = async (name: string, value: unknown): Promise<string> =>
        (await (await serve({ models: [Plain] }, (app) => void app.set(name, value))).agent.get('/plains/1'))
          .text;
      await Plain.update({ name: '<b>' }, { where: {} });
      expect(await text('json spaces', 2)).to.equal('{\n  "id": 1,\n  "name": "<b>"\n}');
      expect(await text('json escape', true)).to.equal('{"id":1,"name":"\\u003cb\\u003e"}');
      expect(
        await text('json replacer', (key: string, value: unknown) => (key === 'id' ? undefined : value)),
      ).to.equal('{"name":"<b>"}');
    });

    it('when a trigger changes the row after the update', async () => {
      const { agent, crud } = await serve({ models: [Triggered] });
      expect(crud.routes.flatMap(({ generalPathReasons }) => generalPathReasons)).to.deep.equal([]);
      await site.engine.sequelize.query(`
        CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
          IF NEW.name NOT LIKE '%!' THEN UPDATE triggereds SET name = NEW.name || '!' WHERE id = NEW.id; END IF;
          RETURN NULL;
        END $f$;
        CREATE TRIGGER shouting AFTER UPDATE ON triggereds FOR EACH ROW EXECUTE FUNCTION shout()`);
      const path = crud.routes[0]?.path ?? '';
      expect((await agent.patch(`${path}/1`).send({ name: 'x' })).body).to.deep.equal({ id: 1, name: 'x!' });
    });

    it('when a foreign key has the row follow its own change', async () => {
      const { agent, crud } = await serve({ models: [WithCascade] });
      expect(crud.routes.flatMap(({ generalPathReasons }) => generalPathReasons)).to.deep.equal([]);
      await site.engine.sequelize.query(`
        ALTER TABLE cascades ADD UNIQUE (name);
        ALTER TABLE cascades ADD FOREIGN KEY (parent) REFERENCES cascades (name) ON UPDATE CASCADE;
        UPDATE cascades SET parent = name`);
      const path = crud.routes[0]?.path ?? '';
      expect((await agent.patch(`${path}/1`).send({ name: 'x' })).body).to.deep.equal({
        id: 1,
        name: 'x',
        parent: 'x',
      });
    });

    it('tells the hooks that there are now, by the operations that they see', async () => {
      const { crud } = await serve({ models: [Plain] });
      const { sequelize } = site.engine;
      const reasons = () =>
        Object.fromEntries(crud.routes.map((route) => [route.operation, route.generalPathReasons]));
      const ofAll = (...expected: string[]) =>
        Object.fromEntries(ALL.map((operation) => [operation, expected]));
      expect(reasons()).to.deep.equal(ofAll());
      {
        using _model = addedHook(Plain, ['beforeFind', 'afterUpdate']);
        using _connection = addedHook(sequelize, 'beforeConnect');
        const read = ['the model has a hook beforeFind'];
        const write = [...read, 'the model has a hook afterUpdate'];
        expect(reasons()).to.deep.equal({ list: read, read, create: write, update: write, delete: write });
      }
      {
        using _query = addedHook(sequelize, 'beforeQuery');
        expect(reasons()).to.deep.equal(ofAll('its Sequelize has a hook beforeQuery'));
      }
      expect(reasons()).to.deep.equal(ofAll());
    });

    it('when a default of the model is SQL', async () => {
      const { agent } = await serve({ models: [WithLiteral] });
      expect((await agent.post('/literals').send({})).body).to.deep.equal({ id: 2, name: null, sum: 3 });
    });
  });

  describe('is not needed', () => {
    it('for a value that only the table has a default for', async () => {
      await site.engine.sequelize.query('ALTER TABLE "WithTableDefaults" ALTER made SET DEFAULT 7');
      const built = await buildBoth({ models: [WithTableDefault] });
      expect(await isGeneral(() => built[0].agent.post('/with-table-defaults').send({}))).to.equal(false);
      for (const { agent } of built) {
        const { status, body } = await agent.post('/with-table-defaults').send({ name: 'a' });
        expect([status, body.name, body.made]).to.deep.equal([201, 'a', 7]);
      }
    });

    it('for a status and headers that were set before', async () => {
      const early: RequestHandler = (_request, response, next) => {
        response.status(203).set({ ETag: '"mine"', 'X-Early': 'yes' });
        next();
      };
      const built = await buildBoth({ models: [Plain] }, (app) => void app.use(early));
      const answers = [];
      for (const { agent } of built) {
        const { status, text, headers } = await agent.get('/plains/1');
        answers.push({ status, text, ...headers, date: '' });
      }
      expect(answers[0]).to.deep.equal(answers[1]).and.include({ status: 203, etag: '"mine"' });
    });

    it("for an etag function, which is given what Express's own would be", async () => {
      const tag = (body: unknown) => `"${Buffer.isBuffer(body)}"`;
      const built = await buildBoth({ models: [Plain] }, (app) => void app.set('etag', tag));
      for (const { agent } of built)
        expect((await agent.get('/plains/1')).headers['etag']).to.equal('"true"');
    });
  });
});
