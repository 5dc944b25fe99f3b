/** Lists that follow a feed, in a real browser. `npm run admin -- --test` builds the back office first. */
import { expect } from 'chai';
import type { Page, Response } from 'playwright-core';
import { serveAdmin } from '../../sample/atlas/admin.js';
import { City, CityController, Country, Review, ReviewController } from '../../sample/atlas/resources.js';
import { FRANCE } from '../models/atlas-rows.js';
import { startChromium } from '../support/chromium.js';
import { forSuite } from '../support/for-suite.js';
import { serveTestApp } from '../support/test-app.js';

const LYON = {
  id: 1,
  name: 'Lyon',
  countryCode: 'FRA',
  population: 1,
  latitude: 48,
  longitude: 2,
  featureCode: 'PPL',
};
const REVIEW = { cityId: 1, author: 'Ann', rating: 3, text: 'It rained.' };

describe('the lists of the back office', function () {
  this.timeout(120_000);
  let isFeedRefused = false;
  const app = serveTestApp(() => ({
    models: [Country, City, Review],
    bootstrap: { controllers: [CityController, ReviewController] },
    prepare(server) {
      serveAdmin(server);
      server.get('/reviews/changes', (_request, response, next) => {
        if (isFeedRefused) response.status(410).end();
        else next();
      });
    },
  }));
  const browser = forSuite(() => startChromium());
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    await Country.create(FRANCE);
    await City.create(LYON);
    await Review.create(REVIEW);
    page = await browser.newPage();
    await page.addInitScript("if (location.protocol === 'http:') localStorage.clear()");
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });

  async function open(path: string): Promise<void> {
    await page.goto('about:blank'); // What is behind a # is in the same document.
    await page.goto(`${app.server.url}/admin/#${path}`);
  }

  function answerOf(method: string, path: string): Promise<Response> {
    return page.waitForResponse(
      (response) => response.request().method() === method && new URL(response.url()).pathname === path,
    );
  }

  it('are read again when the feed says so, whoever writes', async () => {
    await open('/reviews');
    await page.getByRole('link', { name: 'Create' }).first().waitFor();
    await app.engine.sequelize.query(
      `INSERT INTO reviews (city_id, author, rating, version, created_at, updated_at) VALUES (1, 'By psql', 4, 0, now(), now())`,
    );
    await page.getByRole('cell', { name: 'By psql' }).waitFor();
    await app.engine.sequelize.query(`UPDATE reviews SET author = 'By another' WHERE author = 'By psql'`);
    await page.getByRole('cell', { name: 'By another' }).waitFor();
    await app.engine.sequelize.query(`UPDATE reviews SET deleted_at = now() WHERE author = 'By another'`);
    await page.getByRole('cell', { name: 'By another' }).waitFor({ state: 'detached' });
  });

  it('follow again where the feed was refused, and have what they missed', async () => {
    isFeedRefused = true;
    await Promise.all([answerOf('GET', '/reviews/changes'), open('/reviews')]);
    await page.getByRole('cell', { name: 'Lyon' }).first().waitFor();
    await Review.create({ ...REVIEW, author: 'Meanwhile' });
    isFeedRefused = false;
    await page.getByRole('cell', { name: 'Meanwhile' }).waitFor();
  });

  after(() => {
    // The browser reports each status of 400 and above.
    expect(complaints.filter((text) => !/status of 410/.test(text))).to.deep.equal([]);
  });
});
