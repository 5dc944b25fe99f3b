/** Loaded before the application: has OpenTelemetry trace pg and requests, and sends the spans to the parent process. */
import { createRequire } from 'node:module';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { NodeTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-node';
import type { TracedSpan } from './traced-span.js';

const spans: TracedSpan[] = [];

const provider = new NodeTracerProvider({
  spanProcessors: [
    {
      onStart: () => {},
      onEnd: (span) => void spans.push(describe(span)),
      forceFlush: async () => {},
      shutdown: async () => {},
    },
  ],
});
provider.register();
const addSqlCommenterCommentToQueries = process.env['WITH_COMMENTS'] === 'yes';
registerInstrumentations({
  instrumentations: [
    new PgInstrumentation({ addSqlCommenterCommentToQueries, enhancedDatabaseReporting: true }),
  ],
});

// Loaded when pg is instrumented.
if (process.env['WITH_OWN_SPANS']) {
  const { traceWithOpenTelemetry } =
    require('../../../src/opentelemetry.js') as typeof import('../../../src/opentelemetry.js');
  traceWithOpenTelemetry();
}

// As its instrumentation of HTTP does it: a span for each request, in whose context everything else runs.
const { Server } = createRequire(__filename)('node:http') as typeof import('node:http');
const { emit } = Server.prototype;
Server.prototype.emit = function (this: unknown, event: string | symbol, ...values: unknown[]): boolean {
  const receive = () => Reflect.apply(emit, this, [event, ...values]) as boolean;
  if (event !== 'request') return receive();
  const [request, response] = values as [
    { headers: Record<string, string> },
    { once(event: 'close', listener: () => void): void },
  ];
  const attributes = { case: request.headers['x-case'] ?? '' };
  const span = trace.getTracer('http').startSpan('request', { attributes });
  response.once('close', () => span.end());
  return context.with(trace.setSpan(context.active(), span), receive);
};

function describe(span: ReadableSpan): TracedSpan {
  const { attributes, name, parentSpanContext, status } = span;
  return {
    id: span.spanContext().spanId,
    parent: parentSpanContext?.spanId ?? null,
    name,
    text: String(attributes['db.query.text'] ?? attributes['db.statement'] ?? ''),
    values: (attributes['db.postgresql.values'] as string[] | undefined) ?? null,
    isError: status.code === SpanStatusCode.ERROR,
    request: typeof attributes['case'] === 'string' ? attributes['case'] : null,
  };
}

process.on('message', () => process.send?.(spans.splice(0)));
