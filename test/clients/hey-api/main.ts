/** The client that \@hey-api/openapi-ts makes for `fetch`. */
import { client } from './client/client.gen.js';
import { createReview, deleteReview, listCities, readCity, updateReview } from './client/index.js';
import { ATLAS_URL, expect, LARGE, NEW, PARIS, WRONG } from './expected.js';

client.setConfig({ baseUrl: ATLAS_URL });

async function main(): Promise<void> {
  const cities = await listCities({ query: { q: LARGE, sort: ['-population', 'name'] } });
  if (!cities.data) throw new Error(cities.error.detail);
  expect(
    'list',
    cities.data.items.map(({ name }) => name),
    ['Paris', 'Marseille', 'Lyon'],
  );
  const city = await readCity({ path: { id: PARIS }, query: { include: ['country'] } });
  if (!city.data) throw new Error(city.error.detail);
  expect('read', [city.data.name, city.data.country?.name], ['Paris', 'France']);
  const created = await createReview({ body: NEW });
  if (!created.data) throw new Error(created.error.detail);
  const { id, version } = created.data;
  const headers = { 'If-Match': `"${version}"` };
  const changed = await updateReview({ path: { id }, body: { rating: 5 }, headers });
  if (!changed.data) throw new Error(changed.error.detail);
  expect('update', changed.data.rating, 5);
  const stale = await updateReview({ path: { id }, body: { rating: 1 }, headers });
  expect('update of another state', stale.response?.status, 412);
  const refused = await createReview({ body: WRONG });
  if (!refused.error) throw new Error('A review was not refused.');
  expect(
    'refusal',
    refused.error.errors?.map(({ pointer }) => pointer),
    ['/author'],
  );
  expect('delete', (await deleteReview({ path: { id } })).response?.status, 204);
}

void main();
