/** The history of a record and its revert, in a real browser. `npm run admin -- --test` builds the back office first. */
import { expect } from 'chai';
import { serveAdmin } from '../../sample/atlas/admin.js';
import { City, CityController, Country, Review, ReviewController } from '../../sample/atlas/resources.js';
import { FRANCE, LYON, REVIEW } from '../models/atlas-rows.js';
import { forAdminPage } from '../support/admin-page.js';
import { serveTestApp } from '../support/test-app.js';

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
  const { page, complaints, open, answerOf } = forAdminPage(app);

  before(async () => {
    await Country.create(FRANCE);
    await City.create(LYON);
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
    // The entry of another writer comes, and the form stays.
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
