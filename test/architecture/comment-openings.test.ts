/** Comments of the source, of the tests and of all other programs begin with a noun of the code, or with a verb of the field. */
import { expect } from 'chai';
import { findVagueComments } from './rules.js';
import { readSourceTree } from './source-tree.js';

/** The types of the sample's client are made from its document. Its sentences are prose for readers of the API. */
const GENERATED = 'typed-client/atlas-api.d.ts';

describe('the openings of comments', () => {
  it('name their subject, and use the verbs of the field, in all of src', () => {
    expect(findVagueComments(readSourceTree())).to.deep.equal([]);
  });

  it('do the same in the tests', () => {
    expect(findVagueComments(readSourceTree('test'))).to.deep.equal([]);
  });

  for (const folder of ['bench', 'sample', 'scripts', 'template'])
    it(`do the same in ${folder}`, () => {
      const programs = [...readSourceTree(folder)].filter(([file]) => file !== GENERATED);
      expect(findVagueComments(new Map(programs))).to.deep.equal([]);
    });

  it('are found in each kind of comment', () => {
    const source = [
      '/** What it is. */',
      '  // Whether it is.',
      ' * Those that are.',
      '/** Waiting statements. */',
      ' * The rule that knows the row.',
    ];
    expect(findVagueComments(new Map([['compile/a.ts', source.join('\n')]]))).to.deep.equal([
      "compile/a.ts:1 begins with 'What'; name the subject.",
      "compile/a.ts:2 begins with 'Whether'; name the subject.",
      "compile/a.ts:3 begins with 'Those'; name the subject.",
      "compile/a.ts:5 says 'knows'; use a verb of the field.",
    ]);
  });
});
