/** Repositories of a request see what the request may see, relations that are loaded along too. */
import { expect } from 'chai';
import express from 'express';
import { Get, JsonController, Param, Post, QueryParam } from 'routing-controllers';
import { type FindOptions, literal, Op, type WhereOptions } from 'sequelize';
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
  Repository,
  type UnitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { serveTestApp } from '../../support/test-app.js';

/** Has no rules: those of what it is related to hold. */
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
  /** Its `this` is what the request's repository was made of. */
  all = () => this.list();
}

const ids = (rows: readonly { readonly id: unknown }[] | undefined) => rows?.map(({ id }) => id).sort();

class BranchController extends crudController(Branch) {
  @Get('/one/:name')
  async one(@Param('name') name: string, @InjectRepository(Branch) branches: Repository<Branch>) {
    return { id: (await branches.one({ name })).id };
  }

  @Get('/any')
  async any(@InjectRepository(Branch) branches: Repository<Branch>) {
    const where = { [Op.or]: [{ tenantId: 2 }, { name: 'a' }, { id: { [Op.gt]: 0 } }] };
    return {
      inside: ids(await branches.list({ where })),
      all: ids(await branches.unscoped().list({ where })),
      total: (await branches.page({ page: 1, size: 10, where })).total,
      next: ids((await branches.cursorPage({ size: 10, where })).items),
    };
  }

  @Get('/related')
  async related(
    @QueryParam('as') as: string,
    @InjectRepository(Branch) branches: Repository<Branch>,
    @InjectRepository(Sale) sales: Repository<Sale>,
    @InjectRepository(Country) countries: Repository<Country>,
  ) {
    switch (as) {
      case 'sales': {
        const found = await branches.list({ include: [Sale] });
        return found.map((branch) => [branch.id, ids(branches.related(branch, 'sales'))]);
      }
      case 'branch': {
        const found = await sales.list({ include: 'branch' });
        return found.map((sale) => [sale.id, sales.related(sale, 'branch')?.id ?? null]);
      }
      case 'nested': {
        const branchesOf = { association: 'branches', include: [{ model: Sale, separate: true }] };
        const found = await countries.list({ include: branchesOf });
        return found.map(({ id, branches: inside }) => [
          id,
          inside?.map((each) => [each.id, ids(each.sales)]),
        ]);
      }
      case 'all': {
        const found = await countries.list({ include: [{ all: true, nested: true }] as never });
        return found.map(({ id, branches: inside }) => [id, ids(inside)]);
      }
      case 'where': {
        const found = await branches.list({ include: [{ model: Sale, where: { amount: 2 } }] });
        return found.map((branch) => [branch.id, ids(branch.sales)]);
      }
      case 'or':
      case 'right':
        return branches.list({ include: [{ model: Sale, [as]: true }] });
      case 'unscoped partners': {
        const found = await branches.list({ include: [{ model: Branch.unscoped(), as: 'partners' }] });
        return found.map((branch) => [branch.id, ids(branch.partners)]);
      }
      case 'unscoped': {
        const found = await branches.list({ include: [{ model: Sale.unscoped() }] });
        return found.map((branch) => [branch.id, ids(branch.sales)]);
      }
      case 'partners': {
        const found = await branches.list({ include: ['partners'] });
        return found.map((branch) => [branch.id, ids(branch.partners)]);
      }
      default: {
        const found = await branches.unscoped().list({ include: [Sale, 'partners'] });
        return found.map((branch) => [branch.id, ids(branch.sales), ids(branch.partners)]);
      }
    }
  }

  @Get('/rescoped')
  async rescoped(
    @InjectUnitOfWork() unit: UnitOfWork,
    @InjectRepository(Branch) branches: Repository<Branch>,
  ) {
    const unscoped = unit.repository(Branch.unscoped() as typeof Branch);
    return [ids(await unscoped.list()), ids(await unit.repository(branches).list())];
  }

  @Get('/literal')
  async literal(
    @InjectRepository(Branch) branches: Repository<Branch>,
    @InjectRepository(Sale) sales: Repository<Sale>,
  ) {
    const where = literal('1 = 1 OR 2 = 2');
    const all = await sales.unscoped().list();
    const seen = await sales.list({ include: [{ model: Branch, where, required: false }] });
    const joined = await sales.list({ include: [{ model: Branch, on: where, required: false }] });
    const branchOf = new Map(seen.map((sale) => [sale.id, sale.branch?.id]));
    return {
      inside: ids(await branches.list({ where })),
      total: (await branches.page({ page: 1, size: 10, where })).total,
      next: ids((await branches.cursorPage({ size: 10, where })).items),
      joined: [...new Set(joined.map(({ branch }) => branch?.id))].sort(),
      branches: all.map(({ id }) => branchOf.get(id) ?? null),
    };
  }

  @Get('/listed')
  async listed(@InjectRepository(Branch) branches: Repository<Branch>) {
    return ids(await branches.list());
  }

  @Get('/bound')
  bound(@InjectRepository(BoundRepository) branches: BoundRepository) {
    return branches.all();
  }

  @Post('/move/:id')
  async move(@Param('id') id: number, @InjectUnitOfWork() unit: UnitOfWork) {
    const sales = unit.repository(Sale);
    const { branchId } = await sales.update(1, { branchId: id });
    return { branchId };
  }

  @Post('/tried')
  async tried(@InjectUnitOfWork() unit: UnitOfWork) {
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
  }
}

/** What was told behind a commit. */
const committed: string[] = [];

describe('a repository of a request', () => {
  const site = serveTestApp(() => {
    const models = [Country, Branch, Sale, Partner] as unknown as ModelClass[];
    return {
      models,
      bootstrap: { controllers: [BranchController], logger: log },
    };
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

  const get = async (path: string) => {
    const { status, body } = await site.agent.get(`/branches${path}`).set('tenant', '1');
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };

  it('finds the only row inside', async () => {
    expect(await get('/one/a')).to.deep.equal({ id: 1 });
    const status = async (name: string) =>
      (await site.agent.get(`/branches/one/${name}`).set('tenant', '1')).status;
    expect(await status('b')).to.equal(404);
    expect(await status('c')).to.equal(409);
  });

  it('adds its condition to one with or, unless it is left', async () => {
    expect(await get('/any')).to.deep.equal({
      inside: [1, 3, 5],
      all: [1, 2, 3, 4, 5],
      total: 3,
      next: [1, 3, 5],
    });
  });

  it('is inside for a model with another scope of its own', async () => {
    expect(await get('/rescoped')).to.deep.equal([
      [1, 3, 5],
      [1, 3, 5],
    ]);
    const app = express().use('/others', crudRouter(Branch.unscoped() as typeof Branch));
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
    expect(await get('/literal')).to.deep.equal({
      inside: [1, 3, 5],
      total: 3,
      next: [1, 3, 5],
      joined: [1, 3, 5],
      branches: [1, null, null, null, null, 3],
    });
  });

  it('takes what a hook adds to its condition', async () => {
    const add = (condition: (options: FindOptions) => WhereOptions) =>
      Branch.addHook('beforeFind', 'add', (options: FindOptions) => {
        options.where = condition(options);
      });
    for (const condition of [
      ({ where }: FindOptions) => ({ ...where, name: 'a' }),
      ({ where = {} }: FindOptions) => Object.assign(where, { name: 'a' }),
      ({ where }: FindOptions) => ({ ...where, [Op.and]: [{ name: 'a' }] }),
    ]) {
      add(condition);
      try {
        expect(await get('/listed')).to.deep.equal([1]);
      } finally {
        Branch.removeHook('beforeFind', 'add');
      }
    }
  });

  it('is refused where a property may go round it', async () => {
    const { status } = await site.agent.get('/branches/bound').set('tenant', '1');
    expect(status).to.equal(500);
    expect(log.text).to.contain('BoundRepository.all is a function in a property');
  });

  it('loads relations within the access to their models', async () => {
    expect(await get('/related?as=sales')).to.deep.equal([
      [1, [1]],
      [3, [6]],
      [5, []],
    ]);
    expect(await get('/related?as=unscoped')).to.deep.equal(await get('/related?as=sales'));
    expect(await get('/related?as=branch')).to.deep.equal([
      [1, 1],
      [5, null],
      [6, 3],
    ]);
    expect(await get('/related?as=where')).to.deep.equal([[3, [6]]]);
    expect(await get('/related?as=partners')).to.deep.equal([
      [1, [3]],
      [3, []],
      [5, []],
    ]);
    expect(await get('/related?as=unscoped%20partners')).to.deep.equal(await get('/related?as=partners'));
    for (const join of ['or', 'right']) {
      const { status } = await site.agent.get(`/branches/related?as=${join}`).set('tenant', '1');
      expect(status, join).to.equal(500);
    }
    expect(await get('/related?as=nested')).to.deep.equal([
      [
        'de',
        [
          [3, [6]],
          [5, []],
        ],
      ],
      ['fr', [[1, [1]]]],
    ]);
    expect(await get('/related?as=all')).to.deep.equal([
      ['de', [3, 5]],
      ['fr', [1]],
    ]);
    expect((await get('/related'))[0]).to.deep.equal([1, [1, 2, 3, 4], [2, 3, 5]]);
  });

  it('checks foreign keys in a unit of work', async () => {
    const move = (id: number) => site.agent.post(`/branches/move/${id}`).set('tenant', '1');
    expect((await move(3)).body).to.deep.equal({ branchId: 3 });
    const refused = await move(2);
    expect(refused.status).to.equal(409);
    expect(refused.body).to.deep.equal((await move(99)).body);
    expect((await Sale.findByPk(1))?.branchId).to.equal(3);
    expect((await move(1)).body).to.deep.equal({ branchId: 1 });
  });

  it('has the savepoints and the callbacks of its unit of work', async () => {
    const { body } = await site.agent.post('/branches/tried').set('tenant', '1').expect(200);
    expect(body).to.deep.equal({ undone: 'undone', amount: 2 });
    expect(committed).to.deep.equal(['tried']);
    expect(await Sale.findByPk(1)).to.include({ branchId: 1, amount: 2 });
    await Sale.update({ amount: 1 }, { where: { id: 1 } });
  });

  describe('of an application with rules in one place alone', () => {
    useEmptyRegistry();

    const visible = () => filter`name==c`;

    /** What a route of this application is given, and that of a controller without a resource. */
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
      expect(await given({ scope: { tenantId: () => 1 } }, {})).to.deep.equal({
        ...all,
        own: [1, 3, 5],
        plain: [1, 3, 5],
      });
      Crud({ visible: () => filter`secret==true` })(Sale);
      expect(await given({})).to.deep.equal({ ...all, sales: [2] });
    });
  });
});
