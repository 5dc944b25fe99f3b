/** Loaded before the application: has Sentry trace pg and requests, and sends the spans to the parent process. */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { TracedSpan } from './traced-span.js';

/** The used part of the SDK. `npm run tracers` installs it, so that its types may be missing. */
interface Sentry {
  init(options: object): void;
}

/** A span as Sentry sends it. */
interface Span {
  readonly span_id: string;
  readonly parent_span_id?: string;
  readonly op?: string;
  readonly description?: string;
  readonly status?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A request with its spans. */
interface Transaction {
  readonly transaction?: string;
  readonly contexts?: { readonly trace?: Span };
  readonly request?: { readonly headers?: Readonly<Record<string, string>> };
  readonly spans?: readonly Span[];
}

const SDK = process.env['SENTRY_SDK'] ?? '@sentry/node';
const PACKAGE = resolve(__dirname, '../../../../test/process/tracers/sentry/package.json');
const spans: TracedSpan[] = [];
const hasOwnSpans = Boolean(process.env['WITH_OWN_SPANS']);

(createRequire(PACKAGE)(SDK) as Sentry).init({
  dsn: 'http://key@127.0.0.1:1/1',
  tracesSampleRate: 1,
  traceLifecycle: 'static',
  // Version 10 always does that.
  enableOpenTelemetrySetup: hasOwnSpans,
  // A statement that is a part of a request is sent with it.
  beforeSendTransaction(transaction: Transaction) {
    const { contexts, request, spans: inner = [] } = transaction;
    const root = contexts?.trace;
    const name = request?.headers?.['x-case'] ?? null;
    if (root) spans.push(describe(root, name));
    spans.push(...inner.map((span) => describe(span, null)));
    return null;
  },
  transport: () => ({ send: async () => ({}), flush: async () => true }),
});

// Loaded when pg is instrumented.
if (hasOwnSpans) {
  const { traceWithOpenTelemetry } =
    require('../../../src/opentelemetry.js') as typeof import('../../../src/opentelemetry.js');
  traceWithOpenTelemetry();
}

function describe(span: Span, request: string | null): TracedSpan {
  const { span_id: id, parent_span_id: parent = null, description = '', data = {} } = span;
  const text = data['db.query.text'] ?? data['db.statement'] ?? (span.op === 'db' ? description : '');
  const isError = span.status !== undefined && span.status !== 'ok';
  return { id, parent, name: description, text: String(text), values: null, isError, request };
}

process.on('message', () => process.send?.(spans.splice(0)));
