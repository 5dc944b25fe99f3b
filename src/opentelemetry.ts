/**
 * Spans and metrics of OpenTelemetry, from the channels of `diagnostics/`: `import { … } from 'crud-controllers/opentelemetry'`. Names
 * are those of its semantic conventions for HTTP and databases.
 */

import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Meter,
  metrics,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  errorType,
  type OperationMessage,
  operationChannel,
  type StatementMessage,
  setOperationScope,
  statementChannel,
} from './diagnostics/channels.js';
import { isTraced } from './postgres/index.js';
import { requestId } from './request/standard-headers.js';
import { requestProblem } from './respond/exception-handler.js';

const NAME = 'crud-controllers';

/** The key of the route for instrumentations of HTTP (`@opentelemetry/core`, `RPCMetadata`). */
const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');

const SPAN = Symbol('span');

/** A message with its span. */
interface Spanned {
  [SPAN]?: Span;
}

/** Ends the subscriptions; null where there are none. */
let undoAll: (() => void) | null = null;

/**
 * Begins to trace. Each request to a route of a resource has a span, `Article.list`, below that of the server; without one it
 * continues the trace of the client's `traceparent`. Within it are code of yours and the statements, each with a span of its own,
 * `SELECT articles`, unless an instrumentation of pg makes one. The metric `db.client.operation.duration` likewise. The server's
 * span gets `http.route`. No value of a parameter is recorded. To be called once, before or after `bootstrap`; a second call changes nothing.
 *
 * @example
 * ```ts
 * import { BatchSpanProcessor, ConsoleSpanExporter, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
 * import { traceWithOpenTelemetry } from 'crud-controllers/opentelemetry';
 *
 * new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new ConsoleSpanExporter())] }).register();
 * traceWithOpenTelemetry();
 * ```
 * @returns the function that ends it
 */
export function traceWithOpenTelemetry(): () => void {
  undoAll ??= subscribe(trace.getTracer(NAME), metrics.getMeter(NAME));
  return () => {
    undoAll?.();
    undoAll = null;
  };
}

function subscribe(tracer: Tracer, meter: Meter): () => void {
  const undo = [traceOperations(tracer), traceStatements(tracer, meter)];
  return () => {
    for (const each of undo) each();
  };
}

function traceOperations(tracer: Tracer): () => void {
  const begin = (message: OperationMessage): Context => {
    const { resource, operation, route, request } = message;
    const active = context.active();
    const server = trace.getSpan(active);
    server?.setAttribute('http.route', route);
    const rpc = active.getValue(RPC_METADATA) as { route?: string } | undefined;
    if (rpc) rpc.route = route;
    const parent = server ? active : propagation.extract(active, request.headers);
    const attributes = {
      'crud.resource': resource,
      'crud.operation': operation,
      'http.route': route,
      // Lines of the request in the log have it, too.
      'crud.request.id': requestId(request),
      ...(server ? {} : { 'http.request.method': request.method }),
    };
    const kind = server ? SpanKind.INTERNAL : SpanKind.SERVER;
    const span = tracer.startSpan(`${resource}.${operation}`, { kind, attributes }, parent);
    (message as Spanned)[SPAN] = span;
    return trace.setSpan(parent, span);
  };
  const end = (data: unknown): void => {
    const message = data as OperationMessage;
    const { [SPAN]: span } = message as Spanned;
    if (!span) return;
    const { resource, operation, runner, error } = message;
    // Renamed at the end, because a body that is an array changes the operation.
    span.updateName(`${resource}.${operation}`).setAttribute('crud.operation', operation);
    if (runner) span.setAttribute('crud.runner', runner);
    const status = error === undefined ? 0 : (requestProblem(error, message.request as never)?.status ?? 0);
    // A mistake of a client is no error of the server.
    if (status >= 500) markFailed(span, error);
    span.end();
  };
  // Only OpenTelemetry can make a context the active one.
  setOperationScope((message, work) => context.with(begin(message), work));
  operationChannel.asyncEnd.subscribe(end);
  return () => {
    setOperationScope(null);
    operationChannel.asyncEnd.unsubscribe(end);
  };
}

function traceStatements(tracer: Tracer, meter: Meter): () => void {
  const duration = meter.createHistogram('db.client.operation.duration', {
    unit: 's',
    description: 'Duration of database client operations.',
    advice: { explicitBucketBoundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10] },
  });
  const begin = (data: unknown): void => {
    // An instrumentation of pg shows each statement already.
    if (isTraced()) return;
    const { summary, text } = data as StatementMessage;
    const attributes = { ...nameOf(summary), ...(text === null ? {} : { 'db.query.text': text }) };
    (data as Spanned)[SPAN] = tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes });
  };
  const end = (data: unknown): void => {
    const { [SPAN]: span } = data as Spanned;
    if (!span) return;
    const message = data as StatementMessage;
    const { batchSize, rows, wait, error } = message;
    if (batchSize > 1) span.setAttribute('db.operation.batch.size', batchSize);
    if (rows !== null) span.setAttribute('db.response.returned_rows', rows);
    if (wait !== null) span.setAttribute('crud.statement.wait', wait / 1000);
    if (error !== undefined) markFailed(span, error);
    span.end();
    if (message.duration === null) return;
    const attributes = {
      ...nameOf(message.summary),
      ...(error === undefined ? {} : { 'error.type': errorType(error) }),
    };
    duration.record(message.duration / 1000, attributes);
  };
  const { start, asyncEnd } = statementChannel;
  start.subscribe(begin);
  asyncEnd.subscribe(end);
  return () => {
    start.unsubscribe(begin);
    asyncEnd.unsubscribe(end);
  };
}

function nameOf(summary: string): Attributes {
  const [operation = ''] = summary.split(' ');
  return { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.summary': summary };
}

/** Records a failure without its message, which may hold values. */
function markFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', errorType(error));
}
