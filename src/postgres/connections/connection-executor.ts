/** Executes statements on one connection that is held for several of them, and tells their failures as Sequelize does. */
import type { Sequelize, Transaction } from 'sequelize';
import { logStatement } from '../../describe/sequelize-internals.js';
import { traceStatement } from '../../diagnostics/trace-statement.js';
import { asDatabaseError } from '../../errors/sequelize-error.js';
import type { Batch, Execution, TextResult, TextValues } from '../protocol/batch.js';
import type { StatementExecutor } from '../protocol/pg-text-query.js';
import { StatementCache, unnamed } from '../protocol/prepared-statement.js';
import { transactionState } from '../session/connection-internals.js';
import { markBroken, type PooledClient, soundClient } from './pooled-client.js';
import { type StatementTarget, singleTarget } from './statement-target.js';

/** A text with its values. */
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
  fail(error: Error): void;
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
   * Executes a statement behind those that the connection was given before. The connection keeps it only where it is the
   * first one: one that is stale ends the transaction that it is in.
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
        if (error) markBroken(client, error);
        if (error) begin?.fail(error);
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
        // Nobody knows what has been sent.
        client._invalid = true;
        trace?.end(error);
        throw error;
      }
    });
  }

  /** Logs a text as Sequelize does. */
  log(text: string, transaction: string): void {
    logStatement(this.#sequelize, text, transaction);
  }
}
