import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { Column, DataType, ForeignKey, HasMany, HasOne, Model, Table } from 'sequelize-typescript';
import { compilePlan } from '../../../src/compile/compile-plan.js';
import type { CrudOptions, ModelClass } from '../../../src/declare/crud-options.js';
import {
  attach,
  decoratorReader,
  defineModel,
  planOf,
  problemsOf,
  problemsOfAll,
} from '../../support/offline-models.js';

const City = defineModel('City', { name: DataTypes.STRING });
const ALL = ['exact', 'capped', 'none'];

@Table({ timestamps: false })
class Land extends Model {
  @HasOne(() => Town, { as: 'capital', foreignKey: 'landId' }) declare capital?: Model;
  @HasMany(() => Town, { as: 'towns', foreignKey: 'landId' }) declare towns?: Model[];
}

@Table({ timestamps: false })
class Town extends Model {
  @ForeignKey(() => Land) @Column(DataType.INTEGER) declare landId: number;
}
attach(Land, Town);

describe('the option count', () => {
  it('is off by default', () => expect(planOf(City).count).to.equal(null));

  for (const [label, options, expected] of [
    ['counts exactly by number', { count: true }, {}],
    ['counts exactly by number, too, where it is empty', { count: {} }, {}],
    ['counts nothing by cursor', { count: {}, pagination: 'cursor' }, { default: 'none' }],
    ['has a cap', { count: { default: 'capped', cap: 1 } }, { default: 'capped', cap: 1 }],
    [
      'does the first that is allowed where the usual one is not',
      { count: { allow: ['none', 'capped', 'none'] } },
      { default: 'none', allow: ['none', 'capped'] },
    ],
    [
      'does by cursor what alone is allowed',
      { count: { allow: ['exact'] }, pagination: 'cursor' },
      { allow: ['exact'] },
    ],
  ] as const) {
    it(label, () => {
      const usual = { default: 'exact', allow: ALL, cap: 10_000 };
      expect(planOf(City, options).count).to.deep.equal({ ...usual, ...expected });
    });
  }

  const MODE = "use one of 'exact', 'capped', 'none'.";
  const OBJECT = "use true, or an object such as { default: 'capped', cap: 10_000 }.";
  for (const [count, ...problems] of [
    ['exact', ` is "exact"; ${OBJECT}`],
    [false, ` is false; ${OBJECT}`],
    [{ max: 5 }, " has no option 'max'. The options are default, allow, cap."],
    [
      { default: 'cappd', allow: ['exakt', 'capped'] },
      `.allow has "exakt"; ${MODE} Did you mean 'exact'?`,
      `.default is "cappd"; ${MODE} Did you mean 'capped'?`,
    ],
    [{ allow: ['exat'] }, `.allow has "exat"; ${MODE} Did you mean 'exact'?`],
    [
      { default: 'exact', allow: ['none'] },
      ".default is 'exact', which its allow leaves out; add it there, or choose another default.",
    ],
    [{ allow: [] }, ".allow is []; use a list of some of 'exact', 'capped', 'none'."],
    [{ cap: 0 }, '.cap is 0; use an integer from 1.'],
    [{ cap: 2.5 }, '.cap is 2.5; use an integer from 1.'],
    [{ cap: '5' }, '.cap is "5"; use an integer from 1.'],
  ] as const) {
    it(`is refused: count${problems.join()}`, () => {
      const expected = problems.map((problem) => `City: count${problem}`);
      expect(problemsOf(City, { count })).to.deep.equal(expected);
    });
  }
});

describe('the option count of a relation', () => {
  const declared = (include: object) => [{ model: Land as ModelClass, options: { include } as CrudOptions }];
  const compile = (include: object) => compilePlan(declared(include), decoratorReader);

  it('is off by default, and counts nothing unless it is asked to', () => {
    const [plan] = compile({ towns: true });
    expect(plan?.relations.include.get('towns')?.count).to.equal(null);
    const [counted] = compile({ towns: { count: true } });
    const expected = { default: 'none', allow: ALL, cap: 10_000 };
    expect(counted?.relations.include.get('towns')?.count).to.deep.equal(expected);
  });

  it('is checked as that of a list, and refused of a relation to one', () => {
    const include = { capital: { count: true }, towns: { count: { cap: -1 } } };
    expect(problemsOfAll(declared(include))).to.deep.equal([
      'Land: include.capital.count is about a relation to one record; remove it.',
      'Land: include.towns.count.cap is -1; use an integer from 1.',
    ]);
  });
});
