/** The client that swagger-typescript-api makes: it throws the answers that are no success. */
import { Api, type HttpResponse, type Problem } from './client.js';
import { ATLAS_URL, expect, LARGE, NEW, PARIS, WRONG } from './expected.js';

const { cities, reviews } = new Api({ baseUrl: ATLAS_URL });

/** The types of errors are those of rejections, which no compiler sees. */
const refusalOf = (answer: Promise<unknown>): Promise<HttpResponse<unknown, Problem>> =>
  answer.then(
    () => Promise.reject(new Error('A request was not refused.')),
    (error: HttpResponse<unknown, Problem>) => error,
  );

async function main(): Promise<void> {
  const { data: page } = await cities.listCities({ q: LARGE, sort: ['-population', 'name'] });
  expect(
    'list',
    page.items.map(({ name }) => name),
    ['Paris', 'Marseille', 'Lyon'],
  );
  const { data: city } = await cities.readCity(PARIS, { include: ['country'] });
  expect('read', [city.name, city.country?.name], ['Paris', 'France']);
  const { id, version } = (await reviews.createReview(NEW)).data;
  const headers = { 'If-Match': `"${version}"` };
  const { data: changed } = await reviews.updateReview(id, { rating: 5 }, { headers });
  expect('update', changed.rating, 5);
  const stale = await refusalOf(reviews.updateReview(id, { rating: 1 }, { headers }));
  expect('update of another state', stale.status, 412);
  const refused = await refusalOf(reviews.createReview(WRONG));
  expect(
    'refusal',
    [refused.status, refused.error.errors?.map(({ pointer }) => pointer)],
    [422, ['/author']],
  );
  expect('delete', (await reviews.deleteReview(id, { format: undefined as never })).status, 204);
}

void main();
