/** A server process of the sample: the tasks, their history and their feed, and the page. */
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { bootstrap, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { Task } from './task.js';

// Compiled, this file is in dist/sample/history.
const PAGE = join(__dirname, '../../../sample/history/page.html');

async function main(): Promise<void> {
  const { DATABASE_URL = '', PORT } = process.env;
  const models = [Task];
  const app = express();
  app.get('/', (_request, response) => response.sendFile(PAGE));
  const server = await serve(app, {
    port: Number(PORT),
    async lifespan() {
      const engine = await engineLifespan(DATABASE_URL, { models, createAll: true })(app);
      // The sample takes the user from a header, without a sign-in.
      await bootstrap(app, { models, history: { actor: (request) => request.get('User') } });
      return engine;
    },
  });
  // The parent has ended.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.send?.((server.address() as AddressInfo).port);
}

void main();
