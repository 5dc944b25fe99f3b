/** The types that openapi-typescript makes, with openapi-fetch. */
import createClient from 'openapi-fetch';
import type { paths } from './client.js';
import { ATLAS_URL, expect, LARGE, NEW, PARIS, WRONG } from './expected.js';

const atlas = createClient<paths>({ baseUrl: ATLAS_URL });

async function main(): Promise<void> {
  const query = { q: LARGE, sort: ['-population' as const, 'name' as const] };
  const cities = await atlas.GET('/cities', { params: { query } });
  if (!cities.data) throw new Error(cities.error.detail);
  expect(
    'list',
    cities.data.items.map(({ name }) => name),
    ['Paris', 'Marseille', 'Lyon'],
  );
  const city = await atlas.GET('/cities/{id}', {
    params: { path: { id: PARIS }, query: { include: ['country'] } },
  });
  if (!city.data) throw new Error(city.error.detail);
  expect('read', [city.data.name, city.data.country?.name], ['Paris', 'France']);
  const created = await atlas.POST('/reviews', { body: NEW });
  if (!created.data) throw new Error(created.error.detail);
  const { id, version } = created.data;
  const params = { path: { id }, header: { 'If-Match': `"${version}"` } };
  const changed = await atlas.PATCH('/reviews/{id}', { params, body: { rating: 5 } });
  if (!changed.data) throw new Error(changed.error.detail);
  expect('update', changed.data.rating, 5);
  const stale = await atlas.PATCH('/reviews/{id}', { params, body: { rating: 1 } });
  expect('update of another state', stale.response.status, 412);
  const refused = await atlas.POST('/reviews', { body: WRONG });
  if (!refused.error) throw new Error('A review was not refused.');
  expect(
    'refusal',
    refused.error.errors?.map(({ pointer }) => pointer),
    ['/author'],
  );
  const deleted = await atlas.DELETE('/reviews/{id}', { params: { path: { id } } });
  expect('delete', deleted.response.status, 204);
}

void main();
