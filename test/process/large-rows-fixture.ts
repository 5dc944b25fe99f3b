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
  await engineLifespan(String(process.env['DATABASE_URL']), { models, createAll: true })(app);
  hook.addHook('afterFind', () => {});
  await bootstrap(app, { models });
  const server = await serve(app, { port: 0 });
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`);
}

void main();
