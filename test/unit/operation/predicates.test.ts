import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import {
  aliveRows,
  allOf,
  bindTexts,
  equalTo,
  isOuterValue,
  rowsAsked,
  scopedRows,
  valueAsked,
} from '../../../src/operation/predicates.js';
import type { Deleted } from '../../../src/request/query/list-query.js';
import type { Predicate, RelatedFilter, Value } from '../../../src/request/query/predicate.js';
import { defineModel, infoOf } from '../../support/offline-models.js';

const City = infoOf(defineModel('City', { name: DataTypes.STRING }));
const File = infoOf(defineModel('File', { name: DataTypes.STRING }, { timestamps: true, paranoid: true }));
const ONE = equalTo('id', '1');
const TWO = equalTo('name', { slot: 'name' });

describe('a predicate', () => {
  it('is all of those that are there', () => {
    expect(allOf(null)).to.equal(null);
    expect(allOf(null, ONE, null)).to.equal(ONE);
    expect(allOf(ONE, null, TWO)).to.deep.equal({ kind: 'and', operands: [ONE, TWO] });
  });

  it('is frozen, and so are its parts', () => {
    for (const each of [ONE, ONE.values, allOf(ONE, TWO), aliveRows(File), rowsAsked(File, 'only')]) {
      expect(each).to.be.frozen;
    }
  });

  it('finds the rows that are alive, those that are not, or both', () => {
    const alive = { kind: 'comparison', attribute: 'deletedAt', operator: '=isnull=', values: ['true'] };
    expect(aliveRows(File)).to.deep.equal(alive);
    expect(rowsAsked(File)).to.deep.equal(alive);
    expect(rowsAsked(File, 'only')).to.deep.equal({ ...alive, values: ['false'] });
    expect(rowsAsked(File, 'with')).to.equal(null);
    expect(() => rowsAsked(File, 'all' as Deleted)).to.throw(RangeError, 'deleted is "all"');
  });

  it('finds all rows of a model without soft deletion, and refuses to be asked for others', () => {
    expect(aliveRows(City)).to.equal(null);
    expect(rowsAsked(City)).to.equal(null);
    for (const deleted of ['only', 'with'] as const) {
      expect(() => rowsAsked(City, deleted)).to.throw(TypeError, 'City is not paranoid');
    }
  });

  it('has the condition of a default scope, where it has one', () => {
    const scoped = defineModel(
      'Scoped',
      { name: DataTypes.STRING },
      { defaultScope: { where: { name: 'a' } } },
    );
    expect(scopedRows(City)).to.equal(null);
    expect(scopedRows(infoOf(scoped))).to.deep.include({ kind: 'written' }).and.to.be.frozen;
  });

  it('tells the one value that an attribute has in all its rows', () => {
    const either: Predicate = { kind: 'or', operands: [ONE, TWO] };
    const several: Predicate = { kind: 'comparison', attribute: 'id', operator: '=in=', values: ['1'] };
    expect(valueAsked(ONE, 'id')).to.equal('1');
    expect(valueAsked(ONE, 'name')).to.equal(undefined);
    expect(valueAsked(several, 'id')).to.equal(undefined);
    expect(valueAsked(either, 'id')).to.equal(undefined);
    expect(valueAsked(allOf(several, allOf(ONE, TWO)), 'name')).to.deep.equal({ slot: 'name' });
    expect(valueAsked(allOf(TWO, several), 'id')).to.equal(undefined);
  });

  it('is given the texts of its slots, those inside of others too', () => {
    const exists = (value: RelatedFilter<Value>['value'], where: Predicate | null): RelatedFilter<Value> => ({
      kind: 'exists',
      target: City,
      key: 'id',
      value,
      where,
    });
    const outer = { attribute: 'cityId' };
    const written: Predicate = { kind: 'written', target: City, text: 'true' };
    const slots = { name: 'Lyon', id: '7' };
    expect(bindTexts(allOf(ONE, TWO, written), slots)).to.deep.equal({
      kind: 'and',
      operands: [ONE, equalTo('name', 'Lyon'), written],
    });
    expect(bindTexts(exists(outer, TWO), slots)).to.deep.equal(exists(outer, equalTo('name', 'Lyon')));
    expect(bindTexts(exists({ slot: 'id' }, null), slots)).to.deep.equal(exists('7', null));
    expect(() => bindTexts(TWO, {})).to.throw(
      TypeError,
      'Nothing has given a text for a slot of comparison.',
    );
    expect([outer, { slot: 'id' }, '7'].map(isOuterValue)).to.deep.equal([true, false, false]);
  });
});
