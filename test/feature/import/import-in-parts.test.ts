/** Imports whose chunks are stored one by one: rows are named, and a file that is sent again goes on where it has ended. */
// @runs fast
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud, unitOfWork } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ import: {} })
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends NumberedRow {
  @Column({ type: DataType.TEXT, unique: true, allowNull: false }) declare code: string;
  @Column(DataType.TEXT) declare note: string | null;
}

const LINES = 'application/x-ndjson';
/** A chunk has so many of the rows. */
const CHUNK = 12;
const NOTE = 'n'.repeat(90_000);

const TOGETHER = 'all parts are in the unit of work of its middleware, so that none is stored for itself';

except({ ...OF_MANY, unit: TOGETHER }).describe('importing a file in parts', () => {
  const site = serveTestApp(() => ({
    models: [Parcel],
    bootstrap: { idempotency: { principal: (each: Request) => each.get('user') ?? 'ann' } },
  }));
  const send = (
    file: string,
    key: string | null,
    query = '?atomic=false',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> =>
    site.agent
      .post(`/parcels/import${query}`)
      .set({ 'Content-Type': 'text/csv', ...(key === null ? {} : { 'Idempotency-Key': key }), ...headers })
      .send(file) as never;
  const codes = async () => {
    const { body } = await site.agent.get('/parcels?fields=code&size=100&sort=id');
    return body.items.map(({ code }: { code: string }) => code);
  };
  const fileOf = (from: number, to: number, note = NOTE) =>
    `code,note\n${Array.from({ length: to - from }, (_, index) => `c${from + index},${note}\n`).join('')}`;
  const result = (counts: object) => ({
    rows: 0,
    created: 0,
    updated: 0,
    failed: 0,
    errors: [],
    errors_shown: 0,
    ...counts,
  });
  const all = Array.from({ length: 3 * CHUNK }, (_, index) => `c${index}`);

  beforeEach(() => emptyTables(site, 'parcels', 'crud_import'));

  it('keeps the good rows, and names the others', async () => {
    const file = 'code,note\na,1\na,2\n,3\nb,4\nc,5,6\nd,7\n';
    const errors = [
      { row: 3, line: 4, pointer: '/code', code: 'isDefined', detail: 'code must not be null.' },
      {
        row: 5,
        line: 6,
        pointer: '',
        code: 'columns',
        detail: 'The row has 3 cells, and the header has 2; quote a cell that has the delimiter in it.',
      },
      { row: 2, line: 3, pointer: '/code', code: 'unique', detail: 'Another Parcel has the same code.' },
    ];
    const expected = result({ rows: 6, created: 3, failed: 3, errors, errors_shown: 3 });
    expectJson(await send(file, null, '?atomic=false&dry_run=true'), 207, expected);
    expect(await codes()).to.deep.equal([]);
    expectJson(await send(file, 'one'), 207, expected);
    expect(await codes()).to.deep.equal(['a', 'b', 'd']);
    const again = await send(file, 'one');
    expectJson(again, 207, expected);
    expect(again.headers['idempotent-replayed']).to.equal('true');
    expect(await codes()).to.deep.equal(['a', 'b', 'd']);
  });

  it('needs a key, which is of one file and of one sender', async () => {
    expectProblem(await send('code\na\n', null), 400, {
      detail:
        'atomic=false stores a file in parts, and needs the header Idempotency-Key, so that it can be sent again; send a random UUID for this file, or leave atomic=false out.',
    });
    expectJson(await send('code\na\nb\n', 'k'), 200, result({ rows: 2, created: 2 }));
    const other = {
      detail: 'This Idempotency-Key was used for another file, or for another request; use another key.',
    };
    for (const file of ['code\na\nc\n', 'code\na\n', 'code\na\nb\nc\n', 'code,note\na,\nb,\n', 'code\n'])
      expectProblem(await send(file, 'k'), 422, other);
    expectProblem(await send('code\na\nb\n', 'k', ''), 422, other);
    expect(await codes()).to.deep.equal(['a', 'b']);
    const { body } = await send('code\na\nb\n', 'k', '?atomic=false', { user: 'bob' });
    expect([body.rows, body.failed]).to.deep.equal([2, 2]);
    const { parameters } = (await site.agent.get('/openapi.json')).body.paths['/parcels/import'].post;
    expect(parameters.map(({ name }: { name: string }) => name)).to.include('Idempotency-Key');
  });

  it('takes a key for a new one when its time is over, however many others are', async () => {
    await site.engine.sequelize.query(
      "INSERT INTO crud_import (scope, key) SELECT 'x', n::text FROM generate_series(1, 150) n",
    );
    expectJson(await send('code\na\n', 'old'), 200, result({ rows: 1, created: 1 }));
    await site.engine.sequelize.query("UPDATE crud_import SET created_at = now() - interval '25 hours'");
    expectJson(await send('code\nb\n', 'old'), 200, result({ rows: 1, created: 1 }));
    const again = await send('code\nb\n', 'old');
    expect(again.headers['idempotent-replayed']).to.equal('true');
    expect(await codes()).to.deep.equal(['a', 'b']);
  });

  it('does a whole import once, and forgets the key of one that was refused', async () => {
    const refused = await send('code\na\na\n', 'w', '');
    expect(refused.status).to.equal(422);
    expectJson(await send('code\na\nb\n', 'w', ''), 200, result({ rows: 2, created: 2 }));
    for (let time = 0; time < 2; time += 1) {
      const again = await send('code\na\nb\n', 'w', '');
      expectJson(again, 200, result({ rows: 2, created: 2 }));
      expect(again.headers['idempotent-replayed']).to.equal('true');
    }
    expect(await codes()).to.deep.equal(['a', 'b']);
  });

  /** Sends a part of a file, and waits until so many rows are stored. */
  const begin = (key: string, file: string, sent: number) => {
    const { port } = new URL(site.server.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /parcels/import?atomic=false HTTP/1.1\r\nHost: a\r\nContent-Type: text/csv\r\nIdempotency-Key: ${key}\r\n` +
        `Content-Length: ${file.length}\r\n\r\n${file.slice(0, sent)}`,
    );
    return socket;
  };
  const until = async (isSo: () => Promise<boolean>) => {
    for (;;) if (await isSo()) return;
  };
  /** The server may not have noticed yet that a connection was cut. */
  const sendAgain = async (file: string, key: string): Promise<Response> => {
    for (;;) {
      const answer = await send(file, key);
      if (answer.status !== 409) return answer;
    }
  };

  it('goes on where the connection was cut, after each chunk in turn', async () => {
    const file = fileOf(0, 3 * CHUNK);
    for (const chunks of [1, 2, 3]) {
      const key = `cut-${chunks}`;
      await emptyTables(site, 'parcels');
      const sent = file.indexOf(`c${chunks * CHUNK},`);
      const socket = begin(key, file, sent < 0 ? file.length - 1 : sent + 50);
      await until(async () => (await codes()).length === Math.min(chunks, 2) * CHUNK);
      socket.destroy();
      expectJson(await sendAgain(file, key), 200, result({ rows: 3 * CHUNK, created: 3 * CHUNK }));
      expect(await codes()).to.deep.equal(all);
    }
    const changed = file.replace('c1,', 'x1,');
    expect((await send(changed, 'cut-1')).status).to.equal(422);
    expect(await codes()).to.deep.equal(all);
  });

  it('refuses a second request with the key while the first one runs', async () => {
    const file = fileOf(0, 2 * CHUNK);
    const socket = begin('twice', file, file.length - 1);
    await until(async () => (await codes()).length === CHUNK);
    const second = await send(file, 'twice');
    expectProblem(second, 409, {
      detail: 'An import with this Idempotency-Key is under way; send it again a little later.',
    });
    expect(second.headers['retry-after']).to.equal('5');
    socket.write(file.slice(-1));
    await once(socket, 'data');
    socket.destroy();
    expect(await codes()).to.deep.equal(all.slice(0, 2 * CHUNK));
  });

  it('answers with a line for each chunk, of which the last one decides', async () => {
    const linesOf = async (file: string, key: string | null, query?: string) => {
      const answer = await site.agent
        .post(`/parcels/import${query ?? '?atomic=false'}`)
        .set({ 'Content-Type': 'text/csv', Accept: LINES, ...(key ? { 'Idempotency-Key': key } : {}) })
        .buffer(true)
        .parse((response, done) => {
          let text = '';
          response.on('data', (piece) => {
            text += piece;
          });
          response.on('end', () => done(null, text));
        })
        .send(file);
      expect([answer.status, answer.type]).to.deep.equal([200, LINES]);
      return String(answer.body)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    const counts = (rows: number) => ({ rows, created: rows, updated: 0, failed: 0 });
    expect(await linesOf(fileOf(0, CHUNK + 3), 'lines')).to.deep.equal([
      counts(CHUNK),
      counts(CHUNK + 3),
      { ...result({ rows: CHUNK + 3, created: CHUNK + 3 }), complete: true },
    ]);
    const [, second, last, ...more] = await linesOf(fileOf(CHUNK, 2 * CHUNK + 3), null, '');
    expect([second.failed, last.complete, last.status, last.problem.failed, more]).to.deep.equal([
      3,
      false,
      422,
      3,
      [],
    ]);
    const empty = await site.agent
      .post('/parcels/import')
      .set({ 'Content-Type': 'text/csv', Accept: LINES })
      .send('nme\n');
    expect(empty.status).to.equal(400);
  });

  it('limits the time of each part of a file, and not that of all', async function () {
    // Node limits that of all since then.
    if (Number(process.versions.node.split('.')[0]) >= 24) this.skip();
    const limit = 1_000;
    const server = createServer({ requestTimeout: limit, connectionsCheckingInterval: 20 }, site.app);
    await once(server.listen(0), 'listening');
    await using _closed = {
      async [Symbol.asyncDispose]() {
        server.close();
        server.closeAllConnections();
        await once(server, 'close');
      },
    };
    const sent = request({
      port: (server.address() as AddressInfo).port,
      method: 'POST',
      path: '/parcels/import?dry_run=true&atomic=false',
      headers: { 'Content-Type': 'text/csv', Accept: LINES },
    });
    const begun = performance.now();
    // The end of a row is sure when the next one begins.
    let next = 1_100;
    sent.write(fileOf(0, next, ''));
    const [answer] = await once(sent, 'response');
    const lines: string[] = [];
    for await (const line of createInterface({ input: answer })) {
      lines.push(line);
      if (performance.now() - begun > 2 * limit) {
        sent.end();
        continue;
      }
      sent.write(fileOf(next, next + 1_000, '').slice('code,note\n'.length));
      next += 1_000;
    }
    const { rows, created, complete } = JSON.parse(lines.at(-1) as string);
    expect({ created, complete }).to.deep.equal({ created: rows, complete: true });
  });

  it('refuses a part that does not come in time', async () => {
    const { server } = site.server;
    const before = server.requestTimeout;
    server.requestTimeout = 1_500;
    try {
      const { port } = new URL(site.server.url);
      const sent = request({
        port,
        method: 'POST',
        path: '/parcels/import?dry_run=true',
        headers: { 'Content-Type': 'text/csv' },
      });
      sent.on('error', () => {});
      sent.write('code\n');
      const [answer] = await once(sent, 'response');
      answer.resume();
      expect(answer.statusCode).to.equal(408);
      sent.destroy();
    } finally {
      server.requestTimeout = before;
    }
  });

  it('counts no time in which the server writes', async () => {
    const { server } = site.server;
    const before = server.requestTimeout;
    const query = (text: string) => site.engine.sequelize.query(text);
    await query(
      "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1.3); RETURN NEW; END'; " +
        "CREATE TRIGGER wait BEFORE INSERT ON parcels FOR EACH ROW WHEN (NEW.code = 'c1') EXECUTE FUNCTION wait()",
    );
    server.requestTimeout = 1_000;
    try {
      const rows = 2 * CHUNK + 1;
      expectJson(await send(fileOf(0, rows), null, ''), 200, result({ rows, created: rows }));
    } finally {
      server.requestTimeout = before;
      await query('DROP TRIGGER wait ON parcels; DROP FUNCTION wait');
    }
  });

  it('runs two imports of a process at a time', async () => {
    const file = fileOf(0, CHUNK);
    const sockets = [begin('p1', file, 50), begin('p2', file, 50)];
    await until(async () => {
      const [rows] = await site.engine.sequelize.query('SELECT 1 FROM crud_import');
      return rows.length === 2;
    });
    const third = await send('code\na\n', null, '');
    expectProblem(third, 503, { detail: 'Too many imports are under way; try again.' });
    expect(third.headers['retry-after']).to.equal('5');
    for (const socket of sockets) socket.destroy();
    await until(async () => (await send('code\na\n', null, '')).status === 200);
  });
});

except({ ...OF_MANY, unit: 'the requests of the combination are in a unit of work already' }).describe(
  'importing a file in parts within a unit of work of a middleware',
  () => {
    const site = serveTestApp(() => ({
      models: [Parcel],
      bootstrap: { idempotency: { principal: () => 'ann' } },
      minPool: 2,
      prepare: (app) =>
        app.use((request, response, next) => {
          if (request.method !== 'POST') return next();
          const answered = once(response, 'close');
          const { engine } = site;
          return void unitOfWork(
            async () => {
              next();
              await answered;
            },
            { engine },
          );
        }),
    }));
    const send = (file: string, key: string): Promise<Response> =>
      site.agent
        .post('/parcels/import?atomic=false')
        .set({ 'Content-Type': 'text/csv', 'Idempotency-Key': key })
        .send(file) as never;
    const count = () => Parcel.count({ transaction: null });
    const whole = `code,note\n${Array.from({ length: 2 * CHUNK }, (_, index) => `c${index},${NOTE}\n`).join('')}`;
    const stored = async (rows: number) => {
      while ((await count()) !== rows);
    };

    beforeEach(() => emptyTables(site, 'parcels', 'crud_import'));

    it('does not wait for its own lock', async () => {
      const { status, body } = await send(whole, 'one');
      expect([status, body.created]).to.deep.equal([200, 2 * CHUNK]);
      await stored(2 * CHUNK);
      expect((await send(whole, 'one')).headers['idempotent-replayed']).to.equal('true');
    });

    it('ends its claim where the file is cut, and goes on from the same file', async () => {
      expect((await send(`${whole.slice(0, -NOTE.length)}"`, 'two')).status).to.equal(400);
      await stored(CHUNK);
      let again = await send(whole, 'two');
      while (again.status === 409) again = await send(whole, 'two');
      expect([again.status, again.body.created]).to.deep.equal([200, 2 * CHUNK]);
    });
  },
);
