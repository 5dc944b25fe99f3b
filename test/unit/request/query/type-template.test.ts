import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { type FilterValue, filter } from '../../../../src/declare/filter-template.js';
import { exactText, typeTemplate, valueText } from '../../../../src/request/query/rule-filters.js';
import { defineModel, infoOf } from '../../../support/offline-models.js';

const info = infoOf(
  defineModel('City', {
    name: DataTypes.STRING,
    people: DataTypes.BIGINT,
    area: DataTypes.DOUBLE,
    isCapital: DataTypes.BOOLEAN,
  }),
);
const BEYOND = 2 ** 53;

describe('typeTemplate', () => {
  for (const [label, template, message] of [
    ['an empty one', filter`  `, 'visible of City gave an empty filter; use EVERYTHING for all rows.'],
    [
      'a value that is none',
      filter`name==${Symbol('secret') as unknown as FilterValue}`,
      'visible of City gave a filter with a value that is none: name==…',
    ],
    [
      'a list within a text',
      filter`name=in=(a${['b']},${['c']}d)`,
      'visible of City gave a filter with a value that is none: name=in=(a…,…d)',
    ],
    [
      'a number that may be a rounded one',
      filter`people==${BEYOND}`,
      'visible of City gave a filter with a value that is none: people==…',
    ],
    [
      'a value of another type, without the value',
      filter`isCapital==${'secret'}`,
      "visible of City gave the filter 'isCapital==…', which is wrong: The value for 'isCapital' is none that it can have (q.type).",
    ],
  ] as const) {
    it(`refuses ${label}`, () => expect(() => typeTemplate(info, template)).to.throw(TypeError, message));
  }
});

describe('the text of a value', () => {
  it('is there for what an attribute may have', () => {
    const date = new Date('2026-01-31T08:00:00Z');
    const texts = ['a', 5, 5n, false, date].map(valueText);
    expect(texts).to.deep.equal(['a', '5', '5', 'false', '2026-01-31T08:00:00.000Z']);
  });

  it('is missing for all else', () => {
    for (const value of [null, undefined, Number.NaN, new Date(Number.NaN), {}, [], () => 1, Symbol('x')]) {
      expect(valueText(value)).to.equal(undefined);
    }
  });

  it('is missing for a number that may be a rounded one, unless the column has such', () => {
    expect(exactText(info.attributes.get('people')?.type, BEYOND)).to.equal(undefined);
    expect(exactText(undefined, BEYOND)).to.equal(undefined);
    expect(exactText(info.attributes.get('people')?.type, BEYOND - 1)).to.equal(String(BEYOND - 1));
    expect(exactText(info.attributes.get('area')?.type, BEYOND)).to.equal(String(BEYOND));
  });
});
