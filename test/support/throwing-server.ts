/** The throwing controllers in a process of their own, which ends where a real server's would: at the first stray rejection. */
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { bootstrap, engineLifespan } from '../../src/index.js';
import { Bomb, BombController, BunkerController, THROWING_OPTIONS, thrown } from './throwing-controllers.js';

async function main(): Promise<void> {
  const app = express();
  await engineLifespan(process.env.DATABASE_URL ?? '', { createAll: true })(app);
  app.use((request, _response, next) => {
    thrown.value = { n: null, u: undefined, t: 'text', e: new Error('hidden reason') }[
      request.get('throw') ?? ''
    ];
    next();
  });
  await bootstrap(app, {
    models: [Bomb],
    controllers: [BombController, BunkerController],
    routing: THROWING_OPTIONS,
  });
  const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

void main();
