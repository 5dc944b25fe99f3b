import { expect } from 'chai';
import { DEFAULT_CAP } from '../../../src/compile/compile-count.js';
import type { CountMode } from '../../../src/declare/count-options.js';
import {
  countLimit,
  countOf,
  isNumberOnly,
  relatedLimit,
  totalOfCounted,
  totalOfSeen,
} from '../../../src/operation/count.js';
import type { Inclusion } from '../../../src/request/query/list-query.js';

const exact = (total: number) => ({ total, totalIs: 'exact' });

describe('the count of a list', () => {
  it('is the usual one, or what a request asks for', () => {
    expect(countOf({}, 'exact')).to.equal('exact');
    expect(countOf({ cap: 5 }, 'none')).to.equal('none');
    expect(countOf({ count: 'exact' }, 'none')).to.equal(Number.POSITIVE_INFINITY);
    expect(countOf({ count: 'none' }, 'exact')).to.equal(0);
    expect(countOf({ count: 'capped', cap: 5 }, 'exact')).to.equal(5);
    expect(countOf({ count: 'capped' }, 'exact')).to.equal(DEFAULT_CAP);
  });

  it('is refused with a mode that there is not, or a cap that is no integer from 1', () => {
    expect(() => countLimit('all' as CountMode, 1)).to.throw(RangeError, 'count is "all"');
    for (const cap of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => countLimit('capped', cap)).to.throw(RangeError, `cap is ${cap}; use an integer from 1.`);
    }
    expect(countLimit('capped', 1)).to.equal(1);
  });

  it('is known without counting where all rows are seen, none is asked for, or more than the limit are seen', () => {
    expect(totalOfSeen(3, true, 2)).to.deep.equal(exact(3));
    expect(totalOfSeen(3, false, 0)).to.deep.equal({ total: null, totalIs: 'none' });
    expect(totalOfSeen(3, false, 2)).to.deep.equal({ total: 2, totalIs: 'at_least' });
    expect(totalOfSeen(3, false, 3)).to.equal(undefined);
    expect(totalOfCounted(3, 3)).to.deep.equal(exact(3));
    expect(totalOfCounted(4, 3)).to.deep.equal({ total: 3, totalIs: 'at_least' });
  });

  it('of related rows may be all that is asked for', () => {
    const inclusion = (count: CountMode | undefined, size: number, hasCount = true) =>
      ({ count, size, plan: { count: hasCount ? { cap: 5 } : null } }) as unknown as Inclusion;
    expect(relatedLimit(inclusion('capped', 1))).to.equal(5);
    expect(relatedLimit(inclusion(undefined, 1))).to.equal(undefined);
    expect(relatedLimit(inclusion('capped', 1, false))).to.equal(undefined);
    expect(isNumberOnly(inclusion('capped', 0))).to.equal(true);
    expect(isNumberOnly(inclusion('capped', 1))).to.equal(false);
    expect(isNumberOnly(inclusion('none', 0))).to.equal(false);
    expect(isNumberOnly(inclusion(undefined, 0))).to.equal(false);
  });
});
