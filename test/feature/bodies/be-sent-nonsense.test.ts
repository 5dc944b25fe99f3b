/** Requests that no honest client sends: they are refused, cost little, and reveal nothing of the server. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { Get, JsonController } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { bootstrap, Crud, serve } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { readToEnd, requestHead } from '../../support/listen.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ filterAllow: ['label'], sortAllow: ['label'] })
@Table({ tableName: 'crates', timestamps: false })
class Crate extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare label: string;
  @Column(DataType.JSONB) declare content: unknown;
}

@JsonController('/fragile')
class FragileController {
  @Get('/')
  fall(): never {
    throw new Error('SELECT of a secret');
  }
}

/** Names that every object has. */
const INHERITED = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', '__defineGetter__'];

describe('being sent nonsense', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({ models: [Crate], engine: { logging: sql.record } }));

  beforeEach(() => emptyTables(site, 'crates'));

  for (const query of (
    'q=label==%00 q=%00==a sort=%00 sort=label%00 fields=label%00 page=1%00 size=%00 cursor=%00 ' +
    'cursor=a%00.b lable%00=1'
  ).split(' ')) {
    it(`[A8] refuses the NUL in ?${query} before the database is asked`, async () => {
      const { result, statements } = await sql.duringRequest(() => site.agent.get(`/crates?${query}`));
      expect(result.status).to.equal(400);
      expect(result.body.errors).to.have.lengthOf(1);
      expect(statements).to.deep.equal([]);
    });
  }

  for (const name of INHERITED) {
    it(`[C5] takes ${name} in q, sort and fields for any unknown name, and no prototype has changed`, async () => {
      for (const query of ['q=NAME==1', 'q=NAME.polluted==1', 'sort=NAME', 'sort=-NAME', 'fields=NAME']) {
        const [told, ofOther] = await Promise.all(
          [name, 'zzzzzzzzzz'].map((each) => site.agent.get(`/crates?${query.replace('NAME', each)}`)),
        );
        expect(told?.status).to.equal(400);
        const text = JSON.stringify(told?.body).replaceAll(name, 'zzzzzzzzzz');
        // A position may follow the name.
        expect(text.replace(/\d+/g, '')).to.equal(JSON.stringify(ofOther?.body).replace(/\d+/g, ''));
      }
      expect(Object.keys(Object.prototype)).to.deep.equal([]);
      expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
    });
  }

  it('[A17] answers 431 to headers and addresses beyond 16 kB, and goes on', async () => {
    const app = express();
    await bootstrap(app, { models: [] });
    const server = await serve(app, { port: 0, host: '127.0.0.1' });
    try {
      const long = 'x'.repeat(17_000);
      const end = { Connection: 'close' };
      expect(await statusOf(server, requestHead('GET /health/live', { ...end, 'X-Long': long }))).to.equal(
        431,
      );
      expect(await statusOf(server, requestHead(`GET /${long}`, end))).to.equal(431);
      expect(await statusOf(server, requestHead('GET /health/live', end))).to.equal(200);
    } finally {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    }
  });

  it('[G2] answers in the same bytes whatever NODE_ENV is', async () => {
    const { NODE_ENV } = process.env;
    const answers: unknown[] = [];
    try {
      for (const environment of [undefined, 'development', 'test', 'production']) {
        if (environment === undefined) delete process.env['NODE_ENV'];
        else process.env['NODE_ENV'] = environment;
        const { agent, app } = await buildApp({
          models: [Crate],
          controllers: [FragileController],
          logger: new CapturedLog(),
        });
        app.get('/behind', () => {
          throw new Error('SELECT of a secret');
        });
        const paths = '/crates /crates/x /crates/9 /crates?q=x /fragile /behind /none /%ff'.split(' ');
        answers.push(await Promise.all(paths.map(async (path) => seen(await agent.get(path)))));
      }
    } finally {
      if (NODE_ENV === undefined) delete process.env['NODE_ENV'];
      else process.env['NODE_ENV'] = NODE_ENV;
    }
    for (const answer of answers) expect(answer).to.deep.equal(answers[0]);
  });

  it('[G10] keeps markup that it repeats in JSON, which no browser takes for a page', async () => {
    const { headers, body, status } = await site.agent.get(
      '/crates?sort=%3Cscript%3Ealert(1)%3C%2Fscript%3E',
    );
    expect(status).to.equal(400);
    expect(body.errors[0].detail).to.include('<script>');
    expect(headers['content-type']).to.equal('application/problem+json');
  });
});

async function statusOf(server: Server, head: string): Promise<number> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(head);
  return (await readToEnd(socket)).status;
}

function seen({ status, text, headers: { date, ...headers } }: Response): object {
  return { status, text, headers };
}
