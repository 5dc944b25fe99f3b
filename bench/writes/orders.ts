/** The data: orders with 100 lines each, and the requests that write an order with its lines. */
import type { Random } from '../load/random.js';

/** Orders that are there. A load changes each once at most. */
export const ORDERS = 10_000;

/** Lines of an order. */
export const LINES = 100;

/** Lines that a change of an order changes, removes and adds. */
export const CHANGED = 20;
export const REMOVED = 10;

/** A line without its key. */
export interface LineValues {
  readonly productId: number;
  readonly position: number;
  readonly qty: number;
}

/** An order with its lines. */
export interface OrderValues {
  readonly customer: string;
  readonly lines: readonly LineValues[];
}

/** Changes of the lines of an order. */
export interface LineChanges {
  readonly create: readonly LineValues[];
  readonly update: readonly { readonly id: number; readonly qty: number }[];
  readonly delete: readonly number[];
}

const PRODUCTS = 1_000;
/** Adds the lines of some orders. */
function fillLines(condition: string): string {
  return `INSERT INTO order_lines (id, "orderId", "productId", position, qty)
    SELECT n, orders.id, n % ${PRODUCTS} + 1, place, n % 9 + 1 FROM orders CROSS JOIN generate_series(1, ${LINES}) AS place
      CROSS JOIN LATERAL (SELECT (orders.id - 1) * ${LINES} + place) AS line (n) WHERE ${condition}`;
}

/** Makes the tables. */
export const ORDER_TABLES: readonly string[] = [
  'CREATE TABLE orders (id serial PRIMARY KEY, customer text NOT NULL, version integer NOT NULL DEFAULT 0)',
  `INSERT INTO orders (customer) SELECT 'Customer ' || n FROM generate_series(1, ${ORDERS}) AS n`,
  `CREATE TABLE order_lines (id serial PRIMARY KEY, "orderId" integer NOT NULL REFERENCES orders,
     "productId" integer NOT NULL, position integer NOT NULL, qty integer NOT NULL)`,
  fillLines('true'),
  `SELECT setval('order_lines_id_seq', ${ORDERS * LINES})`,
  'CREATE INDEX ON order_lines ("orderId")',
  'VACUUM ANALYZE orders, order_lines',
];

/** Restores the orders that a load has added or changed. */
export const RESTORING_ORDERS = [
  `DELETE FROM order_lines USING orders WHERE orders.id = "orderId" AND (version <> 0 OR orders.id > ${ORDERS})`,
  `DELETE FROM orders WHERE id > ${ORDERS}`,
  fillLines('version <> 0'),
  'UPDATE orders SET version = 0 WHERE version <> 0',
  'VACUUM orders, order_lines',
] as const;

/** A new order. */
export function randomOrder(random: Random): OrderValues {
  return {
    customer: `Customer ${Math.floor(random() * ORDERS)}`,
    lines: Array.from({ length: LINES }, (_, index) => randomLine(random, index + 1)),
  };
}

/** Changes of an order that nothing has changed. @param order from 1 */
export function randomLines(random: Random, order: number): LineChanges {
  const ids = Array.from({ length: CHANGED + REMOVED }, (_, index) => (order - 1) * LINES + 1 + index * 3);
  return {
    create: Array.from({ length: REMOVED }, (_, index) => randomLine(random, LINES + index + 1)),
    update: ids.slice(REMOVED).map((id) => ({ id, qty: 10 + Math.floor(random() * 90) })),
    delete: ids.slice(0, REMOVED),
  };
}

function randomLine(random: Random, position: number): LineValues {
  return {
    productId: 1 + Math.floor(random() * PRODUCTS),
    position,
    qty: 1 + Math.floor(random() * 9),
  };
}
