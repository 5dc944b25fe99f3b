/** Executes statements on the one connection of a transaction. */
import { ConnectionError, type Sequelize, type Transaction } from 'sequelize';
import { instanceOptions, logStatement } from '../../describe/sequelize-internals.js';
import { traceStatement } from '../../diagnostics/channels.js';
import { asDatabaseError, lateQuery } from '../../errors/sequelize-error.js';
import type { Batch, Execution, TextResult, TextValues } from '../protocol/batch.js';
import type { StatementExecutor } from '../protocol/pg-text-query.js';
import { StatementCache, unnamed } from '../protocol/prepared-statement.js';
import {
  type PooledClient,
  type TransactionState,
  transactionState,
} from '../session/connection-internals.js';
import type { StatementTarget } from './statement-target.js';

/** A text with the values of its parameters. */
export interface TextStatement {
  readonly text: string;
  readonly values: TextValues;
}

/** Statements that are executed before another one, which is executed only if they succeed. */
export interface Begin {
  readonly before: readonly TextStatement[];
  /** True where the connection keeps the statements of `before` prepared. A stale one has to be sent again. */
  readonly keepsBefore: boolean;
  /** True where the connection keeps the statement prepared. */
  readonly isKept: boolean;
  /** Called when any of them fails, before anything else is sent. */
  readonly fail?: (error: Error) => void;
}

/** The statements of one Sequelize instance. */
export class ConnectionExecutor {
  readonly #sequelize: Sequelize;
  readonly #executor: StatementExecutor;
  readonly #kept: StatementCache;
  readonly #unkept = new StatementCache(unnamed);

  /** @param kept the statements that connections keep */
  constructor(sequelize: Sequelize, executor: StatementExecutor, kept: StatementCache) {
    this.#sequelize = sequelize;
    this.#executor = executor;
    this.#kept = kept;
  }

  /** The connection of a transaction that is begun. */
  within(transaction: Transaction): StatementTarget {
    return singleTarget(async (text, values) => {
      const state = transactionState<PooledClient>(transaction);
      const client = soundClient(state, text);
      this.log(text, state.id);
      return this.execute(client, text, values);
    });
  }

  /**
   * Executes a statement behind those that were sent before. The connection keeps it only where a BEGIN or a SAVEPOINT goes with it:
   * one that is stale ends its transaction.
   */
  execute(client: PooledClient, text: string, values: TextValues, begin?: Begin): Promise<TextResult> {
    const statement = (begin?.isKept ? this.#kept : this.#unkept).get(text);
    const trace = traceStatement(text);
    return new Promise((resolve, reject) => {
      const settle: Execution['settle'] = (error, result) => {
        trace?.end(error, result?.count);
        if (error) reject(asDatabaseError(error, statement, values));
        else resolve(result as TextResult);
      };
      const end: Batch['end'] = (error) => {
        if (error) begin?.fail?.(error);
      };
      const cache = begin?.keepsBefore ? this.#kept : this.#unkept;
      const before = (begin?.before ?? []).map((each) => ({
        statement: cache.get(each.text),
        values: each.values,
      }));
      try {
        const executions = [{ values, trace, settle }];
        this.#executor.execute(client, { before, statement, executions, end });
      } catch (error) {
        // A part may have been sent.
        client._invalid = true;
        trace?.end(error);
        throw error;
      }
    });
  }

  log(text: string, transaction: string): void {
    if (instanceOptions(this.#sequelize).logging) logStatement(this.#sequelize, text, transaction);
  }
}

/**
 * Runs each statement in one way: all see the writes of earlier ones.
 *
 * @param run gets true where a connection may keep the statement
 */
export function singleTarget(
  run: (text: string, values: TextValues, isKept: boolean) => Promise<TextResult>,
): StatementTarget {
  return {
    read: (text, values, _table, isPlanned = false) => run(text, values, !isPlanned),
    write: (text, values) => run(text, values, true),
  };
}

/**
 * The connection of a transaction that goes on.
 *
 * @throws Sequelize's error where it has ended, or its connection is in doubt
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
