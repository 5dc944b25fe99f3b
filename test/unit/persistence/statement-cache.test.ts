import { expect } from 'chai';
import { StatementCache } from '../../../src/persistence/statement-cache.js';

const texts = (count: number, first = 0): string[] =>
  Array.from({ length: count }, (_, index) => `SELECT ${first + index}`);

describe('StatementCache', () => {
  it('gives the same statement for the same text', () => {
    const cache = new StatementCache(true);
    expect(cache.get('SELECT 1')).to.equal(cache.get('SELECT 1'));
    expect(cache.get('SELECT 1').text).to.equal('SELECT 1');
  });

  it('has 200 names, each of one statement at a time', () => {
    const cache = new StatementCache(true);
    for (const text of texts(1000)) cache.get(text);
    const kept = texts(200, 800).map((text) => cache.get(text).name);
    expect(new Set(kept).size).to.equal(200);
    expect(kept.every((name) => /^crud_1?\d?\d$/.test(name))).to.equal(true);
  });

  it('forgets what was not used for longest', () => {
    const cache = new StatementCache(true);
    const [first, second] = [cache.get('first'), cache.get('second')];
    for (const text of texts(198)) cache.get(text);
    expect(cache.get('first')).to.equal(first);
    const next = cache.get('next');
    expect(next.name).to.equal(second.name);
    expect(cache.get('first')).to.equal(first);
    expect(cache.get('second')).to.not.equal(second);
  });

  it('gives no names where none are wanted, and forgets all the same', () => {
    const cache = new StatementCache(false);
    const first = cache.get('first');
    expect(first.name).to.equal('');
    for (const text of texts(199)) cache.get(text);
    expect(cache.get('first')).to.equal(first);
    for (const text of texts(200, 500)) expect(cache.get(text).name).to.equal('');
    expect(cache.get('first')).to.not.equal(first);
  });
});
