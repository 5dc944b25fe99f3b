/** The atlas for react-admin: a typed client, and what the provider has to know of each resource. */
import createClient from 'openapi-fetch';
import type { paths } from '../typed-client/atlas-api.js';
import { crudDataProvider } from './data-provider/data-provider.js';
import type { ListQuery } from './data-provider/resources.js';

const client = createClient<paths>({
  baseUrl: window.location.origin,
  // `fields=name,region`: the values of a list stand between commas.
  querySerializer: { array: { style: 'form', explode: false } },
});

export const dataProvider = crudDataProvider(client, {
  countries: { path: '/countries', key: 'code', tags: true },
  cities: { path: '/cities', tags: true },
  reviews: { path: '/reviews', pagination: 'cursor', tags: true, bulk: true },
});

/** What a page may ask of a list: fields and relations. Names that the atlas does not know do not compile. */
export type Query<Path extends keyof paths> = ListQuery<paths, Path>;
