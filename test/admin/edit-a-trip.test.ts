/** A trip in the back office, whose themes are links. `npm run admin -- --test` builds it first. */
import { expect } from 'chai';
import { serveAdmin } from '../../sample/atlas/admin.js';
import {
  City,
  CityController,
  Country,
  Review,
  ReviewController,
  Theme,
  Trip,
  TripTheme,
} from '../../sample/atlas/resources.js';
import { forAdminPage } from '../support/admin-page.js';
import { serveTestApp } from '../support/test-app.js';

describe('a trip in the back office', function () {
  this.timeout(120_000);
  const app = serveTestApp(() => ({
    models: [Country, City, Review, Trip, Theme, TripTheme],
    bootstrap: {
      models: [Country, City, Review, Trip, Theme],
      controllers: [CityController, ReviewController],
    },
    prepare: serveAdmin,
  }));
  const { page, complaints, open, answerOf } = forAdminPage(app);

  before(async () => {
    await Theme.bulkCreate(['Beaches', 'Food', 'Museums'].map((name) => ({ name })));
  });

  beforeEach(async () => {
    await Trip.destroy({ where: {} });
    await Trip.create({ id: 1, title: 'South' });
    await TripTheme.bulkCreate([{ tripId: 1, themeId: 1 }]);
  });

  const chips = () => page.locator('.MuiAutocomplete-root .MuiChip-label').allInnerTexts();

  async function linked(): Promise<number[]> {
    const rows = await TripTheme.findAll({ where: { tripId: 1 }, order: ['themeId'] });
    return rows.map(({ themeId }) => themeId);
  }

  it('links a theme by its name, and removes a link', async () => {
    await open('/trips/1');
    await page.locator('.MuiChip-label', { hasText: 'Beaches' }).waitFor();
    const themes = page.getByLabel('Themes', { exact: true });
    await themes.fill('foo');
    const [added] = await Promise.all([
      answerOf('PUT', '/trips/1/themes/2'),
      page.getByRole('option', { name: 'Food', exact: true }).click(),
    ]);
    expect(added.status()).to.equal(201);
    await page.locator('.MuiChip-label', { hasText: 'Food' }).waitFor();
    expect(await chips()).to.deep.equal(['Beaches', 'Food']);
    expect(await linked()).to.deep.equal([1, 2]);
    const [removed] = await Promise.all([
      answerOf('DELETE', '/trips/1/themes/1'),
      page.locator('.MuiChip-root', { hasText: 'Beaches' }).locator('.MuiChip-deleteIcon').click(),
    ]);
    expect(removed.status()).to.equal(204);
    await page.locator('.MuiChip-label', { hasText: 'Beaches' }).waitFor({ state: 'detached' });
    expect(await linked()).to.deep.equal([2]);
  });

  it('shows the links that there are, where a theme has gone meanwhile', async () => {
    const theme = await Theme.create({ name: 'Hiking' });
    await open('/trips/1');
    await page.getByLabel('Themes', { exact: true }).fill('hik');
    const option = page.getByRole('option', { name: 'Hiking', exact: true });
    await option.waitFor();
    await theme.destroy();
    const [refused] = await Promise.all([answerOf('PUT', `/trips/1/themes/${theme.id}`), option.click()]);
    expect(refused.status()).to.equal(409);
    await page.getByText('There is no Theme with this id.').waitFor();
    expect(await chips()).to.deep.equal(['Beaches']);
    // The browser says of each answer above 400 that it failed.
    complaints.splice(0);
  });

  for (const width of [1280, 375])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`fits on ${width} pixels, in ${colorScheme} colours`, async () => {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await open('/trips/1');
        await page.locator('.MuiChip-label', { hasText: 'Beaches' }).waitFor();
        const scrollWidth = await page.locator('html').evaluate((each) => each.scrollWidth);
        expect(scrollWidth).to.be.at.most(width);
        const { PICTURES } = process.env;
        if (PICTURES)
          await page.screenshot({ path: `${PICTURES}/trip-${width}-${colorScheme}.png`, fullPage: true });
        await page.setViewportSize({ width: 1280, height: 720 });
        await page.emulateMedia({ colorScheme: null });
      });

  it('leaves nothing in the console', () => {
    expect(complaints).to.deep.equal([]);
  });
});
