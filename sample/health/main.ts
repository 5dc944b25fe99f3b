/** Health probes over the back ends that the environment names, and a process that stops without losing a request. */
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootstrap, ConfigError, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { startPostgresServer } from '../support/postgres-server.js';

/** A database that is stopped, and gone, when it is disposed. */
interface Database extends AsyncDisposable {
  readonly url: string;
}

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

/** What the process needs while it serves; disposed when the last request is answered. */
async function openBackEnds(): Promise<AsyncDisposable> {
  const { DATABASE_URL, CLICKHOUSE_URL, REDIS_URL } = process.env;
  const database = DATABASE_URL ? given(DATABASE_URL) : await startDatabase();
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

function given(url: string): Database {
  return { url, [Symbol.asyncDispose]: async () => {} };
}

async function startDatabase(): Promise<Database> {
  const folder = await mkdtemp(join(tmpdir(), 'crud-controllers-health-'));
  const password = randomBytes(18).toString('base64url');
  const server = await startPostgresServer({ folder, password, exitSignal: 'SIGINT' });
  return {
    url: server.url('postgres'),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
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
