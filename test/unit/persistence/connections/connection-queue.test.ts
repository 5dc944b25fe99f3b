/** How long a waiter of the queue waits who had a connection, gave it back, and waits once more. */
import { expect } from 'chai';
import { Client } from 'pg';
import { ConnectionAcquireTimeoutError } from 'sequelize';
import {
  ConnectionQueue,
  type QueueEntry,
} from '../../../../src/persistence/connections/connection-queue.js';
import type { PooledClient } from '../../../../src/persistence/connections/pooled-client.js';
import { deferred } from '../../../support/deferred.js';

/** Milliseconds. */
const SHORT = 30;
const LONG = 60_000;

/** A queue for a pool with one connection, where those who join wait for `acquireTimeout`. */
function lineOfOne() {
  const pool = {
    size: 1,
    acquireTimeout: SHORT,
    waiting: 0,
    bypassesQueue: false,
    isSound: () => true,
    // Not connected: a queue only hands it on.
    acquire: async () => new Client() as unknown as PooledClient,
    release: () => {},
    destroy: async () => {},
  };
  return { pool, queue: new ConnectionQueue(pool) };
}

/** Joins, and gives the entry, and promises of a connection and of a refusal. */
function join(queue: ConnectionQueue, isHeldBack = () => false) {
  const served = deferred<PooledClient>();
  const refused = deferred<unknown>();
  const entry: QueueEntry = queue.join({ use: served.resolve, fail: refused.resolve, isHeldBack });
  return { entry, served: served.promise, refused: refused.promise };
}

describe('a queue for connections', () => {
  it('keeps one who came back no longer than he would have waited', async () => {
    const { pool, queue } = lineOfOne();
    let isLocked = false;
    const first = join(queue, () => isLocked);
    const client = await first.served;
    const second = join(queue);
    pool.acquireTimeout = LONG;
    const later = join(queue, () => isLocked);
    // From now on the queue looks at the time of the one who came last.
    expect(await second.refused).to.be.an.instanceOf(ConnectionAcquireTimeoutError);
    isLocked = true;
    queue.requeue(client, first.entry);
    expect(await first.refused).to.be.an.instanceOf(ConnectionAcquireTimeoutError);
    isLocked = false;
    queue.wake();
    expect(await later.served).to.be.an('object');
  });

  it('serves those who came back in the order in which they came', async () => {
    const { pool, queue } = lineOfOne();
    Object.assign(pool, { size: 2, acquireTimeout: LONG });
    let isLocked = false;
    const one = join(queue, () => isLocked);
    const firstClient = await one.served;
    const other = join(queue, () => isLocked);
    const secondClient = await other.served;
    const order: string[] = [];
    Object.assign(one.entry.waiter, { use: () => order.push('one') });
    Object.assign(other.entry.waiter, { use: () => order.push('other') });
    isLocked = true;
    queue.requeue(firstClient, one.entry);
    queue.requeue(secondClient, other.entry);
    isLocked = false;
    queue.wake();
    await new Promise(setImmediate);
    expect(order).to.deep.equal(['one', 'other']);
  });
});
