/** The client that orval makes for `fetch`. Its addresses are relative. */
import {
  createCity,
  createManyCities,
  createReview,
  deleteCity,
  deleteReview,
  listCities,
  readCity,
  updateReview,
} from './client.js';
import { ATLAS_URL, expect, HAVEN, LARGE, NEW, PARIS, WRONG } from './expected.js';

const send = globalThis.fetch;
globalThis.fetch = (url, init) => send(new URL(String(url), ATLAS_URL), init);

async function main(): Promise<void> {
  const cities = await listCities({ q: LARGE, sort: ['-population', 'name'] });
  if (cities.status !== 200) throw new Error(cities.data.detail);
  if (typeof cities.data === 'string') throw new Error('The cities are a file.');
  expect(
    'list',
    cities.data.items.map(({ name }) => name),
    ['Paris', 'Marseille', 'Lyon'],
  );
  const city = await readCity(PARIS, { include: ['country'] });
  if (city.status !== 200) throw new Error(city.data.detail);
  expect('read', [city.data.name, city.data.country?.name], ['Paris', 'France']);
  const created = await createReview(NEW);
  if (created.status !== 201) throw new Error(created.data.detail);
  const { id, version } = created.data;
  const changed = await updateReview(id, { rating: 5 }, { headers: { 'If-Match': `"${version}"` } });
  if (changed.status !== 200) throw new Error(changed.data.detail);
  expect('update', changed.data.rating, 5);
  const stale = await updateReview(id, { rating: 1 }, { headers: { 'If-Match': `"${version}"` } });
  expect('update of another state', stale.status, 412);
  const refused = await createReview(WRONG);
  if (refused.status !== 422) throw new Error('A review was not refused.');
  expect(
    'refusal',
    refused.data.errors?.map(({ pointer }) => pointer),
    ['/author'],
  );
  expect('delete', (await deleteReview(id)).status, 204);
  const haven = await createCity(HAVEN);
  if (haven.status !== 201) throw new Error(haven.data.detail);
  // One record is no union with many.
  const { id: at, name } = haven.data;
  await deleteCity(at);
  const many = await createManyCities([HAVEN, { ...HAVEN, id: 2 }], { dry_run: true });
  if (many.status !== 201) throw new Error('The cities were not created.');
  expect(
    'create of one, and of many',
    [name, many.data.items.map(({ id: given }) => given)],
    ['Haven', [1, 2]],
  );
}

void main();
