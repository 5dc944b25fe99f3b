import { expect } from 'chai';
import fc from 'fast-check';
import { didYouMean } from '../../../src/util/option-problems.js';

const NAMES = ['title', 'population', 'createdAt'];

describe('didYouMean', () => {
  for (const [name, match] of [
    ['titel', 'title'],
    ['tite', 'title'],
    ['TITLE', 'title'],
    ['createdat', 'createdAt'],
    ['created_at', 'createdAt'],
    ['populaton', 'population'],
    ['itle', 'title'],
  ] as const) {
    it(`names ${match} for ${name}`, () =>
      expect(didYouMean(name, NAMES)).to.equal(` Did you mean '${match}'?`));
  }

  for (const name of ['', 'x', 'zzzzz', 'password', '__proto__', 'constructor']) {
    it(`names nothing for '${name}'`, () => expect(didYouMean(name, NAMES)).to.equal(''));
  }

  it('names no word that is half another one', () =>
    expect([didYouMean('keyset', ['offset', 'cursor']), didYouMean('x', ['n'])]).to.deep.equal(['', '']));

  it('names nothing where nothing is allowed', () => expect(didYouMean('title', [])).to.equal(''));

  it('does not compare names that nobody mistypes, however long they are', () =>
    expect(didYouMean(`title${'x'.repeat(60)}`, [`title${'x'.repeat(59)}`])).to.equal(''));

  it('says nothing but an allowed name', () =>
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (name, allowed) => {
        const sentences = ['', ...allowed.map((candidate) => ` Did you mean '${candidate}'?`)];
        expect(didYouMean(name, allowed)).to.be.oneOf(sentences);
      }),
    ));

  it('finds an allowed name itself, in any case', () =>
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,20}$/), { minLength: 1 }),
        fc.nat(),
        (allowed, nth) => {
          const name = allowed[nth % allowed.length] ?? '';
          expect(didYouMean(name.toUpperCase(), allowed)).to.equal(` Did you mean '${name}'?`);
        },
      ),
    ));
});
