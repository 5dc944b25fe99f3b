/** Promises of `test/README.md`: each is held by a test that names its row, and no test names a row that is not there. */
import { expect } from 'chai';
import { holders, holdersIn, promiseRows } from '../support/promises.js';

const UNTESTED = '(no test of its own: ';

describe('the tables of promises', () => {
  const rows = promiseRows();
  const ids = rows.map(({ id }) => id);
  const held = holders();

  it('have rows of their own', () => {
    expect(ids).to.have.lengthOf.above(250);
    expect(ids).to.deep.equal([...new Set(ids)]);
  });

  it('have a test for each row', () => {
    const named = new Set(held.flatMap((holder) => holder.ids));
    const untested = rows.filter(({ id, text }) => !named.has(id) && !text.includes(UNTESTED));
    expect(untested).to.deep.equal([]);
  });

  it('have each row that a test names', () => {
    const strange = held.filter((holder) => holder.ids.some((id) => !ids.includes(id)));
    expect(strange).to.deep.equal([]);
  });

  it('are read from tables and titles', () => {
    expect(promiseRows('| row | promise |\n| --- | --- |\n| A1 | x `|` y |\n')).to.deep.equal([
      { id: 'A1', text: 'x `|` y' },
    ]);
    const source = "/** Leaks [G1]. */\nit('[A1 B2] answers', run);\nit(`[C3] gives x[D4]`);\n";
    expect(holdersIn('a.ts', source).map((holder) => [holder.ids, holder.title])).to.deep.equal([
      [['G1'], ''],
      [['A1', 'B2'], 'answers'],
      [['C3'], 'gives x[D4]'],
    ]);
  });
});
