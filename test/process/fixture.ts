/** The application that the tests of this folder run as a process; its options are the first argument, as JSON. */
import '../support/express-version.js';
import 'reflect-metadata';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import express, { type Express } from 'express';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  bootstrap,
  Crud,
  engineLifespan,
  type Logger,
  type ModelClass,
  type ServeOptions,
  serve,
  unitOfWork,
} from '../../src/index.js';

/** Options of the fixture. */
export interface FixtureOptions {
  readonly port?: number;
  readonly drainDelay?: number;
  readonly shutdownTimeout?: number;
  /** The database of the current engine, which was there before `serve`. */
  readonly databaseUrl?: string;
  /** The lifespan of `serve`, by the result of its end. Default: none */
  readonly lifespan?: 'disposes' | 'fails' | 'hangs';
  /** A second server of the process, for an application of its own with the same routes. */
  readonly second?: Pick<ServeOptions, 'drainDelay' | 'shutdownTimeout'>;
  /** True where a second server begins to listen at SIGUSR2. */
  readonly late?: boolean;
  /** The application has a logger of its own. */
  readonly ownLogger?: boolean;
  /** Keeps the process busy for ever. */
  readonly neverIdle?: boolean;
  /** Tables that are there already, with an `id` and a `text`; each is served under its name. */
  readonly tables?: readonly string[];
}

/** The one model; its table is there when the process is. */
@Table({ tableName: 'notes', timestamps: false })
class Note extends Model {
  @Column(DataType.TEXT) declare text: string;
}

/** A resource over a table. */
function resourceOf(tableName: string): ModelClass {
  class Line extends Model {
    declare id: number;
    declare text: string;
  }
  Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true })(Line.prototype, 'id');
  Column({ type: DataType.TEXT, allowNull: false })(Line.prototype, 'text');
  Object.defineProperty(Line, 'name', { value: tableName });
  Table({ tableName, timestamps: false })(Line);
  Crud({ prefix: `/${tableName}` })(Line);
  return Line as ModelClass;
}

const LOGGER: Logger = {
  debug() {},
  info() {},
  warn() {},
  error: (message) => say(`own logger: ${message}`),
};

async function main(): Promise<void> {
  const { databaseUrl, late, lifespan, neverIdle, ownLogger, second, tables, ...options }: FixtureOptions =
    JSON.parse(process.argv[2] ?? '{}');
  const models = tables?.map(resourceOf) ?? [];
  if (databaseUrl && tables) await engineLifespan(databaseUrl, { models })();
  else if (databaseUrl) await engineLifespan(databaseUrl, { models: [Note], createAll: true })();
  if (neverIdle) setInterval(() => {}, 1_000);
  if (second) say(`second ${portOf(await serve(await createApplication(), { port: 0, ...second }))}`);

  const server = await serve(await createApplication({ models, ...(ownLogger ? { logger: LOGGER } : {}) }), {
    port: 0,
    ...options,
    ...(lifespan ? { lifespan: async () => ({ [Symbol.asyncDispose]: () => dispose(lifespan) }) } : {}),
  });
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  });
  if (late) void listenLater(await createApplication());
  say(`listening ${portOf(server)}`);
}

async function listenLater(app: Express): Promise<void> {
  await once(process, 'SIGUSR2');
  await serve(app, { port: 0 });
  say('listening late');
}

async function createApplication(options: BootstrapOptions = {}): Promise<Express> {
  const app = express();
  app.get('/pid', (_request, response) => void response.json({ pid: process.pid }));
  app.get('/wait/:ms', async ({ params }, response) => {
    say('working');
    await sleep(Number(params.ms));
    response.json({ waited: params.ms });
  });
  app.get('/held', async (_request, response) => {
    const released = once(process, 'SIGUSR2');
    say('working');
    await released;
    response.json({ held: true });
  });
  app.get('/stream/:ms', async ({ params }, response) => {
    response.write('first,');
    say('working');
    await sleep(Number(params.ms));
    response.end('last');
  });
  app.get('/large/:bytes', ({ params }, response) => {
    response.end(Buffer.alloc(Number(params.bytes), 'x'));
    say('working');
  });
  app.post('/body', (request, response) => {
    request.resume().on('end', () => response.json({}));
  });
  app.post('/notes/:ms', async ({ params }, response) => {
    await unitOfWork(async (uow) => {
      await uow.repository(Note).create({ text: 'kept' });
      say('working');
      await sleep(Number(params.ms));
    });
    response.status(201).json({});
  });
  await bootstrap(app, { models: [], ...options });
  return app;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function dispose(outcome: NonNullable<FixtureOptions['lifespan']>): Promise<void> {
  say('disposed');
  if (outcome === 'fails') throw new Error('On purpose');
  if (outcome === 'hangs') await new Promise(() => {});
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

// Node does not emit it when the process is ended by force. So the line means that nothing was open.
process.once('beforeExit', () => say('nothing is left'));

main().catch((error: unknown) => {
  process.stderr.write(`${error}\n`);
  process.exitCode = 1;
});
