/** Parts of the data provider for react-admin that need no browser. */
import { expect } from 'chai';
import { toParameters } from '../../../sample/admin/data-provider/filter.js';
import { type List, ListPages } from '../../../sample/admin/data-provider/list-pages.js';

describe('ListPages', () => {
  const NUMBERS = Array.from({ length: 620 }, (_, index) => index + 1);

  /** A list of the numbers, as the API answers it. */
  function listOf(pagination: 'offset' | 'cursor') {
    const sent: Readonly<Record<string, string | number>>[] = [];
    const list: List<number> = {
      name: 'numbers',
      pagination,
      async read(page) {
        sent.push(page);
        const size = Number(page['size']);
        const { page: number = 1, after = (Number(number) - 1) * size } = page;
        const start = Number(after);
        const end = start + size;
        const has_next = end < NUMBERS.length;
        return {
          items: NUMBERS.slice(start, end),
          ...(pagination === 'offset' ? { total: NUMBERS.length } : {}),
          ...(pagination === 'cursor' ? { next_cursor: has_next ? String(end) : null } : {}),
          has_next,
          has_prev: start > 0,
        };
      },
    };
    return { list, sent };
  }

  for (const pagination of ['offset', 'cursor'] as const) {
    it(`cuts pages of any size out of those of the API, by ${pagination}`, async () => {
      for (const perPage of [10, 100, 120, 200, 250, 700]) {
        const pages = new ListPages();
        const { list } = listOf(pagination);
        for (let page = 1; (page - 1) * perPage < NUMBERS.length; page += 1) {
          const end = page * perPage;
          const { data, pageInfo } = await pages.read(list, { page, perPage });
          expect(data, `${perPage} ${page}`).to.deep.equal(NUMBERS.slice(end - perPage, end));
          const hasNextPage = end < NUMBERS.length;
          expect(pageInfo, `${perPage} ${page}`).to.deep.equal({ hasNextPage, hasPreviousPage: page > 1 });
        }
      }
    });
  }

  it('asks for whole pages, and for no more than it needs', async () => {
    const { list, sent } = listOf('offset');
    const { total } = await new ListPages().read(list, { page: 2, perPage: 250 });
    expect([total, sent.map(({ page }) => page)]).to.deep.equal([620, [3, 4, 5]]);
  });

  it('counts the items of a list by cursor at its end', async () => {
    const { list } = listOf('cursor');
    const { total } = await new ListPages().read(list, { page: 3, perPage: 250 });
    expect(total).to.equal(620);
  });
});

describe('toParameters', () => {
  it('leaves out filters that are empty', () => {
    const filter = { code: [], name: '', size: null, country: { region: [] }, kind: ['a', 'b'] };
    expect(toParameters(filter)).to.deep.equal({ q: 'kind=in=("a","b")' });
    expect(toParameters({ code: [] })).to.deep.equal({});
  });
});
