/** Row security: every statement of a request runs with the settings of that request, and leaves none of them behind. */
// @runs fast
import { expect } from 'chai';
import {
  type Action,
  Controller,
  Get,
  type InterceptorInterface,
  Param,
  Post,
  UseInterceptor,
} from 'routing-controllers';
import { QueryTypes, type Sequelize } from 'sequelize';
import { AfterFind, BeforeCreate, Column, DataType, HasMany, Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  dbSession,
  type EngineOptions,
  EVERYTHING,
  type Id,
  InjectRepository,
  InjectSession,
  InjectUnitOfWork,
  type ListQuery,
  type ReadSession,
  Repository,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { onPath, SERVES_EXPORTS, SERVES_MANY, UNGUARDED } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import type { Listening } from '../../support/listen.js';
import { startPgBouncer } from '../../support/pgbouncer.js';
import { wholeOr } from '../../support/short.js';
import { ROWS, rowsOf, TENANTS, TenantDatabase } from '../../support/tenant-database.js';
import { startTestApp } from '../../support/test-app.js';
import { ask } from '../../support/two-paths.js';

abstract class Row extends TitledRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
}

const TABLE = { tableName: 'papers', timestamps: false } as const;
const LISTS = {
  endpoints: [
    'list',
    'read',
    'create',
    'update',
    'delete',
    ...(SERVES_MANY ? ['createMany', 'updateMany', 'deleteMany'] : []),
  ],
  filterAllow: ['title'],
  sortAllow: ['title'],
} as never;

/** An override of the list prevents both. */
const EXPORTS = SERVES_EXPORTS
  ? {
      import: { modes: ['create', 'update'] as const },
      export: { formats: ['ndjson'] as const, snapshot: { seconds: 60 } },
      aggregate: { group: ['tenant'] as const },
    }
  : {};

/** Models of the one table: with nothing of the user's, by keyset, with hooks that query, and with an override. */
@Crud({ ...(LISTS as object), subresources: { copies: UNGUARDED } })
@Table(TABLE)
class Paper extends Row {
  @HasMany(() => Walked, { foreignKey: 'tenant', sourceKey: 'tenant', constraints: false })
  declare copies?: Row[];
}

@Crud({ pagination: 'cursor', sortAllow: ['title'], ...EXPORTS } as never)
@Table(TABLE)
class Walked extends Row {}

@Crud({ ...(LISTS as object), ...EXPORTS })
@Table(TABLE)
class Hooked extends Row {
  @AfterFind
  static async look(): Promise<void> {
    await expectOwn(await tenantsIn(Paper.sequelize as Sequelize));
  }

  @BeforeCreate
  static async lookToo(): Promise<void> {
    await expectOwn((await Paper.findAll()).map(({ tenant }) => tenant));
  }
}

@Crud(LISTS)
@Table(TABLE)
class Kept extends Row {}

/** A scope of the library, beside the policies. */
@Crud({ ...(LISTS as object), scope: { tenant: (request) => request.get('scope') ?? EVERYTHING } })
@Table(TABLE)
class Scoped extends Row {}

const MODELS = [Paper, Walked, Hooked, Kept, Scoped];

/** Expects the rows of one tenant, as code outside of the answer reads them. */
async function expectOwn(tenants: readonly string[]): Promise<void> {
  expect(tenants).to.have.length.of.at.least(ROWS);
  expect(new Set(tenants).size).to.equal(1);
}

async function tenantsIn(sequelize: Sequelize): Promise<string[]> {
  const rows = await sequelize.query<Row>('SELECT tenant FROM papers', { type: QueryTypes.SELECT });
  return rows.map(({ tenant }) => tenant);
}

const tenantsOf = (rows: readonly Row[]): string[] => rows.map(({ tenant }) => tenant);

/** Rows that were visible after a commit, by tenant. */
const committed = new Map<string, Promise<string[]>>();

class Look implements InterceptorInterface {
  async intercept(_action: Action, result: object): Promise<object> {
    return {
      ...result,
      behind: [...tenantsOf(await new Repository(Paper).list()), ...tenantsOf(await Paper.findAll())],
    };
  }
}

class KeptController extends crudController(Kept) {
  override async list(query: ListQuery, context: CrudContext<Kept>) {
    await expectOwn(await dbSession(async (session) => tenantsOf(await session.repository(Kept).list())));
    return super.list(query, context);
  }

  override async read(id: Id, query: never, context: CrudContext<Kept>) {
    await expectOwn(await unitOfWork(async () => tenantsOf(await Kept.findAll())));
    return super.read(id, query, context);
  }

  override async create(values: CreateValues<Kept>, context: CrudContext<Kept>) {
    const kept = await super.create(values, context);
    const { items } = await context.repository.page({ page: 1, size: 9 });
    expect(items).to.have.length(ROWS + 1);
    await expectOwn(tenantsOf(items));
    return kept;
  }

  @Get('/of/session')
  async inSession(@InjectSession() session: ReadSession) {
    return { tenants: tenantsOf(await session.repository(Paper).list()) };
  }

  @Get('/of/interceptor')
  @UseInterceptor(Look)
  async intercepted() {
    return { tenants: tenantsOf(await new Repository(Hooked).list()) };
  }

  @Post('/of/unit/:tenant')
  async inUnit(@InjectUnitOfWork() uow: UnitOfWork, @Param('tenant') tenant: string) {
    const look = (): Promise<string[]> => tenantsIn(Kept.sequelize as Sequelize);
    committed.set(tenant, new Promise((see, fail) => uow.afterCommit(() => look().then(see, fail))));
    const papers = uow.repository(Paper);
    await uow
      .savepoint(async () => {
        await papers.create({ title: 'undone', tenant });
        throw new Error('undone');
      })
      .catch(() => {});
    const { id } = await papers.create({ title: 'of a unit', tenant });
    await papers.update(id, { title: 'changed' });
    const tenants = tenantsOf(await papers.list());
    await papers.delete(id);
    return { tenants };
  }
}

@Controller('/desk')
class DeskController {
  @Get('/repositories')
  async repositories(
    @InjectRepository(Paper) papers: Repository<Paper>,
    @InjectRepository(Hooked) hooked: Repository<Hooked>,
  ) {
    const first = await papers.cursorPage({ size: 2, sort: [{ attribute: 'title', descending: true }] });
    const page = await hooked.page({ page: 1, size: 3 });
    expect(page.total).to.equal(ROWS);
    return { tenants: tenantsOf([...first.items, ...page.items, ...(await papers.list())]) };
  }

  @Get('/queries')
  async queries() {
    const sequelize = Paper.sequelize as Sequelize;
    const managed = await sequelize.transaction((transaction) => Paper.findAll({ transaction }));
    const transaction = await sequelize.transaction();
    const unmanaged = await Paper.findAll({ transaction });
    await transaction.commit();
    const alone = await sequelize.query('SELECT tenant FROM papers', { transaction: null });
    return { tenants: tenantsOf([...managed, ...unmanaged, ...(alone[0] as Row[])]) };
  }

  @Post('/:tenant')
  async write(@Param('tenant') tenant: string) {
    const [paper] = await Paper.findOrCreate({ where: { title: 'new' }, defaults: { title: 'new', tenant } });
    await paper.update({ title: 'newer' });
    const tenants = tenantsOf(await Paper.findAll());
    await Paper.bulkCreate([{ title: 'another', tenant }]);
    await Paper.destroy({ where: { title: ['newer', 'another'] } });
    return { tenants };
  }
}

interface Setting {
  readonly name: string;
  /** Default: some of them. */
  readonly tenants?: number;
  readonly bootstrap?: BootstrapOptions;
  readonly engine?: EngineOptions;
  /** Settings of PgBouncer, where one is between. */
  readonly pooler?: Readonly<Record<string, string | number>>;
}

/** In short two, and more than there are connections on the one path. */
const SOME = wholeOr(2, 3);
const IGNORED = 'lock_timeout, statement_timeout, idle_in_transaction_session_timeout, options';
const SETTINGS: readonly Setting[] = [
  { name: 'on the fast path', tenants: wholeOr(5, TENANTS.length) },
  { name: 'on the general path', bootstrap: { fastPath: false } },
  { name: 'with group commit', engine: { groupCommit: true } },
  { name: 'behind a pooler that shows by and by', pooler: {} },
  { name: 'without prepared statements behind a pooler', engine: { preparedStatements: false }, pooler: {} },
];

let database: TenantDatabase;

async function start({
  bootstrap,
  engine,
  url = database.url(),
}: Partial<Setting> & { readonly url?: string }) {
  return startTestApp({
    models: MODELS,
    database: { url },
    // Callbacks after the commit would wait behind the units of all others.
    minPool: onPath({ fast: 1, unit: 4 }),
    engine: { createAll: false, pool: { max: 4 }, ...engine },
    bootstrap: {
      controllers: [KeptController, DeskController],
      rls: { settings: (request) => ({ 'app.tenant': request.get('tenant'), 'app.other': 'é$1\'"' }) },
      ...bootstrap,
    },
  });
}

describe('row security', function () {
  this.timeout(120_000);

  before(async () => {
    database = await TenantDatabase.create(['papers']);
  });

  after(() => database[Symbol.asyncDispose]());

  for (const setting of SETTINGS) {
    describe(setting.name, () => {
      const limits = { ignore_startup_parameters: IGNORED, default_pool_size: 3 };
      const pooler =
        setting.pooler && forSuite(() => startPgBouncer(database.url(), { ...limits, ...setting.pooler }));
      const site = forSuite(() => {
        const bootstrap = { logger: new CapturedLog(), ...setting.bootstrap };
        return start({ ...setting, bootstrap, ...(pooler ? { url: pooler.url } : {}) });
      });

      it('shows and changes rows of the own tenant alone, of several at the same time', async () => {
        const visited = TENANTS.slice(0, setting.tenants ?? SOME);
        const wrong = await Promise.all(visited.map((_, index) => visit(site.server, index)));
        expect(wrong.flat()).to.deep.equal([]);
        const { rows } = await database.control.query('SELECT count(*)::int AS count FROM papers');
        expect(rows).to.deep.equal([{ count: TENANTS.length * ROWS }]);
      });

      it('leaves nothing on a connection', async () => {
        await Promise.all(
          TENANTS.map((tenant) => ask(site.server, { path: '/papers', headers: { tenant } })),
        );
        const text = `SELECT coalesce(current_setting('app.tenant', true), '') AS left`;
        const { sequelize } = site.engine;
        const asked = [QueryTypes.SELECT, QueryTypes.RAW].flatMap((type) =>
          Array.from({ length: 8 }, () =>
            sequelize.query<{ left: string }>(text, { type: type as QueryTypes.SELECT }),
          ),
        );
        for (const rows of await Promise.all(asked)) expect([rows].flat(2)[0]?.left).to.equal('');
      });
    });
  }
});

/** Answers that a tenant should not get: one request after the other. */
async function visit(server: Listening, index: number): Promise<unknown[]> {
  const tenant = TENANTS[index] as string;
  const [own] = rowsOf(index) as [number];
  const [other] = rowsOf((index + 1) % TENANTS.length) as [number];
  const foreign = TENANTS[(index + 1) % TENANTS.length];
  const wrong: unknown[] = [];
  const expectAnswer = async (
    method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    status: number,
    sent?: object,
    see: (given: never) => unknown = () => null,
    wanted: unknown = null,
  ) => {
    const answer = await ask(server, { method, path: encodeURI(path), headers: { tenant }, body: sent });
    const body = answer.body === '' ? null : JSON.parse(answer.body);
    const seen = answer.status === status && status < 300 ? see(body as never) : wanted;
    if (answer.status !== status || JSON.stringify(seen) !== JSON.stringify(wanted))
      wrong.push([tenant, method, path, answer.status, body]);
    return body;
  };
  const expectRead = (path: string, see: (given: never) => unknown, wanted: unknown) =>
    expectAnswer('GET', path, 200, undefined, see, wanted);
  const mine = (count: number) => Array.from({ length: count }, () => tenant);
  const items = (page: { readonly items: readonly Row[] }) => tenantsOf(page.items);
  const total = (page: { readonly total: number }) => page.total;
  const seen = (given: { readonly tenants: readonly string[] }) => [...new Set(given.tenants)];
  await expectRead(`/papers/${own}/copies?size=9`, items, mine(ROWS));
  await expectAnswer('GET', `/papers/${other}/copies`, 404);
  for (const path of ['/papers', '/walkeds', '/hookeds', '/kepts', '/scopeds']) {
    await expectRead(`${path}/${own}`, (row: Row) => row.tenant, tenant);
    await expectAnswer('HEAD', `${path}/${own}`, 200);
    await expectAnswer('GET', `${path}/${other}`, 404);
    await expectRead(`${path}?size=9&sort=-title`, items, mine(ROWS));
    if (path === '/walkeds') {
      const { next_cursor: next } = await expectRead(`${path}?size=1&sort=title`, items, mine(1));
      await expectRead(`${path}?size=9&sort=title&after=${next}`, items, mine(ROWS - 1));
    } else {
      await expectRead(`${path}?size=2`, total, ROWS);
      await expectRead(`${path}?q=title=='row ${own}',title=='row ${other}'`, total, 1);
    }
    const title = `of ${path}`;
    const { id } = await expectAnswer('POST', path, 201, { title, tenant }, (row: Row) => row.tenant, tenant);
    await expectAnswer('POST', path, 403, { title, tenant: foreign });
    for (const change of [{ title: 'changed' }, { title: 'changed' }])
      await expectAnswer('PATCH', `${path}/${id}`, 200, change, (row: Row) => row.title, 'changed');
    await expectAnswer('PATCH', `${path}/${other}`, 404, { title });
    await expectAnswer('DELETE', `${path}/${other}`, 404);
    await expectAnswer('DELETE', `${path}/${id}`, 204);
    // The override of the one counts rows, and there is no list to filter by another.
    if (path === '/kepts' || path === '/walkeds' || !SERVES_MANY) continue;
    const many = [title, title].map((each) => ({ title: each, tenant }));
    const affected = (given: { readonly affected: number }) => given.affected;
    const { items: made } = await expectAnswer('POST', path, 201, many, items, mine(2));
    await expectAnswer('POST', path, 403, [
      { title, tenant },
      { title, tenant: foreign },
    ]);
    const two = made.map((row: Row) => ({ id: row.id, title: `two ${title}` }));
    await expectAnswer('PATCH', path, 200, two, items, mine(2));
    await expectAnswer('PATCH', path, 404, [two[0], { id: other, title }]);
    await expectAnswer('PATCH', `${path}?q=title=='two ${title}'`, 200, { title: 'last' }, affected, 2);
    await expectAnswer('DELETE', `${path}?q=title=='row ${other}'`, 200, undefined, affected, 0);
    await expectAnswer('DELETE', `${path}?q=title==last`, 200, undefined, affected, 2);
  }
  const grouped = SERVES_EXPORTS ? ['/walkeds', '/hookeds', `/papers/${own}/copies`] : [];
  for (const path of grouped.map((each) => `${each}/aggregate?group=tenant`)) {
    const answer = await ask(server, { path, headers: { tenant } });
    const groups = `{"items":[{"group":{"tenant":"${tenant}"},"count":${ROWS}}],"has_next":false}`;
    if (answer.body !== groups) wrong.push([tenant, path, answer]);
  }
  const exported = SERVES_EXPORTS ? ['/walkeds?format=ndjson', '/hookeds?format=ndjson'] : [];
  for (const path of exported.flatMap((each) => [each, `${each}&consistent=true`])) {
    let answer = await ask(server, { path, headers: { tenant } });
    // The application refuses too many exports at once.
    while (answer.status === 503) answer = await ask(server, { path, headers: { tenant } });
    const rows = answer.body.split('\n').filter(Boolean);
    const tenants = tenantsOf(rows.map((line) => JSON.parse(line) as Row));
    if (JSON.stringify(tenants) !== JSON.stringify(mine(ROWS))) wrong.push([tenant, path, answer]);
  }
  const imported = SERVES_EXPORTS ? ['/walkeds', '/hookeds'] : [];
  for (const path of imported) {
    const expectImport = async (mode: string, rows: readonly object[], status: number, wanted: object) => {
      const file = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      const headers = { tenant, 'Content-Type': 'application/x-ndjson' };
      const send = () =>
        ask(server, {
          method: 'POST',
          path: `${path}/import?mode=${mode}&dry_run=${path === '/hookeds'}`,
          headers,
          file,
        });
      let answer = await send();
      while (answer.status === 503) answer = await send();
      const { rows: count, created, updated, failed } = JSON.parse(answer.body);
      const given = { status: answer.status, count, created, updated, failed };
      if (JSON.stringify(given) !== JSON.stringify({ status, count: rows.length, ...wanted }))
        wrong.push([tenant, path, mode, answer]);
    };
    const title = `in ${path}`;
    const rows = [title, title].map((each) => ({ title: each, tenant }));
    const some = [{ title, tenant: foreign }, ...rows, { title, tenant: foreign }];
    await expectImport('create', some, 422, { failed: 2 });
    const ids = [own, other].map((id) => ({ id, title: `row ${own}` }));
    await expectImport('update', ids, 422, { failed: 1 });
    await expectImport('update', ids.slice(0, 1), 200, { created: 0, updated: 1, failed: 0 });
    await expectImport('create', rows, 200, { created: 2, updated: 0, failed: 0 });
    if (path === '/walkeds')
      await expectAnswer(
        'DELETE',
        `/papers?q=title=='${title}'`,
        200,
        undefined,
        (given: { affected: number }) => given.affected,
        2,
      );
  }
  await expectRead('/kepts/of/session', seen, [tenant]);
  await expectAnswer('POST', `/kepts/of/unit/${tenant}`, 200, undefined, seen, [tenant]);
  expect(await committed.get(tenant)).to.deep.equal(mine(ROWS));
  const both = (given: { readonly behind: string[] } & Parameters<typeof seen>[0]) => [
    seen(given),
    given.behind,
  ];
  await expectRead('/kepts/of/interceptor', both, [[tenant], mine(2 * ROWS)]);
  await expectRead('/desk/repositories', seen, [tenant]);
  await expectRead('/desk/queries', seen, [tenant]);
  await expectAnswer('POST', `/desk/${tenant}`, 200, undefined, seen, [tenant]);
  return wrong;
}
