/** Subclasses of generated controllers. */
import { Get } from 'routing-controllers';
import type { CreationAttributes } from 'sequelize';
import {
  type CreateValues,
  type CrudContext,
  type CrudController,
  type CursorListQuery,
  crudController,
  type Id,
  InjectId,
  InjectListQuery,
  InjectRecord,
  InjectRepository,
  type ListQuery,
  type OffsetListQuery,
  type Page,
  type ReadQuery,
  Repository,
  type UpdateValues,
} from '../../src/index.js';
import type { Equal, Expect } from './expect-type.js';
import { City, InferredCity, SelfCity, TypedCity } from './models.js';

/** Values as a user writes them down. */
interface CityValues {
  name: string;
  population?: number;
}

/** With types of its own, and a context of any model. */
export class LooseController extends crudController(City) {
  override async list(query: ListQuery, context: CrudContext) {
    return super.list(query, context);
  }
  override async read(id: Id, query: ReadQuery, context: CrudContext) {
    return super.read(id, query, context);
  }
  override async create(values: CityValues, context: CrudContext) {
    return super.create(values, context);
  }
  override async update(id: Id, values: Partial<CityValues>, context: CrudContext) {
    return super.update(id, values, context);
  }
  override async remove(id: Id, context: CrudContext) {
    return super.remove(id, context);
  }
}

/** With the types of the library. */
export class StrictController extends crudController(City) {
  override create(values: CreateValues<City>, context: CrudContext<City>) {
    return super.create({ ...values, name: values.name?.trim() ?? '' }, context);
  }
  override update(id: Id, values: UpdateValues<City>, context: CrudContext<City>) {
    // @ts-expect-error: a name is text
    values.name = 1;
    return super.update(id, values, context);
  }
  override remove(id: Id, context: CrudContext<City, { readonly user: { readonly isAdmin: boolean } }>) {
    // @ts-expect-error: nothing has put it there
    context.request.admin;
    if (!context.request.user.isAdmin || context.request.get('dry')) throw new Error('Not you.');
    return super.remove(id, context);
  }
}

/** With the types of Sequelize. */
export class InferredController extends crudController(InferredCity) {
  override create(values: CreationAttributes<InferredCity>, context: CrudContext<InferredCity>) {
    return super.create({ ...values, name: values.name.trim() }, context);
  }
}

/** `super` returns records of the model. */
export class ReturnTypes extends crudController(City) {
  override async list(query: ListQuery, context: CrudContext<City>) {
    const page = await super.list(query, context);
    const names: string[] = page.items.map(({ name }) => name);
    return { ...page, items: page.items.slice(0, names.length) };
  }
  override async read(id: Id, query: ReadQuery, context: CrudContext<City>) {
    const city = await super.read(id, query, context);
    return city.rename('Lyon');
  }
  override async remove(id: Id, context: CrudContext<City>) {
    // @ts-expect-error: nothing comes back
    (await super.remove(id, context)).toString();
  }
}

/** Plain objects, where the type argument allows them. */
export class PlainController extends crudController<City, object>(City) {
  override async list(query: ListQuery, context: CrudContext<City>): Promise<Page<object>> {
    const page = await super.list(query, context);
    return { ...page, items: page.items.map((item) => ({ ...item, rank: 1 })) };
  }
  override async read(id: Id, _query: ReadQuery, context: CrudContext<City>) {
    return { ...(await context.repository.get(id)).toJSON(), rank: 1 };
  }
}

/** Wrong overrides do not compile. */
export class WrongController extends crudController(City) {
  // @ts-expect-error: not a record of City
  override async read(_id: Id, _query: ReadQuery, _context: CrudContext<City>) {
    return { rank: 1 };
  }
  // @ts-expect-error: the values come first
  override async create(context: CrudContext<City>) {
    return super.create({ name: 'Lyon' }, context);
  }
  // @ts-expect-error: nothing to override
  override async destroy(id: Id, context: CrudContext<City>) {
    return super.remove(id, context);
  }
  // @ts-expect-error: a bare `list` needs `override`
  async list(query: ListQuery, context: CrudContext<City>) {
    return super.list(query, context);
  }
}

/** A controller from before reads had a query. */
export class OutdatedController extends crudController(City) {
  // @ts-expect-error: the query comes before the context
  override async read(id: Id, context: CrudContext<City>) {
    return context.repository.get(id);
  }
}

/** A repository with a query of its own. */
class CityRepository extends Repository<City> {
  static override model = City;
  capitals(): Promise<City[]> {
    return this.list({ where: { population: 1 } });
  }
}

/** With routes whose parameters are decorated with the values of their resource. */
export class RoutesController extends crudController(City) {
  @Get('/:id/name')
  name(@InjectId() _id: number, @InjectRecord() city: City) {
    return city.rename('Lyon');
  }
  @Get('/capitals')
  capitals(@InjectListQuery() query: OffsetListQuery, @InjectRepository(City) cities: Repository<City>) {
    return cities.page({ ...query, where: { population: 1 } });
  }
  @Get('/newest')
  newest(@InjectListQuery() query: CursorListQuery, @InjectRepository(City) cities: Repository<City>) {
    return cities.cursorPage(query);
  }
  @Get('/any')
  any(@InjectListQuery() query: ListQuery, @InjectRepository(City) cities: Repository<City>) {
    // @ts-expect-error: it may be a query by cursor
    cities.page(query);
    return query.kind === 'cursor' ? cities.cursorPage(query) : cities.page(query);
  }
  @Get('/wrong')
  // @ts-expect-error: an option that there is not
  wrong(@InjectId('cityId') id: number) {
    return id;
  }
}

/** From a subclass of `Repository`, and from an instance of one. */
export class RepositoryClassController extends crudController(CityRepository) {}
export class RepositoryController extends crudController(new CityRepository(), { sortAllow: ['name'] }) {}

/** The generated class is abstract. */
// @ts-expect-error: extend it
export const instance = new (crudController(City))();

/** Options are checked against the model. */
// @ts-expect-error: no such attribute
export const misspelt = crudController(City, { sortAllow: ['nmae'] });

/** Only a model or a repository is a source. */
// @ts-expect-error: neither
export const foreign = crudController(class Foreign {});

const selfController = crudController(SelfCity);
const typedController = crudController(TypedCity);

export type Checks = [
  Expect<Equal<InstanceType<typeof selfController>, CrudController<SelfCity>>>,
  Expect<Equal<InstanceType<typeof typedController>, CrudController<TypedCity>>>,
  Expect<Equal<Awaited<ReturnType<RepositoryClassController['read']>>, City>>,
  Expect<Equal<Awaited<ReturnType<RepositoryController['list']>>, Page<City>>>,
  Expect<Equal<Awaited<ReturnType<LooseController['create']>>, City>>,
  Expect<Equal<Awaited<ReturnType<CrudController<City, object>['read']>>, object>>,
  Expect<Equal<CrudContext<City>['repository'], Repository<City>>>,
];
