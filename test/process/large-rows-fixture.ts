/** One table of large rows, served in each way that rows can take; `large-pages.test.ts` runs it with little memory. */
import '../support/express-version.js';
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Expose, Transform } from 'class-transformer';
import express, { type Express } from 'express';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import {
  bootstrap,
  Crud,
  type CrudOptions,
  engineLifespan,
  type ModelClass,
  serve,
} from '../../src/index.js';
import { HEAP_LIMIT } from '../../src/postgres/protocol/heap-limit.js';
import { usedByLasting } from '../../src/postgres/protocol/heap-watch.js';

/** Milliseconds of a connection and a statement: how fast the machine is does not matter here. */
const PATIENCE = 250_000;

/** A resource over the table, under its name in lower case. */
function serveAs(name: string, options: CrudOptions = {}): ModelClass {
  class Large extends Model {
    declare id: number;
    declare value: unknown;
  }
  Object.defineProperty(Large, 'name', { value: name });
  Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true })(Large.prototype, 'id');
  Column(DataType.JSONB)(Large.prototype, 'value');
  Table({ tableName: 'rows', timestamps: false })(Large);
  Crud({ prefix: `/${name.toLowerCase()}`, ...options })(Large);
  return Large as ModelClass;
}

class Read {
  @Expose()
  declare id: number;

  @Expose()
  @Transform(({ value }) => value)
  declare value: unknown;
}

async function main(): Promise<void> {
  const getter = serveAs('Getter');
  Column({ type: DataType.VIRTUAL, get: () => undefined })(getter.prototype, 'nothing');
  const hook = serveAs('Hook');
  const models = [
    serveAs('Page'),
    serveAs('Cursor', { pagination: 'cursor' }),
    serveAs('Schema', { readSchema: Read }),
    getter,
    hook,
  ];
  const app: Express = express();
  const dialectOptions = {
    connectionTimeoutMillis: PATIENCE,
    statement_timeout: PATIENCE,
    query_timeout: PATIENCE,
  };
  const engine = { models, createAll: true, dialectOptions, pool: { acquire: PATIENCE } };
  await engineLifespan(String(process.env['DATABASE_URL']), engine)(app);
  const cache: number[][] = [];
  app.get('/fill', (_request, response) => {
    while (usedByLasting() < 0.84 * HEAP_LIMIT) cache.push(Array<number>(10_000).fill(1.5));
    response.json(cache.length);
  });
  hook.addHook('afterFind', () => {});
  await bootstrap(app, { models });
  const server = await serve(app, { port: 0 });
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`);
}

void main();
