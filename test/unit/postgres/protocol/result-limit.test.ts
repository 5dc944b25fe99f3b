/** The budget of memory after results of any sizes: nothing is lost of it, and it is never overdrawn by results. */
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { array, assert, boolean, nat, property, record } from 'fast-check';
import { CountedValues, MAX_RESULT, ResultBytes } from '../../../../src/postgres/protocol/result-limit.js';
import { BUDGET, isWithin, takeBytes } from '../../../../src/util/memory-budget.js';

describe('the bytes of results', () => {
  it('take no more than the budget, and give all of it back', () => {
    const result = record({
      pieces: array(nat(MAX_RESULT), { maxLength: 4 }),
      isKept: boolean(),
      isAnswered: boolean(),
    });
    assert(
      property(array(array(result, { maxLength: 5 }), { maxLength: 4 }), (queries) => {
        const all = queries.map((results) => ({ results, bytes: new ResultBytes(MAX_RESULT) }));
        for (const { results, bytes } of all) {
          for (const { pieces, isKept, isAnswered } of results) {
            let size = 0;
            for (const piece of pieces) {
              size += piece;
              const refusal = bytes.add(piece);
              if (size > MAX_RESULT) expect(refusal).to.be.an('error');
              if (refusal) break;
            }
            expect(isWithin(0)).to.equal(true);
            if (isAnswered) bytes.end();
            else bytes.next(isKept);
          }
        }
        for (const { bytes } of all) bytes.end();
        expect(isWithin(BUDGET)).to.equal(true);
      }),
    );
  });

  it('are refused beside others, and not alone', () => {
    const [first, second] = [new ResultBytes(MAX_RESULT), new ResultBytes(MAX_RESULT)];
    takeBytes(BUDGET - 4 * MAX_RESULT);
    try {
      expect(first.add(MAX_RESULT)).to.equal(null);
      expect(second.add(300_000)).to.include({ code: '54Z02' });
      first.end();
      expect(second.add(MAX_RESULT - 300_000)).to.equal(null);
      second.end();
    } finally {
      takeBytes(4 * MAX_RESULT - BUDGET);
    }
  });

  it('are counted result by result in a long transaction, whose results nobody keeps', () => {
    const bytes = new ResultBytes();
    for (let results = 0; results < 100; results += 1) {
      expect(bytes.add(MAX_RESULT)).to.equal(null);
      bytes.next(false);
    }
    bytes.end();
    expect(isWithin(BUDGET)).to.equal(true);
  });

  it('are refused where the values of few bytes need much memory', () => {
    const bytes = new ResultBytes();
    expect(bytes.add(300_000, BUDGET)).to.include({ code: '54Z01' });
    bytes.end();
  });

  it('of Sequelize are counted until no transaction is open, and the end of no other query is awaited', () => {
    const connection = new EventEmitter();
    const values = new CountedValues({ connection, getTypeParser: () => String });
    const read = (): void => {
      const { types } = values.count('SELECT 1') as { types: { getTypeParser(oid: number): typeof String } };
      types.getTypeParser(25)('x'.repeat(300_000));
    };
    const steps = [read, 'T', read, 'I', read, 'I'].map((step) => {
      if (typeof step === 'string') connection.emit('readyForQuery', { status: step });
      else step();
      return [isWithin(BUDGET), connection.listenerCount('readyForQuery')];
    });
    const [counted, free] = [
      [false, 1],
      [true, 0],
    ];
    expect(steps).to.deep.equal([counted, counted, counted, free, counted, free]);
  });
});
