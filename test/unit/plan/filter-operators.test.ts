import { expect } from 'chai';
import { FILTER_OPERATORS } from '../../../src/metadata/crud-options.js';
import type { ColumnKind } from '../../../src/model/column-type.js';
import {
  canonicalOperator,
  isSortable,
  operatorSpellings,
  operatorsOf,
} from '../../../src/plan/filter-operators.js';

const EQUALITY = ['==', '!=', '=in=', '=out=', '=isnull='];
const ORDER = ['=lt=', '=le=', '=gt=', '=ge=', '=between=', '=notbetween='];
const PATTERN = ['=like=', '=notlike=', '=ilike=', '=inotlike='];

const KINDS: Readonly<Record<ColumnKind, { operators: readonly string[]; sortable: boolean }>> = {
  string: { operators: [...EQUALITY, ...ORDER, ...PATTERN], sortable: true },
  integer: { operators: [...EQUALITY, ...ORDER], sortable: true },
  bigint: { operators: [...EQUALITY, ...ORDER], sortable: true },
  decimal: { operators: [...EQUALITY, ...ORDER], sortable: true },
  float: { operators: [...EQUALITY, ...ORDER], sortable: true },
  date: { operators: [...EQUALITY, ...ORDER], sortable: true },
  dateonly: { operators: [...EQUALITY, ...ORDER], sortable: true },
  time: { operators: [...EQUALITY, ...ORDER], sortable: true },
  boolean: { operators: EQUALITY, sortable: true },
  uuid: { operators: EQUALITY, sortable: true },
  enum: { operators: EQUALITY, sortable: true },
  json: { operators: ['=isnull='], sortable: false },
  array: { operators: ['=isnull='], sortable: false },
  blob: { operators: [], sortable: false },
  virtual: { operators: [], sortable: false },
  other: { operators: [], sortable: false },
};

describe('operatorsOf and isSortable', () => {
  for (const [kind, expected] of Object.entries(KINDS)) {
    it(`know what a column of kind ${kind} can do`, () => {
      const known = kind as ColumnKind;
      expect({ operators: operatorsOf(known), sortable: isSortable(known) }).to.deep.equal(expected);
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
    expect(operatorSpellings()).to.deep.equal([
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
