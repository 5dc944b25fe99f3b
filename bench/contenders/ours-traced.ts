/** Ours with OpenTelemetry's instrumentation of pg, whose spans are made and exported to nowhere. */
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

const exporter = {
  export: (_spans: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
  shutdown: async () => {},
};
new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();
registerInstrumentations({ instrumentations: [new PgInstrumentation()] });

async function main(): Promise<void> {
  // Loaded when pg is instrumented.
  const { serveApplication } = await import('./support/ours.js');
  await serveApplication();
}

void main();
