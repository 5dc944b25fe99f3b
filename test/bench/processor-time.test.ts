/** Reading clocks from /proc. */
import { expect } from 'chai';
import { peakMemory, processorTime, processorTimeOfFamily } from '../../bench/measure/processor-time.js';

describe('processor time', () => {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('is what Node says of its own process', () => {
    const { user, system } = process.cpuUsage();
    const own = user + system;
    // /proc counts in hundredths of a second, for user and system each.
    expect(processorTime(process.pid)).to.be.within(own - 20_000, own + 200_000);
  });

  it('of a family is at least that of its head', () => {
    const own = processorTime(process.pid);
    expect(processorTimeOfFamily(process.pid)).to.be.at.least(own);
  });

  it('has the largest memory so far beside it', () => {
    expect(peakMemory(process.pid)).to.be.at.least(process.memoryUsage.rss() / 2);
  });
});
