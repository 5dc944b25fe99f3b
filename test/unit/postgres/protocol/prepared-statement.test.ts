/** What is known of the cost of a statement. */
import { expect } from 'chai';
import { PreparedStatement } from '../../../../src/postgres/protocol/prepared-statement.js';

function measured(...durations: readonly number[]): PreparedStatement {
  const statement = new PreparedStatement('SELECT 1');
  for (const duration of durations) statement.measure(duration);
  return statement;
}

function times(count: number, duration: number): number[] {
  return Array.from({ length: count }, () => duration);
}

describe('the cost of a statement', () => {
  it('is not known before it was executed, which is neither cheap nor slow', () => {
    const { isCheap, isSlow } = measured();
    expect({ isCheap, isSlow }).to.deep.equal({ isCheap: false, isSlow: false });
  });

  it('is that of the fastest execution, whatever others have waited for', () => {
    const { cost, isCheap } = measured(50, 0.5, 80);
    expect({ cost, isCheap }).to.deep.equal({ cost: 0.5, isCheap: true });
  });

  it('stays low wherever one of many executions has waited', () => {
    for (let at = 1; at < 600; at += 1) {
      expect(measured(...times(at, 0.5), 50).isCheap, `after ${at}`).to.equal(true);
    }
  });

  it('is that of the slow ones after 256 of them, and low again after a fast one', () => {
    for (const before of [1, 100, 127, 128, 200, 255, 256, 500]) {
      const statement = measured(...times(before, 0.5), ...times(256, 50));
      expect([statement.cost, statement.isSlow], `after ${before}`).to.deep.equal([50, true]);
      statement.measure(0.5);
      expect(statement.isCheap).to.equal(true);
    }
  });
});
