import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { named, StatementCache, unnamed } from '../../../../src/postgres/protocol/prepared-statement.js';

const texts = (count: number, first = 0): string[] =>
  Array.from({ length: count }, (_, index) => `SELECT ${first + index}`);

describe('StatementCache', () => {
  it('names no two texts alike, and a text always the same', () => {
    const cache = new StatementCache(named);
    const names = texts(1000).map((text) => cache.get(text).name);
    expect(new Set(names).size).to.equal(1000);
    expect(names.every((name) => /^crud_[\w-]{22}$/.test(name))).to.equal(true);
    expect(texts(1000).map((text) => cache.get(text).name)).to.deep.equal(names);
  });

  it('names nothing as another process does', () => {
    const file = require.resolve('../../../../src/postgres/protocol/prepared-statement.js');
    const print = `process.stdout.write(new (require(${JSON.stringify(file)}).PreparedStatement)('SELECT 1').name)`;
    const other = execFileSync(process.execPath, ['-e', print], { encoding: 'utf8' });
    expect(other)
      .to.match(/^crud_[\w-]{22}$/)
      .and.not.equal(new StatementCache(named).get('SELECT 1').name);
  });

  it('forgets what was not used for longest', () => {
    const cache = new StatementCache(named);
    const [first, second] = [cache.get('first'), cache.get('second')];
    for (const text of texts(198)) cache.get(text);
    expect(cache.get('first')).to.equal(first);
    cache.get('next');
    expect(cache.get('first')).to.equal(first);
    expect(cache.get('second')).to.not.equal(second);
  });

  it('gives no names where none are wanted, and forgets all the same', () => {
    const cache = new StatementCache(unnamed);
    const first = cache.get('first');
    expect(first.name).to.equal('');
    for (const text of texts(199)) cache.get(text);
    expect(cache.get('first')).to.equal(first);
    for (const text of texts(200, 500)) expect(cache.get(text).name).to.equal('');
    expect(cache.get('first')).to.not.equal(first);
  });
});
