/** The figures that the reports of the benchmark are made of. */
import { expect } from 'chai';
import { medianOf, spreadOf } from '../../bench/report/statistics.js';

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
});
