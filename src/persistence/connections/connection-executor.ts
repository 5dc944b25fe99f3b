/** Executes statements on one connection that is held for several of them, and tells their failures as Sequelize does. */
import { DatabaseError, type Sequelize } from 'sequelize';
import { logStatement } from '../../model/sequelize-internals.js';
import type { Batch, Execution, TextResult, TextValues } from '../protocol/batch.js';
import type { StatementExecutor } from '../protocol/pg-text-query.js';
import type { PreparedStatement } from '../protocol/prepared-statement.js';
import { StatementCache } from '../protocol/statement-cache.js';
import { markBroken, type PooledClient } from './pooled-client.js';

/** A text with its values. */
export interface TextStatement {
  readonly text: string;
  readonly values: TextValues;
}

/** How a statement is executed. */
export interface ExecutionOptions {
  /** Whether the connection keeps it, and what is before it. One that is stale ends the transaction that it is in. */
  readonly isKept: boolean;
  /** What is executed first. What is behind it is executed only if it succeeds. */
  readonly before?: readonly TextStatement[];
  /** Told of a failure before anything else is sent. */
  fail?(error: Error): void;
}

/** The statements of one Sequelize instance. */
export class ConnectionExecutor {
  readonly #sequelize: Sequelize;
  readonly #executor: StatementExecutor;
  readonly #kept: StatementCache;
  readonly #unkept = new StatementCache(false);

  /** @param kept the statements that connections keep */
  constructor(sequelize: Sequelize, executor: StatementExecutor, kept: StatementCache) {
    this.#sequelize = sequelize;
    this.#executor = executor;
    this.#kept = kept;
  }

  /** Executes a statement behind those that the connection was given before. */
  execute(
    client: PooledClient,
    text: string,
    values: TextValues,
    { isKept, before, fail }: ExecutionOptions,
  ): Promise<TextResult> {
    const statements = isKept ? this.#kept : this.#unkept;
    const statement = statements.get(text);
    return new Promise((resolve, reject) => {
      const settle: Execution['settle'] = (error, result) =>
        error ? reject(asDatabaseError(error, statement, values)) : resolve(result as TextResult);
      const end: Batch['end'] = (error) => {
        if (error) fail?.(error);
        markBroken(client, error);
      };
      const first = before?.map((each) => ({ statement: statements.get(each.text), values: each.values }));
      try {
        const batch = { statement, executions: [{ values, settle }], end };
        this.#executor.execute(client, first ? { ...batch, before: first } : batch);
      } catch (error) {
        // Nobody knows what has been sent.
        client._invalid = true;
        throw error;
      }
    });
  }

  /** Logs a text as Sequelize does. */
  log(text: string, transaction: string): void {
    logStatement(this.#sequelize, text, transaction);
  }
}

/** As Sequelize's own queries tell a failure: with the statement. Several may share what ended their connection. */
export function asDatabaseError(
  error: Error,
  { text }: PreparedStatement,
  values: TextValues,
): DatabaseError {
  const own: Error = Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
  return new DatabaseError(Object.assign(own, { sql: text, parameters: [...values] }));
}
