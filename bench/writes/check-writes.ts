/** Compares written rows with those of PostgreSQL, and checks conditions, keys and the order of many. */
import { randomUUID } from 'node:crypto';
import type { ArticleValues } from '../contenders/support/article-values.js';
import { randomId, randomValues } from '../load/article.js';
import type { Call } from '../load/call.js';
import { createRandom } from '../load/random.js';
import {
  askFor,
  type Check,
  Difference,
  type Examination,
  expectSame,
  expectValues,
  type Json,
  name,
  SAMPLES,
  toJson,
} from '../measure/check-answers.js';
import type { Database } from '../measure/database.js';
import { ORDERS, randomLines, randomOrder } from './orders.js';
import { BATCH, BATCHES, COLUMNS, FIRST_TAG, idsOf, KEPT, rangeOf } from './versioned-articles.js';
import type { WriteWorkload } from './workloads.js';
import type { WriteWire } from './write-wires.js';

type WriteExamination = Examination<WriteWire>;

/** By name of the workload. */
export const WRITE_CHECKS: Readonly<Record<WriteWorkload, Check<WriteWire>>> = {
  create: checkCreate,
  createWithKey: checkKey,
  create100: checkCreateMany,
  update: (examination) => checkUpdates(examination, {}),
  updateIfMatch: checkCondition,
  update100: checkUpdateMany,
  updateRange: checkUpdateRange,
  createOrder: checkCreateOrder,
  changeOrder: checkChangeOrder,
  updateKept: checkKept,
  updateKept100: checkKept,
};

async function checkCreate({ wire, ask, database }: WriteExamination): Promise<void> {
  const random = createRandom(2);
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const values = randomValues(random);
    const call = wire.create(values);
    const { body } = await askFor(ask, call, 201);
    await expectCreated(database, call, [body], [values]);
  }
}

async function checkCreateMany({ wire, ask, database }: WriteExamination): Promise<void> {
  const random = createRandom(3);
  const values = Array.from({ length: BATCH }, () => randomValues(random));
  const call = wire.createMany(values);
  await expectCreated(database, call, wire.items(await askFor(ask, call, 201)), values);
  // Nothing of a request is left where one record is wrong.
  const wrong = wire.createMany([...values.slice(1), { ...values[0], stock: 'none' } as never]);
  const { status } = await ask(wrong);
  if (status < 400) throw new Difference(`${name(wrong)} with a wrong record answers ${status}.`);
  await expectCount(database, wrong, database.rows + BATCH);
}

/** A retry is answered with the same bytes and writes nothing; the key is no key to another request. */
async function checkKey({ wire, ask, database }: WriteExamination): Promise<void> {
  const values = randomValues(createRandom(4));
  const headers = { 'Idempotency-Key': `"${randomUUID()}"` };
  const call = { ...wire.create(values), headers };
  const { body } = await askFor(ask, call, 201);
  await expectCreated(database, call, [body], [values]);
  const replay = await askFor(ask, call, 201);
  expectSame(call, replay.body, body);
  expectSame(call, replay.headers.get('Idempotent-Replayed'), 'true');
  await askFor(ask, { ...wire.create({ ...values, stock: values.stock + 1 }), headers }, 422);
  await expectCount(database, call, database.rows + 1);
}

async function checkUpdates(
  { wire, ask, database }: WriteExamination,
  headers: NonNullable<Call['headers']>,
): Promise<void> {
  const random = createRandom(5);
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const id = randomId(random);
    const [before = {}] = await readRows(database, [id]);
    const changes = changesOf(before);
    const call = { ...wire.update(id, changes), headers };
    const { body } = await askFor(ask, call, 200);
    await expectChanged(database, call, before, changes);
    expectSame(call, [body], await readRows(database, [id]));
  }
}

/** The right tag writes, and the same tag once more does not. */
async function checkCondition(examination: WriteExamination): Promise<void> {
  const { wire, ask, database } = examination;
  await checkUpdates(examination, { 'If-Match': FIRST_TAG });
  const id = randomId(createRandom(5));
  const [before = {}] = await readRows(database, [id]);
  const call = { ...wire.update(id, changesOf(before)), headers: { 'If-Match': FIRST_TAG } };
  const { headers } = await askFor(ask, call, 412);
  expectSame(call, headers.get('ETag'), `"${before['version']}"`);
  expectSame(call, await readRows(database, [id]), [before]);
}

async function checkUpdateMany({ wire, ask, database }: WriteExamination): Promise<void> {
  // Not in the order of the table.
  const ids = idsOf(BATCHES - 1).toReversed();
  const before = await readRows(database, ids);
  const changes = before.map((row) => ({ id: Number(row['id']), ...changesOf(row) }));
  const call = wire.updateMany(changes);
  const answer = await askFor(ask, call, 200);
  for (const [index, row] of before.entries()) {
    await expectChanged(database, call, row, changesOf(before[index] ?? {}));
  }
  expectSame(call, wire.items(answer), await readRows(database, ids));
}

async function checkUpdateRange({ wire, ask, database }: WriteExamination): Promise<void> {
  const [from, to] = rangeOf(BATCHES - 2);
  const around = Array.from({ length: BATCH + 2 }, (_, index) => from - 1 + index);
  const before = await readRows(database, around);
  // Prices are in cents: no row has this one.
  const price = Number(before[1]?.['price']) + 0.125;
  const call = wire.updateRange(from, to, { price });
  expectSame(call, (await askFor(ask, call, 200)).body, { affected: BATCH });
  for (const row of before.slice(1, -1)) await expectChanged(database, call, row, { price });
  const neighbours = [from - 1, to];
  expectSame(call, await readRows(database, neighbours), [before.at(0), before.at(-1)]);
  // More than may be changed at once.
  const larger = wire.updateRange(from, to + 1, { price: price + 1 });
  await askFor(ask, larger, 409);
  for (const row of await readRows(database, around)) expectSame(larger, row['price'] === price + 1, false);
}

async function checkCreateOrder({ wire, ask, database }: WriteExamination): Promise<void> {
  const order = randomOrder(createRandom(6));
  const call = wire.createOrder(order);
  const { body } = await askFor(ask, call, 201);
  const written = await readOrder(database, Number((body as Json)['id']));
  expectSame(call, body, written);
  expectSame(call, [written['customer'], written['version']], [order.customer, 0]);
  expectSame(call, sentLines(written), order.lines);
  // Nothing of a request is left where one line is wrong.
  const [first, ...others] = order.lines;
  const wrong = wire.createOrder({ ...order, lines: [...others, { ...first, qty: 'none' } as never] });
  const { status } = await ask(wrong);
  if (status < 400) throw new Difference(`${name(wrong)} with a wrong line answers ${status}.`);
  const [row] = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM orders');
  expectSame(wrong, row?.count, ORDERS + 1);
}

/** Lines that are not named stay as they are, and those of another order are none of this one. */
async function checkChangeOrder({ wire, ask, database }: WriteExamination): Promise<void> {
  const before = await readOrder(database, ORDERS);
  const changes = randomLines(createRandom(7), ORDERS);
  const others = wire.changeOrder(ORDERS - 1, changes);
  await askFor(ask, others, 404);
  const call = wire.changeOrder(ORDERS, changes);
  const { body } = await askFor(ask, call, 200);
  const after = await readOrder(database, ORDERS);
  expectSame(call, body, after);
  expectSame(call, after['version'], Number(before['version']) + 1);
  const quantities = new Map(changes.update.map(({ id, qty }) => [id, qty]));
  const kept = linesOf(before).filter(({ id }) => !changes.delete.includes(Number(id)));
  const changed = kept.map((line) => ({ ...line, qty: quantities.get(Number(line['id'])) ?? line['qty'] }));
  expectSame(call, linesOf(after).slice(0, changed.length), changed);
  expectSame(call, sentLines(after).slice(changed.length), changes.create);
}

function linesOf(order: Json): readonly Json[] {
  return (order['lines'] as { readonly items: readonly Json[] }).items;
}

/** As a request has them. */
function sentLines(order: Json): readonly Json[] {
  return linesOf(order).map(({ id: _, orderId: __, ...line }) => line);
}

/** An order as its answers are. */
async function readOrder(database: Database, id: number): Promise<Json> {
  const [order] = await database.query<Json>('SELECT id, customer, version FROM orders WHERE id = $1', [id]);
  const text =
    'SELECT id, "orderId", "productId", position, qty FROM order_lines WHERE "orderId" = $1 ORDER BY id';
  return { ...order, lines: { items: await database.query(text, [id]), has_next: false } };
}

/** Each change is stored, with who made it. */
async function checkKept({ wire, ask, database }: WriteExamination): Promise<void> {
  const ids = idsOf(BATCHES - 3);
  const stock = Date.now() % 1_000_000;
  const [id = 0] = ids;
  const one = wire.updateKept(id, { stock });
  await askFor(ask, one, 200);
  await expectKept(database, one, [id], stock);
  const many = wire.updateManyKept(ids.map((each) => ({ id: each, stock: stock + 1 })));
  await askFor(ask, many, 200);
  await expectKept(database, many, ids, stock + 1);
}

async function expectKept(
  database: Database,
  call: Call,
  ids: readonly number[],
  stock: number,
): Promise<void> {
  const text =
    `SELECT count(*)::int AS count FROM crud_changes JOIN ${KEPT} AS kept ON kept.id::text = row_id WHERE source = '${KEPT}' AND op = 'u' ` +
    `AND new->>'stock' = kept.stock::text AND kept.stock = $2 AND context->>'actor' = 'bench' AND row_id = ANY ($1)`;
  const [row] = await database.query<{ count: number }>(text, [ids.map(String), stock]);
  expectSame(call, row?.count, ids.length);
}

/** Values that a row does not have. */
function changesOf(row: Json): { readonly price: number; readonly stock: number } {
  return { price: Number(row['price']) + 1, stock: Number(row['stock']) + 1 };
}

/** In the order of the ids. */
async function readRows(database: Database, ids: readonly number[]): Promise<readonly Json[]> {
  const text =
    `SELECT ${COLUMNS} FROM unnest($1::integer[]) WITH ORDINALITY AS wanted(wanted, place) ` +
    'JOIN articles ON id = wanted ORDER BY place';
  return toJson(await database.query(text, [ids])) as readonly Json[];
}

/** The answered records are in the table, in this order, with what was sent. */
async function expectCreated(
  database: Database,
  call: Call,
  answered: unknown,
  values: readonly ArticleValues[],
): Promise<void> {
  const ids = (Array.isArray(answered) ? answered : []).map((each: Json) => Number(each['id']));
  const rows = await readRows(database, ids);
  expectSame(call, answered, rows);
  expectSame(call, rows.length, values.length);
  for (const [index, row] of rows.entries()) {
    const { version, ...own } = row;
    expectValues(call, own, values[index] as ArticleValues);
    expectSame(call, Number.isInteger(version), true);
  }
}

async function expectChanged(database: Database, call: Call, before: Json, changes: Json): Promise<void> {
  const [after = {}] = await readRows(database, [Number(before['id'])]);
  const version = Number(before['version']) + 1;
  expectSame(call, after, { ...before, ...changes, version, updatedAt: after['updatedAt'] });
  if (before['updatedAt'] === after['updatedAt']) {
    throw new Difference(`${name(call)} leaves updatedAt as it was.`);
  }
}

async function expectCount(database: Database, call: Call, expected: number): Promise<void> {
  const [row] = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM articles');
  expectSame(call, row?.count, expected);
}
