/** Orders with their lines by hand: named statements in one transaction, and one statement for all lines of a kind. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pool, PoolClient } from 'pg';
import { parse, readText, send } from '../contenders/support/http.js';
import { LINES, type LineChanges, type LineValues, type OrderValues } from './orders.js';

export const ORDERS_PATH = '/orders';

interface OrderRow {
  readonly id: number;
  readonly customer: string;
  readonly version: number;
}

const COLUMNS = 'id, "orderId", "productId", position, qty';
const INSERT_ORDER = 'INSERT INTO orders (customer, version) VALUES ($1, 0) RETURNING id, customer, version';
const INSERT_LINES =
  'INSERT INTO order_lines ("orderId", "productId", position, qty) SELECT $1, p, l, q ' +
  `FROM unnest($2::integer[], $3::integer[], $4::integer[]) WITH ORDINALITY AS t(p, l, q, n) ORDER BY n RETURNING ${COLUMNS}`;
const TOUCH_ORDER = 'UPDATE orders SET version = version + 1 WHERE id = $1 RETURNING id, customer, version';
const UPDATE_LINES =
  'UPDATE order_lines AS l SET qty = t.qty FROM unnest($2::integer[], $3::integer[]) AS t(id, qty) ' +
  'WHERE l.id = t.id AND l."orderId" = $1';
const DELETE_LINES = 'DELETE FROM order_lines WHERE id = ANY ($2::integer[]) AND "orderId" = $1';
const READ_LINES = `SELECT ${COLUMNS} FROM order_lines WHERE "orderId" = $1 ORDER BY id LIMIT ${LINES + 1}`;

/** Answers requests for orders. */
export class OrderServer {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '', method } = request;
    const body = parse(await readText(request));
    if (method === 'POST' && url === ORDERS_PATH) return this.#create(response, checkOrder(body));
    const id = Number(url.slice(ORDERS_PATH.length + 1));
    if (method === 'PATCH' && Number.isInteger(id)) return this.#change(response, id, checkLineChanges(body));
    send(response, 404, '{"error":404}');
  }

  async #create(response: ServerResponse, order: OrderValues | null): Promise<void> {
    if (!order) return send(response, 422, '{"error":422}');
    const json = await this.#transact(async (client) => {
      const insert = { name: 'insert-order', text: INSERT_ORDER, values: [order.customer] };
      const { rows } = await client.query<OrderRow>(insert);
      const row = rows[0] as OrderRow;
      return toJson(row, await insertLines(client, row.id, order.lines));
    });
    send(response, 201, json);
  }

  async #change(response: ServerResponse, id: number, changes: LineChanges | null): Promise<void> {
    if (!changes) return send(response, 422, '{"error":422}');
    try {
      const json = await this.#transact(async (client) => {
        const touch = { name: 'touch-order', text: TOUCH_ORDER, values: [id] };
        const [row] = (await client.query<OrderRow>(touch)).rows;
        const { update, delete: removed } = changes;
        const gone = { name: 'delete-lines', text: DELETE_LINES, values: [id, removed] };
        if (!row || (await client.query(gone)).rowCount !== removed.length) throw new Missing();
        const values = [id, update.map((each) => each.id), update.map(({ qty }) => qty)];
        const change = { name: 'update-lines', text: UPDATE_LINES, values };
        if ((await client.query(change)).rowCount !== update.length) throw new Missing();
        await insertLines(client, id, changes.create);
        return toJson(row, (await client.query({ name: 'read-lines', text: READ_LINES, values: [id] })).rows);
      });
      send(response, 200, json);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      send(response, 404, '{"error":404}');
    }
  }

  async #transact<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      client.release();
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      client.release();
      throw error;
    }
  }
}

/** A row of the request is not there. */
class Missing extends Error {}

async function insertLines(
  client: PoolClient,
  order: number,
  lines: readonly LineValues[],
): Promise<readonly object[]> {
  const columns = (['productId', 'position', 'qty'] as const).map((name) => lines.map((line) => line[name]));
  const insert = { name: 'insert-lines', text: INSERT_LINES, values: [order, ...columns] };
  return (await client.query<object>(insert)).rows;
}

function toJson(order: OrderRow, rows: readonly object[]): string {
  const lines = { items: rows.slice(0, LINES), has_next: rows.length > LINES };
  return JSON.stringify({ ...order, lines });
}

/** The body of a new order; null where it is none. */
export function checkOrder(body: unknown): OrderValues | null {
  const { customer, lines } = (body ?? {}) as { readonly customer?: unknown; readonly lines?: unknown };
  const isOrder = typeof customer === 'string' && Array.isArray(lines) && lines.length <= LINES;
  return isOrder && lines.every(isLine) ? { customer, lines } : null;
}

/** The body of a change of lines; null where it is none. */
export function checkLineChanges(body: unknown): LineChanges | null {
  const {
    create,
    update,
    delete: removed,
  } = ((body as { lines?: unknown } | null)?.lines ?? {}) as LineChanges;
  if (![create, update, removed].every(Array.isArray)) return null;
  const isChange = ({ id, qty }: LineChanges['update'][number]) =>
    Number.isInteger(id) && Number.isInteger(qty);
  const isRight = create.every(isLine) && update.every(isChange) && removed.every(Number.isInteger);
  return isRight ? { create, update, delete: removed } : null;
}

function isLine({ productId, position, qty }: LineValues): boolean {
  return Number.isInteger(productId) && Number.isInteger(position) && Number.isInteger(qty);
}
