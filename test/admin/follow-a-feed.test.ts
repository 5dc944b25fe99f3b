/** Lists that follow a feed, in a real browser. `npm run admin -- --test` builds the back office first. */
import { expect } from 'chai';
import { serveAdmin } from '../../sample/atlas/admin.js';
import { City, CityController, Country, Review, ReviewController } from '../../sample/atlas/resources.js';
import { FRANCE, LYON, REVIEW } from '../models/atlas-rows.js';
import { forAdminPage } from '../support/admin-page.js';
import { serveTestApp } from '../support/test-app.js';

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
  const { page, complaints, open, answerOf } = forAdminPage(app);

  before(async () => {
    await Country.create(FRANCE);
    await City.create(LYON);
    await Review.create(REVIEW);
  });

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
