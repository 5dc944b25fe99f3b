/** What is wrong with `can` and `fields`. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { DataTypes } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { attach, defineModel, planOf, problemsOf } from '../../support/offline-models.js';

const City = defineModel('City', { name: DataTypes.TEXT, size: DataTypes.INTEGER });
const rule = () => true;

class Shown {
  name = '';
}

const WRONG: Readonly<Record<string, readonly [options: object, problem: RegExp]>> = {
  'a rule that is undefined': [
    { can: undefined },
    /^City: can is undefined; give it a value, or leave it out\.$/,
  ],
  'rules that are null': [{ can: null }, /^City: can is null; give it a value, or leave it out\.$/],
  'fields that are undefined': [{ fields: undefined }, /^City: fields is undefined;/],
  'a list of rules': [{ can: [rule] }, /^City: can /],
  'a map of rules': [{ fields: new Map([['name', { read: rule }]]) }, /^City: fields /],
  'an operation that there is none': [
    { can: { remove: rule } },
    /^City: can names 'remove', which is no operation;/,
  ],
  'an endpoint that other rules decide about': [
    { can: { restore: rule } },
    /^City: can names 'restore', which has no rule of its own; use update and deleted\.$/,
  ],
  'an operation that is undefined': [{ can: { list: undefined } }, /^City: can\.list is undefined;/],
  'an operation with a word': [
    { can: { list: 'yes' } },
    /^City: can\.list is "yes"; use a function of the request/,
  ],
  'an attribute that there is none': [
    { fields: { nam: { read: rule } } },
    /^City: fields names 'nam', which is not an attribute\. Did you mean 'name'\?/,
  ],
  'an attribute with a function': [{ fields: { name: rule } }, /^City: fields\.name is /],
  'an attribute with a list': [{ fields: { name: [rule] } }, /^City: fields\.name /],
  'an attribute with another rule': [
    { fields: { name: { reed: rule } } },
    /^City: fields\.name has no 'reed';/,
  ],
  'a rule of an attribute that is undefined': [
    { fields: { name: { read: undefined } } },
    /^City: fields\.name\.read is undefined;/,
  ],
  'the primary key': [{ fields: { id: { read: rule } } }, /^City: fields\.id\.read is about the primary key/],
  'the default order': [
    { fields: { size: { read: rule } }, defaultSort: 'size' },
    /^City: defaultSort names 'size', which not every request may read/,
  ],
  'a read schema': [
    { fields: { size: { read: rule } }, readSchema: Shown },
    /^City: fields has a rule for reading size, and readSchema decides what leaves; use one of the two\.$/,
  ],
};

describe('can and fields', () => {
  for (const [name, [options, problem]] of Object.entries(WRONG)) {
    it(`are refused with ${name}`, () => {
      expect(problemsOf(City, options).some((each) => problem.test(each))).to.equal(
        true,
        String(problemsOf(City, options)),
      );
    });
  }

  it('are refused for what is hidden from everybody', () => {
    @Table({ timestamps: false })
    class User extends Model {
      @Exclude({ toPlainOnly: true }) @Column(DataType.STRING) declare secret: string;
    }
    expect(problemsOf(attach(User), { fields: { secret: { read: rule } } })).to.deep.equal([
      'User: fields.secret.read is about an attribute that @Exclude() hides from everybody; remove one of the two.',
    ]);
    expect(
      planOf(attach(User), { fields: { secret: { write: rule } } }).access?.fields.get('secret'),
    ).to.deep.equal({
      read: null,
      create: rule,
      update: rule,
    });
  });

  it('may be about writing only where there is a read schema', () => {
    expect(planOf(City, { fields: { size: { update: false } } }).access?.fields.get('size')).to.deep.equal({
      read: null,
      create: null,
      update: false,
    });
    expect(planOf(City, {}).access).to.equal(null);
  });
});
