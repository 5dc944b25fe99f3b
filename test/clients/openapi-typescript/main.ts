/** The types that openapi-typescript makes, with openapi-fetch. */
import createClient from 'openapi-fetch';
import type { paths } from './client.js';
import { ATLAS_URL, expect, HAVEN, LARGE, NEW, PARIS, WRONG } from './expected.js';

const atlas = createClient<paths, 'application/json' | 'application/problem+json'>({ baseUrl: ATLAS_URL });

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
  const haven = await atlas.POST('/cities', { body: HAVEN });
  if (!haven.data) throw new Error(haven.error.detail);
  // One record is no union with many.
  const { id: at, name } = haven.data;
  await atlas.DELETE('/cities/{id}', { params: { path: { id: at } } });
  const dry = { params: { query: { dry_run: true } }, body: [HAVEN, { ...HAVEN, id: 2 }] };
  const many = await atlas.POST('/cities/many', dry);
  if (!many.data) throw new Error(many.error.detail);
  expect(
    'create of one, and of many',
    [name, many.response.status, many.data.items.length],
    ['Haven', 201, 2],
  );
}

void main();
