import { expect } from 'chai';
import { showValue } from '../../../src/util/option-problems.js';

describe('showValue', () => {
  for (const [value, expected] of [
    ['a "b"', '"a \\"b\\""'],
    ['', '""'],
    [undefined, 'undefined'],
    [null, 'null'],
    [Number.NaN, 'NaN'],
    [-0, '-0'],
    [5n, '5n'],
    [[], '[]'],
    [{ deep: { deeper: 1 } }, '{ deep: [Object] }'],
    [class Guard {}, '[class Guard]'],
  ] as const) {
    it(`shows ${expected}`, () => expect(showValue(value)).to.equal(expected));
  }

  it('cuts what is long', () => {
    const shown = showValue(
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key${index}`, index])),
    );
    expect(shown)
      .to.match(/^\{ key0: 0, key1: 1.*…$/)
      .and.to.have.length(81);
  });

  it("runs none of the value's own code", () => {
    const hostile = {
      get trap(): never {
        throw new Error('getter');
      },
      [Symbol.for('nodejs.util.inspect.custom')]: () => {
        throw new Error('inspect');
      },
      toJSON: () => {
        throw new Error('toJSON');
      },
    };
    expect(showValue(hostile)).to.match(/^\{ trap: \[Getter\]/);
  });
});
