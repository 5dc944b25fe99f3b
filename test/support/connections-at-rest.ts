/** After every test no connection of a test application is in use, waited for, or in a transaction. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { QueryTypes } from 'sequelize';
import type { Engine } from '../../src/index.js';
import { poolStates } from './connections.js';

const watched = new Set<Engine>();
/** Milliseconds. A client that goes away is noticed a little later, and on a busy machine later still. */
const PATIENCE = 10_000;

/** Watches an engine until the returned function is called. */
export function watchConnections(engine: Engine): () => void {
  watched.add(engine);
  return () => void watched.delete(engine);
}

/** Waits until the watched engines rest; rejects when they do not. */
export async function untilConnectionsRest(): Promise<void> {
  for (const engine of watched) {
    // Closed by the test, and all its connections with it.
    if (poolStates(engine).every(({ size }) => size === 0)) continue;
    await untilRest(engine);
    await untilNoTransaction(engine);
  }
}

async function untilRest(engine: Engine): Promise<void> {
  const isBusy = () => poolStates(engine).some(({ using, waiting }) => using + waiting > 0);
  const deadline = performance.now() + PATIENCE;
  while (isBusy() && performance.now() < deadline) await nextTurn();
  if (isBusy()) throw new Error(`Connections are still in use: ${JSON.stringify(poolStates(engine))}`);
}

async function untilNoTransaction({ sequelize }: Engine): Promise<void> {
  const query = () => sequelize.query(IDLE_IN_TRANSACTION, { type: QueryTypes.SELECT, logging: false });
  let idle = await query();
  const deadline = performance.now() + PATIENCE;
  while (idle.length > 0 && performance.now() < deadline) idle = await query();
  if (idle.length > 0) throw new Error(`Connections are idle in a transaction: ${JSON.stringify(idle)}`);
}

const IDLE_IN_TRANSACTION = `
  SELECT pid, query FROM pg_stat_activity
  WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
