/** The landing page: the mounted routes, as a page for browsers and as JSON for all other clients. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import express, { type Express, type RequestHandler } from 'express';
import { Get, JsonController, Post } from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { type BootstrapOptions, bootstrap, Crud } from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { configProblems } from '../../support/config-error.js';
import { expectNoMethod, expectNothing } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Table({ tableName: 'planets', timestamps: false })
class Planet extends NamedRow {}

@Crud({
  endpoints: ['list', 'read', 'create'],
  tags: ['Rings & moons'],
  filterAllow: ['id', 'kind', 'planet.name'],
  sortAllow: ['id', 'width'],
  description:
    'What `Saturn` has; see [<b>](https://example.org/?a=1&b=2) and [this](javascript:alert(1)).\n\nMore.',
})
@Table({ tableName: 'rings', timestamps: false })
class Ring extends NumberedRow {
  @Column(DataType.INTEGER) declare width: number | null;
  @Column(DataType.ENUM("king's ring")) declare kind: string | null;
  @ForeignKey(() => Planet) @Column(DataType.INTEGER) declare planetId: number | null;
  @BelongsTo(() => Planet) declare planet?: Planet;
}

@Crud({ prefix: '/', endpoints: ['list', 'create'] })
@Table({ tableName: 'roots', timestamps: false })
class Root extends NumberedRow {}

@JsonController('/status')
class StatusController {
  @Get('/')
  status(): object {
    return { ok: true };
  }
}

@JsonController()
class HomeController {
  @Get('/')
  home(): object {
    return { home: true };
  }
}

/** At the same place, without a path. */
@JsonController()
class PathlessController {
  @Get()
  home(): object {
    return { home: true };
  }
}

@JsonController()
class InboxController {
  @Post('/')
  receive(): object {
    return { received: true };
  }
}

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const TITLE = 'Saturn <b>"';

/** Values of the attributes of this name, as a browser reads them. */
function attributes(html: string, name: string): readonly string[] {
  const found = [...html.matchAll(new RegExp(`\\b${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);
  return found.map(shown);
}

/** The same with each character as a browser shows it. */
function shown(html: string): string {
  return html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

describe('the landing page', () => {
  const site = serveTestApp(() => ({
    models: [Planet, Ring, Root],
    bootstrap: {
      models: [Ring],
      controllers: [StatusController],
      docs: { title: TITLE, version: '2.0.0', description: 'All of it.' },
      landing: true,
    },
  }));
  const build = (options: BootstrapOptions, prepare?: (app: Express) => void) =>
    buildApp({ models: [Ring], landing: true, ...options }, prepare);

  it('tells clients in JSON what is mounted, and where', async () => {
    const { body, status, headers } = await site.agent.get('/');
    expect(body).to.deep.equal({
      title: TITLE,
      version: '2.0.0',
      description: 'All of it.',
      links: { docs: '/docs', openapi: '/openapi.json', ready: '/health/ready', live: '/health/live' },
      resources: [
        {
          name: 'Rings & moons',
          description:
            'What `Saturn` has; see [<b>](https://example.org/?a=1&b=2) and [this](javascript:alert(1)).\n\nMore.',
          operations: [
            {
              method: 'GET',
              path: '/rings',
              summary: 'List rings',
              operationId: 'listRings',
              filterable: ['id', 'kind', 'planet', 'planet.name'],
              sortable: ['id', 'width'],
              examples: { sort: '-width', q: 'kind=="king\'s ring"' },
            },
            { method: 'POST', path: '/rings', summary: 'Create a ring', operationId: 'createRing' },
            { method: 'GET', path: '/rings/{id}', summary: 'Read a ring', operationId: 'readRing' },
          ],
        },
        {
          name: 'Status',
          description: 'Routes of `StatusController`.',
          operations: [{ method: 'GET', path: '/status', summary: 'Status', operationId: 'statusStatus' }],
        },
      ],
    });
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(headers).to.include({
      vary: 'Accept',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    });
  });

  for (const [accept, type] of [
    [BROWSER, 'text/html'],
    ['text/*', 'text/html'],
    ['application/json;q=0.5, text/html', 'text/html'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/html;q=0.5, application/*', 'application/json'],
    ['text/html;q=0', 'application/json'],
    ['image/png', 'application/json'],
    ['nonsense', 'application/json'],
  ] as const) {
    it(`is ${type} for who accepts ${accept}`, async () => {
      const { headers } = await site.agent.get('/').set('Accept', accept).expect(200);
      expect(headers['content-type']).to.equal(`${type}; charset=utf-8`);
      expect(headers['vary']).to.equal('Accept');
    });
  }

  it('is a page under a policy that lets nothing in but its own style', async () => {
    const { text, headers } = await site.agent.get('/').set('Accept', BROWSER).expect(200);
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).to.equal(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    );
    expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(text).to.not.match(/<script|<link(?! rel="icon" href="data:,">)|\bon\w+=|\bstyle=|src=/);
  });

  it('shows what a list is filtered and sorted by, a link that works, and a command for a terminal', async () => {
    const page = async (app: Express, headers: Readonly<Record<string, string>> = {}) =>
      shown((await supertest(app).get('/').set('Accept', BROWSER).set(headers).expect(200)).text);
    const html = await page(site.app);
    expect(html).to.include(
      '<dt>Filter by</dt><dd><code>id</code> <code>kind</code> <code>planet</code> <code>planet.name</code>',
    );
    expect(html).to.include('<dt>Sort by</dt><dd><code>id</code> <code>width</code></dd>');
    expect(html).to.include('<dt>Open</dt><dd><a href="./rings?sort=-width">');
    await site.agent.get('/rings?sort=-width').expect(200);
    await site.agent.get('/rings').query({ sort: '-width', q: 'kind=="king\'s ring"' }).expect(200);
    const command = (place: string, more = '') =>
      `<dd><code>curl -G '${place}/rings'${more} -d 'sort=-width' --data-urlencode 'q=kind=="king'\\''s ring"'</code>`;
    expect(html).to.match(/2 resources with 4 operations at <code>http:\/\/127\.0\.0\.1:\d+<\/code>/);
    expect(html).to.include(command(/http:[^<]+/.exec(html)?.[0] ?? ''));
    const proxied = {
      'X-Forwarded-Host': 'api.example.org',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Prefix': '/v1',
    };
    expect(await page(site.app, proxied)).to.not.include('api.example.org');
    expect(await page(site.app, { Host: "$(id)'" })).to.include(command(''));
    const bearer = { type: 'http', scheme: 'bearer' } as const;
    const login = { type: 'openIdConnect', openIdConnectUrl: 'https://login.example.org/x' } as const;
    const docs = { securitySchemes: { bearer, login } };
    const { app } = await build({ docs }, (each) => void each.set('trust proxy', true));
    const secured = await page(app, proxied);
    expect(secured).to.include(command('https://api.example.org/v1', " -H 'Authorization: Bearer <token>'"));
    expect(secured).to.include('<p>Sign in (bearer): send <code>Authorization: Bearer <token></code>.</p>');
    expect(secured).to.include('<p>Sign in (login): at <a href="https://login.example.org/x">');
    expect((await supertest(app).get('/')).body.securitySchemes).to.deep.equal({ bearer, login });
  });

  it('writes texts as texts, and of Markdown only code and links to other sites', async () => {
    const { text } = await site.agent.get('/').set('Accept', BROWSER);
    expect(text).to.include('<title>Saturn &#60;b&#62;&#34;</title>');
    expect(text).to.include('<h2>Rings &#38; moons</h2>');
    expect(text).to.include(
      '<p>What <code>Saturn</code> has; see <a href="https://example.org/?a=1&#38;b=2">&#60;b&#62;</a> and ' +
        '[this](javascript:alert(1)).</p>\n<p>More.</p>',
    );
  });

  it('answers HEAD without a body, OPTIONS, and other methods with 405', async () => {
    for (const accept of [BROWSER, '*/*']) {
      const { headers } = await site.agent.get('/').set('Accept', accept);
      const head = await site.agent.head('/').set('Accept', accept).expect(200);
      expect(head.text ?? '').to.equal('');
      for (const name of ['content-type', 'content-length', 'etag', 'vary']) {
        expect(head.headers[name]).to.equal(headers[name]);
      }
      const condition = { Accept: accept, 'If-None-Match': String(headers['etag']) };
      await site.agent.get('/').set(condition).expect(304);
    }
    const options = await site.agent.options('/');
    expectNothing(options, 204);
    expect(options.headers['allow']).to.equal('GET, HEAD, OPTIONS');
    expectNoMethod(await site.agent.post('/'), 'POST', 'GET, HEAD, OPTIONS');
  });

  it('is not there unless it is asked for', async () => {
    for (const options of [{}, { landing: false }, { routePrefix: '/api' }]) {
      const { agent } = await buildApp({ models: [Ring], ...options });
      await agent.get('/').expect(404);
      await agent.get('/api').expect(404);
    }
  });

  it('leaves out what is not mounted', async () => {
    const links = async (options: BootstrapOptions) =>
      (await (await build(options)).agent.get('/')).body.links;
    expect(await links({ docs: false, health: false })).to.deep.equal({});
    const ready = await links({ docs: false, health: { prefix: '/probes', includeLiveness: false } });
    expect(ready).to.deep.equal({ ready: '/probes/ready' });
    const docs = await links({ docs: { path: '/a/docs' }, health: false });
    expect(docs).to.deep.equal({ docs: '/a/docs', openapi: '/a/openapi.json' });
    const bare = await build({ docs: false, health: false, models: [] });
    const { text } = await bare.agent.get('/').set('Accept', BROWSER).expect(200);
    expect(attributes(text, 'href')).to.deep.equal(['data:,']);
  });

  describe('has links that lead somewhere', () => {
    for (const [place, options] of [
      ['/', {}],
      ['/api', { routePrefix: '/api' }],
      ['/api/', { routePrefix: '/api' }],
      ['/API/V1?x=1', { routePrefix: '/api/v1' }],
      ['/api/v1/', { routePrefix: '/api/v1', docs: { path: '/api/v1/docs' } }],
      ['/shop', {}],
      ['/shop/', {}],
      ['/shop/api', { routePrefix: '/api' }],
    ] as const) {
      it(`at ${place}`, async () => {
        const { app } = await build({ ...options, controllers: [StatusController] });
        const agent = supertest(place.startsWith('/shop') ? express().use('/shop', app) : app);
        const { text } = await agent.get(place).set('Accept', BROWSER).expect(200);
        const { body } = await agent.get(place).expect(200);
        const urls = attributes(text, 'href')
          .map((href) => new URL(href, `http://localhost${place}`))
          .filter(({ hostname }) => hostname === 'localhost');
        const prefix = `${place.startsWith('/shop') ? '/shop' : ''}${'routePrefix' in options ? options.routePrefix : ''}`;
        const paths = new Set(urls.map(({ pathname }) => pathname));
        expect([...paths]).to.have.members([
          place.split('?')[0], // Its contents.
          ...Object.values(body.links),
          `${prefix}/rings`,
          `${prefix}/status`,
        ]);
        for (const path of paths) await agent.get(path).expect(200);
        const hashes = urls.map(({ hash }) => hash);
        expect(hashes).to.include.members(['#/Rings%20%26%20moons/listRings', '#/Status/statusStatus']);
      });
    }
  });

  describe('and a route for the same path', () => {
    const conflict = (...args: Parameters<typeof build>) => configProblems(() => build(...args));
    const told = (owner: string, path = '/') =>
      `${owner} answers GET ${path}, where the landing page is; give it another path, or leave landing out.`;

    it('is refused where it is of a resource, a controller or an option', async () => {
      expect(await conflict({ models: [Root] })).to.deep.equal([told('Root')]);
      expect(await conflict({ models: [Root], routePrefix: '/api' })).to.deep.equal([told('Root', '/api')]);
      for (const controller of [HomeController, PathlessController])
        expect(await conflict({ controllers: [controller] })).to.deep.equal([told(controller.name)]);
      expect(await conflict({ docs: { path: '/' } })).to.deep.equal([told('docs')]);
      const measured = { routePrefix: '/Api', metrics: { path: '/api' } };
      expect(await conflict(measured)).to.deep.equal([told('metrics', '/Api')]);
    });

    it('is refused where the application has it already', async () => {
      const own = 'The application answers GET / by itself; leave landing out.';
      const pass: RequestHandler = (_request, _response, next) => next();
      for (const path of ['/', ['/home', '/']])
        expect(await conflict({}, (app) => app.get(path, pass))).to.deep.equal([own]);
      expect(await conflict({}, (app) => app.all('/', pass))).to.deep.equal([own]);
    });

    it('is refused where another call of bootstrap has it', async () => {
      const { app } = await build({ docs: false });
      expect(await configProblems(() => bootstrap(app, { models: [], landing: true }))).to.deep.equal([
        'bootstrap was called on this application before, and serves GET / already; call it once, with all models and ' +
          'controllers, or give each call another routePrefix.',
      ]);
      await bootstrap(app, { models: [], landing: true, routePrefix: '/v2', docs: false, health: false });
      expect((await supertest(app).get('/v2')).body).to.include({ title: 'API' });
    });

    it('is asked first where it is added later', async () => {
      const { app, agent } = await build({});
      app.post('/', (_request, response) => void response.json({ own: 'POST' }));
      expect((await agent.post('/')).body).to.deep.equal({ own: 'POST' });
      expect((await agent.get('/')).body).to.include({ title: 'API' });
      app.get('/', (_request, response) => void response.json({ own: 'GET' }));
      expect((await agent.get('/')).body).to.deep.equal({ own: 'GET' });
      await agent.head('/').expect('Content-Length', '13');
    });

    it('may have another method', async () => {
      const { agent } = await build({ controllers: [InboxController] }, (app) => {
        app.put('/', (_request, response) => void response.json({ own: 'PUT' }));
      });
      expect((await agent.put('/')).body).to.deep.equal({ own: 'PUT' });
      expect((await agent.post('/')).body).to.deep.equal({ received: true });
      expect((await agent.get('/')).body.resources[1].operations).to.deep.equal([
        { method: 'POST', path: '/', summary: 'Receive', operationId: 'receiveInbox' },
      ]);
    });
  });
});
