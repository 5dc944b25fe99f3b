import { expect } from 'chai';
import fc from 'fast-check';
import { offsetEnvelope } from '../../../src/respond/envelope.js';

describe('offsetEnvelope', () => {
  for (const [label, page, rest] of [
    [
      'an empty table',
      { items: 0, total: 0, page: 1, size: 20 },
      { pages: 0, has_next: false, has_prev: false },
    ],
    [
      'the only page',
      { items: 3, total: 3, page: 1, size: 3 },
      { pages: 1, has_next: false, has_prev: false },
    ],
    [
      'the first of several',
      { items: 3, total: 7, page: 1, size: 3 },
      { pages: 3, has_next: true, has_prev: false },
    ],
    [
      'one in between',
      { items: 3, total: 7, page: 2, size: 3 },
      { pages: 3, has_next: true, has_prev: true },
    ],
    ['the last', { items: 1, total: 7, page: 3, size: 3 }, { pages: 3, has_next: false, has_prev: true }],
    [
      'one past the end',
      { items: 0, total: 7, page: 9, size: 3 },
      { pages: 3, has_next: false, has_prev: true },
    ],
    [
      'one past nothing',
      { items: 0, total: 0, page: 2, size: 3 },
      { pages: 0, has_next: false, has_prev: false },
    ],
  ] as const) {
    it(`wraps ${label}, with every key`, () => {
      const items = Array.from({ length: page.items }, (_, id) => ({ id }));
      expect(offsetEnvelope({ ...page, items }, false, items)).to.deep.equal({
        items,
        total: page.total,
        page: page.page,
        size: page.size,
        ...rest,
      });
    });
  }

  it('leads by has_next through exactly the pages that hold all rows', () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 }), fc.integer({ min: 1, max: 30 }), (total, size) => {
        let seen = 0;
        let page = 1;
        for (let hasNext = true; hasNext; page += 1) {
          const length = Math.min(size, total - seen);
          const items = Array.from({ length }, () => ({}));
          const envelope = offsetEnvelope({ items, total, page, size }, false, items);
          seen += length;
          hasNext = envelope.has_next;
          expect(envelope.has_prev).to.equal(page > 1);
        }
        expect(seen).to.equal(total);
        expect(page - 1).to.equal(Math.max(1, Math.ceil(total / size)));
      }),
    );
  });
});
