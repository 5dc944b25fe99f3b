/** Compares lists and sums with what PostgreSQL says. */
import { createRandom, type Random } from '../load/random.js';
import {
  askFor,
  type Check,
  type Examination,
  expectSame,
  SAMPLES,
  toJson,
} from '../measure/check-answers.js';
import { COLUMNS } from './posts.js';
import { PATHS, type QueryWorkload } from './workloads.js';

/** The parameters of a request -> its items, as PostgreSQL has them. */
type Expected = (parameters: URLSearchParams, query: Query) => Promise<unknown>;
type Query = (text: string, values?: unknown[]) => Promise<readonly object[]>;

const POSTS = `SELECT ${COLUMNS.map((name) => `p."${name}"`).join(', ')} FROM posts AS p`;
/** Every word of a title or a text is a lexeme, and no other word begins with it or ends with it. */
const OF_SEARCH = (column: string) => `WHERE $1 = ANY(string_to_array(${column}, ' '))`;
const BOTH = `p.title || ' ' || p.text`;

const section = (parameters: URLSearchParams) => parameters.get('q')?.split('==')[1];
const searched =
  (order: string, column: string): Expected =>
  (parameters, query) =>
    query(`${POSTS} ${OF_SEARCH(column)} ORDER BY ${order} LIMIT 20`, [parameters.get('search')]);
const sorted =
  (rest: string): Expected =>
  (_parameters, query) =>
    query(`${POSTS} ${rest} LIMIT 20`);

const EXPECTED: Readonly<Record<QueryWorkload, Expected>> = {
  searchWords: (parameters, query) =>
    query(`${POSTS} WHERE position($1 in p.title) > 0 ORDER BY p.id LIMIT 20`, [parameters.get('search')]),
  searchText: searched('p.id', BOTH),
  searchRelevance: searched(`ts_rank_cd(p.vector, to_tsquery('simple', $1)) DESC, p.id`, BOTH),
  aggregateSection: async (parameters, query) => {
    const text =
      'SELECT count(*)::int AS count, sum(stock)::text AS sum, trim_scale(round(avg(price), 10))::text AS avg FROM posts WHERE "sectionId" = $1';
    const rows = (await query(text, [section(parameters)])) as { count: number; sum: string; avg: string }[];
    return rows.map(({ count, sum, avg }) => ({
      group: {},
      count,
      sum: { stock: sum },
      avg: { price: avg },
    }));
  },
  aggregateMonth: async (parameters, query) => {
    const month = `to_char("createdAt" AT TIME ZONE 'Europe/Berlin', 'YYYY-MM-01')`;
    const text = `SELECT ${month} AS month, count(*)::int AS count, sum(stock)::text AS sum FROM posts WHERE "sectionId" = $1 GROUP BY 1 ORDER BY 1`;
    const rows = (await query(text, [section(parameters)])) as {
      month: string;
      count: number;
      sum: string;
    }[];
    return rows.map(({ month: at, count, sum }) => ({
      group: { 'createdAt.month': at },
      count,
      sum: { stock: sum },
    }));
  },
  sortRelation: sorted('JOIN sections AS s ON s.id = p."sectionId" ORDER BY s.name, p.id'),
  sortNulls: sorted('ORDER BY p.price IS NULL, p.price, p.id'),
};

/** By name of the workload. */
export const QUERY_CHECKS = Object.fromEntries(
  (Object.keys(EXPECTED) as QueryWorkload[]).map((name) => [
    name,
    (examination: Examination<null>) => check(name, examination),
  ]),
) as Readonly<Record<QueryWorkload, Check<null>>>;

async function check(name: QueryWorkload, { ask, database }: Examination<null>): Promise<void> {
  const random: Random = createRandom(2);
  const count = new Set([PATHS[name](random), PATHS[name](random)]).size > 1 ? SAMPLES : 1;
  for (let sample = 0; sample < count; sample += 1) {
    const path = PATHS[name](random);
    const call = { method: 'GET', path } as const;
    const { body } = await askFor(ask, call, 200);
    const { items } = (body ?? {}) as { readonly items?: unknown };
    const { searchParams } = new URL(path, 'http://localhost');
    const rows = await EXPECTED[name](searchParams, (text, values = []) => database.query(text, values));
    expectSame(call, items, toJson(rows));
  }
}
