/** A client of the atlas: the compiler reads its paths, parameters, bodies and answers from the OpenAPI document. */
import createClient from 'openapi-fetch';
import type { components, paths } from './atlas-api.js';

type Review = components['schemas']['ReviewRead'];
type Problem = components['schemas']['Problem'];

const { ATLAS_URL = 'http://localhost:3000' } = process.env;

// Some lists are files, too, and this client reads none.
const atlas = createClient<paths, 'application/json' | 'application/problem+json'>({
  baseUrl: ATLAS_URL,
  // `sort=-population,name`: commas separate the values of a list.
  querySerializer: { array: { style: 'form', explode: false } },
});

async function main(): Promise<void> {
  await showLargeCities();
  const review = await writeReview();
  await showReviews(review.cityId);
  await showCity(review.cityId);
  await removeReview(review.id);
  await askForWhatIsNotThere();
}

/** Lists, with parameters that the compiler checks: a sort by another property would not compile. */
async function showLargeCities(): Promise<void> {
  const { data, error } = await atlas.GET('/cities', {
    params: {
      query: {
        q: 'countryCode==FRA;population>=400000',
        sort: ['-population'],
        fields: ['name', 'population'],
        size: 3,
      },
    },
  });
  if (!data) return fail(error);
  for (const { name, population } of data.items) say(`${name} has ${population} people`);
}

/** Creates, and changes what it has created: 412 if somebody else had changed it meanwhile. */
async function writeReview(): Promise<Review> {
  const created = await atlas.POST('/reviews', { body: { cityId: 2988507, author: 'Ann', rating: 4 } });
  if (!created.data) return fail(created.error);
  const changed = await atlas.PATCH('/reviews/{id}', {
    params: {
      path: { id: created.data.id },
      header: { 'If-Match': created.response.headers.get('ETag') ?? '*' },
    },
    body: { text: 'Worth a detour.' },
  });
  if (!changed.data) return fail(changed.error);
  say(`Review by ${changed.data.author}: ${changed.data.text}`);
  return changed.data;
}

/** Follows cursors to the end. */
async function showReviews(cityId: number): Promise<void> {
  let count = 0;
  for await (const { author } of reviewsOf(cityId)) if (author === 'Ann') count += 1;
  say(`Ann has written ${count > 0 ? 'about it' : 'nothing'}`);
}

async function* reviewsOf(cityId: number) {
  for (let after: string | null | undefined; after !== null; ) {
    const query = { q: `cityId==${cityId}`, size: 50, ...(after === undefined ? {} : { after }) };
    const { data, error } = await atlas.GET('/reviews', { params: { query } });
    if (!data) return fail(error);
    yield* data.items;
    after = data.next_cursor;
  }
}

/** Reads along what belongs to a city. Relations have types, too, and so have their parameters. */
async function showCity(id: number): Promise<void> {
  const { data, error } = await atlas.GET('/cities/{id}', {
    params: {
      path: { id },
      query: {
        include: ['country', 'reviews'],
        'country.fields': ['name'],
        'reviews.sort': ['-createdAt'],
        'reviews.size': 1,
      },
    },
  });
  if (!data) return fail(error);
  // The request includes both relations. Their types are optional all the same.
  say(`${data.name} is in ${data.country?.name}; ${data.reviews?.items[0]?.author} has written last`);
}

async function removeReview(id: string): Promise<void> {
  const { error } = await atlas.DELETE('/reviews/{id}', { params: { path: { id } } });
  if (error) fail(error);
}

/** A problem has a type, too. */
async function askForWhatIsNotThere(): Promise<void> {
  const { error, response } = await atlas.GET('/countries/{id}', { params: { path: { id: 'XYZ' } } });
  say(`${response.status}: ${error?.detail}`);
}

function fail(problem: Problem): never {
  throw new Error(problem.detail);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
