/** After every test no connection of any pool is in use or waited for, and none of the server in a transaction. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { QueryTypes } from 'sequelize';
import type { Engine } from '../../src/index.js';
import { poolStates } from './connections.js';
import { PATIENCE } from './patience.js';
import { administer, ownDatabases } from './postgres.js';

/** The part of Sequelize's pool that a test reads. */
interface Pool {
  readonly size: number;
  readonly using: number;
  readonly waiting: number;
}

interface ConnectionManager {
  readonly pool: Pool | { readonly read: Pool; readonly write: Pool };
  initPools(): void;
}

const watched = new Set<Engine>();
const managers = new Set<WeakRef<ConnectionManager>>();

/** Watches the pools of every Sequelize from now on, those of the user's own too. */
export function watchAllPools(): void {
  const { prototype } = require('sequelize/lib/dialects/abstract/connection-manager')
    .ConnectionManager as typeof Object & { readonly prototype: ConnectionManager };
  const { initPools } = prototype;
  prototype.initPools = function (this: ConnectionManager) {
    managers.add(new WeakRef(this));
    initPools.call(this);
  };
}

/** Watches the transactions of an engine until the returned function is called. */
export function watchConnections(engine: Engine): () => void {
  watched.add(engine);
  return () => void watched.delete(engine);
}

/** Waits until all pools and the transactions of watched engines rest; rejects when they do not. */
export async function untilConnectionsRest(): Promise<void> {
  await untilPoolsRest();
  for (const engine of watched) {
    // Closed by the test, and all its connections with it.
    if (poolStates(engine).every(({ size }) => size === 0)) continue;
    const query = () => engine.sequelize.query(OF_DATABASE, { type: QueryTypes.SELECT, logging: false });
    await untilNoTransaction(query);
  }
}

/** Waits until no database of this process has a transaction that waits for its client; rejects where one has. */
export async function untilServerRests(): Promise<void> {
  const client = await administer();
  await untilNoTransaction(async () => (await client.query(OF_PROCESS, [ownDatabases()])).rows);
}

async function untilPoolsRest(): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  let busy = busyManagers();
  while (busy.length > 0 && performance.now() < deadline) {
    await nextTurn();
    busy = busyManagers();
  }
  // Later tests are not to blame for them.
  for (const reference of busy) managers.delete(reference);
  const states = busy.flatMap((reference) => poolsOf(reference)).map(shown);
  if (busy.length > 0) throw new Error(`Connections are still in use: ${JSON.stringify(states)}`);
}

function busyManagers(): readonly WeakRef<ConnectionManager>[] {
  return [...managers].filter((reference) =>
    poolsOf(reference).some(({ using, waiting }) => using + waiting > 0),
  );
}

/** The pools of an instance; none where only this file has a reference to it. */
function poolsOf(reference: WeakRef<ConnectionManager>): readonly Pool[] {
  const pool = reference.deref()?.pool;
  if (pool) return 'read' in pool ? [pool.read, pool.write] : [pool];
  managers.delete(reference);
  return [];
}

/** A pool for an error message: its other members are many, and secret. */
function shown({ size, using, waiting }: Pool): Pool {
  return { size, using, waiting };
}

async function untilNoTransaction(query: () => Promise<readonly object[]>): Promise<void> {
  let idle = await query();
  const deadline = performance.now() + PATIENCE;
  while (idle.length > 0 && performance.now() < deadline) {
    await sleep(2);
    idle = await query();
  }
  if (idle.length > 0) throw new Error(`Connections are idle in a transaction: ${JSON.stringify(idle)}`);
}

const OF_SERVER = "SELECT datname, pid, query FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
const OF_DATABASE = `${OF_SERVER} AND datname = current_database()`;
const OF_PROCESS = `${OF_SERVER} AND (datname = current_database() OR datname = ANY($1))`;
