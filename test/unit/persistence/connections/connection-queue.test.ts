/** How long a customer of the line waits who had a connection, gave it back, and waits once more. */
import { expect } from 'chai';
import { Client } from 'pg';
import { ConnectionAcquireTimeoutError } from 'sequelize';
import { ConnectionLine, type Place } from '../../../../src/persistence/connections/connection-queue.js';
import type { PooledClient } from '../../../../src/persistence/connections/pooled-client.js';
import { deferred } from '../../../support/deferred.js';

/** Milliseconds. */
const SHORT = 30;
const LONG = 60_000;

/** A line for a pool with one connection, where those who join wait for `patience`. */
function lineOfOne() {
  const pool = {
    size: 1,
    patience: SHORT,
    waiting: 0,
    isStrict: false,
    isSound: () => true,
    // Not connected: a line only hands it on.
    acquire: async () => new Client() as unknown as PooledClient,
    release: () => {},
  };
  return { pool, line: new ConnectionLine(pool) };
}

/** Joins, and gives the place, and promises of a connection and of a refusal. */
function join(line: ConnectionLine, isHeldBack = () => false) {
  const served = deferred<PooledClient>();
  const refused = deferred<unknown>();
  const place: Place = line.join({ use: served.resolve, fail: refused.resolve, isHeldBack });
  return { place, served: served.promise, refused: refused.promise };
}

describe('a line for connections', () => {
  it('keeps one who came back no longer than he would have waited', async () => {
    const { pool, line } = lineOfOne();
    let isLocked = false;
    const first = join(line, () => isLocked);
    const client = await first.served;
    const second = join(line);
    pool.patience = LONG;
    const later = join(line, () => isLocked);
    // From now on the line looks at the time of the one who came last.
    expect(await second.refused).to.be.an.instanceOf(ConnectionAcquireTimeoutError);
    isLocked = true;
    line.putBack(client, first.place);
    expect(await first.refused).to.be.an.instanceOf(ConnectionAcquireTimeoutError);
    isLocked = false;
    line.wake();
    expect(await later.served).to.be.an('object');
  });

  it('serves those who came back in the order in which they came', async () => {
    const { pool, line } = lineOfOne();
    Object.assign(pool, { size: 2, patience: LONG });
    let isLocked = false;
    const one = join(line, () => isLocked);
    const firstClient = await one.served;
    const other = join(line, () => isLocked);
    const secondClient = await other.served;
    const order: string[] = [];
    Object.assign(one.place.customer, { use: () => order.push('one') });
    Object.assign(other.place.customer, { use: () => order.push('other') });
    isLocked = true;
    line.putBack(firstClient, one.place);
    line.putBack(secondClient, other.place);
    isLocked = false;
    line.wake();
    await new Promise(setImmediate);
    expect(order).to.deep.equal(['one', 'other']);
  });
});
