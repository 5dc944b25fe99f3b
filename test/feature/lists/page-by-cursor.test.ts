import { expect } from 'chai';
import type { Response } from 'supertest';
import { EntrySite, Item, ids, Other, quiet } from '../../models/entries.js';
import { buildApp } from '../../support/build-app.js';
import { expectJson } from '../../support/expect-answer.js';
import { withHook } from '../../support/with-hook.js';

const EMPTY = { items: [], next_cursor: null, prev_cursor: null, has_next: false, has_prev: false };

describe('paging by cursor', () => {
  const site = new EntrySite();
  const { sql, ask, page } = site;

  describe('answers', () => {
    it('with an envelope of the same keys, without a count', async () => {
      const { result, statements } = await sql.duringRequest(() => ask({ fields: 'name' }));
      const { next_cursor, ...envelope } = result.body;
      expect(next_cursor).to.match(/^[\w-]+\.[\w-]+$/);
      expect(envelope).to.deep.equal({
        items: [{ name: 'a' }, { name: 'b' }],
        prev_cursor: null,
        has_next: true,
        has_prev: false,
      });
      expect(statements.filter((text) => /count|OFFSET/i.test(text))).to.deep.equal([]);
      expect(statements).to.have.lengthOf(1);
    });

    it('with the next page, and the one before', async () => {
      const first = await page();
      const second = await page({ after: first.next_cursor });
      const third = await page({ after: second.next_cursor });
      expect([first, second, third].map(ids)).to.deep.equal([[1, 2], [3, 4], [5]]);
      expect([third.has_next, third.next_cursor, third.has_prev]).to.deep.equal([false, null, true]);
      const back = await page({ before: third.prev_cursor });
      expect([ids(back), back.has_next, back.has_prev]).to.deep.equal([[3, 4], true, true]);
      const start = await page({ before: back.prev_cursor });
      expect([ids(start), start.has_next, start.has_prev, start.prev_cursor]).to.deep.equal([
        [1, 2],
        true,
        false,
        null,
      ]);
      expect(ids(await page({ after: start.next_cursor }))).to.deep.equal([3, 4]);
    });

    it('with no items from an empty table', async () => {
      await Item.destroy({ where: {} });
      expectJson(await ask(), 200, EMPTY);
    });

    it('with another size in between', async () => {
      const first = await page({ size: 1 });
      const second = await page({ size: 3, after: first.next_cursor });
      expect(ids(second)).to.deep.equal([2, 3, 4]);
      expect(ids(await page({ size: 2, before: second.prev_cursor }))).to.deep.equal([1]);
    });

    it('with other fields in between', async () => {
      const { next_cursor } = await page({ fields: 'id' });
      const { body } = await ask({ after: next_cursor, fields: 'name' });
      expect(body.items).to.deep.equal([{ name: 'c' }, { name: 'd' }]);
    });

    it('in the default order of the resource', async () => {
      await Other.bulkCreate([1, 3, null, 3].map((rank) => ({ name: 'x', rank })));
      const first = await page({}, '/others');
      expect([...ids(first), ...ids(await page({ after: first.next_cursor }, '/others'))]).to.deep.equal([
        3, 4, 2, 1,
      ]);
    });
  });

  describe('between two pages', () => {
    // The last key of the second order is NULL.
    for (const sort of ['id', 'id,rank']) {
      it(`knows the way back from an empty page behind the end, sorted by ${sort}`, async () => {
        const first = await page({ sort });
        await Item.destroy({ where: { id: [3, 4, 5] } });
        const empty = await page({ sort, after: first.next_cursor });
        expect(empty).to.deep.include({ items: [], next_cursor: null, has_next: false, has_prev: true });
        const back = await page({ sort, before: empty.prev_cursor });
        expect([ids(back), back.has_next]).to.deep.equal([[1, 2], false]);
      });
    }

    it('knows the way on from an empty page before the beginning', async () => {
      const first = await page();
      const second = await page({ after: first.next_cursor });
      await Item.destroy({ where: { id: [1, 2] } });
      const empty = await page({ before: second.prev_cursor });
      expect(empty).to.deep.include({ items: [], prev_cursor: null, has_prev: false, has_next: true });
      expect(ids(await page({ after: empty.next_cursor }))).to.deep.equal([3, 4]);
    });

    it('knows that everything is gone', async () => {
      const first = await page();
      await Item.destroy({ where: {} });
      expectJson(await ask({ after: first.next_cursor }), 200, EMPTY);
    });
  });

  it('does not take the place of a record from what a hook made of it', async () => {
    const { agent } = await buildApp({ models: [Item], fastPath: false, ...quiet });
    const change = (found: unknown) => {
      for (const item of found as Item[]) if (item instanceof Item) item.set('rank', 7);
    };
    await Item.update({ rank: 1 }, { where: { id: [2, 4] } });
    await withHook(Item, 'afterFind', change, async () => {
      const seen: number[][] = [];
      let last = null;
      for (let place: string | null = ''; place !== null; ) {
        const { body }: Response = await agent.get(`/items?sort=rank${place}`).expect(200);
        seen.push(ids(body));
        last = body.prev_cursor;
        place = body.next_cursor && `&after=${body.next_cursor}`;
      }
      expect(seen).to.deep.equal([[2, 4], [1, 3], [5]]);
      const { body } = await agent.get(`/items?sort=rank&before=${last}`);
      expect(ids(body)).to.deep.equal([1, 3]);
    });
  });
});
