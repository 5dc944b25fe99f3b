/** Repositories of a request find the rows that the request may see, and load only relations that it may see. */
import { expect } from 'chai';
import express from 'express';
import { Get, JsonController, Post } from 'routing-controllers';
import { literal, Op, type WhereOptions } from 'sequelize';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import supertest from 'supertest';
import {
  type BootstrapOptions,
  Crud,
  type CrudOptions,
  crudController,
  crudRouter,
  EVERYTHING,
  filter,
  InjectRepository,
  InjectUnitOfWork,
  type ModelClass,
  type RelationsToLoad,
  Repository,
  type UnitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { serveTestApp } from '../../support/test-app.js';

/** A model without rules; those of its relations hold. */
@Crud()
@Table({ tableName: 'countries', timestamps: false })
class Country extends Model {
  @PrimaryKey @Column(DataType.STRING) declare id: string;
  @HasMany(() => Branch) declare branches?: Branch[];
}

@Crud({ scope: { tenantId: (request) => request.get('tenant') ?? EVERYTHING } })
@Table({ tableName: 'branches', timestamps: false })
class Branch extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'tenant_id' }) declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;

  @ForeignKey(() => Country)
  @Column({ type: DataType.STRING, allowNull: false })
  declare countryId: string;

  @BelongsTo(() => Country) declare country?: Country;
  @HasMany(() => Sale) declare sales?: Sale[];

  @BelongsToMany(() => Branch, {
    through: () => Partner,
    foreignKey: 'branchId',
    otherKey: 'otherId',
    as: 'partners',
  })
  declare partners?: Branch[];
}

@Crud({
  visible: async (request) =>
    request.get('tenant') ? filter`secret==false;amount=in=${[1, 2]};note=isnull=true` : EVERYTHING,
})
@Table({ tableName: 'sales', timestamps: false })
class Sale extends NumberedRow {
  @ForeignKey(() => Branch)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare branchId: number;

  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare secret: boolean;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare amount: number;
  @Column(DataType.TEXT) declare note: string | null;
  @BelongsTo(() => Branch) declare branch?: Branch;
}

@Crud({ visible: (request) => (request.get('tenant') ? filter`isPublic==true` : EVERYTHING) })
@Table({ tableName: 'partners', timestamps: false })
class Partner extends NumberedRow {
  @ForeignKey(() => Branch) @Column(DataType.INTEGER) declare branchId: number;
  @ForeignKey(() => Branch) @Column(DataType.INTEGER) declare otherId: number;
  @Column(DataType.BOOLEAN) declare isPublic: boolean;
}

class BoundRepository extends Repository<Branch> {
  static override model = Branch;
  /** `this` is the repository that the request's one was made of. */
  all = () => this.list();
}

const ids = (rows: readonly { readonly id: unknown }[] | undefined) => rows?.map(({ id }) => id).sort();

/** The ids of records, each with those of its related ones. */
const idsWith = (name: 'branches' | 'partners' | 'sales') => (rows: readonly object[]) =>
  (rows as Readonly<Record<string, never>>[]).map((row) => [row['id'], ids(row[name])]);

interface Given {
  readonly branches: Repository<Branch>;
  readonly sales: Repository<Sale>;
  readonly countries: Repository<Country>;
}

/** Code of the user's, which a test sets: a route answers with its result. */
let work: (given: Given) => unknown;
let workInUnit: (unit: UnitOfWork, branches: Repository<Branch>) => unknown;

class BranchController extends crudController(Branch) {
  @Get('/of/work')
  work(
    @InjectRepository(Branch) branches: Repository<Branch>,
    @InjectRepository(Sale) sales: Repository<Sale>,
    @InjectRepository(Country) countries: Repository<Country>,
  ) {
    return work({ branches, sales, countries });
  }

  @Post('/of/work')
  inUnit(@InjectUnitOfWork() unit: UnitOfWork, @InjectRepository(Branch) branches: Repository<Branch>) {
    return workInUnit(unit, branches);
  }

  @Get('/bound')
  bound(@InjectRepository(BoundRepository) branches: BoundRepository) {
    return branches.all();
  }
}

describe('a repository of a request', () => {
  const site = serveTestApp(() => {
    const models = [Country, Branch, Sale, Partner] as unknown as ModelClass[];
    return { models, bootstrap: { controllers: [BranchController], logger: log } };
  });
  const log = new CapturedLog();

  before(() =>
    site.engine.sequelize.query(`
      INSERT INTO countries VALUES ('fr'), ('de');
      INSERT INTO branches (tenant_id, name, "countryId") VALUES (1, 'a', 'fr'), (2, 'b', 'fr'), (1, 'c', 'de'), (2, 'a', 'de'), (1, 'c', 'de');
      INSERT INTO sales ("branchId", secret, amount, note) VALUES
        (1, false, 1, NULL), (1, true, 1, NULL), (1, false, 3, NULL), (1, false, 2, 'x'), (2, false, 2, NULL), (3, false, 2, NULL);
      INSERT INTO partners ("branchId", "otherId", "isPublic") VALUES (1, 3, true), (1, 5, false), (1, 2, true)`),
  );

  const run = async (code: typeof work, status = 200) => {
    work = code;
    const answer = await site.agent.get('/branches/of/work').set('tenant', '1');
    expect(answer.status, answer.text).to.equal(status);
    return answer.body;
  };
  const runInUnit = async (code: typeof workInUnit, status = 200) => {
    workInUnit = code;
    return (await site.agent.post('/branches/of/work').set('tenant', '1').expect(status)).body;
  };
  /** Rows that a condition finds in each way. */
  const found = async (branches: Repository<Branch>, where: WhereOptions) => ({
    inside: ids(await branches.list({ where })),
    total: (await branches.page({ page: 1, size: 10, where })).total,
    next: ids((await branches.cursorPage({ size: 10, where })).items),
  });
  const INSIDE = { inside: [1, 3, 5], total: 3, next: [1, 3, 5] };

  it('finds the only row inside', async () => {
    const one =
      (name: string) =>
      async ({ branches }: Given) => ({ id: (await branches.one({ name })).id });
    expect(await run(one('a'))).to.deep.equal({ id: 1 });
    await run(one('b'), 404);
    await run(one('c'), 409);
  });

  it('adds its condition to one with or, unless it is left', async () => {
    const where = { [Op.or]: [{ tenantId: 2 }, { name: 'a' }, { id: { [Op.gt]: 0 } }] };
    expect(await run(({ branches }) => found(branches, where))).to.deep.equal(INSIDE);
    const all = await run(async ({ branches }) => ids(await branches.unscoped().list({ where })));
    expect(all).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('is inside for a model with another scope of its own', async () => {
    const unscoped = Branch.unscoped() as typeof Branch;
    const seen = await runInUnit(async (unit, branches) => [
      ids(await unit.repository(unscoped).list()),
      ids(await unit.repository(branches).list()),
    ]);
    expect(seen.map(String)).to.deep.equal(['1,3,5', '1,3,5']);
    const app = express().use('/others', crudRouter(unscoped));
    const { total } = (await supertest(app).get('/others').set('tenant', '1')).body;
    expect(total).to.equal(3);
  });

  it('is inside of what a controller adds to @Crud, also for another scope of its model', async () => {
    const visible = () => filter`name==c`;
    const Rescoped = Branch.unscoped() as typeof Branch;
    class Own extends crudController(Branch, { visible }) {
      @Get('/unscoped')
      async unscoped(@InjectUnitOfWork() unit: UnitOfWork) {
        return ids(await unit.repository(Branch.unscoped() as typeof Branch).list());
      }
    }
    class Others extends crudController(Rescoped, { visible }) {
      @Get('/injected')
      async injected(@InjectRepository(Rescoped) branches: Repository<Branch>) {
        return ids(await branches.list());
      }
    }
    const ask = async (controller: new () => object, path: string) => {
      const { agent } = await buildApp({ models: [], controllers: [controller], logger: log });
      return (await agent.get(path).set('tenant', '1')).body;
    };
    expect(await ask(Own, '/branches/unscoped')).to.deep.equal([3, 5]);
    expect(await ask(Others, '/branches/injected')).to.deep.equal([3, 5]);
  });

  it('adds its condition to a literal with or', async () => {
    const where = literal('1 = 1 OR 2 = 2');
    expect(await run(({ branches }) => found(branches, where))).to.deep.equal(INSIDE);
  });

  it('is refused where a property may go round it', async () => {
    const { status } = await site.agent.get('/branches/bound').set('tenant', '1');
    expect(status).to.equal(500);
    expect(log.text).to.contain('BoundRepository.all is a function in a property');
  });

  /** Each branch with its loaded relations. */
  const rows = (...loaded: number[][]) => [1, 3, 5].map((id, index) => [id, loaded[index]]);
  const branchesWith = (name: 'partners' | 'sales', include: RelationsToLoad) => (given: Given) =>
    given.branches.list({ include }).then(idsWith(name));

  for (const [what, code, expected] of [
    ['many', branchesWith('sales', ['sales']), rows([1], [6], [])],
    [
      'many with a condition',
      branchesWith('sales', { sales: { filter: filter`amount==2` } }),
      rows([], [6], []),
    ],
    ['many over a table', branchesWith('partners', ['partners']), rows([3], [], [])],
    [
      'one',
      async ({ sales }: Given) =>
        (await sales.list({ include: ['branch'] })).map((sale) => sales.related(sale, 'branch')?.id ?? null),
      [1, null, 3],
    ],
    [
      'those of related records',
      async ({ countries }: Given) =>
        (await countries.list({ include: ['branches.sales'] })).flatMap(({ branches = [] }) =>
          idsWith('sales')(branches),
        ),
      [
        [3, [6]],
        [5, []],
        [1, [1]],
      ],
    ],
  ] as const) {
    it(`loads relations within the access to their models: ${what}`, async () =>
      expect(await run(code)).to.deep.equal(expected));
  }

  it('loads all relations where the access is left, and none in words of Sequelize', async () => {
    const [first] = await run(async ({ branches }) =>
      idsWith('sales')(await branches.unscoped().list({ include: ['sales', 'partners'] })),
    );
    expect(first).to.deep.equal([1, [1, 2, 3, 4]]);
    const use = "name relations of the model: include: ['author'], or { reviews: { size: 3 } }.";
    for (const [include, found] of [
      [[Sale], 'has the class Sale'],
      [[{ association: 'sales' }], "has { association: 'sales' }"],
      ['sales', 'is "sales"'],
    ] as const)
      expect(await caughtError(() => new Repository(Branch).list({ include } as never))).to.include({
        name: 'ConfigError',
        message: `include of Branch ${found}; ${use}`,
      });
  });

  it('checks foreign keys in a unit of work', async () => {
    const move = (id: number, status: number) =>
      runInUnit(async (unit) => {
        const { branchId } = await unit.repository(Sale).update(1, { branchId: id });
        return { branchId };
      }, status);
    expect(await move(3, 200)).to.deep.equal({ branchId: 3 });
    expect(await move(2, 409)).to.deep.equal(await move(99, 409));
    expect((await Sale.findByPk(1))?.branchId).to.equal(3);
    expect(await move(1, 200)).to.deep.equal({ branchId: 1 });
  });

  it('has the savepoints and the callbacks of its unit of work', async () => {
    const committed: string[] = [];
    const body = await runInUnit(async (unit) => {
      const sales = unit.repository(Sale);
      unit.afterCommit(() => void committed.push('tried'));
      const undone = await unit
        .savepoint(async () => {
          await sales.update(1, { branchId: 3 });
          throw new Error('undone');
        })
        .catch(({ message }: Error) => message);
      const { amount } = await unit.savepoint(() => sales.update(1, { amount: 2 }));
      return { undone, amount };
    });
    expect(body).to.deep.equal({ undone: 'undone', amount: 2 });
    expect(committed).to.deep.equal(['tried']);
    expect(await Sale.findByPk(1)).to.include({ branchId: 1, amount: 2 });
    await Sale.update({ amount: 1 }, { where: { id: 1 } });
  });

  describe('of an application with rules in one place alone', () => {
    useEmptyRegistry();

    const visible = () => filter`name==c`;

    /** The ids that a route of this application finds, and a route of a controller without a resource. */
    const given = async (options: BootstrapOptions, own?: CrudOptions<Branch>) => {
      class Own extends crudController(Branch, { prefix: '/own', ...own }) {
        @Get('/injected')
        async injected(@InjectRepository(Branch) branches: Repository<Branch>) {
          return ids(await branches.list());
        }
      }
      @JsonController()
      class Plain {
        @Get('/plain')
        async injected(@InjectRepository(Branch) branches: Repository<Branch>) {
          return ids(await branches.list());
        }
        @Get('/sales')
        async sales(@InjectRepository(Sale) sales: Repository<Sale>) {
          return ids(await sales.list());
        }
      }
      class Countries extends crudController(Country) {}
      const controllers = [...(own ? [Own] : []), Countries, Plain];
      const { agent } = await buildApp({ models: [], controllers, logger: log, ...options });
      const ask = async (path: string) => (await agent.get(path)).body;
      const others = { plain: await ask('/plain'), sales: await ask('/sales') };
      return own ? { own: await ask('/own/injected'), ...others } : others;
    };

    const all = { plain: [1, 2, 3, 4, 5], sales: [1, 2, 3, 4, 5, 6] };

    it('is inside of them', async () => {
      expect(await given({})).to.deep.equal(all);
      expect(await given({}, { visible })).to.deep.equal({ ...all, own: [3, 5], plain: [3, 5] });
      const inside = [1, 3, 5];
      const scoped = await given({ scope: { tenantId: () => 1 } }, {});
      expect(scoped).to.deep.equal({ ...all, own: inside, plain: inside });
      Crud({ visible: () => filter`secret==true` })(Sale);
      expect(await given({})).to.deep.equal({ ...all, sales: [2] });
    });
  });
});
