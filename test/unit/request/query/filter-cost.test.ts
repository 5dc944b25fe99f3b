/** Cost of refusing a filter: CPU time of this process, because all requests share it. */
import { expect } from 'chai';
import { FILTER_LIMITS } from '../../../../src/request/query/filter-syntax.js';
import { parsed } from '../../../support/filter-trees.js';

const SIZE = 100_000;
const LIMIT_MILLISECONDS = 10;
const PIECES = [...'( a==b; a==b, " \' \\ a a=in=( a==( a= ='.split(' '), ' ', 'a==* and ', '\u{1f642}'];

function medianCpuMilliseconds(work: () => unknown): number {
  for (let warmUp = 0; warmUp < 50; warmUp += 1) work();
  const times = Array.from({ length: 9 }, () => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return times.sort((a, b) => a - b)[4] ?? Number.NaN;
}

describe('parsing a filter that is wrong', () => {
  for (const piece of PIECES) {
    const huge = piece.repeat(Math.ceil(SIZE / piece.length));
    const longest = piece.repeat(Math.floor(FILTER_LIMITS.length / piece.length));

    it(`[D6] refuses 100 kB of ${JSON.stringify(piece)} at once`, () => {
      expect(parsed(huge)).to.deep.include({ code: 'q.too-long', position: FILTER_LIMITS.length });
      expect(medianCpuMilliseconds(() => parsed(huge))).to.be.below(LIMIT_MILLISECONDS);
    });

    it(`reads as much of ${JSON.stringify(piece)} as is allowed as fast`, () =>
      expect(medianCpuMilliseconds(() => parsed(longest))).to.be.below(LIMIT_MILLISECONDS));
  }
});
