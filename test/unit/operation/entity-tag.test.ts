import { expect } from 'chai';
import type { EntityTagPlan } from '../../../src/compile/resource-plan.js';
import { readStates } from '../../../src/features/entity-tag.js';

const VERSION: EntityTagPlan = { kind: 'version', attribute: 'version', maximum: 2n ** 31n - 1n };
const XMIN: EntityTagPlan = { kind: 'xmin', attribute: 'xmin', maximum: 2n ** 32n - 1n };

describe('an entity tag', () => {
  for (const [header, version, xmin] of [
    ['*', null, null],
    [' * ', null, null],
    ['"7"', ['7'], []],
    ['"x7"', [], ['7']],
    ['W/"7"', ['7'], []],
    ['"7.abc"', ['7'], []],
    ['"7.a.b"', ['7'], []],
    ['"0", "7" ,\t"x8"', ['0', '7'], ['8']],
    ['"7","7", "7.a"', ['7'], []],
    ['"2147483647", "2147483648"', ['2147483647'], []],
    ['"x4294967295", "x4294967296"', [], ['4294967295']],
    ['"07", "7x", "-7", "X7", "", "7e1", "y7"', [], []],
    ['"99999999999999999999"', [], []],
    ['"7",', ['7'], []],
    ['', undefined, undefined],
    [' ', undefined, undefined],
    ['7', undefined, undefined],
    ['"7" "8"', undefined, undefined],
    ['"7', undefined, undefined],
    ['w/"7"', undefined, undefined],
    ['"7", *', undefined, undefined],
    ['"a b"', undefined, undefined],
    ['"null", "null.a", "7"', ['null', '7'], []],
    ['"none", "NULL", ""', [], []],
    [',"7"', undefined, undefined],
  ] as const) {
    it(`is read of ${JSON.stringify(header)}`, () => {
      expect(readStates(VERSION, header)).to.deep.equal(version);
      expect(readStates(XMIN, header)).to.deep.equal(xmin);
    });
  }
});
