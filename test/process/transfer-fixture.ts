/** An application with guards, within another one; `transfer-files.test.ts` passes it to the command line. It listens, and logs to standard output. */
import 'reflect-metadata';
import express, { type Express, type Request } from 'express';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { bootstrap, Crud, engineLifespan, serve } from '../../src/index.js';

const user = (request: Request) => request.get('x-user');

@Crud({
  prefix: '/cities',
  export: ['csv', 'ndjson'],
  import: { modes: ['create', 'upsert'] },
  upsert: [['code']],
  sortAllow: ['code', 'size'],
  filterAllow: ['size'],
  scope: { owner: user },
  can: { list: true, read: true, create: true, update: true, export: (request) => user(request) !== 'guest' },
})
@Table({ tableName: 'cities', timestamps: false })
class City extends Model {
  @Column({ type: DataType.TEXT, allowNull: false }) declare owner: string;
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare code: string;
  @Column(DataType.INTEGER) declare size: number | null;
  @Column(DataType.TEXT) declare note: string | null;
}

async function main(): Promise<void> {
  const api: Express = express();
  const outermost: Express = express();
  outermost.use((request, response, next) => {
    if (!request.get('x-user')) return void response.status(401).json({ detail: 'Who are you?' });
    // The connection is lost behind some bytes.
    const cut = Number(request.get('x-cut') ?? Number.NaN);
    const write = response.write.bind(response) as (chunk: string | Buffer) => boolean;
    let bytes = 0;
    response.write = (chunk: string | Buffer) => {
      bytes += chunk.length;
      const flows = write(chunk);
      if (bytes > cut) setImmediate(() => response.socket?.destroy());
      return flows;
    };
    next();
  });
  outermost.use('/v2', api);
  process.stdout.write('Starting\n');
  await engineLifespan(process.env['DATABASE_URL'], { models: [City], createAll: true })(api);
  const fastPath = process.env['CRUD_TEST_PATH'] !== 'general';
  await bootstrap(api, {
    models: [City],
    routePrefix: '/api',
    idempotency: { principal: user },
    fastPath,
  });
  await serve(outermost, { port: 0 });
  throw new Error('It listens.');
}

void main();
