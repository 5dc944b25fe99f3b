/** Ours with one of the means to see what it does, which the variable VISIBLE names. */
import { tracingChannel } from 'node:diagnostics_channel';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { traceWithOpenTelemetry } from 'crud-controllers/opentelemetry';
import { type Setup, serveApplication } from './support/ours.js';

const MEANS: Readonly<Record<string, () => Setup>> = {
  /** All events of both channels go to a function that does nothing. */
  channels() {
    const look = () => {};
    for (const name of ['operation', 'statement']) {
      tracingChannel(`crud-controllers:${name}`).subscribe({
        start: look,
        end: look,
        asyncStart: look,
        asyncEnd: look,
        error: look,
      });
    }
    return {};
  },
  /** Spans are made, and exported to nowhere. */
  opentelemetry() {
    const exporter = {
      export: (_spans: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
      shutdown: async () => {},
    };
    new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();
    traceWithOpenTelemetry();
    return {};
  },
  metrics: () => ({ bootstrap: { metrics: true } }),
  /** A line of JSON for each request goes to standard error, which is a pipe. */
  accessLog: () => ({ bootstrap: { accessLog: true } }),
  serverTiming: () => ({ bootstrap: { serverTiming: true } }),
};

const { VISIBLE = '' } = process.env;
const setUp = MEANS[VISIBLE];
if (!setUp) throw new Error(`VISIBLE is '${VISIBLE}'; use one of ${Object.keys(MEANS).join(', ')}.`);
void serveApplication(setUp());
