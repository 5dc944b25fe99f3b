/**
 * Shows statements to tracers. OpenTelemetry, dd-trace, Sentry and others wrap pg's `Client.query`. A span begins with the call, in
 * the async context of the caller, and ends with the query's own `callback`. But a batch serves several requests with one query,
 * and is sent while the code of any of them runs. So each execution is shown as a query of its own, in the async context of
 * its request. It is passed to the wrapped method of a copy of the client, which sends nothing. A tracer that changes that query
 * does not change the statement that is executed.
 */
import type { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { summarize } from '../../diagnostics/channels.js';
import type { Batch, Execution, TextResult, TextValues } from './batch.js';
import { type DriverClient, queryQueueOf, TESTED_PG } from './pg-internals.js';

type Callback = (error: Error | null, result?: object) => void;

/** A query that is sent. */
export interface SentQuery {
  /** Abandons it after so many milliseconds. */
  limit(milliseconds: number): void;
  handleError(error: Error): void;
}

/** Message of pg when it cannot send. */
const CLOSED = 'Client was closed and is not queryable';

/** The error where pg's queue is not at its usual place: a query would wait for ever. */
const UNKNOWN =
  'A tracer wraps Client.query of this version of pg, which keeps its queries elsewhere; ' +
  `use pg ${TESTED_PG.major}.${TESTED_PG.last}.`;

/** Runs work in a context, if there is one. */
function runIn<T>(context: AsyncResource | undefined, work: () => T): T {
  return context ? context.runInAsyncScope(work) : work();
}

/** Shows the executions of a batch to tracers. */
export class TracedBatch {
  /** The same; each execution also ends its query of the tracers. */
  readonly batch: Batch;
  readonly #client: DriverClient;
  readonly #shown: ShownQuery[] = [];

  constructor(client: DriverClient, batch: Batch) {
    this.#client = client;
    const executions = batch.executions.map((execution): Execution => {
      const { values, context } = execution;
      const query = new ShownQuery(batch.statement.text, values);
      this.#shown.push(query);
      runIn(context, () => show(query, client));
      const settle: Execution['settle'] = (error, result) => {
        query.end(error, result);
        execution.settle(error, result);
      };
      return { values, settle };
    });
    this.batch = { ...batch, executions };
  }

  /** Sends the query for all of them past the tracers, as pg's own method does it. */
  query(query: SentQuery): void {
    const client = this.#client;
    const send = (): boolean => {
      const queue = queryQueueOf(client);
      const refused = this.#shown.find(({ refusal }) => refusal);
      const refusal = refused?.refusal ?? reasonNotToSend(client, queue);
      if (refusal) process.nextTick(() => query.handleError(refusal));
      else {
        queue?.push(query);
        client._pulseQueryQueue?.();
      }
      return !refusal;
    };
    const { turns } = client;
    if (turns && !turns.isFree) turns.wait(send, (error) => query.handleError(error as Error));
    else if (send()) turns?.begin();
  }
}

function reasonNotToSend(client: DriverClient, queue: object[] | undefined): Error | null {
  if (!queue || !client._pulseQueryQueue) return new Error(UNKNOWN);
  return client._queryable === false || client._ending ? new Error(CLOSED) : null;
}

/** Query as tracers read it: own, writable properties, as pg's queries have them. It is an emitter as those are. */
class ShownQuery extends EventEmitter {
  text: string;
  /** Names the span. OpenTelemetry writes comments into queries without a name, of which it makes plain objects. */
  name: string;
  /** Recorded where a tracer is configured so. */
  values: TextValues;
  /** Wrapped by tracers. Called before the end by one that refuses the query. */
  callback: Callback;
  /** Why a tracer refuses it. */
  refusal: Error | null = null;
  #isOver = false;

  constructor(text: string, values: TextValues) {
    super();
    this.text = text;
    this.name = summarize(text);
    this.values = values;
    this.callback = (error) => {
      if (!this.#isOver) this.refusal = error;
    };
  }

  /** By this pg takes it for a query. */
  submit(): null {
    return null;
  }

  /** Ends it, once. */
  end(error: Error | null, result?: TextResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const outcome = result && { rows: result.rows, rowCount: result.count };
    try {
      this.callback(error, outcome);
      if (!error) this.emit('end', outcome);
      else if (this.listenerCount('error') > 0) this.emit('error', error);
    } catch (thrown) {
      // Thrown later, as pg does with errors of callbacks: the connection goes on.
      process.nextTick(() => {
        throw thrown;
      });
    }
  }
}

/** Calls the wrapped method with a query, on a copy of the client that sends nothing. */
function show(query: ShownQuery, client: DriverClient): void {
  const queue: object[] = [];
  const own = {
    _queryQueue: queue,
    queryQueue: queue,
    _activeQuery: null,
    activeQuery: null,
    _queryable: true,
    _ending: false,
    pipeline: false,
    turns: null,
    _pulseQueryQueue: () => {},
  };
  const copy: DriverClient = Object.create(client, Object.getOwnPropertyDescriptors(own));
  try {
    copy.query(query);
  } catch (error) {
    query.callback(error as Error);
  }
}
