/** Records in and out of a repository. */
import { literal, type Model, Op } from 'sequelize';
import {
  createSchema,
  type OffsetPage,
  type ReadSession,
  Repository,
  repository,
  type UnitOfWork,
  updateSchema,
} from '../../src/index.js';
import type { Equal, Expect } from './expect-type.js';
import { City, InferredCity, SelfCity, TypedCity } from './models.js';

/** A repository with a query of its own. */
export class CityRepository extends Repository<City> {
  static override model = City;
  capitals() {
    return this.list({ where: { population: 1 }, order: [['name', 'ASC']], limit: 10 });
  }
}

const cities = new Repository(City);

/** Every result has records of the model, whatever the arguments are. */
export type Checks = [
  Expect<Equal<typeof cities, Repository<City>>>,
  Expect<Equal<ReturnType<typeof cities.get>, Promise<City>>>,
  Expect<Equal<ReturnType<typeof cities.find>, Promise<City | null>>>,
  Expect<Equal<ReturnType<typeof cities.one>, Promise<City>>>,
  Expect<Equal<ReturnType<typeof cities.list>, Promise<City[]>>>,
  Expect<Equal<ReturnType<typeof cities.page>, Promise<OffsetPage<City>>>>,
  Expect<Equal<ReturnType<typeof cities.create>, Promise<City>>>,
  Expect<Equal<ReturnType<typeof cities.update>, Promise<City>>>,
  Expect<Equal<ReturnType<typeof cities.delete>, Promise<void>>>,
  Expect<Equal<ReturnType<CityRepository['capitals']>, Promise<City[]>>>,
  Expect<Equal<ReturnType<CityRepository['get']>, Promise<City>>>,
];

/** A repository that a session binds keeps its class. */
export function bound(uow: UnitOfWork, session: ReadSession, any: City['constructor']) {
  const results = {
    bySubclass: uow.repository(CityRepository),
    byInstance: uow.repository(new CityRepository()),
    byPlainInstance: uow.repository(cities),
    byModel: uow.repository(City),
    byNamedModel: uow.repository<City>(City),
    reading: session.repository(CityRepository),
    provided: repository(CityRepository)(),
    providedByModel: repository(City)(),
  };
  // @ts-expect-error: neither a model nor a repository
  uow.repository(any);
  return results;
}
type Bound = ReturnType<typeof bound>;
export type BoundChecks = [
  Expect<Equal<Bound['bySubclass'], CityRepository>>,
  Expect<Equal<Bound['byInstance'], CityRepository>>,
  Expect<Equal<Bound['byPlainInstance'], Repository<City>>>,
  Expect<Equal<Bound['byModel'], Repository<City>>>,
  Expect<Equal<Bound['byNamedModel'], Repository<City>>>,
  Expect<Equal<Bound['reading'], CityRepository>>,
  Expect<Equal<Bound['provided'], CityRepository>>,
  Expect<Equal<Bound['providedByModel'], Repository<City>>>,
];

/** The derived classes of bodies, as they are, extended, and with a property of their own. */
export class CityForm extends createSchema(City) {}
export class SelfForm extends createSchema(SelfCity) {}
export class InferredForm extends createSchema(InferredCity) {
  declare coupon: string;
}
export class TypedPatch extends updateSchema(TypedCity) {}
export async function fromBodies(
  city: CityForm,
  self: SelfForm,
  { coupon, ...inferred }: InferredForm,
  patch: TypedPatch,
) {
  const name: string | undefined = city.name;
  // @ts-expect-error: a relation is no part of a body
  city.country;
  // @ts-expect-error: no such attribute
  patch.nmae;
  await new Repository(SelfCity).create(self);
  await new Repository(InferredCity).create(inferred);
  await new Repository(TypedCity).update(1, patch);
  // @ts-expect-error: the form of another model
  await new Repository(TypedCity).create(city);
  const Form = createSchema(City);
  const form: InstanceType<typeof Form> = new Form();
  return [coupon, name, await cities.create(city), await cities.create(form), await cities.update(1, city)];
}

export const accepted = [
  cities.get(1),
  cities.get('1'),
  cities.get(1n),
  cities.one({ name: 'Lyon' }),
  cities.one({ population: { [Op.gte]: 1 }, 'names.fr': 'Lyon', '$country.code$': 'FR' }),
  cities.one({ [Op.or]: [{ population: null }, { createdAt: '2026-01-31' }] }),
  cities.one(literal('population > 1')),
  cities.list({ where: { name: ['Lyon', 'Paris'] } }),
  new Repository<Model>(City).one({ anything: 1 }),
  cities.page({ page: 1, size: 20 }),
  cities.page({ page: 1, size: 20, count: 'capped', cap: 100 }),
  cities.cursorPage({ size: 20, count: 'exact' }),
  cities.create({ name: 'Lyon' }),
  cities.update(1, { population: null }),
  cities.get({ countryId: 1, name: 'Lyon' }),
  new Repository(SelfCity).create({ name: 'Lyon' }),
  new Repository(InferredCity).create({ name: 'Lyon', population: 1 }),
  new Repository(TypedCity).create({ name: 'Lyon', population: 1 }),
  new CityRepository(),
];

export const rejected = [
  // @ts-expect-error: not an id
  cities.get({ id: null }),
  // @ts-expect-error: not an id
  cities.find(null),
  // @ts-expect-error: a size is needed
  cities.page({ page: 1 }),
  // @ts-expect-error: no such mode
  cities.page({ page: 1, size: 20, count: 'some' }),
  // @ts-expect-error: no such attribute
  cities.create({ nmae: 'Lyon' }),
  // @ts-expect-error: a name is text
  cities.update(1, { name: 1 }),
  // @ts-expect-error: no such attribute
  cities.one({ nope: 1 }),
  // @ts-expect-error: no such attribute
  cities.list({ where: { [Op.or]: [{ nope: 1 }] } }),
  // @ts-expect-error: no such attribute
  cities.page({ page: 1, size: 20, where: { nope: 1 } }),
  // @ts-expect-error: no such attribute
  new Repository(SelfCity).cursorPage({ size: 20, where: { nope: 1 } }),
  // @ts-expect-error: a method is no attribute
  cities.one({ rename: 1 }),
  // @ts-expect-error: no such attribute
  new Repository(InferredCity).one({ nmae: 'Lyon' }),
  // @ts-expect-error: a name is required
  new Repository(InferredCity).create({ population: 1 }),
  // @ts-expect-error: a name is required
  new Repository(TypedCity).create({ population: 1 }),
  // @ts-expect-error: not a model
  new Repository(class Foreign {}),
];
