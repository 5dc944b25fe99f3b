/** The back office of the atlas in a real browser: lists, forms, conflicts, and deleted records. `npm run admin -- --test` builds it first. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Request } from 'playwright-core';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { serveAdmin } from '../../sample/atlas/admin.js';
import { City, CityController, Country, Review, ReviewController } from '../../sample/atlas/resources.js';
import { Crud } from '../../src/index.js';
import { FRANCE } from '../models/atlas-rows.js';
import { forAdminPage } from '../support/admin-page.js';
import { serveTestApp } from '../support/test-app.js';

const CHAD = {
  ...FRANCE,
  code: 'TCD',
  alpha2: 'TD',
  name: 'Chad',
  officialName: 'Republic of Chad',
  region: 'Africa',
  area: '1284000.00',
  flag: '🇹🇩',
};
const CITIES = Array.from({ length: 30 }, (_, index) => ({
  id: index + 1,
  name: `Ville ${index + 1}`,
  countryCode: 'FRA',
  population: (30 - index) * 1_000,
  latitude: 48,
  longitude: 2,
  featureCode: 'PPL',
}));
const REVIEWS = Array.from({ length: 120 }, (_, index) => ({
  cityId: 1,
  author: `Reader ${index + 1}`,
  rating: 1 + (index % 5),
  text: 'It rained.',
}));
/** Two columns address it, and parts may be any text. */
@Crud({
  id: { attributes: ['region', 'lineNo'], member: 'id' },
  pagination: 'cursor',
  sortAllow: ['lineNo'],
  endpoints: ['list', 'read', 'update', 'delete', 'restore'],
})
@Table({ tableName: 'order_lines', version: true, paranoid: true, createdAt: false, updatedAt: false })
class OrderLine extends Model {
  @Column({ type: DataType.TEXT, primaryKey: true }) declare region: string;
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'line_no' }) declare lineNo: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare quantity: number;
}

const LINES = ['a,b', 'a/b', 'ü~0%2C'].map((region, at) => ({ region, lineNo: at + 1, quantity: 10 * at }));

/** The first page of a list, as react-admin writes it. */
const BY_ID = { page: 1, perPage: 10, sort: 'id', order: 'ASC' };

describe('the back office', function () {
  this.timeout(180_000);
  const app = serveTestApp(() => ({
    models: [Country, City, Review, OrderLine],
    bootstrap: { controllers: [CityController, ReviewController] },
    prepare(server) {
      serveAdmin(server);
      server.get('/lines', (_, response) => {
        response.send(
          '<link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/admin/order-lines.js"></script>',
        );
      });
    },
  }));
  const { page, complaints, open: openPath } = forAdminPage(app);
  const origins = new Set<string>();

  before(async () => {
    await Country.bulkCreate([FRANCE, CHAD]);
    await City.bulkCreate(CITIES);
    await Review.bulkCreate(REVIEWS);
    await OrderLine.bulkCreate(LINES);
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
  });

  /** Opens a page anew. */
  async function open(
    path: string,
    search: Readonly<Record<string, unknown>> = {},
    office = '/admin/',
  ): Promise<void> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(search)) {
      query.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
    }
    await openPath(`${path}?${query}`, office);
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const text = (content: string) => page.getByText(content, { exact: true });
  const problemAt = (source: string) =>
    page.locator(`.ra-input-${source} .MuiFormHelperText-root`).innerText();

  /** The texts of a column, from the first row to the last, once a row is there. */
  async function column(name: string, row: string): Promise<string[]> {
    await page.getByRole('cell', { name: row, exact: true }).waitFor();
    return page.locator(`tbody td[class~='column-${name}']`).allTextContents();
  }

  /** Acts, and returns the first request of this method that follows, once it has its answer. A parameter finds a request among those of a list that follows a feed. */
  async function requestOf(
    method: string,
    path: string,
    act: () => Promise<unknown>,
    parameter?: string,
  ): Promise<Request> {
    const isIt = (request: Request) => {
      const { pathname, searchParams } = new URL(request.url());
      return request.method() === method && pathname === path && (!parameter || searchParams.has(parameter));
    };
    const [request] = await Promise.all([page.waitForRequest(isIt), act()]);
    await request.response();
    return request;
  }

  function parametersOf(request: Request): Record<string, string> {
    return Object.fromEntries(new URL(request.url()).searchParams);
  }

  /** Changes a record as another client, while the page is open. */
  async function change(path: string, body: object): Promise<void> {
    const { status } = await app.agent.patch(path).send(body);
    expect(status).to.equal(200);
  }

  it('turns the pages of a list by number, and sorts it', async () => {
    await open('/cities');
    expect(await column('name', 'Ville 1')).to.deep.equal(CITIES.slice(0, 25).map(({ name }) => name));
    const next = await requestOf('GET', '/cities', () => button('Go to next page').click());
    const asked = { include: 'country', 'country.fields': 'name,flag', size: '25' };
    expect(parametersOf(next)).to.deep.equal({ ...asked, sort: '-population', page: '2' });
    expect(await column('name', 'Ville 30')).to.deep.equal(CITIES.slice(25).map(({ name }) => name));
    expect(new Set(await column('country.name', 'Ville 30'))).to.deep.equal(new Set(['France']));
    const sorted = await requestOf('GET', '/cities', () =>
      page.locator('th.column-name [role=button]').click(),
    );
    expect(parametersOf(sorted)).to.deep.equal({ ...asked, sort: 'name', page: '1' });
  });

  it('filters, whatever the text', async () => {
    await open('/cities');
    await column('name', 'Ville 1');
    const filtered = await requestOf('GET', '/cities', () => field('Name').fill('le 7'));
    expect(parametersOf(filtered)).to.include({ q: 'name=ilike="*le 7*"', page: '1' });
    await text('Ville 1').waitFor({ state: 'detached' });
    expect(await column('name', 'Ville 7')).to.deep.equal(['Ville 7']);
    const strange = await requestOf('GET', '/cities', () => field('Name').fill(String.raw`a",\;b`));
    expect(parametersOf(strange)).to.include({ q: String.raw`name=ilike="*a\",\\\\;b*"` });
    expect((await strange.response())?.status()).to.equal(200);
  });

  it('says what is wrong with a filter', async () => {
    await open('/cities', { filter: { q: 'nam==Lyon' } });
    await page.getByText("Cannot filter by 'nam'. Did you mean 'name'?").first().waitFor();
  });

  it('turns the pages of a list by cursor, also after a reload', async () => {
    const authors = (start: number) => REVIEWS.slice(start, start + 10).map(({ author }) => author);
    await open('/reviews', { ...BY_ID, filter: {} });
    expect(await column('author', 'Reader 1')).to.deep.equal(authors(0));
    const next = await requestOf('GET', '/reviews', () => button('Go to next page').click(), 'after');
    expect(parametersOf(next)).to.include({ sort: 'id', size: '10' });
    expect(await column('author', 'Reader 11')).to.deep.equal(authors(10));
    await page.reload();
    expect(await column('author', 'Reader 11')).to.deep.equal(authors(10));
    await button('Go to previous page').click();
    expect(await column('author', 'Reader 1')).to.deep.equal(authors(0));
  });

  it('counts a list by cursor on its last page', async () => {
    const filter = { q: 'id=le=25' };
    await open('/reviews', { ...BY_ID, filter });
    await text('1-10 of more than 10').waitFor();
    await open('/reviews', { ...BY_ID, page: 3, filter });
    await text('21-25 of 25').waitFor();
    expect(await column('author', 'Reader 25')).to.have.length(5);
    await button('Go to previous page').click();
    await text('11-20 of more than 20').waitFor();
  });

  it('exports more than the API gives at once', async () => {
    await open('/reviews');
    const [download] = await Promise.all([page.waitForEvent('download'), button('Export').click()]);
    const lines = readFileSync(await download.path(), 'utf8').split('\n');
    expect(lines).to.have.length(1 + REVIEWS.length);
  });

  it('sends what was changed, with the tag of what was read', async () => {
    await open('/reviews/1');
    await field('Author').fill('Ann');
    // The name of the city comes with a request of its own.
    await page.locator('input[value="Ville 1"]').waitFor();
    const saved = await requestOf('PATCH', '/reviews/1', () => button('Save').click());
    expect(await saved.headerValue('if-match')).to.equal('"0"');
    expect(saved.postDataJSON()).to.deep.equal({ author: 'Ann' });
    expect((await Review.findByPk('1'))?.author).to.equal('Ann');
  });

  it('tells of a conflict once, with both values, and keeps what was typed', async () => {
    await open('/reviews/2');
    await field('Text').fill('Mine');
    await change('/reviews/2', { text: 'Theirs', author: 'Zoe' });
    await button('Save').click();
    await page.getByText('Somebody else has changed this record since you opened it').waitFor();
    expect(await page.getByRole('alert').count()).to.equal(1);
    expect(await page.getByRole('alert').getByRole('row').allInnerTexts()).to.deep.equal([
      '\tYours\tTheirs',
      'Text\tMine\tTheirs',
    ]);
    expect((await Review.findByPk('2'))?.text).to.equal('Theirs');
    expect([await field('Text').inputValue(), await field('Author').inputValue()]).to.deep.equal([
      'Mine',
      'Zoe',
    ]);
    // Somebody is faster once more.
    await change('/reviews/2', { text: 'Theirs again' });
    await button('Save').click();
    await page.getByRole('alert').getByRole('cell', { name: 'Theirs again', exact: true }).waitFor();
    expect(await field('Text').inputValue()).to.equal('Mine');
    // A save is for the version that the page shows.
    await change('/reviews/2', { text: 'Theirs at last' });
    // While the history follows the feed, a sign of progress is in the place of the button.
    await page.getByRole('region', { name: 'History' }).getByText('Theirs at last').waitFor();
    await requestOf('GET', '/reviews/2', () => button('Refresh').click());
    await page.getByRole('alert').getByRole('cell', { name: 'Theirs at last', exact: true }).waitFor();
    const saved = await requestOf('PATCH', '/reviews/2', () => button('Save').click());
    expect(saved.postDataJSON()).to.deep.equal({ text: 'Mine' });
    expect(await Review.findByPk('2')).to.include({ text: 'Mine', author: 'Zoe' });
  });

  it('takes what somebody else has saved, where its user says so', async () => {
    await open('/reviews/4');
    await field('Text').fill('Mine');
    await change('/reviews/4', { text: 'Theirs' });
    await button('Save').click();
    await button('Take theirs').click();
    await page.getByText('Somebody else has changed').waitFor({ state: 'detached' });
    expect(await field('Text').inputValue()).to.equal('Theirs');
    await field('Author').fill('Ann');
    const saved = await requestOf('PATCH', '/reviews/4', () => button('Save').click());
    expect((await saved.response())?.status()).to.equal(200);
    expect(await Review.findByPk('4')).to.include({ text: 'Theirs', author: 'Ann' });
  });

  it('tells of a conflict where the table has no version', async () => {
    await open('/cities/2');
    await field('Name').fill('Mine');
    await change('/cities/2', { population: 7 });
    const refused = await requestOf('PATCH', '/cities/2', () => button('Save').click());
    expect((await refused.response())?.status()).to.equal(412);
    await page.getByText('Somebody else has changed this record since you opened it').waitFor();
    expect((await City.findByPk(2))?.name).to.equal('Ville 2');
    expect(await page.getByRole('alert').getByRole('row').last().innerText()).to.equal('Name\tMine\tVille 2');
  });

  it('shows each error at its field', async () => {
    await open('/countries/create');
    for (const [label, value] of [
      ['Code', 'ita'],
      ['Alpha2', 'FR'],
      ['Name', 'Italy'],
      ['Official name', 'Italian Republic'],
      ['Area (km²)', 'large'],
      ['Latitude', '42'],
      ['Longitude', '12'],
      ['Flag', '🇮🇹'],
    ] as const)
      await field(label).fill(value);
    await button('Save').click();
    await text('Code must be three capital letters.').waitFor();
    expect(await problemAt('code')).to.equal('Code must be three capital letters.');
    expect(await problemAt('region')).to.match(/^Region /);
    expect(await problemAt('area')).to.match(/^Area \(km²\) /);
    await field('Code').fill('ITA');
    await field('Area (km²)').fill('301336.00');
    await field('Region').click();
    await page.getByRole('option', { name: 'Europe' }).click();
    await button('Save').click();
    await text('Another Country has the same Alpha2.').waitFor();
    expect(await problemAt('alpha2')).to.equal('Another Country has the same Alpha2.');
    await field('Alpha2').fill('IT');
    await button('Save').click();
    expect(await column('code', 'Italy')).to.deep.equal(['TCD', 'FRA', 'ITA']);
    expect((await Country.findByPk('ITA'))?.area).to.equal('301336.00');
  });

  it('deletes what was read, and brings it back', async () => {
    await open('/reviews/3');
    await field('Author').waitFor();
    const removed = await requestOf('DELETE', '/reviews/3', () => button('Delete').click());
    expect(await removed.headerValue('if-match')).to.equal('"0"');
    expect(await Review.findByPk('3')).to.equal(null);
    await requestOf('POST', '/reviews/3/restore', () => button('Undo').click());
    expect((await Review.findByPk('3'))?.author).to.equal('Reader 3');
  });

  it('deletes those that are selected in one request, lists them, and restores one', async () => {
    await open('/reviews', { ...BY_ID, filter: { author: ['Reader 5', 'Reader 6'] } });
    await column('author', 'Reader 5');
    await page.getByRole('checkbox').first().click();
    await button('Delete').click();
    const removed = await requestOf('DELETE', '/reviews', () => button('Confirm').click());
    expect(parametersOf(removed)).to.deep.equal({ q: 'id=in=("5","6")' });
    await open('/reviews', { ...BY_ID, filter: { '?deleted': 'only' } });
    expect(await column('author', 'Reader 5')).to.deep.equal(['Reader 5', 'Reader 6']);
    await requestOf('POST', '/reviews/5/restore', () => button('Restore').first().click());
    await text('Reader 5').waitFor({ state: 'detached' });
    expect(await column('author', 'Reader 6')).to.deep.equal(['Reader 6']);
  });

  it('lists the cities of a country', async () => {
    await open('/countries/FRA');
    await column('name', 'Ville 1');
    const next = await requestOf('GET', '/countries/FRA/cities', () => button('Go to next page').click());
    expect(parametersOf(next)).to.deep.equal({ sort: '-population', page: '2', size: '5' });
    expect(await column('name', 'Ville 7')).to.include('Ville 10');
  });

  it('lists, changes, deletes and restores a record by the member that has an id of several columns', async () => {
    for (const [at, id] of ['a~2b,1', 'a~1b,2', 'ü~00%2C,3'].entries()) {
      const { region } = LINES[at] ?? {};
      const path = `/order-lines/${encodeURIComponent(id)}`;
      await open('/order-lines', {}, '/lines');
      expect(await column('region', 'a/b')).to.have.members(LINES.map((line) => line.region));
      // The form has the record of the list until its own is read, which has the tag.
      await requestOf('GET', path, () => page.getByRole('cell', { name: region ?? '', exact: true }).click());
      await field('Quantity').fill('7');
      const saved = await requestOf('PATCH', path, () => button('Save').click());
      expect(await saved.headerValue('if-match')).to.match(/^"0\./);
      expect(saved.postDataJSON()).to.deep.equal({ quantity: 7 });
      await page.getByRole('cell', { name: region ?? '', exact: true }).click();
      const removed = await requestOf('DELETE', path, () => button('Delete').click());
      expect(await removed.headerValue('if-match')).to.match(/^"1\./);
      expect((await OrderLine.findAll()).map((line) => line.region)).to.not.include(region);
      await requestOf('POST', `${path}/restore`, () => button('Undo').click());
      expect(await OrderLine.findOne({ where: { region } })).to.include({ lineNo: at + 1, quantity: 7 });
    }
  });

  it('fits a narrow screen', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await open('/cities');
    await page.getByText('France, 30000 people').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
  });

  it('asks nobody but its own server', () => {
    expect([...origins]).to.deep.equal([app.server.url]);
    // The browser itself reports the answers that the test expects to be refused.
    expect(complaints.filter((complaint) => !/status of 4(00|09|12|22)/.test(complaint))).to.deep.equal([]);
  });
});
