/** A model whose changes are stored, and an application of it, which a test may end at any moment. */
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import { bootstrap, Crud, engineLifespan } from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';

@Crud({ history: true, changes: true })
@Table({ tableName: 'entries', timestamps: false, version: true })
class Entry extends NumberedRow {
  @Column(DataType.TEXT) declare text: string;
}

/** Serves it. @returns the address */
async function serveEntries(url: string, port: number): Promise<string> {
  const app = express();
  const dialectOptions = { connectionTimeoutMillis: 500, query_timeout: 900, statement_timeout: 800 };
  await engineLifespan(url, {
    models: [Entry],
    createAll: true,
    pool: { max: 6, acquire: 1_000 },
    dialectOptions,
  })(app);
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  await bootstrap(app, {
    models: [Entry],
    logger,
    history: { actor: (request) => request.get('user') },
    changes: { tick: 50 },
  });
  return new Promise((resolve) => {
    const server = app.listen(port, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });
}

const [, , url, port] = process.argv;
void serveEntries(String(url), Number(port)).then((address) => process.stdout.write(`at ${address}\n`));
