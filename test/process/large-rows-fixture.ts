/** One table of large rows, served in each way that rows can take; `large-pages.test.ts` runs it with little memory. */
import '../support/express-version.js';
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Expose, Transform } from 'class-transformer';
import express, { type Express } from 'express';
import { BelongsTo, Column, DataType, ForeignKey, Model, Table } from 'sequelize-typescript';
import {
  bootstrap,
  Crud,
  type CrudOptions,
  engineLifespan,
  type ModelClass,
  serve,
} from '../../src/index.js';

/** Milliseconds of a connection and a statement: how fast the machine is does not matter here. */
const PATIENCE = 250_000;

/** The table with a relation. The test adds its column. */
@Crud({ prefix: '/linked', include: { parent: true } })
@Table({ tableName: 'rows', timestamps: false })
class Linked extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.JSONB) declare value: unknown;
  @ForeignKey(() => Linked) @Column(DataType.INTEGER) declare parentId: number | null;
  @BelongsTo(() => Linked, { constraints: false }) declare parent?: Linked | null;
}

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
  @Expose() declare id: number;
  @Expose() @Transform(({ value }) => value) declare value: unknown;
}

async function main(): Promise<void> {
  const getter = serveAs('Getter');
  Column({ type: DataType.VIRTUAL, get: () => undefined })(getter.prototype, 'nothing');
  const hook = serveAs('Hook');
  const general = serveAs('General');
  const models = [
    Linked,
    serveAs('Page'),
    serveAs('Cursor', { pagination: 'cursor' }),
    serveAs('Schema', { readSchema: Read }),
    getter,
    hook,
    general,
  ];
  const app: Express = express();
  const dialectOptions = {
    connectionTimeoutMillis: PATIENCE,
    statement_timeout: PATIENCE,
    query_timeout: PATIENCE,
  };
  const engine = { models, createAll: true, dialectOptions, pool: { acquire: PATIENCE } };
  await engineLifespan(String(process.env['DATABASE_URL']), engine)(app);
  hook.addHook('afterFind', () => {});
  await bootstrap(app, { models: models.filter((model) => model !== general) });
  await bootstrap(app, { models: [general], fastPath: false });
  const server = await serve(app, { port: 0 });
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`);
}

void main();
