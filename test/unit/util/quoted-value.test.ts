import { expect } from 'chai';
import fc from 'fast-check';
import { quotesValue } from '../../../src/util/quoted-value.js';

describe('quotesValue', () => {
  for (const [message, value] of [
    ['hunter22 is too weak', 'hunter22'],
    ['my-hunter22! is too weak', 'hunter22'],
    ['123456 is too weak', 123456],
    ['cvv 123 is wrong', '123'],
    ['cvv 123 is wrong', 123],
    ['9007199254740993 is wrong', 9007199254740993n],
    ['hunter22 is in it', { user: { password: ['x', 'hunter22'] } }],
    ['hunter22 is a wrong key', { hunter22: 1 }],
    ['1970-01-01T00:00:00.000Z is too early', new Date(0)],
    ['AQID is not a picture', Buffer.from([1, 2, 3])],
    ['hello is not a picture', Buffer.from('hello')],
  ] as const) {
    it(`finds it in "${message}"`, () => expect(quotesValue(message, value)).to.equal(true));
  }

  for (const [message, value] of [
    ['title must be a string', 'hunter22'],
    ['title must be longer', 'on'],
    ['title must be at least 10 long', 1],
    ['title must be at least 10 long', ''],
    ['title must be given', undefined],
    ['title must not be null', null],
    ['title must be true', true],
    ['title must be a string', {}],
    ['tags has too many', ['hunter22', { deep: 1 }]],
    ['1000 is the most', Array.from({ length: 1500 }, () => 'x')],
  ] as const) {
    it(`finds nothing in "${message}"`, () => expect(quotesValue(message, value)).to.equal(false));
  }

  it('finds every text and number that a template puts between words', () => {
    const value = fc.oneof(fc.stringMatching(/^[a-z0-9]{1,30}$/), fc.integer());
    fc.assert(
      fc.property(value, (quoted) => {
        expect(quotesValue(`The value ${quoted} is wrong`, quoted)).to.equal(true);
      }),
    );
  });

  it('finds what String.replace expands when a template is filled in', () => {
    for (const pattern of ['$&', '$$', "$'", '$`', '$1']) {
      const value = `secret-one${pattern}secret-two`;
      expect(quotesValue('$value is wrong'.replace(/\$value/g, value), value)).to.equal(true);
    }
  });

  it('looks into values of any depth and size', () => {
    let deep: unknown = 'hunter22';
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    expect(quotesValue('hunter22 is wrong', deep)).to.equal(true);
    expect(
      quotesValue(
        'It is wrong',
        Array.from({ length: 300_000 }, () => 'hunter22'),
      ),
    ).to.equal(false);
  });
});
