/** Health probes over the back ends that the environment names, and a process that stops without losing a request. */
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootstrap, ConfigError, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { openDatabase } from '../support/open-database.js';

async function main(): Promise<void> {
  const { PORT = '3000' } = process.env;
  const app = express();
  app.get('/slow', async (_request, response) => {
    await sleep(3_000);
    response.json({ took: '3 seconds' });
  });
  await bootstrap(app, { models: [], health: { timeout: 2 } });
  const server = await serve(app, { port: Number(PORT), lifespan: openBackEnds, drainDelay: 1_000 });
  const { port } = server.address() as AddressInfo;
  say(`http://localhost:${port}/health/ready\nhttp://localhost:${port}/slow\nkill ${process.pid} stops it.`);
}

/** Opens the back ends of the process. They are disposed when the last request is answered. */
async function openBackEnds(): Promise<AsyncDisposable> {
  const { CLICKHOUSE_URL, REDIS_URL } = process.env;
  const database = await openDatabase('health');
  const engine = await engineLifespan(database.url, {
    models: [],
    ...(CLICKHOUSE_URL ? { clickhouse: CLICKHOUSE_URL } : {}),
    ...(REDIS_URL ? { cache: REDIS_URL } : {}),
  })();
  return {
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      say('Stopped');
    },
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exit(1);
});
