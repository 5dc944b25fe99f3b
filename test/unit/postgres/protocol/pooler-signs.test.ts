import { expect } from 'chai';
import { PoolerSigns } from '../../../../src/postgres/protocol/stale-statement.js';

const said = (code: string) => Object.assign(new Error(), { code });

describe('PoolerSigns', () => {
  const { now } = performance;

  afterEach(() => {
    performance.now = now;
  });

  it('are enough when a name is there that nobody else has', () =>
    expect(new PoolerSigns().add(said('42P05'))).to.equal(true));

  it('are enough when many names are gone in a short time', () => {
    const signs = new PoolerSigns();
    const answers = Array.from({ length: 20 }, () => signs.add(said('26000')));
    expect(answers).to.deep.equal([...Array(19).fill(false), true]);
  });

  it('are not enough when names are gone now and then', () => {
    const signs = new PoolerSigns();
    for (let minute = 0; minute < 100; minute += 1) {
      performance.now = () => minute * 60_000;
      expect(signs.add(said('26000'))).to.equal(false);
    }
  });

  it('are enough when a table was changed and a new statement is refused', () => {
    expect(new PoolerSigns().add(said('0A000'), true)).to.equal(true);
    const ofTrigger = Object.assign(said('0A000'), { where: 'PL/pgSQL function f() line 1' });
    expect(new PoolerSigns().add(ofTrigger, true)).to.equal(false);
  });

  it('are none when a table was changed', () => {
    const signs = new PoolerSigns();
    for (let count = 0; count < 100; count += 1) expect(signs.add(said('0A000'))).to.equal(false);
  });
});
