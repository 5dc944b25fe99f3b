/** Calls of a client that is generated from our document, and calls that do not compile. */
import createClient from 'openapi-fetch';
import type { paths } from '../../sample/typed-client/atlas-api.js';
import type { Equal, Expect } from './expect-type.js';

const atlas = createClient<paths>();

/** Calls whose answers are checked below. */
export const read = () => atlas.GET('/reviews/{id}', { params: { path: { id: '1' } } });
export const readCity = () =>
  atlas.GET('/cities/{id}', {
    params: { path: { id: 1 }, query: { include: ['country', 'reviews'], 'reviews.size': 1 } },
  });
export const create = () =>
  atlas.POST('/reviews', { body: { cityId: 1, author: 'Ann', rating: 5, text: null } });
export const update = () =>
  atlas.PATCH('/countries/{id}', { params: { path: { id: 'FRA' } }, body: { region: 'Europe' } });

type Data<T extends () => Promise<{ data?: unknown }>> = NonNullable<Awaited<ReturnType<T>>['data']>;

/** A GET answers all properties, as a write does, and the relations of `include`. */
export type Checks = [
  Expect<Equal<Data<typeof read>['rating'], number>>,
  Expect<Equal<NonNullable<Data<typeof readCity>['country']>['name'], string>>,
  Expect<Equal<Extract<Data<typeof readCity>['country'], null>, null>>,
  Expect<Equal<NonNullable<Data<typeof readCity>['reviews']>['has_next'], boolean>>,
  Expect<Equal<NonNullable<Data<typeof readCity>['reviews']>['items'][number]['rating'], number>>,
  Expect<Equal<Data<typeof create>['rating'], number>>,
  Expect<Equal<Data<typeof create>['deletedAt'], string | null>>,
  Expect<
    Equal<Data<typeof update>['region'], 'Africa' | 'Americas' | 'Antarctic' | 'Asia' | 'Europe' | 'Oceania'>
  >,
];

/** Calls that do not compile. */
export async function refused(): Promise<void> {
  // @ts-expect-error There is no such path.
  await atlas.GET('/city');
  // @ts-expect-error Nor can it be sorted by this.
  await atlas.GET('/cities', { params: { query: { sort: ['latitude'] } } });
  // @ts-expect-error There is no such relation.
  await atlas.GET('/cities', { params: { query: { include: ['mayor'] } } });
  // @ts-expect-error One country has no size.
  await atlas.GET('/cities', { params: { query: { 'country.size': 1 } } });
  // @ts-expect-error The parameters of a relation have types.
  await atlas.GET('/cities', { params: { query: { include: ['reviews'], 'reviews.size': 'all' } } });
  // @ts-expect-error What a write answers has no relations.
  (await create()).data?.city;
  // @ts-expect-error The page is for lists by number.
  await atlas.GET('/reviews', { params: { query: { page: 2 } } });
  // @ts-expect-error The city is required.
  await atlas.POST('/reviews', { body: { author: 'Ann', rating: 5 } });
  // @ts-expect-error It cannot be null.
  await atlas.PATCH('/reviews/{id}', { params: { path: { id: '1' } }, body: { rating: null } });
  // @ts-expect-error It is not one of the regions.
  await atlas.PATCH('/countries/{id}', { params: { path: { id: 'FRA' } }, body: { region: 'Narnia' } });
  // @ts-expect-error An id of text is no number.
  await atlas.DELETE('/reviews/{id}', { params: { path: { id: 1 } } });
}
