/** Requests to each API that write one record, and many. */
import type { ArticleValues } from '../contenders/support/article-values.js';
import type { Answer, Call } from '../load/call.js';
import type { LineChanges, OrderValues } from './orders.js';

/** A change of one record among many. */
export type Change = Partial<ArticleValues> & { readonly id: number };

/** An API. */
export interface WriteWire {
  create(values: ArticleValues): Call;
  createMany(records: readonly ArticleValues[]): Call;
  update(id: number, changes: Partial<ArticleValues>): Call;
  updateMany(changes: readonly Change[]): Call;
  /** The same change of all records from an id to before another. */
  updateRange(from: number, to: number, changes: Partial<ArticleValues>): Call;
  /** The same on articles whose changes are stored. */
  updateKept(id: number, changes: Partial<ArticleValues>): Call;
  updateManyKept(changes: readonly Change[]): Call;
  createOrder(order: OrderValues): Call;
  changeOrder(id: number, lines: LineChanges): Call;
  /** The records that were written, in the order of the request. */
  items(answer: Answer): unknown;
}

const PATH = '/articles';
const ORDERS_PATH = '/orders';
const KEPT_PATH = '/kept-articles';

const writes = {
  create: (body) => ({ method: 'POST', path: PATH, body }),
  createMany: (body) => ({ method: 'POST', path: PATH, body }),
  update: (id, body) => ({ method: 'PATCH', path: `${PATH}/${id}`, body }),
  updateMany: (body) => ({ method: 'PATCH', path: PATH, body }),
  updateKept: (id, body) => ({ method: 'PATCH', path: `${KEPT_PATH}/${id}`, body }),
  updateManyKept: (body) => ({ method: 'PATCH', path: KEPT_PATH, body }),
  createOrder: (body) => ({ method: 'POST', path: ORDERS_PATH, body }),
  changeOrder: (id, lines) => ({ method: 'PATCH', path: `${ORDERS_PATH}/${id}`, body: { lines } }),
} satisfies Partial<WriteWire>;

/** The wire of the hand-written contenders. */
export const handWritten: WriteWire = {
  ...writes,
  updateRange: (from, to, body) => ({ method: 'PATCH', path: `${PATH}?from=${from}&to=${to}`, body }),
  items: ({ body }) => property(body, 'items'),
};

/** Ours; `q` chooses. */
export const ours: WriteWire = {
  ...writes,
  updateRange: (from, to, body) => ({
    method: 'PATCH',
    path: `${PATH}?q=id>=${from};id<${to}`,
    body,
  }),
  items: ({ body }) => property(body, 'items'),
};

/** @dataui/crud creates many under a path of its own. Changes of many it does not have. */
export const nest: WriteWire = {
  ...handWritten,
  createMany: (bulk) => ({ method: 'POST', path: `${PATH}/bulk`, body: { bulk } }),
  items: ({ body }) => body,
};

function property(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
}
