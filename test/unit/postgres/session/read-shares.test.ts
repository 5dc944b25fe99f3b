/** The share of a table in the read connections, as its reads begin and end. */
import { expect } from 'chai';
import { TableShare } from '../../../../src/postgres/session/read-shares.js';
import { FakeClock } from '../../../support/fake-clock.js';

const LOST = new Error('Connection terminated unexpectedly');
const ENDED = Object.assign(new Error('terminating connection'), { severity: 'FATAL', code: '57P01' });
const LOCKED = Object.assign(new Error('lock timeout'), { severity: 'ERROR', code: '55P03' });
const REFUSED = Object.assign(new Error('division by zero'), { severity: 'ERROR', code: '22012' });

/** Four connections, of which a table that is locked may have two. */
function shareOfFour() {
  const woken: true[] = [];
  const share = new TableShare(4, { lanesInUse: () => 0, wake: () => woken.push(true) });
  return { share, woken };
}

describe('the share of a table', () => {
  for (const [name, error] of Object.entries({ lost: LOST, 'ended by the server': ENDED })) {
    it(`stays locked where the connection of a read is ${name}, and others may begin in its place`, () => {
      const { share, woken } = shareOfFour();
      const limited = [share.begin(), share.begin(), share.begin()];
      expect(limited).to.deep.equal([false, false, true]);
      expect([share.end(true, LOCKED), share.isHeldBack, woken.length]).to.deep.equal([true, true, 0]);
      expect(share.end(false, error)).to.equal(false);
      expect([share.isHeldBack, share.mayShare, woken.length]).to.deep.equal([false, false, 1]);
      share.end(false, null);
      expect([share.mayShare, woken.length]).to.deep.equal([true, 1]);
    });
  }

  for (const [name, isLane] of [
    ['a lane', true],
    ['a read', false],
  ] as const) {
    it(`lets reads begin that were held back where ${name} has waited for the lock in vain`, () => {
      const { share, woken } = shareOfFour();
      share.begin();
      if (isLane) share.hold();
      else share.begin();
      share.end(share.begin(), LOCKED);
      expect([share.isHeldBack, woken.length]).to.deep.equal([true, 0]);
      if (isLane) share.free(LOCKED);
      else share.end(false, LOCKED);
      expect([share.isHeldBack, share.mayShare, woken.length]).to.deep.equal([false, false, 1]);
    });
  }

  for (const [name, error, mayShare] of [
    ['an answer', null, true],
    ['an error of the database', REFUSED, true],
    ['the end of a connection', LOST, false],
  ] as const) {
    it(`${mayShare ? 'has' : 'has no'} progress by ${name} of a lane that was held`, async () => {
      using clock = new FakeClock();
      const { share } = shareOfFour();
      share.begin();
      share.begin();
      share.hold();
      await clock.advance(60);
      expect(share.mayShare).to.equal(false);
      share.free(error);
      expect(share.mayShare).to.equal(mayShare);
    });
  }
});
