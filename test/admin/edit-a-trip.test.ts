/** A trip in the back office: its stops in the same form, and its themes, which are links. `npm run admin -- --test` builds it first. */
import { expect } from 'chai';
import { serveAdmin } from '../../sample/atlas/admin.js';
import {
  City,
  CityController,
  Country,
  Review,
  ReviewController,
  Stop,
  Theme,
  Trip,
  TripTheme,
} from '../../sample/atlas/resources.js';
import { FRANCE } from '../models/atlas-rows.js';
import { forAdminPage } from '../support/admin-page.js';
import { serveTestApp } from '../support/test-app.js';

const CITIES = ['Lyon', 'Nice', 'Paris'].map((name, index) => ({
  id: index + 1,
  name,
  countryCode: 'FRA',
  population: (3 - index) * 1_000,
  latitude: 48,
  longitude: 2,
  featureCode: 'PPL',
}));
const STOPS = [
  { tripId: 101, cityId: 1, day: 1, nights: 2 },
  { tripId: 101, cityId: 2, day: 3, nights: 1 },
];

describe('a trip in the back office', function () {
  this.timeout(120_000);
  const app = serveTestApp(() => ({
    models: [Country, City, Review, Trip, Stop, Theme, TripTheme],
    bootstrap: {
      models: [Country, City, Review, Trip, Stop, Theme],
      controllers: [CityController, ReviewController],
    },
    prepare: serveAdmin,
  }));
  const { page, complaints, open, answerOf } = forAdminPage(app);

  before(async () => {
    await Country.bulkCreate([FRANCE]);
    await City.bulkCreate(CITIES);
    await Theme.bulkCreate(['Beaches', 'Food', 'Museums'].map((name) => ({ name })));
  });

  beforeEach(async () => {
    await Trip.destroy({ where: {} });
    await Trip.create({ id: 101, title: 'South' });
    await Stop.bulkCreate(STOPS.map((stop, index) => ({ ...stop, id: 101 + index })));
    await TripTheme.bulkCreate([{ tripId: 101, themeId: 1 }]);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const fieldOf = (row: number, name: string) => page.locator(`input[name="stops.${row}.${name}"]`);
  const chips = () => page.locator('.MuiAutocomplete-root .MuiChip-label').allInnerTexts();

  async function linked(): Promise<number[]> {
    const rows = await TripTheme.findAll({ where: { tripId: 101 }, order: ['themeId'] });
    return rows.map(({ themeId }) => themeId);
  }

  it('links a theme by its name, and removes a link', async () => {
    await open('/trips/101');
    await page.locator('.MuiChip-label', { hasText: 'Beaches' }).waitFor();
    const themes = page.getByLabel('Themes', { exact: true });
    await themes.fill('foo');
    const [added] = await Promise.all([
      answerOf('PUT', '/trips/101/themes/2'),
      page.getByRole('option', { name: 'Food', exact: true }).click(),
    ]);
    expect(added.status()).to.equal(201);
    await page.locator('.MuiChip-label', { hasText: 'Food' }).waitFor();
    expect(await chips()).to.deep.equal(['Beaches', 'Food']);
    expect(await linked()).to.deep.equal([1, 2]);
    const [removed] = await Promise.all([
      answerOf('DELETE', '/trips/101/themes/1'),
      page.locator('.MuiChip-root', { hasText: 'Beaches' }).locator('.MuiChip-deleteIcon').click(),
    ]);
    expect(removed.status()).to.equal(204);
    await page.locator('.MuiChip-label', { hasText: 'Beaches' }).waitFor({ state: 'detached' });
    expect(await linked()).to.deep.equal([2]);
  });

  it('shows the links that there are, where a theme has gone meanwhile', async () => {
    const theme = await Theme.create({ name: 'Hiking' });
    await open('/trips/101');
    await page.getByLabel('Themes', { exact: true }).fill('hik');
    const option = page.getByRole('option', { name: 'Hiking', exact: true });
    await option.waitFor();
    await theme.destroy();
    const [refused] = await Promise.all([answerOf('PUT', `/trips/101/themes/${theme.id}`), option.click()]);
    expect(refused.status()).to.equal(409);
    await page.getByText('There is no Theme with this id.').waitFor();
    expect(await chips()).to.deep.equal(['Beaches']);
    // The browser says of each answer above 400 that it failed.
    complaints.splice(0);
  });

  it('adds, changes and removes stops in one request', async () => {
    await open('/trips/101');
    await fieldOf(1, 'nights').waitFor();
    await fieldOf(0, 'nights').fill('5');
    await button('Add').click();
    await fieldOf(2, 'day').fill('8');
    await page.getByLabel('City', { exact: true }).nth(2).fill('Par');
    await page.getByRole('option', { name: 'Paris', exact: true }).click();
    await fieldOf(1, 'day').hover();
    await page.locator('.button-remove-stops-1').click();
    const [saved] = await Promise.all([answerOf('PATCH', '/trips/101'), button('Save').click()]);
    const sent = saved.request();
    expect(sent.postDataJSON()).to.deep.equal({
      stops: {
        create: [{ day: 8, cityId: 3 }],
        update: [{ id: 101, nights: 5 }],
        delete: [102],
      },
    });
    expect(await sent.headerValue('if-match')).to.match(/^"0\b/);
    expect(saved.status()).to.equal(200);
    const rows = await Stop.findAll({ order: ['day'], raw: true });
    expect(rows.map(({ cityId, day, nights }) => [cityId, day, nights])).to.deep.equal([
      [1, 1, 5],
      [3, 8, 1],
    ]);
    expect(await Trip.findByPk(101)).to.include({ title: 'South', version: 1 });
  });

  it('shows what is wrong with a stop at its field, and what is right is kept', async () => {
    await open('/trips/101');
    await fieldOf(1, 'nights').fill('0');
    const [refused] = await Promise.all([answerOf('PATCH', '/trips/101'), button('Save').click()]);
    expect(refused.status()).to.equal(422);
    const message = page.locator('.ra-input-stops\\.1\\.nights, .ra-input-nights').nth(1);
    await message.getByText('Nights must not be less than 1').waitFor();
    await fieldOf(1, 'nights').fill('4');
    const [saved] = await Promise.all([answerOf('PATCH', '/trips/101'), button('Save').click()]);
    expect(saved.request().postDataJSON()).to.deep.equal({ stops: { update: [{ id: 102, nights: 4 }] } });
    expect(saved.status()).to.equal(200);
    complaints.splice(0);
  });

  it('creates a trip with its stops', async () => {
    await open('/trips/create');
    await page.getByLabel('Title', { exact: true }).fill('North');
    for (const [row, city] of ['Lyon', 'Paris'].entries()) {
      await button('Add').click();
      await fieldOf(row, 'day').fill(String(row + 1));
      await page.getByLabel('City', { exact: true }).nth(row).fill(city);
      await page.getByRole('option', { name: city, exact: true }).click();
    }
    const [created] = await Promise.all([answerOf('POST', '/trips'), button('Save').click()]);
    expect(created.status()).to.equal(201);
    const { id, stops } = await created.json();
    expect(stops.items.map(({ cityId, tripId }: Stop) => [cityId, tripId])).to.deep.equal([
      [1, id],
      [3, id],
    ]);
  });

  it('tells of a conflict where somebody else has changed a stop', async () => {
    await open('/trips/101');
    await fieldOf(0, 'nights').fill('9');
    await app.agent.patch('/trips/101').send({ stops: { update: [{ id: 102, nights: 3 }] } });
    await button('Save').click();
    await page.getByText('Somebody else has changed this record since you opened it').waitFor();
    expect((await Stop.findByPk(101))?.nights).to.equal(2);
    complaints.splice(0);
  });

  for (const width of [1280, 375])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`fits on ${width} pixels, in ${colorScheme} colours`, async () => {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await open('/trips/101');
        await fieldOf(1, 'nights').waitFor();
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
