/** Statements in a transaction, on its connection, one after the other. */
import { ConnectionError, type Transaction } from 'sequelize';
import type { TextResult, TextValues } from '../protocol/batch.js';
import { type TransactionState, transactionState } from '../session/connection-internals.js';
import type { ConnectionExecutor } from './connection-executor.js';
import type { PooledClient } from './pooled-client.js';
import type { StatementTarget } from './statement-target.js';

/** Runs each statement in one way: all see what those before them have written. */
export function singleTarget(
  run: (text: string, values: TextValues) => Promise<TextResult>,
): StatementTarget {
  return { read: run, readPlanned: run, write: run, writeTogether: run, sharesWrites: false };
}

/**
 * The connection of a transaction that is begun. Its statements are not kept: one that is stale would end the transaction.
 */
export function transactionTarget(transaction: Transaction, executor: ConnectionExecutor): StatementTarget {
  return singleTarget(async (text, values) => {
    const state = transactionState<PooledClient>(transaction);
    const client = soundClient(state, text);
    executor.log(text, state.id);
    return executor.execute(client, text, values);
  });
}

/**
 * The connection of a transaction that goes on.
 *
 * @throws what Sequelize says where it has ended, or its connection is in doubt
 */
export function soundClient(
  { finished, id, connection }: TransactionState<PooledClient>,
  sql: string,
): PooledClient {
  if (finished) {
    const message = `${finished} has been called on this transaction(${id}), you can no longer use it. (The rejected query is attached as the 'sql' property of this error)`;
    throw Object.assign(new Error(message), { sql });
  }
  if (!connection || connection._invalid) {
    throw new ConnectionError(new Error('Connection terminated before the query'));
  }
  return connection;
}
