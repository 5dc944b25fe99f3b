import { expect } from 'chai';
import {
  named,
  Preparations,
  PreparedStatement,
  StatementCache,
} from '../../../../src/postgres/protocol/prepared-statement.js';

const preparation = (statement: PreparedStatement) => ({ statement, parsers: null, isLost: false });

describe('Preparations', () => {
  it('make room for a new name by the one that was not used for longest', () => {
    const kept = new Preparations();
    const cache = new StatementCache(named);
    const statements = Array.from({ length: 200 }, (_, index) => cache.get(`SELECT ${index}`));
    for (const statement of statements) {
      expect(kept.makeRoom([statement])).to.deep.equal([]);
      kept.add(preparation(statement));
    }
    const [first, second] = statements as [PreparedStatement, PreparedStatement];
    cache.get(first.text);
    expect(kept.makeRoom([first, new PreparedStatement('unnamed', '')])).to.deep.equal([]);
    expect(kept.makeRoom([new PreparedStatement('SELECT 200')])).to.deep.equal([second.name]);
    expect([kept.has(first.name), kept.has(second.name)]).to.deep.equal([true, false]);
  });

  it('make room for all that a query executes, and give up nothing of it', () => {
    const kept = new Preparations();
    const cache = new StatementCache(named);
    const statements = Array.from({ length: 200 }, (_, index) => cache.get(`SELECT ${index}`));
    for (const statement of statements) kept.add(preparation(statement));
    const [first, second, third] = statements as [PreparedStatement, PreparedStatement, PreparedStatement];
    const begin = new PreparedStatement('BEGIN');
    const removed = kept.makeRoom([new PreparedStatement('SELECT 200'), begin, first]);
    expect(removed).to.deep.equal([second.name, third.name]);
    expect(kept.has(first.name)).to.equal(true);
  });

  it('make room for what comes first where the statement itself is kept', () => {
    const kept = new Preparations();
    const cache = new StatementCache(named);
    const statements = Array.from({ length: 200 }, (_, index) => cache.get(`SELECT ${index}`));
    for (const statement of statements) kept.add(preparation(statement));
    const [first, second] = statements as [PreparedStatement, PreparedStatement];
    expect(kept.makeRoom([first, new PreparedStatement('BEGIN')])).to.deep.equal([second.name]);
  });

  it('never give up what belongs to no cache', () => {
    const kept = new Preparations();
    const own = new PreparedStatement('SELECT 0', 'own');
    kept.add(preparation(own));
    const cache = new StatementCache(named);
    for (let index = 0; index < 300; index += 1) {
      const statement = cache.get(`SELECT ${index}`);
      kept.makeRoom([statement]);
      kept.add(preparation(statement));
    }
    expect(kept.find(own)).to.include({ statement: own });
  });

  it('find nothing that is lost, and still know its name', () => {
    const kept = new Preparations();
    const statement = new PreparedStatement('SELECT 0', 'name');
    const known = preparation(statement);
    kept.add(known);
    expect(kept.find(statement)).to.equal(known);
    known.isLost = true;
    expect(kept.find(statement)).to.equal(undefined);
    expect(kept.has('name')).to.equal(true);
  });
});
