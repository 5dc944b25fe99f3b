/** Serves accounts and the transfers between them, on the PostgreSQL of DATABASE_URL or one that is gone at the end. */
import 'reflect-metadata';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { bootstrap, engineLifespan } from 'crud-controllers';
import express from 'express';
import { openDatabase } from '../support/open-database.js';
import { Account } from './account.js';
import { AccountController } from './account-controller.js';
import { Transfer } from './transfer.js';

const models = [Account, Transfer];

async function main(): Promise<void> {
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const app = express();
  await using database = await openDatabase('unit-of-work');
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

void main();
