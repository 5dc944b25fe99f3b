import { expect } from 'chai';
import type { Group } from '../../../src/execute/records/items-by-parent.js';
import { relatedTotals } from '../../../src/handle/related-totals.js';

const group = (first: number, end: number, hasNext = false) => ({ first, end, hasNext }) as Group;

describe('the totals of related rows', () => {
  it('are told by the rows where these are all, and counted elsewhere', async () => {
    const asked: (readonly string[])[] = [];
    const totals = await relatedTotals(
      ['a', 'b', 'c', 'd', 'e'],
      [group(0, 2), undefined, group(2, 5, true), group(5, 5), group(5, 15, true)],
      10,
      async (keys) => {
        asked.push(keys);
        return [11, 4];
      },
    );
    expect(asked).to.deep.equal([['b', 'c']]);
    expect(totals).to.deep.equal([
      { total: 2, total_is: 'exact' },
      { total: 10, total_is: 'at_least' },
      { total: 4, total_is: 'exact' },
      { total: 0, total_is: 'exact' },
      { total: 10, total_is: 'at_least' },
    ]);
  });
});
