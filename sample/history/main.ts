/** Starts a database, two processes that serve it, and a client of the database that writes beside them. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from 'pg';
import { openDatabase } from '../support/open-database.js';

/** Milliseconds between two writes of the client. */
const PAUSE = 5_000;

async function main(): Promise<void> {
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const first = Number(process.env['PORT'] ?? 3000);
  await using database = await openDatabase('history');
  await using one = await startServer(database.url, first);
  await using two = await startServer(database.url, first === 0 ? 0 : first + 1);
  await using _writer = await startWriter(database.url);
  process.stdout.write(
    `The tasks, by two processes:\n  http://localhost:${one.port}/\n  http://localhost:${two.port}/\n` +
      `Every ${PAUSE / 1000} seconds a client of the database writes beside them. Write yourself:\n  psql '${database.url}'\nCtrl-C ends it.\n`,
  );
  await stopped;
}

/** The tables are there when the first one listens. */
async function startServer(url: string, port: number): Promise<AsyncDisposable & { readonly port: number }> {
  // Ctrl-C in a terminal is for the parent alone, which ends its children first and the database last.
  const child = fork(join(__dirname, 'server.js'), {
    detached: true,
    env: { ...process.env, DATABASE_URL: url, PORT: String(port) },
  });
  const ended = once(child, 'exit');
  const [message] = await Promise.race([once(child, 'message'), ended.then(() => [])]);
  if (typeof message !== 'number') throw new Error('A server has not started.');
  return {
    port: message,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The triggers store its changes, too; nobody is their actor. */
async function startWriter(url: string): Promise<AsyncDisposable> {
  const client = new Client(url);
  await client.connect();
  await client.query(
    "INSERT INTO tasks (title, version) SELECT title, 0 FROM unnest(ARRAY['Buy flour', 'Bake', 'Sell']) title WHERE NOT EXISTS (SELECT FROM tasks)",
  );
  const write = () => client.query('UPDATE tasks SET done = NOT done WHERE id = 1');
  const timer = setInterval(() => void write(), PAUSE);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await client.end();
    },
  };
}

void main();
