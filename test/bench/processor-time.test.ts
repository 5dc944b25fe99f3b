/** Reading clocks from /proc. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
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

  it('of a family never goes back, whichever child ends meanwhile', async () => {
    const child = 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done';
    const head = spawn('sh', ['-c', `n=0; while [ $n -lt 8 ]; do n=$((n+1)); (${child}); done`]);
    const ended = once(head, 'exit').then(() => true);
    const times: number[] = [];
    while (!(await Promise.race([ended, nextTurn(false)]))) times.push(processorTimeOfFamily(head.pid ?? 0));
    // The kernel rounds the times of each process down, and those of ended ones all at once.
    const steps = times.slice(1).map((time, index) => time - (times[index] as number));
    expect(Math.max(...times)).to.be.at.least(200_000);
    expect(Math.min(...steps)).to.be.at.least(-20_000);
  });

  it('has the largest memory so far beside it', () => {
    expect(peakMemory(process.pid)).to.be.at.least(process.memoryUsage.rss() / 2);
  });
});
