/** Serves accounts and the transfers between them, on the PostgreSQL of DATABASE_URL or one that is gone at the end. */
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrap, engineLifespan } from 'crud-controllers';
import express from 'express';
import { startPostgresServer } from '../support/postgres-server.js';
import { Account } from './account.js';
import { AccountController } from './account-controller.js';
import { Transfer } from './transfer.js';

const models = [Account, Transfer];

async function main(): Promise<void> {
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const app = express();
  await using database = await openDatabase();
  // A hundred clients at once wait for ten connections.
  const pool = { max: 10, acquire: 15_000 };
  await using _engine = await engineLifespan(database.url, { models, createAll: true, pool })(app);
  await bootstrap(app, { models, controllers: [AccountController] });

  const server = app.listen(Number(process.env.PORT ?? 3000));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`The bank is open: http://localhost:${port}/accounts\nCtrl-C closes it.\n`);
  await stopped;
  server.close();
  await once(server, 'close');
}

async function openDatabase(): Promise<AsyncDisposable & { readonly url: string }> {
  const { DATABASE_URL } = process.env;
  if (DATABASE_URL) return { url: DATABASE_URL, [Symbol.asyncDispose]: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'unit-of-work-'));
  const password = randomBytes(18).toString('base64url');
  const postgres = await startPostgresServer({ folder, password, exitSignal: 'SIGINT' });
  return {
    url: postgres.url('postgres'),
    async [Symbol.asyncDispose]() {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

void main();
