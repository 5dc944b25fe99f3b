/** A connection of one of Sequelize's pools, and whether it can be used. */
import { ConnectionError } from 'sequelize';
import { isQueryTimeout } from '../../errors/database-fault.js';
import { lateQuery } from '../../errors/late-query.js';
import type { DriverClient } from '../protocol/pg-internals.js';
import type { MarkedClient, TransactionState } from '../session/connection-internals.js';

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

/**
 * The connection of a transaction that goes on.
 *
 * @throws what Sequelize says where it has ended, or its connection is in doubt
 */
export function soundClient(
  { finished, connection }: Pick<TransactionState<PooledClient>, 'finished' | 'connection'>,
  sql: string,
): PooledClient {
  if (finished) throw lateQuery(finished, sql);
  if (!connection || connection._invalid) {
    throw new ConnectionError(new Error('Connection terminated before the query'));
  }
  return connection;
}
