/** Observation of each request: its id, its line in the log, and its duration. */
import { expect } from 'chai';
import { Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

@Crud({ filterAllow: ['name'] })
@Table({ tableName: 'moons', timestamps: false })
class Moon extends NamedRow {}

describe('An application without a logger of its own', () => {
  it('writes a line for each request to standard output', async () => {
    await using app = await startTestApp({ models: [Moon], bootstrap: { accessLog: true } });
    const { write } = process.stdout;
    const written = new Promise<string>((resolve) => {
      process.stdout.write = (text: string | Uint8Array) => {
        if (!String(text).includes('/moons/:id')) return write.call(process.stdout, text);
        resolve(String(text));
        return true;
      };
    });
    try {
      await app.agent.get('/moons/900').expect(404);
      const line = JSON.parse(await written);
      expect(line).to.include({ level: 'info', message: 'GET /moons/:id 404', status: 404 });
    } finally {
      process.stdout.write = write;
    }
  });
});

describe('Observing requests', () => {
  const app = serveTestApp(() => {
    const bootstrap = { routePrefix: '/api', logger, accessLog: true, serverTiming: true };
    return {
      models: [Moon],
      bootstrap,
      prepare(express) {
        express.use((request, response, next) => {
          response.removeHeader('X-Request-Id');
          const { by } = request.query;
          if (by) response.setHeader('X-Request-Id', by === 'middleware' ? 'theirs-1' : 'not valid');
          next();
        });
      },
    };
  });
  const logger = new CapturedLog();
  const { lines } = logger;
  beforeEach(() => logger.clear());

  describe('by an id', () => {
    it('[G8] makes one for each request, and answers with it', async () => {
      const ids: string[] = [];
      for (const path of ['/api/moons', '/api/moons/900', '/api/nothing', '/health/live']) {
        const { headers } = await app.agent.get(path);
        ids.push(headers['x-request-id'] as string);
      }
      for (const id of ids) expect(id).to.match(/^[A-Za-z0-9._-]{1,64}$/);
      expect(new Set(ids).size).to.equal(4);
    });

    it('[G8] takes that of the client', async () => {
      for (const requestId of ['a.B_9-z', 'x'.repeat(64)]) {
        const { headers } = await app.agent.get('/api/moons').set('X-Request-Id', requestId);
        expect(headers['x-request-id']).to.equal(requestId);
        expect(lines.at(-1)?.details).to.include({ requestId });
      }
    });

    for (const sent of ['', 'a b', 'a,b', 'x'.repeat(65), '<script>', 'a%0d', 'é']) {
      it(`does not take ${JSON.stringify(sent)}`, async () => {
        const { headers } = await app.agent.get('/api/moons').set('X-Request-Id', sent);
        expect(headers['x-request-id']).not.to.equal(sent);
        expect(headers['x-request-id']).to.match(/^[A-Za-z0-9._-]{1,64}$/);
      });
    }

    it('takes that of a middleware before bootstrap', async () => {
      const { headers } = await app.agent.get('/api/moons?by=middleware');
      expect(headers['x-request-id']).to.equal('theirs-1');
      expect(lines.at(-1)?.details).to.include({ requestId: 'theirs-1' });
      const wrong = await app.agent.get('/api/moons?by=mistake').set('X-Request-Id', 'a');
      expect(wrong.headers['x-request-id']).to.equal('a');
    });

    it('writes it beside what has failed', async () => {
      await app.engine.sequelize.query('ALTER TABLE moons RENAME TO satellites');
      try {
        await app.agent.get('/api/moons').set('X-Request-Id', 'broken-1').expect(500);
      } finally {
        await app.engine.sequelize.query('ALTER TABLE satellites RENAME TO moons');
      }
      const error = lines.find(({ level }) => level === 'error');
      expect(error?.details).to.include({ requestId: 'broken-1', status: 500 });
    });
  });

  describe('by a line in the log', () => {
    it('[G7] names the template, and nothing of the path, the query string and the body', async () => {
      const created = await app.agent.post('/api/moons').send({ name: 'Amalthea' }).expect(201);
      await app.agent.get(`/api/moons/${created.body.id}?fields=name`).expect(200);
      await app.agent.get('/api/moons?q=name==Amalthea').expect(200);
      await app.agent.get('/Amalthea').expect(404);
      const messages = lines.map(({ message }) => message);
      const found = ['POST /api/moons 201', 'GET /api/moons/:id 200', 'GET /api/moons 200', 'GET /:… 404'];
      expect(messages).to.deep.equal(found);
      expect(JSON.stringify(lines)).not.to.include('Amalthea');
    });

    it('[G7] has the status, the time and the bytes', async () => {
      const { headers } = await app.agent.get('/api/moons').expect(200);
      const [line] = lines;
      expect(line).to.include({ level: 'info' });
      expect(line?.details).to.include({
        requestId: headers['x-request-id'],
        method: 'GET',
        route: '/api/moons',
        status: 200,
        bytes: Number(headers['content-length']),
        isComplete: true,
      });
      expect(line?.details['ms']).to.be.a('number').above(0);
    });

    it('tells of what clients do wrong without an error', async () => {
      await app.agent.get('/api/moons?q=nmae==x').expect(400);
      await app.agent.get('/api/moons/abc').expect(400);
      await app.agent.post('/api/moons').send({}).expect(422);
      await app.agent.put('/api/moons').expect(405);
      expect(lines.map(({ level }) => level)).to.deep.equal(['info', 'info', 'info', 'info']);
      expect(lines.map(({ details }) => details['status'])).to.deep.equal([400, 400, 422, 405]);
    });
  });

  describe('by Server-Timing', () => {
    const partsOf = (header: string) =>
      Object.fromEntries(
        header.split(', ').map((part) => {
          const [name, duration] = part.split(';dur=');
          return [name, Number(duration)];
        }),
      ) as Record<'db' | 'wait' | 'total', number>;

    it('says how long statements took, how long they waited, and all of it', async () => {
      const { headers } = await app.agent.get('/api/moons').expect(200);
      const { db, wait, total } = partsOf(headers['server-timing'] as string);
      expect(db).to.be.above(0);
      expect(wait).to.be.at.least(0);
      expect(total).to.be.above(0);
    });

    it('is on answers without a statement, too', async () => {
      const { headers } = await app.agent.get('/api/moons/abc').expect(400);
      expect(partsOf(headers['server-timing'] as string)).to.include({ db: 0, wait: 0 });
    });
  });
});
