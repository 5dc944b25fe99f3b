/** One table that is exported and imported, and the memory that the process needs meanwhile; `move-many-rows.test.ts` runs it. */
import '../support/express-version.js';
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { bootstrap, Crud, engineLifespan, serve } from '../../src/index.js';

@Crud({
  prefix: '/rows',
  endpoints: ['list', 'create'],
  export: ['csv', 'ndjson'],
  import: { maxBytes: '200mb' },
})
@Table({ tableName: 'rows', timestamps: false })
class Row extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.DECIMAL(20, 4)) declare amount: string;
  @Column(DataType.DATE) declare at: Date;
}

/** Bytes in use when nothing is left to collect. */
function memory(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function main(): Promise<void> {
  const app: Express = express();
  app.get('/memory', (_request, response) => void response.json(memory()));
  await engineLifespan(String(process.env['DATABASE_URL']), { models: [Row], createAll: true })(app);
  await bootstrap(app, {
    models: [Row],
    fastPath: process.env['CRUD_TEST_PATH'] !== 'general',
    idempotency: { principal: () => 'ann' },
  });
  const server = await serve(app, { port: 0 });
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`);
}

void main();
