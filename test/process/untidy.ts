/** Tests that pass and leave something behind; `leave-nothing-behind.test.ts` runs them, and each suite has to fail. */
import { execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import type { Transaction } from 'sequelize';
import { Sequelize } from 'sequelize-typescript';
import supertest from 'supertest';
import { allowInAnswers } from '../support/findings.js';
import { exchange, listen, requestHead } from '../support/listen.js';

const { DATABASE_URL = '' } = process.env;
const LEAK = { detail: 'insert or update on table "x" violates foreign key constraint "x_y_fkey"' };
const leaking = () => listen((_request, response) => void response.writeHead(409).end(JSON.stringify(LEAK)));

/** A process that answers one request of its own with an error. */
const PROGRAM = `
  const server = require('node:http').createServer((request, response) => {
    response.statusCode = 500;
    response.write('<pre>SequelizeDatabase');
    response.end('Error</pre>');
  }).listen(0, '127.0.0.1', () => fetch('http://127.0.0.1:' + server.address().port).then(() => process.exit()));`;

describe('answers', () => {
  it('leak to fetch', async () => {
    await using server = await leaking();
    await fetch(server.url);
  });

  it('leak to http.get', async () => {
    await using server = await leaking();
    await new Promise<void>((resolve) => {
      get(server.url, (response) => void text(response).then(() => resolve()));
    });
  });

  it('leak to supertest', async () => {
    await using server = await leaking();
    await supertest(server.server).get('/');
  });

  it('leak to a socket', async () => {
    await using server = await leaking();
    await exchange(server, requestHead('GET /', { Connection: 'close' }));
  });

  it('leak in a process', () => execFileSync(process.execPath, ['-e', PROGRAM]));

  it('may show what is allowed', async () => {
    allowInAnswers('violates', 'x_y_fkey', 'constraint "', 'constraint \\"');
    await using server = await leaking();
    await fetch(server.url);
  });

  it('may not show it in the next test', async () => {
    await using server = await leaking();
    await fetch(server.url);
  });

  it('may show what the client has said', async () => {
    await using server = await listen(({ url }, response) => void response.writeHead(400).end(`No ${url}`));
    await fetch(`${server.url}/?q=SELECT`);
  });
});

describe('a process', () => {
  it('has a stray rejection', () => void Promise.reject(new Error('stray')));

  it('has too many listeners', () => {
    const emitter = new EventEmitter();
    for (let count = 0; count < 11; count += 1) emitter.on('x', () => {});
  });

  it('uses what is deprecated', () => process.emitWarning('old', 'DeprecationWarning', 'DEP9999'));

  it('has a child that warns', () =>
    execFileSync(process.execPath, ['-e', "process.emitWarning('careful')"], { stdio: 'pipe' }));

  it('is tidy', () => {});
});

describe('a pool', () => {
  const sequelize = new Sequelize(DATABASE_URL, { logging: false });
  let transaction: Transaction;

  it('has a connection in use', async () => {
    transaction = await sequelize.transaction();
  });

  after(async () => {
    await transaction.rollback();
    await sequelize.close();
  });
});

describe('a server', () => {
  it('goes on listening', () => once(createServer().listen(0, '127.0.0.1'), 'listening'));
});

describe('a client', () => {
  const client = new Client({ connectionString: DATABASE_URL });

  it('is in a transaction', async () => {
    await client.connect();
    await client.query('BEGIN; SELECT 1');
  });
});
