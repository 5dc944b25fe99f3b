import { expect } from 'chai';
import {
  canonicalOperator,
  isComparable,
  operatorSpellings,
  operatorsOf,
} from '../../../src/compile/filter-operators.js';
import { FILTER_OPERATORS } from '../../../src/declare/filter-operators.js';
import type { ColumnType } from '../../../src/describe/column-type.js';

const EQUALITY = ['==', '!=', '=in=', '=out=', '=isnull='];
const ORDER = ['=lt=', '=le=', '=gt=', '=ge=', '=between=', '=notbetween='];
const PATTERN = ['=like=', '=notlike=', '=ilike=', '=inotlike='];

const ARRAY = ['=contains=', '=overlaps=', '=isempty=', '=isnull='];

const array = (element: ColumnType): ColumnType => ({ kind: 'array', element });
const TYPES: readonly (readonly [type: ColumnType, operators: readonly string[], comparable: boolean])[] = [
  [{ kind: 'string', maxLength: null }, [...EQUALITY, ...ORDER, ...PATTERN], true],
  [{ kind: 'integer', minimum: -1, maximum: 1 }, [...EQUALITY, ...ORDER], true],
  [{ kind: 'bigint' }, [...EQUALITY, ...ORDER], true],
  [{ kind: 'decimal', precision: null, scale: null }, [...EQUALITY, ...ORDER], true],
  [{ kind: 'float', maximum: 1 }, [...EQUALITY, ...ORDER], true],
  [{ kind: 'date' }, [...EQUALITY, ...ORDER], true],
  [{ kind: 'dateonly' }, [...EQUALITY, ...ORDER], true],
  [{ kind: 'time' }, [...EQUALITY, ...ORDER], true],
  [{ kind: 'boolean' }, EQUALITY, true],
  [{ kind: 'uuid' }, EQUALITY, true],
  [{ kind: 'enum', values: ['a'] }, EQUALITY, true],
  [{ kind: 'json' }, ['=isnull='], false],
  [array({ kind: 'string', maxLength: 5 }), ARRAY, false],
  [array({ kind: 'enum', values: ['a'] }), ARRAY, false],
  [array({ kind: 'json' }), ['=isnull='], false],
  [array({ kind: 'blob' }), ['=isnull='], false],
  [array(array({ kind: 'uuid' })), ['=isnull='], false],
  [{ kind: 'blob' }, ['=isnull='], false],
  [{ kind: 'virtual' }, [], false],
  [{ kind: 'other', sqlType: 'inet' }, ['=isnull='], false],
];

describe('operatorsOf and isComparable', () => {
  for (const [type, operators, comparable] of TYPES) {
    it(`know what a column of ${JSON.stringify(type)} can do`, () => {
      expect([operatorsOf(type), isComparable(type)]).to.deep.equal([operators, comparable]);
    });
  }
});

describe('canonicalOperator', () => {
  it('knows every canonical name', () => {
    expect(FILTER_OPERATORS.map(canonicalOperator)).to.deep.equal(FILTER_OPERATORS);
  });

  it('knows the short spellings', () => {
    expect(['<', '<=', '>', '>='].map(canonicalOperator)).to.deep.equal(['=lt=', '=le=', '=gt=', '=ge=']);
    const words = ['=bt=', '=nb=', '=ke=', '=nk=', '=ik=', '=ni=', '=null='];
    expect(words.map(canonicalOperator)).to.deep.equal([
      '=between=',
      '=notbetween=',
      '=like=',
      '=notlike=',
      '=ilike=',
      '=inotlike=',
      '=isnull=',
    ]);
  });

  it('knows nothing else', () => {
    const others = ['', '=', '=LT=', '=eq=', 'toString', '__proto__'];
    expect(others.map(canonicalOperator)).to.deep.equal(others.map(() => undefined));
  });
});

describe('operatorSpellings', () => {
  it('lists every spelling', () => {
    expect(operatorSpellings()).to.have.members([
      ...FILTER_OPERATORS,
      '<',
      '<=',
      '>',
      '>=',
      '=bt=',
      '=nb=',
      '=ke=',
      '=nk=',
      '=ik=',
      '=ni=',
      '=null=',
    ]);
  });
});
