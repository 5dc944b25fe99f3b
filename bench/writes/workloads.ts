/** Workloads of writes: one record, a hundred, and the same under a condition, with a key, or with history. */
import { EACH_ROW, FRESH_KEY, FRESH_NUMBER, randomChanges, randomValues } from '../load/article.js';
import type { Call } from '../load/call.js';
import { createRandom, type Random } from '../load/random.js';
import type { Workload } from '../load/workloads.js';
import { CHANGED, ORDERS, REMOVED, randomLines, randomOrder } from './orders.js';
import { BATCH, BATCHES, FIRST_TAG, idsOf, rangeOf } from './versioned-articles.js';
import type { WriteWire } from './write-wires.js';

/** Names of the workloads. */
export type WriteWorkload =
  | 'create'
  | 'createWithKey'
  | 'create100'
  | 'update'
  | 'updateIfMatch'
  | 'update100'
  | 'updateRange'
  | 'createOrder'
  | 'changeOrder'
  | 'updateKept'
  | 'updateKept100';

/** Different requests of a workload: of those that write one record, and of those that write many. */
const VARIETY = 5_000;
const VARIETY_OF_MANY = 500;
/** Connections at most where some contenders write a hundred rows one by one, and others would wait too long for them. */
const FEW = 16;
/** Has no divisor in common with the number of batches. */
const STRIDE = 7_919;

/** The workload of one record that another one is compared with. */
const BESIDE: Readonly<Partial<Record<WriteWorkload, WriteWorkload>>> = {
  createWithKey: 'create',
  updateIfMatch: 'update',
  updateKept: 'update',
};

export const WRITE_WORKLOADS: readonly Workload<WriteWire>[] = [
  one('create', 'Create', create),
  one('createWithKey', 'Create with a key', (wire, random) => ({
    ...create(wire, random),
    headers: { 'Idempotency-Key': `"${FRESH_KEY}"` },
  })),
  many('create100', 'Create 100', 'create', (wire, random) =>
    wire.createMany(Array.from({ length: BATCH }, () => randomValues(random))),
  ),
  one('update', 'Update', update),
  one('updateIfMatch', 'Update if it matches', (wire, random) => ({
    ...update(wire, random),
    headers: { 'If-Match': FIRST_TAG },
  })),
  many('update100', 'Update 100 by id', 'update', (wire, random, batch) =>
    wire.updateMany(idsOf(batch).map((id) => ({ id, ...randomChanges(random) }))),
  ),
  many('updateRange', 'Update 100 by filter', 'update', (wire, _random, batch) =>
    wire.updateRange(...rangeOf(batch), { price: FRESH_NUMBER }),
  ),
  {
    ...many('createOrder', 'Create an order with 100 lines', 'create100', (wire, random) =>
      wire.createOrder(randomOrder(random)),
    ),
    connections: FEW,
  },
  {
    ...many(
      'changeOrder',
      'Change 40 of 100 lines',
      'update100',
      (wire, random, _, index) => wire.changeOrder(index + 1, randomLines(random, index + 1)),
      ORDERS,
    ),
    records: CHANGED + 2 * REMOVED,
    connections: FEW,
  },
  one('updateKept', 'Update with history', (wire, random) =>
    wire.updateKept(EACH_ROW, randomChanges(random)),
  ),
  many('updateKept100', 'Update 100 by id with history', 'update100', (wire, random, batch) =>
    wire.updateManyKept(idsOf(batch).map((id) => ({ id, ...randomChanges(random) }))),
  ),
];

function create(wire: WriteWire, random: Random): Call {
  return wire.create(randomValues(random));
}

/** Each row at most once in a load, so that its tag is the first one. */
function update(wire: WriteWire, random: Random): Call {
  return wire.update(EACH_ROW, randomChanges(random));
}

/** A request for one record; those with a header are compared with those without. */
function one(
  name: WriteWorkload,
  title: string,
  choose: (wire: WriteWire, random: Random) => Call,
): Workload<WriteWire> {
  const beside = BESIDE[name];
  return {
    name,
    title,
    writes: true,
    ...(beside ? { beside } : {}),
    calls: async (wire) => {
      const random = createRandom(1);
      return Array.from({ length: VARIETY }, () => choose(wire, random));
    },
  };
}

/** Requests at the same time have no row in common: nobody waits for a lock. */
function many(
  name: WriteWorkload,
  title: string,
  beside: WriteWorkload,
  choose: (wire: WriteWire, random: Random, batch: number, index: number) => Call,
  variety = VARIETY_OF_MANY,
): Workload<WriteWire> {
  return {
    name,
    title,
    writes: true,
    records: BATCH,
    beside,
    calls: async (wire) => {
      const random = createRandom(1);
      return Array.from({ length: variety }, (_, index) =>
        choose(wire, random, (index * STRIDE) % BATCHES, index),
      );
    },
  };
}
