/** The client that openapi-zod-client makes for Zodios, which checks each answer. It accepts no errors but those of `application/json`. */
import { isAxiosError } from 'axios';
import { createApiClient } from './client.js';
import { ATLAS_URL, expect, LARGE, NEW, PARIS, WRONG } from './expected.js';

const atlas = createApiClient(ATLAS_URL);

/** The status of an answer that is no success, and the pointers of its errors. */
async function refusalOf(answer: Promise<unknown>): Promise<unknown> {
  try {
    await answer;
  } catch (error) {
    if (!isAxiosError<{ errors?: { pointer?: string }[] }>(error)) throw error;
    return [error.response?.status, error.response?.data.errors?.map(({ pointer }) => pointer)];
  }
  throw new Error('A request was not refused.');
}

async function main(): Promise<void> {
  const page = await atlas.listCities({ queries: { q: LARGE, sort: ['-population', 'name'] } });
  expect(
    'list',
    page.items.map(({ name }) => name),
    ['Paris', 'Marseille', 'Lyon'],
  );
  const city = await atlas.readCity({ params: { id: PARIS }, queries: { include: ['country'] } });
  expect('read', [city.name, city.country?.name], ['Paris', 'France']);
  const { id, version } = await atlas.createReview(NEW);
  const headers = { 'If-Match': `"${version}"` };
  const changed = await atlas.updateReview({ rating: 5 }, { params: { id }, headers });
  expect('update', changed.rating, 5);
  const stale = await refusalOf(atlas.updateReview({ rating: 1 }, { params: { id }, headers }));
  expect('update of another state', stale, [412, undefined]);
  expect('refusal', await refusalOf(atlas.createReview(WRONG)), [422, ['/author']]);
  await atlas.deleteReview(undefined, { params: { id } });
}

void main();
