import { expect } from 'chai';
import type { EntityTagPlan } from '../../../src/compile/resource-plan.js';
import {
  alreadyThere,
  changedMeanwhile,
  entityTag,
  inState,
  notThere,
  readStates,
} from '../../../src/operation/entity-tag.js';

const VERSION: EntityTagPlan = { kind: 'version', attribute: 'version', maximum: 2n ** 31n - 1n };
const XMIN: EntityTagPlan = { kind: 'xmin', attribute: 'xmin', maximum: 2n ** 32n - 1n };

describe('an entity tag', () => {
  it('names the state, and what tells answers about it apart', () => {
    expect(entityTag(VERSION, '7')).to.equal('"7"');
    expect(entityTag(VERSION, '7', 'abc')).to.equal('"7.abc"');
    expect(entityTag(XMIN, '7')).to.equal('"x7"');
  });

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

  it('is a condition on the row', () => {
    const condition = { kind: 'comparison', attribute: 'version' };
    expect(inState(VERSION, null)).to.equal(null);
    expect(inState(VERSION, ['7'])).to.deep.equal({ ...condition, operator: '==', values: ['7'] });
    expect(inState(VERSION, ['7', '8'])).to.deep.equal({
      ...condition,
      operator: '=in=',
      values: ['7', '8'],
    });
    const none = { ...condition, operator: '=isnull=', values: ['true'] };
    expect(inState(VERSION, ['null'])).to.deep.equal(none);
    expect(inState(VERSION, ['null', '7'])).to.deep.equal({
      kind: 'or',
      operands: [none, { ...condition, operator: '==', values: ['7'] }],
    });
    // Tags of no state are those of no row, also of one without a version.
    expect(inState(VERSION, [])).to.deep.equal({ ...condition, operator: '=in=', values: [] });
  });

  it('is told with a refusal, where there is one', () => {
    const tagged = { name: 'City', entityTag: XMIN };
    expect(changedMeanwhile(tagged, '7')).to.deep.include({ status: 412, headers: { ETag: '"x7"' } });
    expect(alreadyThere(tagged, '7')).to.deep.include({ status: 412, headers: { ETag: '"x7"' } });
    expect(changedMeanwhile({ ...tagged, entityTag: VERSION }, null)).to.deep.include({
      headers: { ETag: '"null"' },
    });
    expect(alreadyThere(tagged, null)).to.deep.include({ status: 412, headers: {} });
    expect(alreadyThere({ ...tagged, entityTag: null }, '7')).to.deep.include({ status: 412, headers: {} });
    expect(notThere(tagged)).to.deep.include({ status: 412, headers: {} });
  });
});
