import { expect } from 'chai';
import { FilterStatement } from '../../../../src/postgres/protocol/filter-statement.js';

/** Executes it so many times, each for as many milliseconds. */
function execute(statement: FilterStatement, times: number, duration: number): void {
  for (let count = 0; count < times; count += 1) statement.current.measure(duration);
}

const isKept = (statement: FilterStatement): boolean => statement.current.name !== '';

describe('FilterStatement', () => {
  it('is planned for its values until it was fast eight times', () => {
    const statement = new FilterStatement('SELECT $1', true);
    execute(statement, 7, 1);
    expect(isKept(statement)).to.equal(false);
    execute(statement, 1, 1);
    expect(isKept(statement)).to.equal(true);
    expect(statement.current.text).to.equal('SELECT $1');
    expect(statement.current.planned).to.equal(statement);
  });

  it('is planned for its values again after one slow execution, for eight times as many each time', () => {
    const statement = new FilterStatement('SELECT $1', true);
    execute(statement, 8, 1);
    for (const needed of [64, 512, 4096, 4096]) {
      execute(statement, 1, 200);
      expect(isKept(statement)).to.equal(false);
      execute(statement, needed - 1, 1);
      expect(isKept(statement)).to.equal(false);
      execute(statement, 1, 1);
      expect(isKept(statement)).to.equal(true);
    }
  });

  it('takes what is usual on a busy machine for fast', () => {
    const statement = new FilterStatement('SELECT $1', true);
    execute(statement, 20, 15);
    execute(statement, 1, 50);
    expect(isKept(statement)).to.equal(true);
  });

  it('stays planned for its values where it always takes long', () => {
    const statement = new FilterStatement('SELECT $1', true);
    execute(statement, 10_000, 100);
    expect(isKept(statement)).to.equal(false);
  });

  it('shares a connection only when it is kept, and cheap', () => {
    const statement = new FilterStatement('SELECT $1', true);
    const seen: boolean[] = [];
    for (let count = 0; count < 10; count += 1) {
      const { current } = statement;
      seen.push(current.isCheap);
      expect(current.isSlow).to.equal(!current.isCheap);
      current.measure(1);
    }
    expect(seen).to.deep.equal([...Array(9).fill(false), true]);
    execute(statement, 5, 19);
    expect([isKept(statement), statement.current.isCheap]).to.deep.equal([true, false]);
  });

  it('is never kept where no statement is', () => {
    const statement = new FilterStatement('SELECT $1', false);
    execute(statement, 100, 1);
    expect(isKept(statement)).to.equal(false);
  });
});
