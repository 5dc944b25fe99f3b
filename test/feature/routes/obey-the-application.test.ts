import { expect } from 'chai';
import express, { type Express, type RequestHandler, type Router } from 'express';
import { Get, JsonController } from 'routing-controllers';
import supertest from 'supertest';
import { bootstrap, crudController, crudRouter, healthRouter } from '../../../src/index.js';
import { Note, Remark } from '../../models/notes.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectJson } from '../../support/expect-answer.js';
import { exchange, listen, requestHead } from '../../support/listen.js';
import { serveTestApp } from '../../support/test-app.js';

class NoteController extends crudController(Note, { subresources: ['remarks'] }) {
  @Get('/stats')
  stats() {
    return { notes: 0 };
  }
}

@JsonController('/tools')
class ToolController {
  @Get('/clock')
  clock() {
    return { time: 0 };
  }
}

/** Each path as it is, and as it is only where case and slashes do not matter. */
const PATHS: readonly (readonly [
  verb: 'get' | 'post' | 'patch' | 'delete' | 'put' | 'options',
  path: string,
])[] = [
  ['get', '/api/notes'],
  ['post', '/api/notes'],
  ['put', '/api/notes'],
  ['options', '/api/notes'],
  ['delete', '/api/notes?q=title==none'],
  ['get', '/api/notes/1'],
  ['patch', '/api/notes/1'],
  ['delete', '/api/notes/9'],
  ['post', '/api/notes/1/restore'],
  ['delete', '/api/notes/1/purge'],
  ['get', '/api/notes/1/remarks'],
  ['get', '/api/notes/stats'],
  ['get', '/api/tools/clock'],
  ['get', '/health/live'],
  ['get', '/docs'],
  ['get', '/docs/start.js'],
  ['get', '/openapi.json'],
  ['get', '/metrics'],
  ['get', '/api'],
  ['get', '/pages'],
  ['put', '/pages'],
  ['post', '/pages/1/restore'],
  ['get', '/ops/live'],
];

describe("the application's settings", () => {
  serveTestApp(() => ({ models: [Note, Remark], bootstrap: { models: [] } }));

  /** Everything that can be mounted, on an application with these settings. */
  async function serve(settings: readonly string[], prepare: (app: Express) => void = () => {}) {
    const app = express();
    for (const setting of settings) app.enable(setting);
    prepare(app);
    app.use(crudRouter(Note, { prefix: '/pages', endpoints: ['list', 'read', 'restore'] }));
    app.use('/inner', crudRouter(Note, { endpoints: ['list', 'read', 'restore'] }));
    app.use(healthRouter({ prefix: '/ops' }));
    await bootstrap(app, {
      models: [Remark],
      controllers: [NoteController, ToolController],
      routePrefix: '/api',
      landing: true,
      metrics: true,
      notFound: false,
      logger: new CapturedLog(),
      indexAdvice: false,
    });
    return { app, agent: supertest(app) };
  }

  const swapped = (path: string) =>
    path.replace(/^(\/api(?=\/))?\/[a-z]/, (start) => start.slice(0, -1) + start.slice(-1).toUpperCase());
  const slashed = (path: string) => path.replace(/(?=\?|$)/, '/');

  before(() => Note.create({ title: 'one' }));

  for (const [settings, isCased, isStrict] of [
    [[], false, false],
    [['case sensitive routing'], true, false],
    [['strict routing'], false, true],
    [['case sensitive routing', 'strict routing'], true, true],
  ] as const) {
    it(`decide about every path: ${settings.join(' and ') || 'none'}`, async () => {
      const { agent } = await serve(settings);
      for (const [verb, path] of PATHS) {
        const isKnown = async (each: string) => (await agent[verb](each)).text.includes('Cannot') === false;
        const told = `${verb} ${path}`;
        expect(await isKnown(path), told).to.equal(true);
        expect(await isKnown(swapped(path)), `${told} in another case`).to.equal(!isCased);
        expect(await isKnown(slashed(path)), `${told} with a slash`).to.equal(!isStrict);
      }
      expect((await agent.post('/api/notes/1/Restore')).status).to.equal(isCased ? 404 : 409);
      expect((await agent.get('/api/notes/Stats')).status).to.equal(isCased ? 400 : 200);
      expect((await agent.get('/API/notes')).status).to.equal(isCased ? 404 : 200);
      // Express itself cuts off where a router is mounted, with the slash.
      expect((await agent.get('/inner')).status).to.equal(200);
      expect((await agent.get('/inner/')).status).to.equal(200);
      expect((await agent.get('/inner/1/')).status).to.equal(isStrict ? 404 : 200);
      expect((await agent.post('/inner/1/Restore')).status).to.equal(isCased ? 404 : 409);
    });
  }

  it('[U4] leave no path behind a guard that the guard does not see', async () => {
    const guard: RequestHandler = (_request, response) => void response.status(401).json({});
    const below = (router: Router) => router.all('/notes', guard);
    for (const settings of [[], ['case sensitive routing'], ['strict routing']]) {
      const { app } = await serve(settings, (each) => {
        each.use('/api/notes', guard);
        each.use('/api/tools', guard);
        each.use('/pages', guard);
        each.use('/inner', below(express.Router()));
      });
      await using listening = await listen(app);
      const ask = async (path: string) =>
        (await exchange(listening, requestHead(`GET ${path}`, { Connection: 'close' }))).status;
      for (const name of ['notes', 'notes/1', 'tools/clock']) {
        for (const path of [
          ...[
            `/api/${name}`,
            `/API/${name}`,
            `/api/${name.toUpperCase()}`,
            `/api/${name}/`,
            `/api/${name}//`,
          ],
          ...[`//api/${name}`, `/api//${name}`, `/api/./${name}`, `/api/x/../${name}`, `/./api/${name}`],
          ...[`/api/%6E${name.slice(1)}`, `/api/%74${name.slice(1)}`, `/ap%69/${name}`, `/api%2F${name}`],
          ...[
            `/api/${name};`,
            `/api/${name}.`,
            `/api/${name};x=1`,
            `/api/${name}%00`,
            `/api/${name}%20`,
            `/api\\${name}`,
          ],
          ...[
            `http://host/api/${name}`,
            `http://host//api/${name}`,
            `HTTP://HOST/API/${name}`,
            `/api/${name}?x#y`,
          ],
        ]) {
          expect(await ask(path), path).to.be.oneOf([400, 401, 404]);
        }
      }
      for (const path of '/pages /PAGES //pages /pages// /pages/1 /pages; http://host/Pages'.split(' ')) {
        expect(await ask(path), path).to.be.oneOf([400, 401, 404]);
      }
    }
  });

  it('count as the router of the application has read them', async () => {
    const cased = 'case sensitive routing';
    // A router that is made reads the settings once, and a guard of it goes by them; the narrower of both holds.
    for (const [settings, change] of [
      [[cased], 'disable'],
      [[], 'enable'],
    ] as const) {
      const { agent } = await serve(settings, (app) => {
        app.use((_request, _response, next) => next());
        app[change](cased);
      });
      expect((await agent.get('/api/Notes')).status, change).to.equal(404);
      expectJson(await agent.get('/api/notes/stats'), 200, { notes: 0 });
    }
  });
});
