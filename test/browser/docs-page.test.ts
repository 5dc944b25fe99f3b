/** The documentation page in a real browser: it shows the operations, and sends them. */
import { expect } from 'chai';
import type { RequestHandler } from 'express';
import type { ConsoleMessage, Locator, Page } from 'playwright-core';
import { Table } from 'sequelize-typescript';
import { City } from '../../sample/atlas/models/city.js';
import { Country } from '../../sample/atlas/models/country.js';
import { Review } from '../../sample/atlas/models/review.js';
import { Crud } from '../../src/index.js';
import { FRANCE } from '../models/atlas-rows.js';
import { NumberedRow } from '../models/rows.js';
import { startChromium } from '../support/chromium.js';
import { forSuite } from '../support/for-suite.js';
import { serveTestApp } from '../support/test-app.js';

const PARIS = {
  id: 2988507,
  name: 'Paris',
  countryCode: 'FRA',
  population: 2138551,
  latitude: 48.85341,
  longitude: 2.3488,
  featureCode: 'PPLC',
  adminCode: '11',
  municipalityCode: null,
};

describe('the documentation page', function () {
  this.timeout(180_000);
  const app = serveTestApp(() => ({
    models: [Country, City, Review],
    bootstrap: {
      docs: { title: 'Atlas <b>', securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      landing: true,
    },
  }));
  const browser = forSuite(() => startChromium());
  let page: Page;
  const complaints: string[] = [];
  const addresses = new Set<string>();

  before(async () => {
    await Country.create(FRANCE);
    await City.create(PARIS);
    page = await browser.newPage();
    page.on('console', (message: ConsoleMessage) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => addresses.add(new URL(request.url()).origin));
    await page.goto(`${app.server.url}/docs`);
    await page.locator('.opblock').first().waitFor();
  });

  /** A body that is not read would keep its connection open. */
  async function fetched(path: string): Promise<Response> {
    const answer = await fetch(`${app.server.url}${path}`);
    await answer.arrayBuffer();
    return answer;
  }

  it('lists every operation', async () => {
    const shown = await page.locator('.opblock-summary-path').allTextContents();
    const paths = Object.entries(app.crud.openapi().paths).flatMap(([path, item]) =>
      Object.keys(item).map(() => path),
    );
    expect(shown.map((path) => path.replaceAll('\u200b', '').trim()).sort()).to.deep.equal(paths.sort());
    expect(await page.title()).to.equal('Atlas <b>');
  });

  /** Opens an operation, fills it in, and sends it: the answer that the page shows. */
  async function execute(name: string, fillIn: (operation: Locator) => Promise<unknown> = async () => {}) {
    const operation = page.locator(`[id$=-${name}]`);
    await operation.locator('.opblock-summary').click();
    await fillIn(operation);
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table .response').first();
    await answer.waitFor();
    const body = (await answer.locator('.highlight-code').first().innerText()).replace(/^Download$/m, '');
    return { status: await answer.locator('.response-col_status').first().textContent(), body };
  }

  it('leads back to the landing page', async () => {
    const back = page.getByRole('link', { name: '← Atlas <b>', exact: true });
    expect(new URL((await back.getAttribute('href')) ?? '', page.url()).href).to.equal(`${app.server.url}/`);
  });

  it('shows no choice of one server, and the table of a filter where it is wanted', async () => {
    const operation = page.locator('[id$=-listCities]');
    await operation.locator('.opblock-summary').click();
    const filter = operation.locator('tr[data-param-name=q]');
    await filter.getByText('For example').waitFor();
    expect(await page.locator('.servers').isVisible()).to.equal(false);
    const row = filter.getByRole('row', { name: 'population integer' });
    expect(await row.isVisible()).to.equal(false);
    await filter.getByText('Fields and operators').click();
    expect(await row.isVisible()).to.equal(true);
    await operation.locator('.opblock-summary').click();
  });

  it('has the colours of the landing page, in light and dark', async () => {
    const method = '.opblock-patch .opblock-summary-method';
    const home = await browser.newPage();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await home.emulateMedia({ colorScheme });
      await home.goto(app.server.url);
      const [colour, ground] = await home.evaluate<string[]>(
        "[getComputedStyle(document.querySelector('.patch')).color, getComputedStyle(document.documentElement).backgroundColor]",
      );
      expect(
        await page.evaluate(`getComputedStyle(document.querySelector('${method}')).backgroundColor`),
      ).to.equal(colour);
      expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).to.equal(
        ground,
      );
    }
    await home.close();
  });

  it('is not wider than a narrow screen', async () => {
    const narrow = await browser.newPage({ viewport: { width: 375, height: 640 } });
    await narrow.goto(`${app.server.url}/docs#/Cities/listCities`);
    await narrow.locator('.opblock-body .responses-table').first().waitFor();
    expect(await narrow.evaluate('document.documentElement.scrollWidth')).to.equal(375);
    await narrow.close();
  });

  it('sends the token that it was given', async () => {
    await page.locator('.auth-wrapper .authorize').first().click();
    await page.locator('.auth-container input').fill('s3cret');
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').click();
    const sent = page.waitForRequest((request) => request.url().includes('/countries'));
    await execute('listCountries');
    expect((await (await sent).allHeaders())['authorization']).to.equal('Bearer s3cret');
  });

  it('executes an operation and shows its answer', async () => {
    const { status, body } = await execute('listCities');
    expect(status).to.match(/^200/);
    expect(JSON.parse(body)).to.deep.equal({
      items: [PARIS],
      total: 1,
      page: 1,
      size: 20,
      pages: 1,
      has_next: false,
      has_prev: false,
    });
  });

  it('sends the relations that are chosen, and what is filled in beside them', async () => {
    const { body } = await execute('readCity', async (operation) => {
      await operation.locator('tr[data-param-name=id] input').fill(String(PARIS.id));
      await operation.locator('tr[data-param-name=include] select').selectOption(['country', 'reviews']);
      await operation.locator('tr[data-param-name="country.fields"] select').selectOption(['name']);
      await operation.locator('tr[data-param-name="reviews.size"] input').fill('1');
    });
    expect(JSON.parse(body)).to.deep.equal({
      ...PARIS,
      country: { name: 'France' },
      reviews: { items: [], has_next: false },
    });
  });

  it('sends the example of a body as it stands', async () => {
    // The example is right; only the country in it does not exist.
    expect((await execute('createCity')).status).to.match(/^409/);
  });

  it('asks nobody but its own server, and breaks no rule of its policy', () => {
    expect([...addresses].filter((origin) => origin !== 'null')).to.deep.equal([app.server.url]);
    expect(complaints.filter((text) => !text.includes('status of 409'))).to.deep.equal([]);
  });

  it('is sent with a policy that lets nothing else in', async () => {
    const { headers } = await fetched('/docs');
    expect(headers.get('content-security-policy')).to.equal(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
  });

  it('is at the same place with a slash behind it', async () => {
    const answer = await fetch(`${app.server.url}/docs/`);
    expect(answer.url).to.equal(`${app.server.url}/docs`);
    expect(await answer.text()).to.include('Atlas &#60;b&#62;');
  });

  it('is left alone by what comes after it', async () => {
    const reached: string[] = [];
    app.app.use((request, _response, next) => {
      reached.push(request.url);
      next();
    });
    for (const name of ['swagger-ui.css', 'start.js']) {
      expect((await fetched(`/docs/${name}`)).status).to.equal(200);
    }
    expect(reached).to.deep.equal([]);
  });

  it('has no other files than those it needs', async () => {
    for (const name of [
      'package.json',
      '../package.json',
      'swagger-ui-bundle.js.map',
      'index.html',
      '%2e%2e/package.json',
    ]) {
      expect((await fetched(`/docs/${name}`)).status, name).to.equal(404);
    }
  });
});

function store(index: number) {
  const name = `Store${index}`;
  @Crud({ prefix: `/${name.toLowerCase()}s`, endpoints: ['list', 'read'], description: `Shelf ${index * 7}` })
  @Table({ modelName: name, tableName: name, timestamps: false })
  class Store extends NumberedRow {}
  return Store;
}

describe('the documentation page of many models', function () {
  this.timeout(180_000);
  /** Runs before the handler of the document. */
  let guard: RequestHandler = (_request, _response, next) => next();
  const app = serveTestApp(() => ({
    models: Array.from({ length: 120 }, (_, index) => store(index)),
    bootstrap: { docs: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } } },
    prepare: (each) => each.use('/openapi.json', (...call) => guard(...call)),
  }));
  const browser = forSuite(() => startChromium());
  let page: Page;
  const read: string[] = [];

  beforeEach(async () => {
    page = await browser.newPage();
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname === '/openapi.json') read.push(search);
    });
    read.length = 0;
  });

  afterEach(() => page.close());

  const paths = async () => {
    const shown = await page.locator('.opblock-summary-path').allTextContents();
    return shown.map((path) => path.replaceAll('\u200b', '').trim());
  };

  it('finds one by search, loads that one, and keeps the token for the next', async () => {
    await page.goto(`${app.server.url}/docs`);
    await page.getByText('121 of 121 resources').waitFor();
    await page.keyboard.type('shelf 77');
    await page.getByText('3 of 121 resources').waitFor();
    expect(await page.locator('#choice li a:visible').allTextContents()).to.deep.equal([
      'Store11',
      'Store110',
      'Store111',
    ]);
    await page.keyboard.press('Enter');
    await page.locator('.opblock').first().waitFor();
    expect(await paths()).to.deep.equal(['/store11s', '/store11s/{id}']);
    expect(await page.locator('#choice ul').isVisible()).to.equal(false);
    await page.locator('.auth-wrapper .authorize').first().click();
    await page.locator('.auth-container input').fill('s3cret');
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').click();
    await page.getByText('Store11, one of 121 resources').click();
    await page.locator('#choice').getByRole('link', { name: 'Store111', exact: true }).click();
    await page.locator('[id$=-listStore111s]').click();
    const sent = page.waitForRequest((request) => request.url().includes('/store111s'));
    await page.getByRole('button', { name: 'Execute' }).click();
    expect((await (await sent).allHeaders())['authorization']).to.equal('Bearer s3cret');
    expect(await paths()).to.deep.equal(['/store111s', '/store111s/{id}']);
    expect(read).to.deep.equal(['?tag=', '?tag=Store11', '?tag=Store111']);
  });

  it('opens an operation that the address names', async () => {
    await page.goto(`${app.server.url}/docs#/Store7/readStore7`);
    await page.locator('[id$=-readStore7] .opblock-body').waitFor();
    expect(read).to.deep.equal(['?tag=', '?tag=Store7']);
  });

  it('leads to where one can sign in, if a guard has the document', async () => {
    for (const [answer, told, link] of [
      [(_request, response) => void response.sendStatus(401), 'status 401', '/docs'],
      [(_request, response) => void response.redirect('/sign-in'), 'Sign in', '/sign-in'],
    ] satisfies [RequestHandler, string, string][]) {
      guard = answer;
      await page.goto(`${app.server.url}/docs`);
      const alert = page.getByRole('alert');
      await alert.getByText(told).first().waitFor();
      expect(await alert.getByRole('link').getAttribute('href')).to.equal(`${app.server.url}${link}`);
    }
  });
});
