/** A server process of the sample: the tasks, their history and their feed, and the page. */
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { bootstrap, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { Task } from './task.js';

// Compiled, this file is in dist/sample/history.
const FOLDER = join(__dirname, '../../../sample/history');

async function main(): Promise<void> {
  const { DATABASE_URL = '', PORT } = process.env;
  const models = [Task];
  const app = express();
  // With a root, because Express answers 404 for a path in which any folder begins with a dot.
  app.get('/', (_request, response) => response.sendFile('page.html', { root: FOLDER }));
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
