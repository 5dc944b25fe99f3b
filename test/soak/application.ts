/** The application that is soaked, as a process of its own. Its options are the first argument, as JSON. */
import '../support/express-version.js';
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Get, HttpError, JsonController } from 'routing-controllers';
import { bootstrap, currentEngine, type Engine, engineLifespan, serve } from '../../src/index.js';
import { type PoolState, poolStates } from '../support/connections.js';
import { MODELS, OrderController } from './models.js';

/** Options of the process. */
export interface ApplicationOptions {
  readonly databaseUrl: string;
  readonly cacheUrl: string;
  readonly clickhouseUrl: string;
  readonly poolSize: number;
  readonly groupCommit: boolean;
}

/** Measures of the process: bytes after a garbage collection, and its connections. */
export interface Measure {
  readonly heap: number;
  readonly external: number;
  readonly rss: number;
  readonly pools: readonly PoolState[];
}

/** Milliseconds. Short, since requests wait for a frozen back end until one of them is over; a busy machine needs as long. */
const TIMEOUTS = {
  connectionTimeoutMillis: 1_500,
  lock_timeout: 1_500,
  statement_timeout: 1_800,
  query_timeout: 2_000,
};

/** Routes that need the other back ends. */
@JsonController()
class NeighborController {
  @Get('/visits')
  visits() {
    return ask(async ({ cache }) => ({ visits: await cache?.incr('visits') }));
  }

  @Get('/report')
  report() {
    return ask(async ({ clickhouse }) => {
      const result = await clickhouse?.query({ query: 'SELECT 1 AS one', format: 'JSONEachRow' });
      return result?.json();
    });
  }
}

async function ask<T>(question: (engine: Engine) => Promise<T>): Promise<T> {
  try {
    return await question(currentEngine());
  } catch {
    throw new HttpError(503, 'A neighbor is away.');
  }
}

async function main(): Promise<void> {
  const options: ApplicationOptions = JSON.parse(process.argv[2] ?? '{}');
  const app = express();
  const server = await serve(app, {
    port: 0,
    host: '127.0.0.1',
    lifespan: async () => {
      const engine = await engineLifespan(options.databaseUrl, {
        models: MODELS,
        createAll: true,
        cache: options.cacheUrl,
        clickhouse: options.clickhouseUrl,
        groupCommit: options.groupCommit,
        pool: { max: options.poolSize, acquire: 3_000 },
        dialectOptions: TIMEOUTS,
      })(app);
      await bootstrap(app, {
        models: MODELS,
        controllers: [OrderController, NeighborController],
        idempotency: { principal: () => 'ann' },
        metrics: true,
        serverTiming: true,
      });
      return engine;
    },
  });
  process.on('message', () => process.send?.(measure()));
  // The parent has gone.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.send?.((server.address() as AddressInfo).port);
}

function measure(): Measure {
  // A second collection frees the memory that finalizers of the first have released.
  for (let time = 0; time < 2; time += 1) globalThis.gc?.();
  const { heapUsed: heap, external, rss } = process.memoryUsage();
  return { heap, external, rss, pools: poolStates(currentEngine()) };
}

void main();
