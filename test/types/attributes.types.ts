/** Attribute names and values, for each way to declare a model. */
import type { Model } from 'sequelize';
import type { Model as TypescriptModel } from 'sequelize-typescript';
import type { Attribute, CreateValues, UpdateValues } from '../../src/index.js';
import type { Equal, Expect } from './expect-type.js';
import type { City, CityAttributes, InferredCity, SelfCity, TypedCity } from './models.js';

/** Attributes that sequelize-typescript declares on every model. */
type Inherited = 'id' | 'createdAt' | 'updatedAt' | 'deletedAt' | 'version';

/** Names are those of columns: no methods, no relations, nothing of Sequelize. */
export type Names = [
  Expect<Equal<Attribute<City>, Inherited | 'name' | 'population' | 'names' | 'airports'>>,
  Expect<Equal<Attribute<SelfCity>, Inherited | 'name' | 'population'>>,
  Expect<Equal<Attribute<InferredCity>, Inherited | 'name' | 'population'>>,
  Expect<Equal<Attribute<TypedCity>, 'id' | 'name' | 'population'>>,
];

/** A model that is not known has any name. */
export type UnknownModels = [
  Expect<Equal<Attribute<Model>, string>>,
  Expect<Equal<Attribute<TypescriptModel>, string>>,
  Expect<Equal<CreateValues<Model>, Partial<Record<string, unknown>>>>,
];

/** Values of a model that declares the types of its attributes. */
export type SaidValues = [
  Expect<Equal<UpdateValues<TypedCity>, Partial<CityAttributes>>>,
  Expect<Equal<CreateValues<TypedCity>['name'], string>>,
];

export const created: [CreateValues<City>, CreateValues<SelfCity>, CreateValues<InferredCity>][] = [
  [{ name: 'Lyon' }, { name: 'Lyon' }, { name: 'Lyon' }],
  [{ population: null }, { population: null }, { name: 'Lyon', population: null }],
  // @ts-expect-error: a name is text
  [{ name: 1 }, { name: 'Lyon' }, { name: 'Lyon' }],
  // @ts-expect-error: a name is text
  [{ name: 'Lyon' }, { name: 1 }, { name: 'Lyon' }],
  // @ts-expect-error: a name is required
  [{ name: 'Lyon' }, { name: 'Lyon' }, { population: 1 }],
  // @ts-expect-error: no such attribute
  [{ nmae: 'Lyon' }, { name: 'Lyon' }, { name: 'Lyon' }],
  // @ts-expect-error: a method is no attribute
  [{ name: 'Lyon' }, { rename: async () => {} }, { name: 'Lyon' }],
  // @ts-expect-error: a relation is no attribute
  [{ name: 'Lyon', country: null }, { name: 'Lyon' }, { name: 'Lyon' }],
];

export const updated: [UpdateValues<City>, UpdateValues<SelfCity>, UpdateValues<InferredCity>][] = [
  [{}, {}, {}],
  [{ population: null }, { population: null }, { population: null }],
  // @ts-expect-error: no such attribute
  [{ nmae: 'Lyon' }, {}, {}],
  // @ts-expect-error: no such attribute
  [{}, { nmae: 'Lyon' }, {}],
  // @ts-expect-error: no such attribute
  [{}, {}, { nmae: 'Lyon' }],
  // @ts-expect-error: a name cannot be null
  [{ name: null }, {}, {}],
];
