/** The figures that the reports of the benchmark are made of. */
import { expect } from 'chai';
import { intervalOf, medianOf, quantileOf, spreadOf } from '../../bench/report/statistics.js';

describe('statistics of the benchmark', () => {
  it('takes the middle one of an odd number, and the mean of the two in the middle of an even one', () => {
    expect(medianOf([9, 1, 5])).to.equal(5);
    expect(medianOf([10, 1, 4, 2])).to.equal(3);
  });

  it('sorts by size and not as texts', () => {
    expect(spreadOf([100, 20, 3])).to.deep.equal({ median: 20, lowest: 3, highest: 100 });
  });

  it('has no figure of none', () => {
    expect(spreadOf([])).to.deep.equal({ median: Number.NaN, lowest: Number.NaN, highest: Number.NaN });
  });

  it('interpolates quartiles', () => {
    expect([0, 0.25, 0.5, 1].map((part) => quantileOf([40, 10, 20, 30], part))).to.deep.equal([
      10, 17.5, 25, 40,
    ]);
  });

  // Tables of the sign test: n = 9 leaves one out at each end, n = 20 five, n = 100 thirty-nine.
  for (const [count, cut] of [
    [6, 0],
    [8, 0],
    [9, 1],
    [20, 5],
    [100, 39],
  ] as const) {
    it(`leaves out ${cut} of ${count} figures at each end of an interval of the median`, () => {
      const interval = intervalOf(Array.from({ length: count }, (_, index) => index));
      expect(interval).to.deep.equal([cut, count - 1 - cut]);
    });
  }

  it('has no interval of less than six figures', () => {
    expect([intervalOf([3, 1, 2, 5, 4]), intervalOf([7]), intervalOf([])]).to.deep.equal([null, null, null]);
  });
});
