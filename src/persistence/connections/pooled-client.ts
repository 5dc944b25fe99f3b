/** A connection of one of Sequelize's pools, and how it is marked as broken. */
import type { DriverClient } from '../protocol/pg-text-query.js';

/** A connection of a pool. */
export interface PooledClient extends DriverClient {
  /** Sequelize's mark for one that must not be used again. */
  _invalid?: boolean;
  /** Sequelize's mark for the transaction that has it. */
  uuid?: string | undefined;
}

/**
 * Marks a connection whose query was given up, because it is still under way there; Sequelize does the same. And one that
 * the server ends.
 */
export function markBroken(client: PooledClient, error: Error | null): void {
  const { message, severity } = (error ?? {}) as { readonly message?: string; readonly severity?: string };
  if (message === 'Query read timeout' || severity === 'FATAL') client._invalid = true;
}
