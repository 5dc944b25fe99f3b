/** How long a waiter of the queue waits who had a connection, gave it back, and waits once more. */
import { expect } from 'chai';
import { Client } from 'pg';
import { ConnectionAcquireTimeoutError } from 'sequelize';
import {
  ConnectionQueue,
  type QueueEntry,
  type Waiter,
} from '../../../../src/postgres/connections/connection-queue.js';
import type { PooledClient } from '../../../../src/postgres/session/connection-internals.js';
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
    isInUse: false,
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

  /** Has some wait for the one connection that somebody uses, and gives it back. */
  async function whenOneLeaves(waiters: readonly Partial<Waiter>[]): Promise<void> {
    const { pool, queue } = lineOfOne();
    pool.acquireTimeout = LONG;
    const client = await join(queue).served;
    for (const waiter of waiters) queue.join({ use: () => {}, fail: () => {}, ...waiter });
    queue.leave(client);
  }

  it('has those with one statement use a connection together, as far as nobody else is before them', async () => {
    const used: (readonly [name: string, behind: number])[] = [];
    const named = (name: string, mayFollow: boolean) => ({
      mayFollow: () => mayFollow,
      use: (_client: PooledClient, behind: number) => used.push([name, behind]),
    });
    const waiters = [named('a', true), named('b', true), named('transaction', false), named('c', true)];
    await whenOneLeaves(waiters);
    expect(used).to.deep.equal([
      ['a', 0],
      ['b', 1],
    ]);
  });

  it('has nobody follow where the pool has to see each use from now on', async () => {
    const { pool, queue } = lineOfOne();
    pool.acquireTimeout = LONG;
    const client = await join(queue).served;
    const used: number[] = [];
    const use = (_client: PooledClient, behind: number) => used.push(behind);
    for (let count = 0; count < 3; count += 1) queue.join({ use, fail: () => {}, mayFollow: () => true });
    pool.bypassesQueue = true;
    queue.leave(client);
    expect(used).to.deep.equal([0]);
  });

  const now = performance.now.bind(performance);
  /** Milliseconds. */
  let passed = 0;
  before(() => {
    performance.now = () => now() + passed;
  });
  after(() => {
    performance.now = now;
  });

  /** Does something a second later. */
  function slowly<T>(work: () => T): T {
    passed += 1_000;
    return work();
  }

  it('takes a connection back when the last of those has left it, and lets fewer go together after a slow one', async () => {
    const { pool, queue } = lineOfOne();
    pool.acquireTimeout = LONG;
    const client = await join(queue).served;
    const groups: number[] = [];
    const use = (_client: PooledClient, behind: number) => {
      if (behind === 0) groups.push(0);
      groups[groups.length - 1] = behind + 1;
    };
    for (let count = 0; count < 20; count += 1) queue.join({ use, fail: () => {}, mayFollow: () => true });
    const leave = (times: number) => {
      for (let count = 0; count < times; count += 1) queue.leave(client);
    };
    leave(1);
    expect(client.pipeline).to.equal(true);
    leave(3);
    expect(groups).to.deep.equal([4]);
    leave(1);
    expect(groups).to.deep.equal([4, 4]);
    slowly(() => leave(4));
    expect(groups).to.deep.equal([4, 4, 2]);
    for (let left = 10; left > 0; left -= 2) leave(2);
    expect(groups).to.deep.equal([4, 4, 2, 2, 2, 2, 2, 2]);
    leave(2);
    expect(client.pipeline).to.equal(false);
  });

  it('has each go alone after slow groups, and go together again once sixteen alone were not slow', async () => {
    const { pool, queue } = lineOfOne();
    pool.acquireTimeout = LONG;
    const client = await join(queue).served;
    let size = 0;
    const use = (_client: PooledClient, behind: number) => {
      size = behind + 1;
    };
    for (let count = 0; count < 60; count += 1) queue.join({ use, fail: () => {}, mayFollow: () => true });
    /** Ends a group, and gives the size of the next one. */
    const end = () => {
      for (let left = size; left > 0; left -= 1) queue.leave(client);
      return size;
    };
    queue.leave(client);
    expect([slowly(end), slowly(end)]).to.deep.equal([2, 1]);
    expect(client.pipeline, 'of one alone').to.equal(false);
    // Slow ones alone are no reason to go together.
    for (let count = 0; count < 20; count += 1) expect(slowly(end)).to.equal(1);
    for (let count = 0; count < 15; count += 1) expect(end()).to.equal(1);
    expect(end()).to.equal(2);
  });

  it('closes a connection that others use when what one of them sends cannot be sent', async () => {
    const { pool, queue } = lineOfOne();
    pool.acquireTimeout = LONG;
    const client = await join(queue).served;
    let isDestroyed = false;
    Object.defineProperty(client, 'connection', {
      value: { stream: { cork() {}, uncork() {}, destroy: () => (isDestroyed = true) } },
    });
    const cause = new Error('cannot be sent');
    const refused = deferred<unknown>();
    const throwing = () => {
      throw cause;
    };
    queue.join({ use: throwing, fail: refused.resolve, mayFollow: () => true });
    for (let count = 0; count < 3; count += 1) {
      queue.join({ use: () => {}, fail: () => {}, mayFollow: () => true });
    }
    queue.leave(client);
    expect(await refused.promise).to.equal(cause);
    expect([isDestroyed, client._invalid]).to.deep.equal([true, true]);
  });
});
