/** The requests of each API for the same rows, and the place of the rows in its answers. */
import type { ArticleValues } from '../contenders/support/article-values.js';
import { isActive } from './article.js';
import type { Answer, Ask, Call } from './call.js';
import { walkTo } from './walk.js';

/** An API. */
export interface Wire {
  read(id: number): Call;
  list(size: number): Call;
  listWithTotal(size: number): Call;
  listOfCategory(category: string, size: number): Call;
  /** The page behind an id, in the way of this API that costs least. */
  listAfter(id: number, size: number, ask: Ask): Promise<Call>;
  create(values: ArticleValues): Call;
  update(id: number, changes: Partial<ArticleValues>): Call;
  items(answer: Answer): unknown;
  total(answer: Answer): number;
}

const PATH = '/articles';
const COUNTED_PATH = '/counted-articles';

type Writes = Pick<Wire, 'read' | 'create' | 'update'>;

/** Writes, which hardly differ between APIs. */
const writes: Writes = {
  read: (id) => get(`${PATH}/${id}`),
  create: (body) => ({ method: 'POST', path: PATH, body }),
  update: (id, body) => ({ method: 'PATCH', path: `${PATH}/${id}`, body }),
};

/** The API of the hand-written contenders. */
export const handWritten: Wire = {
  ...writes,
  list: (size) => get(`${PATH}?size=${size}`),
  listWithTotal: (size) => get(`${PATH}?size=${size}&total=true`),
  listOfCategory: (category, size) => get(`${PATH}?size=${size}&category=${category}`),
  listAfter: async (id, size) => get(`${PATH}?size=${size}&after=${id}`),
  items: ({ body }) => property(body, 'items'),
  total: ({ body }) => Number(property(body, 'total')),
};

/** Ours; the only one whose cursors have to be fetched. */
export const ours: Wire = {
  ...writes,
  list: (size) => get(`${PATH}?size=${size}`),
  listWithTotal: (size) => get(`${COUNTED_PATH}?size=${size}`),
  listOfCategory: (category, size) => get(`${PATH}?size=${size}&q=category==${category}`),
  listAfter: async (id, size, ask) =>
    get(`${PATH}?sort=id&size=${size}&after=${await walkTo(id, `${PATH}?sort=id`, ask)}`),
  items: ({ body }) => property(body, 'items'),
  total: ({ body }) => Number(property(body, 'total')),
};

/** Ours with two columns in an id. */
export const oursByTwoKeys: Wire = {
  ...ours,
  read: (id) => get(`${PATH}/${id},${isActive(id)}`),
  update: (id, body) => ({ method: 'PATCH', path: `${PATH}/${id},${isActive(id)}`, body }),
};

/** @dataui/crud counts when a request has the number of a page. Keyset paging is a filter. */
export const nest: Wire = {
  ...writes,
  list: (size) => get(`${PATH}?limit=${size}&sort=id,ASC`),
  listWithTotal: (size) => get(`${PATH}?limit=${size}&page=1&sort=id,ASC`),
  listOfCategory: (category, size) =>
    get(`${PATH}?limit=${size}&sort=id,ASC&filter=category||$eq||${category}`),
  listAfter: async (id, size) => get(`${PATH}?limit=${size}&sort=id,ASC&filter=id||$gt||${id}`),
  items: ({ body }) => (Array.isArray(body) ? body : property(body, 'data')),
  total: ({ body }) => Number(property(body, 'total')),
};

/** Feathers counts where the service has `paginate`. Keyset paging is a filter. */
export const feathers: Wire = {
  ...writes,
  list: (size) => get(`${PATH}?$limit=${size}&$sort[id]=1`),
  listWithTotal: (size) => get(`${COUNTED_PATH}?$limit=${size}&$sort[id]=1`),
  listOfCategory: (category, size) => get(`${PATH}?$limit=${size}&$sort[id]=1&category=${category}`),
  listAfter: async (id, size) => get(`${PATH}?$limit=${size}&$sort[id]=1&id[$gt]=${id}`),
  items: ({ body }) => (Array.isArray(body) ? body : property(body, 'data')),
  total: ({ body }) => Number(property(body, 'total')),
};

/** finale-rest always counts, updates by PUT, and reaches a depth by offset only. */
export const finale: Wire = {
  ...writes,
  list: (size) => get(`${PATH}?count=${size}&sort=id`),
  listWithTotal: (size) => get(`${PATH}?count=${size}&sort=id`),
  listOfCategory: (category, size) => get(`${PATH}?count=${size}&sort=id&category=${category}`),
  // The ids have no gaps.
  listAfter: async (id, size) => get(`${PATH}?count=${size}&sort=id&offset=${id}`),
  update: (id, body) => ({ method: 'PUT', path: `${PATH}/${id}`, body }),
  items: ({ body }) => body,
  total: ({ headers }) => Number(headers.get('content-range')?.split('/')[1]),
};

function get(path: string): Call {
  return { method: 'GET', path };
}

function property(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
}
