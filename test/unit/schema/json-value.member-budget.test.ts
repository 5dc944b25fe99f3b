import { expect } from 'chai';
import { MemberBudget } from '../../../src/schema/json-value.js';

const itemsOf = (count: number) => Array.from({ length: count }, () => 1);

describe('the items and properties that the values of a request may hold', () => {
  it('are 5,000 with the values themselves, in one value or in several', () => {
    expect(new MemberBudget().take(itemsOf(4_999))).to.equal(true);
    expect(new MemberBudget().take(itemsOf(5_000))).to.equal(false);
    const budget = new MemberBudget();
    expect(budget.take([{ a: [1, 2] }, 3])).to.equal(true);
    // Six are gone.
    expect(budget.take(itemsOf(4_994))).to.equal(false);
    expect(budget.take(itemsOf(4_993))).to.equal(true);
    expect(budget.take(0)).to.equal(false);
  });

  it('are one for each twelve characters of a longer body', () => {
    expect(new MemberBudget(60_011).total).to.equal(5_000);
    expect(new MemberBudget(60_012).total).to.equal(5_001);
  });
});
