/** Number of those that use a connection together, and the moment when the queue releases it. */
import { expect } from 'chai';
import { Client } from 'pg';
import { ConnectionQueue } from '../../../../src/postgres/connections/connection-queue.js';
import type { PooledClient } from '../../../../src/postgres/session/connection-internals.js';
import { deferred } from '../../../support/deferred.js';

/** A queue for a pool with one connection, which is in use. */
async function lineOfOne() {
  const pool = {
    size: 1,
    acquireTimeout: 60_000,
    waiting: 0,
    bypassesQueue: false,
    isInUse: false,
    isSound: () => true,
    // Not connected: a queue only hands it on.
    acquire: async () => new Client() as unknown as PooledClient,
    release: () => {},
    destroy: async () => {},
  };
  const queue = new ConnectionQueue(pool);
  const client = await new Promise<PooledClient>((use, fail) => queue.join({ use, fail }));
  return { pool, queue, client };
}

describe('a queue for connections', () => {
  it('has those with one statement use a connection together, as far as nobody else is before them', async () => {
    const { queue, client } = await lineOfOne();
    const used: (readonly [name: string, behind: number])[] = [];
    const named = (name: string, mayFollow: boolean) => ({
      mayFollow: () => mayFollow,
      use: (_client: PooledClient, behind: number) => used.push([name, behind]),
    });
    const waiters = [named('a', true), named('b', true), named('transaction', false), named('c', true)];
    for (const waiter of waiters) queue.join({ ...waiter, fail: () => {} });
    queue.leave(client);
    expect(used.map(String)).to.deep.equal(['a,0', 'b,1']);
  });

  it('has nobody follow where the pool has to see each use from now on', async () => {
    const { pool, queue, client } = await lineOfOne();
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
    const { queue, client } = await lineOfOne();
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
    const { queue, client } = await lineOfOne();
    let size = 0;
    const use = (_client: PooledClient, behind: number) => {
      size = behind + 1;
    };
    for (let count = 0; count < 60; count += 1) queue.join({ use, fail: () => {}, mayFollow: () => true });
    /** Ends a group, and returns the size of the next one. */
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
    const { queue, client } = await lineOfOne();
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
