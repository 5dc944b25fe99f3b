/** An application without code for tracers; its database is the first argument. */
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Column, DataType, Table, Unique } from 'sequelize-typescript';
import { bootstrap, Crud, engineLifespan, installExceptionHandlers, unitOfWork } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';

@Crud({ sortAllow: ['id'] })
@Table({ tableName: 'towns', timestamps: false })
class Town extends NumberedRow {
  @Unique @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
}

async function main(): Promise<void> {
  const app = express();
  const options = { models: [Town], createAll: true, pool: { max: 4 }, groupCommit: true };
  await engineLifespan(process.argv[2] ?? '', options)(app);
  app.post('/found/:name', async ({ params }, response) => {
    const town = await unitOfWork((uow) => uow.repository(Town).create({ name: params.name }));
    response.status(201).json(town.id);
  });
  for (const fastPath of [true, false]) {
    const inner = express();
    await bootstrap(inner, { models: [Town], fastPath, docs: false, health: false });
    app.use(fastPath ? '/fast' : '/general', inner);
  }
  installExceptionHandlers(app);
  const server = app.listen(0, '127.0.0.1', () => {
    process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`);
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error}\n`);
  process.exit(1);
});
