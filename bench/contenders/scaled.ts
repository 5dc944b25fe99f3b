/** Ours with as many models or columns as the environment says; `GET /bootstrap` returns the cost of their start. */
import 'reflect-metadata';
import { bootstrap, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { CONNECTIONS_OF_OURS, HOST, readEnvironment } from './support/environment.js';
import { articleModels, wideModel } from './support/scaled-models.js';

async function main(): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const { BENCH_MODELS = '1', BENCH_COLUMNS } = process.env;
  const heapBefore = usedHeap();
  const models = BENCH_COLUMNS ? [wideModel(Number(BENCH_COLUMNS))] : articleModels(Number(BENCH_MODELS));
  const app = express();
  await engineLifespan(databaseUrl, { models, pool: { max: CONNECTIONS_OF_OURS } })(app);
  const started = performance.now();
  app.get('/bootstrap', (_request, response) => void response.json(took));
  const application = await bootstrap(app, { models });
  const milliseconds = performance.now() - started;
  const heap = usedHeap() - heapBefore;
  const described = performance.now();
  application.openapi();
  const took = { milliseconds, heap, document: performance.now() - described };
  await serve(app, { port, host: HOST });
}

/** Bytes, without garbage: the benchmark starts this with --expose-gc. */
function usedHeap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

void main();
