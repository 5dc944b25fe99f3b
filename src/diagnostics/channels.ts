/**
 * Publishes the library's work on `node:diagnostics_channel`, for tracers, metrics and logs: the tracing channels
 * `crud-controllers:operation` and `crud-controllers:statement`. Without subscribers they cost one look each.
 */
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * A request to a route of a resource, from the end of routing to its answer: parse, run, shape and commit. `start`, `end`,
 * `asyncStart` and `asyncEnd` have the same object, as has `error`, which then has a member `error`.
 */
export interface OperationMessage {
  /** The model's name. */
  readonly resource: string;
  /** The endpoint, such as `list` or `createMany`; of a route of the user's, the name of its method. */
  operation: string;
  /** The template of the path, such as `/api/articles/:id`. */
  readonly route: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Runner of the operation, set at the end: SQL of this library alone (`rows`), or a method of a controller. */
  runner?: 'rows' | 'method';
  /** Error that it has thrown. Its message may hold values of the request. */
  error?: unknown;
}

/** A statement, from the moment it is asked for to its result. No value of a parameter is in it. */
export interface StatementMessage {
  /** Verb and table of the statement: `SELECT articles`. */
  readonly summary: string;
  /** The text with `$1` in the place of values; null where Sequelize has written values into it. */
  readonly text: string | null;
  /** Milliseconds before it was sent: it waited for a connection. Null where only Sequelize knows. */
  wait: number | null;
  /** Milliseconds from then to its end; of one of Sequelize's, with its wait. Null where it was never sent. */
  duration: number | null;
  /** Number of executions sent together: reads that share a connection, or writes that share a transaction. */
  batchSize: number;
  /** Rows that were found or written; null where it failed, or only Sequelize knows. */
  rows: number | null;
  /** Error of PostgreSQL or the driver. Its message may hold values. */
  error?: unknown;
}

/** Each request to a route of a resource. */
export const operationChannel = channelOf<OperationMessage>('operation');

/** Each statement that is sent to PostgreSQL. */
export const statementChannel = channelOf<StatementMessage>('statement');

function channelOf<M extends object>(name: string): TracingChannel<unknown, M> {
  return tracingChannel<unknown, M>(`crud-controllers:${name}`);
}
