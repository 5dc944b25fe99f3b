/** Wrong `can` and `fields`. */
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

const WRONG: readonly (readonly [options: object, problem: RegExp])[] = [
  [{ can: undefined }, /^City: can is undefined; give it a value, or leave it out\.$/],
  [{ can: null }, /^City: can is null; give it a value, or leave it out\.$/],
  [{ fields: undefined }, /^City: fields is undefined;/],
  [{ can: [rule] }, /^City: can /],
  [{ fields: new Map([['name', { read: rule }]]) }, /^City: fields /],
  [{ can: { remove: rule } }, /^City: can names 'remove', which is no operation;/],
  [
    { can: { restore: rule } },
    /^City: can names 'restore', which has no rule of its own; use update and deleted\.$/,
  ],
  [{ can: { list: undefined } }, /^City: can\.list is undefined;/],
  [{ can: { list: 'yes' } }, /^City: can\.list is "yes"; use a function of the request/],
  [
    { fields: { nam: { read: rule } } },
    /^City: fields names 'nam', which is not an attribute\. Did you mean 'name'\?/,
  ],
  [{ fields: { name: rule } }, /^City: fields\.name is /],
  [{ fields: { name: [rule] } }, /^City: fields\.name /],
  [{ fields: { name: { reed: rule } } }, /^City: fields\.name has no 'reed';/],
  [{ fields: { name: { read: undefined } } }, /^City: fields\.name\.read is undefined;/],
  [{ fields: { id: { read: rule } } }, /^City: fields\.id\.read is about the primary key/],
  [
    { fields: { size: { read: rule } }, defaultSort: 'size' },
    /^City: defaultSort names 'size', which not every request may read/,
  ],
  [
    { fields: { size: { read: rule } }, readSchema: Shown },
    /^City: fields has a rule for reading size, and readSchema decides what leaves; use one of the two\.$/,
  ],
];

describe('can and fields', () => {
  for (const [options, problem] of WRONG) {
    it(`are refused: ${problem}`, () => {
      expect(problemsOf(City, options).join('\n')).to.match(new RegExp(problem.source, 'm'));
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
    const { access } = planOf(attach(User), { fields: { secret: { write: rule } } });
    expect(access?.fields.get('secret')).to.deep.equal({ read: null, create: rule, update: rule });
  });

  it('are refused where a virtual attribute without a rule is made of one that has a rule', () => {
    @Table({ timestamps: false })
    class Clerk extends Model {
      @Column(DataType.INTEGER) declare wage: number;
      @Column(DataType.VIRTUAL(DataType.TEXT, ['wage'])) declare shownWage: string;
      @Column(DataType.VIRTUAL(DataType.TEXT, ['shownWage'])) declare badge: string;
    }
    const of = (fields: object) => problemsOf(attach(Clerk), { fields });
    const problem = (source: string, name: string) =>
      `Clerk: fields has a rule for reading '${source}', and the virtual attribute '${name}' is made of it; give fields.${name}.read a rule, too.`;
    expect(of({ wage: { read: rule } })).to.deep.equal([problem('wage', 'shownWage')]);
    const both = { wage: { read: rule }, shownWage: { read: rule } };
    expect(of(both)).to.deep.equal([problem('shownWage', 'badge')]);
    expect(of({ ...both, badge: { read: true } })).to.deep.equal([]);
    expect(of({ wage: { write: rule } })).to.deep.equal([]);
  });

  it('may be about writing only where there is a read schema', () => {
    const { access } = planOf(City, { fields: { size: { update: false } } });
    expect(access?.fields.get('size')).to.deep.equal({ read: null, create: null, update: false });
    expect(planOf(City, {}).access).to.equal(null);
  });
});
