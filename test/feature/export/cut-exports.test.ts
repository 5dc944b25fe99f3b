/** Exports whose client, database or server stops in the middle: whole, or visibly cut, and nothing is held for a slow client. */
// @runs fast
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { expect } from 'chai';
import compression from 'compression';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except } from '../../support/combination.js';
import { expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

/** More bytes than all buffers between the table and a client that does not read. */
const ROWS = 16_000;
const WIDTH = 1_000;

@Crud({ export: { formats: ['csv', 'ndjson'], snapshot: { seconds: 2 } }, filterAllow: ['id'] })
@Table({ tableName: 'sheets', timestamps: false })
class Sheet extends NumberedRow {
  @Column(DataType.TEXT) declare body: string;
}
class SheetController extends crudController(Sheet) {}

@Crud({ prefix: '/huge', export: ['csv'] })
@Table({ tableName: 'huge', timestamps: false })
class Huge extends NumberedRow {
  @Column(DataType.TEXT) declare body: string;
}
class HugeController extends crudController(Huge) {}

const NO_INTERCEPTORS = { values: 'no export goes through the interceptor of the combination' };

except(NO_INTERCEPTORS).describe('an export in the middle', () => {
  const log = new CapturedLog();
  const database = forSuite(() => freshDatabase());
  const site = serveTestApp(() => ({
    models: [Sheet, Huge],
    database: { url: database.url },
    // A client that reads slowly leaves the only connection to others.
    engine: { pool: { max: 1, acquire: 3_000 }, dialectOptions: { lock_timeout: 300 } },
    bootstrap: { controllers: [SheetController, HugeController], logger: log },
    prepare: (app) => app.use(compression()),
  }));
  const other = forSuite(() => connectTo(database.url));

  /** Begins an export, and reads nothing of its body. */
  const open = async (path: string, headers = {}): Promise<IncomingMessage> => {
    const [response] = await once(get(`${site.server.url}${path}`, { headers, agent: false }), 'response');
    return response;
  };
  /** The end that a client sees: the number of lines, or the error. */
  const endOf = async (body: Readable): Promise<unknown> => {
    try {
      return (await text(body)).split('\n').length - 1;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  };
  /** No statement can read the table meanwhile. */
  const whileLocked = async (work: () => Promise<void>): Promise<void> => {
    await other.query('BEGIN');
    await other.query('LOCK TABLE sheets IN ACCESS EXCLUSIVE MODE');
    await work().finally(() => other.query('ROLLBACK'));
  };
  const untilFree = async (choice = ''): Promise<void> => {
    while ((await site.agent.head(`/sheets?format=csv${choice}`)).status !== 200);
  };

  before(async () => {
    await other.query(
      `INSERT INTO sheets (body) SELECT repeat('x', ${WIDTH}) || n FROM generate_series(1, ${ROWS}) AS n`,
    );
    await other.query(`INSERT INTO huge (body) SELECT repeat('y', 1000000) FROM generate_series(1, 40)`);
  });

  it('holds no connection for a slow client, who gets all of it', async () => {
    const response = await open('/sheets?format=csv');
    // The pool has one connection.
    expect((await site.agent.get('/sheets?size=1')).status).to.equal(200);
    expect(await endOf(response)).to.equal(ROWS + 1);
    expect(response.complete).to.equal(true);
  });

  it('has each row that stays once, whatever comes and goes meanwhile', async () => {
    const response = await open('/sheets?format=csv');
    await other.query('DELETE FROM sheets WHERE id % 100 = 0');
    await other.query(
      `INSERT INTO sheets (id, body) SELECT n, 'new' FROM generate_series(-9, ${ROWS + 9}) AS n WHERE n NOT BETWEEN 1 AND ${ROWS}`,
    );
    const [, ...lines] = (await text(response)).trim().split('\r\n');
    const ids = lines.map((line) => Number(line.split(',')[0]));
    await other.query(`DELETE FROM sheets WHERE id NOT BETWEEN 1 AND ${ROWS}`);
    await other.query(
      `INSERT INTO sheets (id, body) SELECT n, repeat('x', ${WIDTH}) || n FROM generate_series(100, ${ROWS}, 100) AS n`,
    );
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids.filter((id) => id > 0 && id <= ROWS && id % 100 > 0)).to.deep.equal(
      Array.from({ length: ROWS }, (_, index) => index + 1).filter((id) => id % 100 > 0),
    );
    expect(ids.filter((id) => id < 1)).to.deep.equal([]);
    expect(ids).to.include(ROWS + 9);
    // The last rows were gone before they were read.
    expect(ids).to.not.include(ROWS);
  });

  it('reads large records in smaller chunks', async () => {
    expect(await endOf(await open('/huge?format=csv'))).to.equal(41);
  });

  it('goes through a middleware that compresses, as it is made', async () => {
    const response = await open('/sheets?format=csv', { 'Accept-Encoding': 'gzip' });
    expect(response.headers['content-encoding']).to.equal('gzip');
    const unpacked = response.pipe(createGunzip());
    const [first] = await once(unpacked, 'data');
    expect(String(first).startsWith('id,body\r\n1,xxx')).to.equal(true);
    expect(await endOf(unpacked)).to.be.greaterThan(ROWS - 2_000);
  });

  it('is one of four; another one is refused until one of them has ended', async () => {
    const four = await Promise.all(Array.from({ length: 4 }, () => open('/sheets?format=csv')));
    const refused = await site.agent.get('/sheets?format=ndjson');
    expect(refused.headers['retry-after']).to.equal('5');
    expectProblem(refused, 503, { detail: 'Too many exports are under way; try again.' });
    expect((await site.agent.get('/sheets?size=1')).status).to.equal(200);
    four.pop()?.destroy();
    await untilFree();
    for (const response of four) response.destroy();
  });

  it('logs nothing of a client that has gone', async () => {
    log.clear();
    for (const choice of ['', '&consistent=true']) {
      (await open(`/sheets?format=csv${choice}`)).destroy();
      await untilFree(choice);
    }
    await other.query('BEGIN; LOCK TABLE sheets');
    const early = get(`${site.server.url}/sheets?format=csv&count=exact&consistent=true`, { agent: false });
    early.on('error', () => {});
    const [, response] = await once(site.server.server, 'request');
    while ((await other.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rows.length === 0);
    early.destroy();
    await once(response, 'close');
    await other.query('ROLLBACK');
    await untilFree('&consistent=true');
    expect(
      log.lines.filter(({ details }) => 'requestId' in details && details['status'] !== 503),
    ).to.deep.equal([]);
  });

  describe('that cannot go on', () => {
    afterEach(() => untilFree());

    it('is cut where it has begun, and is a problem where it has not', async () => {
      log.clear();
      const response = await open('/sheets?format=csv');
      await whileLocked(async () => {
        expect(await endOf(response)).to.equal('ECONNRESET');
        expect(response.complete).to.equal(false);
        expect((await site.agent.get('/sheets?format=csv')).status).to.equal(503);
      });
      expect(log.lines.some(({ message }) => message.includes('GET /sheets'))).to.equal(true);
    });

    it('is reset where a connection that ends would look like an end', async () => {
      const socket = await site.server.connect();
      socket.write('GET /sheets?format=csv HTTP/1.0\r\n\r\n');
      await once(socket, 'readable');
      await whileLocked(async () => {
        expect(await endOf(socket)).to.equal('ECONNRESET');
      });
    });

    it('has curl exit with 18, and fetch reject', async () => {
      const url = `${site.server.url}/sheets?format=csv`;
      const curl = spawn('curl', ['--silent', url], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const { body } = await fetch(url);
      await once(curl.stdout, 'readable');
      const exit = once(curl, 'exit');
      await whileLocked(async () => {
        curl.stdout.resume();
        expect(await caughtError(() => new Response(body).text())).to.be.instanceOf(TypeError);
        expect((await exit)[0]).to.equal(18);
      });
    });

    it('is whole or cut where connections to the database are killed', async () => {
      const response = await open('/sheets?format=csv');
      let isOver = false;
      const kill = async () => {
        while (!isOver)
          await other.query(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
          );
      };
      const killed = kill();
      const end = await endOf(response);
      isOver = true;
      await killed;
      expect(end).to.be.oneOf([ROWS + 1, 'ECONNRESET']);
      expect(response.complete).to.equal(end === ROWS + 1);
    });
  });

  describe('of one moment', () => {
    afterEach(() => untilFree());

    it('has no row of a commit after its begin, and all that were deleted meanwhile', async () => {
      const response = await open('/sheets?format=ndjson&consistent=true&fields=id');
      await other.query(`DELETE FROM sheets WHERE id > ${ROWS - 10}`);
      await other.query(
        `INSERT INTO sheets (id, body) SELECT ${ROWS} + n, 'new' FROM generate_series(1, 5) AS n`,
      );
      expect(await endOf(response)).to.equal(ROWS);
    });

    it('is one at a time, and cut at its limit', async () => {
      const response = await open('/sheets?format=csv&consistent=true');
      const refused = await site.agent.get('/sheets?format=csv&consistent=true');
      expectProblem(refused, 503, { detail: 'Too many consistent exports are under way; try again.' });
      await untilFree('&consistent=true');
      expect(await endOf(response)).to.equal('ECONNRESET');
    });
  });
});
