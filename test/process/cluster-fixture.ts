/** A cluster of two workers that are replaced one after the other at SIGUSR2; `replace-workers.test.ts` runs it. */
import '../support/express-version.js';
import 'reflect-metadata';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import express from 'express';
import { bootstrap, serve } from '../../src/index.js';

const WORKERS = 2;

async function main(): Promise<void> {
  const workers: Worker[] = [];
  for (let count = 0; count < WORKERS; count += 1) {
    const worker = cluster.fork();
    const [{ port }] = await once(worker, 'listening');
    workers.push(worker);
    if (count === WORKERS - 1) process.stdout.write(`listening ${port}\n`);
  }
  await once(process, 'SIGUSR2');
  for (const old of workers) {
    await once(cluster.fork(), 'listening');
    old.process.kill('SIGTERM');
    const [code] = await once(old, 'exit');
    process.stdout.write(`replaced ${code}\n`);
  }
  process.stdout.write('all are new\n');
}

async function work(): Promise<void> {
  const app = express();
  app.all('/work/:ms', ({ params, method }, response) => {
    setTimeout(() => response.json({ method, pid: process.pid }), Number(params.ms));
  });
  await bootstrap(app, { models: [], health: false });
  // Each connection has an answer in this time, with the header that ends it.
  await serve(app, { port: 0, drainDelay: 1_000 });
}

void (cluster.isPrimary ? main() : work());
