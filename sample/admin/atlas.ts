/** The atlas for react-admin: a typed client, and what the provider has to know of each resource. */
import createClient from 'openapi-fetch';
import { defaultI18nProvider, type I18nProvider } from 'react-admin';
import type { paths } from '../typed-client/atlas-api.js';
import { crudDataProvider } from './data-provider/data-provider.js';
import type { AggregateQuery, ListQuery } from './data-provider/resources.js';

const client = createClient<paths>({
  baseUrl: window.location.origin,
  // `fields=name,region`: the values of a list stand between commas.
  querySerializer: { array: { style: 'form', explode: false } },
});

/** Labels that react-admin would not make of the names, for the pages and for the messages of the API. */
const labels = { countries: { area: 'Area (km²)' }, cities: { countryCode: 'Country' } };

export const dataProvider = crudDataProvider(client, {
  countries: { path: '/countries', key: 'code', tags: true, labels: labels.countries },
  cities: { path: '/cities', tags: true, labels: labels.cities },
  reviews: { path: '/reviews', pagination: 'cursor', tags: true, bulk: true },
  trips: { path: '/trips', tags: true, nested: ['stops'] },
  themes: { path: '/themes' },
});

const translations: ReadonlyMap<string, string> = new Map(
  Object.entries(labels).flatMap(([resource, fields]) =>
    Object.entries(fields).map(([name, label]) => [`resources.${resource}.fields.${name}`, label]),
  ),
);

export const i18nProvider: I18nProvider = {
  ...defaultI18nProvider,
  translate: (key, options) => translations.get(key) ?? defaultI18nProvider.translate(key, options),
};

/** Parameters that a page may send to a list: fields and relations. Names that the atlas does not have do not compile. */
export type Query<Path extends keyof paths> = ListQuery<paths, Path>;

/** Parameters that a page may send for groups. */
export type Groups<Path extends keyof paths> = AggregateQuery<paths, Path>;
