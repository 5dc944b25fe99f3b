/** Options that `@Crud` accepts. */
import { Model, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudOptions,
  type CrudRouterOptions,
  crudRouter,
  type Operation,
} from '../../src/index.js';
import type { Equal, Expect } from './expect-type.js';
import { City, type InferredCity, type SelfCity, type TypedCity } from './models.js';

export const accepted: CrudOptions<City>[] = [
  {},
  { filterAllow: ['name', 'population', 'id', 'createdAt'] },
  { filterAllow: { name: ['==', '=like='], population: true } },
  { filterAllow: { population: ['<', '<=', '>', '>=', '=between=', '=isnull='] } },
  { filterAllow: { name: ['=within=', '=contains=', '=overlaps='] } },
  { filterAllow: ['name', 'country.code', 'neighbors'] },
  { filterAllow: { name: true, 'country.code': ['=='], neighbors: ['name', 'country.code'] } },
  { filterAllow: { neighbors: { name: ['==', '=like='] }, country: true } },
  { filterAllow: { 'names.fr': 'string', 'names.a.b': 'number', 'country.names.on': 'boolean' } },
  { filterAllow: { neighbors: { 'names.fr': 'string' } } },
  { sortAllow: ['name'], defaultSort: '-name,id' },
  { sortAllow: { name: { ignoreCase: true }, population: { nulls: 'last' }, 'names.fr': { json: ['fr'] } } },
  { sortAllow: { 'country.name': true, 'country.code': { nulls: 'first' } } },
  { filterAllow: '*', sortAllow: '*' },
  { endpoints: ['list', 'read'] },
  { readOnly: true, only: true },
  { readOnly: ['name', 'population'] },
  { endpoints: new Set<Operation>(['create']) },
  { pagination: 'cursor', pageSize: { default: 10 } },
  { count: true },
  { count: { default: 'capped', allow: ['capped', 'none'], cap: 5 } },
  { include: { country: true, reviews: { count: true } } },
  { id: 'name', idType: 'string' },
  { idType: 'uuid' },
  { idType: Number },
  { idType: String },
  { idType: BigInt },
  { idType: (raw) => BigInt(raw) },
  {
    dependencies: [
      (_request, _response, next) => next(),
      class Check {
        use() {}
      },
    ],
  },
  { readSchema: class CityRead {}, createSchema: class {}, updateSchema: class {} },
  { unknownQuery: 'ignore', tags: ['Cities'], prefix: '/towns' },
];

export const rejected: CrudOptions<City>[] = [
  // @ts-expect-error: an attribute that is none
  { readOnly: ['nmae'] },
  // @ts-expect-error: no such attribute
  { filterAllow: ['name', 'nmae'] },
  // @ts-expect-error: no such attribute
  { filterAllow: { nmae: true } },
  // @ts-expect-error: a method is no attribute
  { filterAllow: ['rename'] },
  // @ts-expect-error: every attribute is the whole option
  { filterAllow: ['*'] },
  // @ts-expect-error: every attribute is the whole option
  { filterAllow: { '*': true } },
  // @ts-expect-error: nor are those of Sequelize
  { filterAllow: ['save'] },
  // @ts-expect-error: nor those of sequelize-typescript
  { filterAllow: ['$get'] },
  // @ts-expect-error: no such attribute
  { id: 'nmae' },
  // @ts-expect-error: a relation is no attribute
  { id: 'country' },
  // @ts-expect-error: a relation is no attribute
  { sortAllow: ['country'] },
  // @ts-expect-error: nor is a list of them
  { sortAllow: ['neighbors'] },
  // @ts-expect-error: no such attribute
  { sortAllow: { nmae: true } },
  // @ts-expect-error: no such attribute
  { sortAllow: { 'nmaes.fr': { json: ['fr'] } } },
  // @ts-expect-error: a value inside of JSON needs its path
  { sortAllow: { 'names.fr': true } },
  // @ts-expect-error: no such relation
  { sortAllow: { 'contry.name': true } },
  // @ts-expect-error: no such place
  { sortAllow: { population: { nulls: 'top' } } },
  // @ts-expect-error: no such operator
  { filterAllow: { name: ['='] } },
  // @ts-expect-error: no such relation
  { filterAllow: ['contry.code'] },
  // @ts-expect-error: no such relation
  { filterAllow: { 'contry.code': true } },
  // @ts-expect-error: an attribute has no attributes
  { filterAllow: { name: ['code'] } },
  // @ts-expect-error: no such operator
  { filterAllow: { 'country.code': ['='] } },
  // @ts-expect-error: only the option declares names inside of JSON
  { filterAllow: ['names.fr'] },
  // @ts-expect-error: only the option declares names inside of JSON
  { filterAllow: { 'names.fr': true } },
  // @ts-expect-error: JSON has no such type
  { filterAllow: { 'names.fr': 'integer' } },
  // @ts-expect-error: no such attribute
  { filterAllow: { 'naems.fr': 'string' } },
  // @ts-expect-error: the column has a type
  { filterAllow: { name: 'string' } },
  // @ts-expect-error: false is not a way to forbid
  { filterAllow: { name: false } },
  // @ts-expect-error: no such operation
  { endpoints: ['list', 'destroy'] },
  // @ts-expect-error: no such pagination
  { pagination: 'keyset' },
  // @ts-expect-error: no such type
  { idType: 'number' },
  // @ts-expect-error: rows are counted
  { pageSize: { default: '20' } },
  // @ts-expect-error: no such mode
  { count: { allow: ['estimated'] } },
  // @ts-expect-error: left out where it is not wanted
  { count: false },
  // @ts-expect-error: an instance is no class
  { readSchema: {} },
  // @ts-expect-error: an arrow function is no middleware class, and takes a request
  { dependencies: [(request: string) => request] },
  // @ts-expect-error: no such option
  { path: '/cities' },
];

/** The other ways to declare a model. */
export const others: [CrudOptions<SelfCity>, CrudOptions<InferredCity>, CrudOptions<TypedCity>][] = [
  [{ sortAllow: ['name'] }, { sortAllow: ['name'] }, { sortAllow: ['name'] }],
  [{ filterAllow: ['country.code'] }, { filterAllow: { name: true, 'country.code': true } }, {}],
  // @ts-expect-error: no such attribute
  [{ sortAllow: ['rename'] }, {}, {}],
  // @ts-expect-error: no such attribute
  [{}, { sortAllow: ['rename'] }, {}],
  // @ts-expect-error: no such attribute
  [{}, {}, { sortAllow: ['createdAt'] }],
];

@Crud<Checked>({ sortAllow: ['title'] })
@Table
export class Checked extends Model {
  declare title: string;
}

// @ts-expect-error: no such attribute
@Crud<Misspelt>({ sortAllow: ['titel'] })
@Table
export class Misspelt extends Model {
  declare title: string;
}

@Crud()
@Table
export class Bare extends Model {}

// @ts-expect-error: the model is known without a type argument
@Crud({ sortAllow: ['titel'] })
@Table
export class MisspeltToo extends Model {
  declare title: string;
}

// @ts-expect-error: options of another model
@Crud<City>({ sortAllow: ['name'] })
@Table
export class Foreign extends Model {
  declare title: string;
}

// @ts-expect-error: not a model
@Crud()
export class NoModel {}

export const routers = [
  crudRouter(City),
  crudRouter(City, { sortAllow: ['name'], bodyLimit: '1mb' }),
  // @ts-expect-error: no such attribute
  crudRouter(City, { sortAllow: ['nmae'] }),
  // @ts-expect-error: an instance of a model is not its class
  crudRouter(new City()),
];

/** `crudRouter` takes everything that `@Crud` takes. */
export type Checks = [Expect<Equal<Extract<keyof CrudRouterOptions, keyof CrudOptions>, keyof CrudOptions>>];
