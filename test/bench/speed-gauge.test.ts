/** Whether the machine is as fast as usual. */
import { expect } from 'chai';
import { isSlow, SpeedGauge } from '../../bench/measure/speed-gauge.js';

describe('the gauge of the machine', () => {
  it('takes a processor that a neighbor shares for slow', () => {
    const usual = [100, 96, 98, 95, 97, 99, 94, 96, 98, 97];
    expect(isSlow(60, [...usual, 60])).to.equal(true);
    expect(isSlow(90, [...usual, 90])).to.equal(false);
  });

  it('does not take one lucky reading for the usual', () => {
    expect(isSlow(97, [160, ...Array.from({ length: 19 }, () => 97)])).to.equal(false);
  });

  it('finds nothing slow on a machine that was never faster', () => {
    expect(isSlow(50, [50, 50, 50])).to.equal(false);
  });

  it('reads all processors, and waits no longer than it is told to', async () => {
    await using gauge = await SpeedGauge.start();
    expect(await gauge.isSteady()).to.be.a('boolean');
    await gauge.untilSteady(0);
  });
});
