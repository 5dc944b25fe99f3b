/** A connection of one of Sequelize's pools, and whether it can be used. */
import { isQueryTimeout } from '../../errors/database-fault.js';
import type { DriverClient } from '../protocol/pg-internals.js';
import type { MarkedClient } from '../session/connection-internals.js';

/** A connection of a pool. */
export type PooledClient = DriverClient & MarkedClient;

/**
 * Marks a connection whose query was given up, because it is still under way there; Sequelize does the same. And one that
 * the server ends.
 */
export function markBroken(client: PooledClient, error: Error): void {
  const { severity } = error as { readonly severity?: string };
  if (isQueryTimeout(error) || severity === 'FATAL') client._invalid = true;
}
