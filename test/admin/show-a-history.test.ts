/** The history of a record and its revert, in a real browser. `npm run admin -- --test` builds the back office first. */
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

describe('the history of the back office', function () {
  this.timeout(120_000);
  const app = serveTestApp(() => ({
    models: [Country, City, Review],
    bootstrap: {
      controllers: [CityController, ReviewController],
      history: { actor: (request) => request.get('User') ?? 'a browser' },
    },
    prepare: serveAdmin,
  }));
  const browser = forSuite(() => startChromium());
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    await Country.create(FRANCE);
    await City.create(LYON);
    page = await browser.newPage();
    await page.addInitScript("if (location.protocol === 'http:') localStorage.clear()");
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });

  /** A review that Ann has changed twice, and a script once. */
  async function createReview(): Promise<string> {
    const send = (verb: 'post' | 'patch', path: string, body: object) =>
      app.agent[verb](path).set('User', 'Ann').send(body);
    const { id } = (await send('post', '/reviews', REVIEW).expect(201)).body as { id: string };
    await send('patch', `/reviews/${id}`, { rating: 5, text: 'The sun!' }).expect(200);
    await app.engine.sequelize.query(`UPDATE reviews SET author = 'Bea' WHERE id = ${id}`);
    return id;
  }

  async function open(path: string): Promise<void> {
    await page.goto('about:blank'); // What is behind a # is in the same document.
    await page.goto(`${app.server.url}/admin/#${path}`);
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const entries = () => page.getByRole('region', { name: 'History' }).getByRole('listitem');
  const message = (text: string) => page.getByText(text).first().waitFor();
  /** Texts of the entries without the times, newest first. */
  async function history(count: number): Promise<string[]> {
    await entries()
      .nth(count - 1)
      .waitFor();
    const texts = await entries().allInnerTexts();
    return texts.map((text) =>
      text
        .replace(/, \w+ \d+, \d+, .*M/, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );
  }

  function answerOf(method: string, path: string): Promise<Response> {
    return page.waitForResponse(
      (response) => response.request().method() === method && new URL(response.url()).pathname === path,
    );
  }

  it('says who has changed what, also where no request did', async () => {
    const id = await createReview();
    await open(`/reviews/${id}`);
    expect(await history(3)).to.deep.equal([
      'Changed by somebody outside of the application Before After Author Ann Bea',
      'Changed by Ann REVERT TO THIS Before After Rating 3 5 Text It rained. The sun!',
      'Created by Ann REVERT TO THIS Before After City — 1 Author — Ann Rating — 3 Text — It rained.',
    ]);
  });

  it('reverts behind a question that has all values, and by the tag of what was read', async () => {
    const id = await createReview();
    await open(`/reviews/${id}`);
    await button('Revert to this').last().click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('row').allInnerTexts()).to.deep.equal([
      '\tNow\tThen',
      'Author\tBea\tAnn',
      'Rating\t5\t3',
      'Text\tThe sun!\tIt rained.',
    ]);
    await button('Cancel').click();
    await dialog.waitFor({ state: 'detached' });
    expect((await Review.findByPk(id))?.rating).to.equal(5);
    await button('Revert to this').last().click();
    const [answer] = await Promise.all([answerOf('POST', `/reviews/${id}/revert`), button('Revert').click()]);
    expect(answer.status()).to.equal(200);
    expect(await answer.request().headerValue('if-match')).to.equal('"1"');
    await message('Reverted');
    const [newest] = await history(4);
    expect(newest).to.match(/^Reverted by a browser .*Author Bea Ann/);
    expect(await field('Text').inputValue()).to.equal('It rained.');
    expect(await Review.findByPk(id)).to.include({ author: 'Ann', rating: 3, text: 'It rained.' });
    // The state of now needs no way back.
    expect(await button('Revert to this').count()).to.equal(2);
  });

  it('reverts nothing where somebody else was faster, and shows the change', async () => {
    const id = await createReview();
    await open(`/reviews/${id}`);
    await button('Revert to this').first().click();
    await app.agent.patch(`/reviews/${id}`).send({ text: 'Theirs' }).expect(200);
    const [answer] = await Promise.all([answerOf('POST', `/reviews/${id}/revert`), button('Revert').click()]);
    expect(answer.status()).to.equal(412);
    await message('Somebody else has changed this record since you opened it, and nothing was reverted.');
    await page.locator('textarea', { hasText: 'Theirs' }).first().waitFor();
    expect(await Review.findByPk(id)).to.include({ author: 'Bea', text: 'Theirs' });
    await button('Revert to this').last().click();
    await Promise.all([answerOf('POST', `/reviews/${id}/revert`), button('Revert').click()]);
    await history(5);
    expect(await Review.findByPk(id)).to.include({ author: 'Ann', text: 'It rained.' });
  });

  it('keeps what was typed', async () => {
    const id = await createReview();
    await open(`/reviews/${id}`);
    await history(3);
    await field('Author').fill('Zoe');
    await message('Save what you have typed before you revert.');
    expect(await button('Revert to this').first().isDisabled()).to.equal(true);
    // The entry of somebody else comes, and the form stays.
    await app.engine.sequelize.query(`UPDATE reviews SET rating = 1 WHERE id = ${id}`);
    await history(4);
    expect(await field('Author').inputValue()).to.equal('Zoe');
  });

  it('reads older changes', async () => {
    const id = await createReview();
    for (let round = 0; round < 20; round += 1)
      await app.engine.sequelize.query(`UPDATE reviews SET rating = 1 + ${round} % 2 WHERE id = ${id}`);
    await open(`/reviews/${id}`);
    await history(20);
    await button('Older changes').click();
    expect((await history(23)).at(-1)).to.match(/^Created by Ann/);
    await button('Older changes').waitFor({ state: 'detached' });
  });

  after(() => {
    // The browser reports each status of 400 and above.
    expect(complaints.filter((text) => !/status of 412/.test(text))).to.deep.equal([]);
  });
});
