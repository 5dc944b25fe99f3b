import { expect } from 'chai';
import fc from 'fast-check';
import { holdsUnsafeKey, isStorableJson, withoutUnsafeKeys } from '../../../src/schema/json-value.js';

/** An object inside an object, many times over. */
function nested(depth: number, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? { inner: value } : [value];
  return value;
}

describe('keys that would change a prototype', () => {
  const unsafeKey = fc.constantFrom('__proto__', 'constructor', 'prototype');

  it('are found at any depth, as JSON.parse makes them', () =>
    fc.assert(
      fc.property(unsafeKey, fc.nat({ max: 30 }), (key, depth) => {
        const value = nested(depth, JSON.parse(`{"${key}":1}`));
        expect([holdsUnsafeKey(value), isStorableJson(value)]).to.deep.equal([true, false]);
      }),
    ));

  it('are not found where there are none', () => {
    const harmless = [null, 1, 'constructor', ['__proto__'], { proto: { toString: 1, hasOwnProperty: 2 } }];
    expect(harmless.map(holdsUnsafeKey)).to.deep.equal(harmless.map(() => false));
    expect(harmless.map(isStorableJson)).to.deep.equal(harmless.map(() => true));
  });

  it('are left out of a copy, and nothing else is', () => {
    const value = JSON.parse('{"a":[{"constructor":1,"b":null}],"__proto__":{"x":1},"toString":2}');
    expect(withoutUnsafeKeys(value)).to.deep.equal({ a: [{ b: null }], toString: 2 });
  });

  it('are looked for without recursion', () => {
    const deep = nested(200_000, { constructor: 1 });
    expect([holdsUnsafeKey(deep), isStorableJson(deep)]).to.deep.equal([true, false]);
    expect(isStorableJson(nested(200_000, 1))).to.equal(true);
  });
});

describe('isStorableJson', () => {
  it('refuses texts and keys that PostgreSQL cannot hold, wherever they are', () => {
    const values = ['\0', { a: ['\ud83d'] }, { 'a\0': 1 }, [[{ '\udc00': 1 }]]];
    expect(values.map(isStorableJson)).to.deep.equal(values.map(() => false));
  });

  it('accepts every other JSON value', () =>
    fc.assert(
      fc.property(fc.json({ stringUnit: 'grapheme' }), (json) => {
        const hasUnsafe = /"(?:__proto__|constructor|prototype)":/.test(json);
        fc.pre(!hasUnsafe && !json.includes('\\u0000'));
        expect(isStorableJson(JSON.parse(json))).to.equal(true);
      }),
    ));
});
