/**
 * Publishes the library's work on `node:diagnostics_channel`, for tracers, metrics and logs: the tracing channels
 * `crud-controllers:operation` and `crud-controllers:statement`. Without subscribers each costs one test.
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

/** A statement, from its call to its result. No value of a parameter is in it. */
export interface StatementMessage {
  /** Verb and table of the statement: `SELECT articles`. */
  readonly summary: string;
  /** The text with `$1` in the place of values; null where Sequelize has written values into it. */
  readonly text: string | null;
  /** Milliseconds before it was sent: it waited for a connection. Null where only Sequelize has it. */
  wait: number | null;
  /** Milliseconds from then to its end; of one of Sequelize's, with its wait. Null where it was never sent. */
  duration: number | null;
  /** Number of executions sent together: reads that share a connection, or writes that share a transaction. */
  batchSize: number;
  /** Rows that were found or written; null where it failed, or only Sequelize has it. */
  rows: number | null;
  /** Error of PostgreSQL or the driver. Its message may hold values. */
  error?: unknown;
}

/** Each request to a route of a resource. */
export const operationChannel = channelOf<OperationMessage>('operation');

/** Each statement that is sent to PostgreSQL. */
export const statementChannel = channelOf<StatementMessage>('statement');

function channelOf<M extends object>(name: string): TracingChannel<M, M> {
  // Later types of Node have these parameters in the other order.
  return tracingChannel<M, M>(`crud-controllers:${name}`);
}

const MESSAGE = Symbol('operation of the request');

/** A property, as those of all messages: a map of them would cost the collector of garbage as much as all else of the channels. */
interface PublishedRequest extends IncomingMessage {
  [MESSAGE]?: OperationMessage;
}

/** The operation of a request that is published, or was; undefined for any other. */
export function operationOf(request: PublishedRequest): Readonly<OperationMessage> | undefined {
  return request[MESSAGE];
}

type OperationScope = <T>(message: OperationMessage, work: () => T) => T;

let scope: OperationScope | null = null;

/** Runs operations within a context that is no store of Node's; null ends it. It does not subscribe. */
export function setOperationScope(next: OperationScope | null): void {
  scope = next;
}

/** Runs the work of a request. */
export function traceOperation<T>(message: OperationMessage, work: () => Promise<T>): Promise<T> {
  (message.request as PublishedRequest)[MESSAGE] = message;
  const within = scope;
  const run = within ? () => within(message, work) : work;
  return operationChannel.tracePromise(run, message) as Promise<T>;
}

/** Publishes facts of a request that are found while it is under way. */
export function noteOperation(
  request: IncomingMessage,
  known: Partial<Pick<OperationMessage, 'operation' | 'runner'>>,
): void {
  if (!operationChannel.hasSubscribers) return;
  const message = (request as PublishedRequest)[MESSAGE];
  if (message) Object.assign(message, known);
}

/** A statement that is published. */
export class StatementTrace {
  readonly #message: StatementMessage;
  readonly #begun = performance.now();
  #sent: number | null = null;
  #isOver = false;

  /** @param isShown true where the text has no values in it */
  constructor(text: string, isShown: boolean) {
    this.#message = {
      summary: summarize(text),
      text: isShown ? text : null,
      wait: null,
      duration: null,
      batchSize: 1,
      rows: null,
    };
    statementChannel.start.publish(this.#message);
    statementChannel.end.publish(this.#message);
  }

  /** It is sent now, for the first time or again. */
  sent(batchSize: number): void {
    this.#sent = performance.now();
    this.#message.wait = this.#sent - this.#begun;
    this.#message.batchSize = batchSize;
  }

  /** It has ended; the first call counts. */
  end(error: unknown, rows: number | null = null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Only Sequelize has the time when it is sent.
    const since = this.#message.text === null ? this.#begun : this.#sent;
    if (since !== null) this.#message.duration = performance.now() - since;
    this.#message.rows = rows;
    if (error) {
      this.#message.error = error;
      statementChannel.error.publish(this.#message);
    }
    statementChannel.asyncStart.publish(this.#message);
    statementChannel.asyncEnd.publish(this.#message);
  }
}

/** Begins a statement of ours; undefined where there are no subscribers. */
export function traceStatement(text: string): StatementTrace | undefined {
  return statementChannel.hasSubscribers ? new StatementTrace(text, true) : undefined;
}

/** Publishes a statement of Sequelize's, whose text may hold values. */
export async function traceQuery<T>(text: string, work: () => Promise<T>): Promise<T> {
  const trace = new StatementTrace(text, false);
  try {
    const result = await work();
    trace.end(null);
    return result;
  } catch (error) {
    trace.end(error);
    throw error;
  }
}

const TABLE = /\b(?:FROM|INTO|UPDATE) (?:ONLY )?(?:"[^"]+"\.)?"([^"]+)"/;
/** Bytes of a name in PostgreSQL, at most. */
const MAX_NAME = 63;

/** `SELECT cities`: a summary, by the conventions of OpenTelemetry. */
export function summarize(text: string): string {
  const [operation = ''] = text.trimStart().split(/[ ;]/, 1);
  const table = TABLE.exec(text)?.[1];
  return (table ? `${operation} ${table}` : operation).slice(0, MAX_NAME);
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** The SQLSTATE, or the class: `error.type` of OpenTelemetry's conventions, which call a thrown value that is no error `_OTHER`. */
export function errorType(error: unknown): string {
  const { code, original } = (error ?? {}) as {
    readonly code?: unknown;
    readonly original?: { readonly code?: unknown };
  };
  const state = code ?? original?.code;
  if (typeof state === 'string' && SQLSTATE.test(state)) return state;
  return error instanceof Error ? error.name : '_OTHER';
}
