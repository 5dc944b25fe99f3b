import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { DataTypes } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { BULK_ENDPOINTS, ENDPOINTS, PAST_ENDPOINTS } from '../../../src/declare/endpoint.js';
import { FILTER_OPERATORS } from '../../../src/declare/filter-operators.js';
import { attach, defineModel, planOf, problemsOf } from '../../support/offline-models.js';

const ALL_ENDPOINTS = [...ENDPOINTS, ...BULK_ENDPOINTS, ...PAST_ENDPOINTS, 'changes']
  .map((name) => `'${name}'`)
  .join(', ');

const City = defineModel('City', {
  name: DataTypes.STRING,
  population: DataTypes.INTEGER,
  isCapital: DataTypes.BOOLEAN,
  founded: DataTypes.DATEONLY,
  elevation: DataTypes.FLOAT,
  area: DataTypes.DECIMAL,
  tags: DataTypes.ARRAY(DataTypes.STRING),
  details: DataTypes.JSONB,
  source: DataTypes.JSON,
  flag: DataTypes.BLOB,
  label: DataTypes.VIRTUAL,
  address: DataTypes.INET,
});
const ATTRIBUTES =
  'id, name, population, isCapital, founded, elevation, area, tags, details, source, flag, label, address';

@Table({ timestamps: false })
class User extends Model {
  @Column(DataType.STRING) declare email: string;
  @Exclude() @Column(DataType.STRING) declare passwordHash: string;
}
attach(User);

const hidden = (option: string) =>
  `User: ${option} names 'passwordHash', which @Exclude() hides from answers; remove it, or its values can be guessed by comparing.`;

describe('the options etag and ifMatch', () => {
  const VersionedCity = defineModel('VersionedCity', { name: DataTypes.STRING }, { version: true });

  it('[T8] are the version where the model has one, and no condition', () => {
    expect(planOf(VersionedCity)).to.deep.include({
      entityTag: { kind: 'version', attribute: 'version', maximum: 2_147_483_647n },
      ifMatch: 'optional',
    });
    expect(planOf(City).entityTag).to.equal(null);
    expect(planOf(VersionedCity, { etag: false }).entityTag).to.equal(null);
    expect(planOf(City, { etag: 'xmin', ifMatch: 'required' })).to.deep.include({ ifMatch: 'required' });
  });

  it('report what they cannot be, and what the model lacks for them', () => {
    expect(problemsOf(City, { etag: 'version' })).to.deep.equal([
      "City: etag is 'version', and the model has none; give its @Table version: true, or use 'xmin'.",
    ]);
    expect(problemsOf(City, { ifMatch: 'required' })).to.deep.equal([
      "City: ifMatch is 'required', and the records have no tags; give its @Table version: true, or use etag: 'xmin'.",
    ]);
    const Box = defineModel('Box', { xmin: { type: DataTypes.INTEGER, field: 'x_min' } });
    expect(problemsOf(Box, { etag: 'xmin' })).to.deep.equal([
      "Box: etag is 'xmin', and the model has an attribute of this name, whose values would be the tags; rename the attribute (its column " +
        "keeps its name with @Column({ field: 'x_min' })).",
    ]);
    expect(problemsOf(Box)).to.deep.equal([]);
    expect(problemsOf(City, { etag: 'hash', ifMatch: 'always' })).to.deep.equal([
      `City: etag is "hash"; use 'version', 'xmin', false, or an object such as { attribute: 'lockVersion' }.`,
      `City: ifMatch is "always"; use 'optional' or 'required'.`,
    ]);
  });
});

describe('the option endpoints', () => {
  it('takes what can be gone through once, for one record and for many', () => {
    const names = ['list', 'createMany', 'deleteMany'][Symbol.iterator]();
    const { endpoints } = planOf(City, { endpoints: names as never, filterAllow: ['name'] });
    expect(endpoints).to.deep.equal(new Set(['list', 'createMany', 'deleteMany']));
  });

  it('reports every name that is none, with the nearest one', () =>
    expect(problemsOf(City, { endpoints: ['lst', 'read', 'LIST', 'everything', 5] })).to.deep.equal([
      `City: endpoints has "lst"; use ${ALL_ENDPOINTS}. Did you mean 'list'?`,
      `City: endpoints has "LIST"; use ${ALL_ENDPOINTS}. Did you mean 'list'?`,
      `City: endpoints has "everything"; use ${ALL_ENDPOINTS}.`,
      `City: endpoints has 5; use ${ALL_ENDPOINTS}.`,
    ]));
});

describe('the option pageSize', () => {
  for (const [given, expected] of [
    [undefined, { default: 20, max: 100 }],
    [{}, { default: 20, max: 100 }],
    [{ default: 50 }, { default: 50, max: 100 }],
    [{ max: 500 }, { default: 20, max: 500 }],
    [{ max: 10 }, { default: 10, max: 10 }],
    [
      { default: 1, max: 1 },
      { default: 1, max: 1 },
    ],
  ] as const) {
    it(`makes ${JSON.stringify(expected)} of ${JSON.stringify(given)}`, () =>
      expect(planOf(City, { pageSize: given }).pageSize).to.deep.equal(expected));
  }

  for (const [value, shown] of [
    [0, '0'],
    [-1, '-1'],
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['20', '"20"'],
    [null, 'null'],
    [20n, '20n'],
  ] as const) {
    it(`refuses ${shown}`, () => {
      for (const name of ['default', 'max'])
        expect(problemsOf(City, { pageSize: { [name]: value } })).to.deep.equal([
          `City: pageSize.${name} is ${shown}; use an integer from 1.`,
        ]);
    });
  }

  it('refuses a default above the maximum, and above the usual maximum', () => {
    expect(problemsOf(City, { pageSize: { default: 30, max: 10 } })).to.deep.equal([
      'City: pageSize.default is 30, above pageSize.max 10; raise it: { default: 30, max: 30 }.',
    ]);
    expect(problemsOf(City, { pageSize: { default: 101 } })).to.deep.equal([
      'City: pageSize.default is 101, above pageSize.max 100; raise it: { default: 101, max: 101 }.',
    ]);
  });

  it('refuses a name that nobody reads', () =>
    expect(problemsOf(City, { pageSize: { maximum: 50 } })).to.deep.equal([
      "City: pageSize has no 'maximum'; use default and max.",
    ]));
});

describe('the option filterAllow', () => {
  const order = ['=lt=', '=le=', '=gt=', '=ge=', '=between=', '=notbetween='];
  const equality = ['==', '!=', '=in=', '=out=', '=isnull='];
  const pattern = ['=like=', '=notlike=', '=ilike=', '=inotlike='];

  /** The operators by name. */
  const operatorsIn = (filterAllow: object) =>
    new Map([...planOf(City, { filterAllow }).filters].map(([name, { operators }]) => [name, operators]));

  it('narrows the operators, under whichever spelling, each once', () => {
    const name = ['==', '=like='];
    const filterAllow = { name, population: ['<', '=lt=', '>=', '<=', '>'], isCapital: true };
    const expected = { name, population: ['=lt=', '=ge=', '=le=', '=gt='], isCapital: equality };
    expect(operatorsIn(filterAllow)).to.deep.equal(new Map(Object.entries(expected)));
  });

  it('reports attributes that do not exist, with the nearest one', () => {
    const filterAllow = ['nmae', 'hasOwnProperty', 'name'];
    expect(problemsOf(City, { filterAllow })).to.deep.equal([
      "City: filterAllow names 'nmae', which is not an attribute. Did you mean 'name'? " +
        `The attributes are ${ATTRIBUTES}.`,
      `City: filterAllow names 'hasOwnProperty', which is not an attribute. The attributes are ${ATTRIBUTES}.`,
    ]);
    expect(problemsOf(City, { filterAllow: ['*'] })).to.deep.equal([
      `City: filterAllow names '*', which is not an attribute. Write filterAllow: '*', without a list. The attributes are ${ATTRIBUTES}.`,
    ]);
  });

  it('reports attributes of a type that cannot be filtered', () =>
    expect(problemsOf(City, { filterAllow: ['flag', 'label', 'address'] })).to.deep.equal([
      "City: filterAllow names 'label', whose type cannot be filtered; remove it.",
    ]));

  it('takes values inside of JSONB, with what they are', () => {
    const filterAllow = { 'details.name': 'string', 'details.sizes.0': 'number', 'details.on': 'boolean' };
    const types = {
      string: [{ kind: 'string', maxLength: null }, ...equality, ...order, ...pattern],
      number: [{ kind: 'float', maximum: Number.MAX_VALUE, isOfJson: true }, ...equality, ...order],
      boolean: [{ kind: 'boolean' }, ...equality],
    } as const;
    const expected = Object.entries(filterAllow).map(([name, jsonType]) => {
      const [type, ...operators] = types[jsonType as keyof typeof types];
      return [name, { attribute: 'details', jsonType, type, compared: type, operators }] as const;
    });
    expect(planOf(City, { filterAllow }).filters).to.deep.equal(new Map(expected));
  });

  it('reports values inside of JSON without what they are', () => {
    const use = (name: string) =>
      `City: filterAllow names '${name}', a value inside of JSON, without what it is; ` +
      `use '${name}': 'string', 'number' or 'boolean'.`;
    expect(problemsOf(City, { filterAllow: ['details.size'] })).to.deep.equal([use('details.size')]);
    const name = 'details.a.b';
    for (const wanted of [true, false, ['=='], 'integer', {}, undefined])
      expect(problemsOf(City, { filterAllow: { [name]: wanted } })).to.deep.equal([use(name)]);
  });

  it('reports values inside of what is no JSONB, and those that q cannot spell', () => {
    const names = ['source.size', 'name.size', 'details.a-b', 'details.'];
    const filterAllow = Object.fromEntries(names.map((name) => [name, 'string']));
    const spelling = 'which q cannot spell; rename it with letters of ASCII, digits and _, or remove it';
    expect(problemsOf(City, { filterAllow })).to.deep.equal([
      "City: filterAllow names 'source.size', and source is no column of JSONB, which has values inside; remove it.",
      "City: filterAllow names 'name.size', and name is no column of JSONB, which has values inside; remove it.",
      `City: filterAllow names 'details.a-b', ${spelling}.`,
      `City: filterAllow names 'details.', ${spelling}.`,
    ]);
    expect(problemsOf(User, { filterAllow: { 'passwordHash.x': 'string' } })).to.deep.equal([
      hidden('filterAllow'),
    ]);
  });

  it('reports operators that do not exist, and those that the type does not have', () => {
    const filterAllow = { isCapital: ['==', '=lik=', '<'], name: ['~~'] };
    expect(problemsOf(City, { filterAllow })).to.deep.equal([
      "City: filterAllow.isCapital has the operator '=lik=', which does not exist; " +
        "use some of ==, !=, =in=, =out=, =isnull=. Did you mean '=like='?",
      "City: filterAllow.isCapital has the operator '<', which a boolean column does not have; " +
        'use some of ==, !=, =in=, =out=, =isnull=.',
      "City: filterAllow.name has the operator '~~', which does not exist; use some of " +
        `${[...equality, ...order, ...pattern].join(', ')}.`,
    ]);
  });

  it('reports what is neither true nor a list of operators', () => {
    const filterAllow = { name: false, population: [], area: '==', founded: undefined };
    expect(problemsOf(City, { filterAllow })).to.deep.equal([
      'City: filterAllow.name is false; use true or a list of operators.',
      'City: filterAllow.population is []; use true or a list of operators.',
      'City: filterAllow.area is "=="; use true or a list of operators.',
      'City: filterAllow.founded is undefined; use true or a list of operators.',
    ]);
  });

  it('refuses a hidden attribute, and does not name it among the others', () =>
    expect(problemsOf(User, { filterAllow: ['passwordHash', 'passwordHsh'] })).to.deep.equal([
      hidden('filterAllow'),
      "User: filterAllow names 'passwordHsh', which is not an attribute. The attributes are id, email.",
    ]));

  it('knows every operator of the documentation for some type', () => {
    const operators = [...operatorsIn(['name', 'tags', 'address']).values()].flat();
    expect([...new Set(operators)]).to.have.members(FILTER_OPERATORS);
  });
});

describe('the option sortAllow', () => {
  it('is the primary key by default, or takes attributes, each once', () => {
    expect(planOf(City).sortable).to.deep.equal(['id']);
    expect(planOf(City, { sortAllow: [] }).sortable).to.deep.equal([]);
    const sortAllow = ['name', 'population', 'name'];
    expect(planOf(City, { sortAllow }).sortable).to.deep.equal(['name', 'population']);
  });

  it('reports unknown, hidden and unsortable attributes', () => {
    expect(problemsOf(City, { sortAllow: ['populaton', 'tags', 'details', 'flag', 'label'] })).to.deep.equal([
      "City: sortAllow names 'populaton', which is not an attribute. Did you mean 'population'? " +
        `The attributes are ${ATTRIBUTES}.`,
      "City: sortAllow names 'tags', of type array, which has no order; remove it.",
      "City: sortAllow names 'details', of type json, which has no order; remove it.",
      "City: sortAllow names 'flag', of type blob, which has no order; remove it.",
      "City: sortAllow names 'label', of type virtual, which has no order; remove it.",
    ]);
    expect(problemsOf(User, { sortAllow: ['passwordHash'] })).to.deep.equal([hidden('sortAllow')]);
  });

  it('is empty by default where the primary key is hidden or has no order', () => {
    @Table({ timestamps: false })
    class Token extends Model {
      @Exclude({ toPlainOnly: true }) @PrimaryKey @Column(DataType.INTEGER) declare id: number;
    }
    const Host = defineModel('Host', { ip: { type: DataTypes.GEOMETRY('POINT'), primaryKey: true } });
    expect(planOf(attach(Token)).sortable).to.deep.equal([]);
    expect(planOf(Host, { idType: (raw: string) => raw }).sortable).to.deep.equal([]);
  });
});

describe('the option sortAllow as an object', () => {
  it('has the keys of each name, with the place of NULLs whatever the model says of them', () => {
    const Place = defineModel('Place', {
      code: { type: DataTypes.TEXT, allowNull: false },
      size: DataTypes.INTEGER,
    });
    const sortAllow = { code: { nulls: 'first' }, size: { nulls: 'last' }, id: true };
    const { sortable, sortKeys, defaultSort } = planOf(Place, { sortAllow, defaultSort: '-size' });
    expect(sortable).to.deep.equal(['code', 'size', 'id']);
    expect([...sortKeys]).to.deep.equal([
      ['code', [{ attribute: 'code', nulls: 'first' }]],
      ['size', [{ attribute: 'size', nulls: 'last' }]],
    ]);
    expect(defaultSort).to.deep.equal([
      { attribute: 'size', descending: true, nulls: 'last' },
      { attribute: 'id', descending: true },
    ]);
  });

  const WRONG: readonly (readonly [allow: object, problem: string])[] = [
    [{ name: { nulls: 'top' } }, `sortAllow.name.nulls is "top"; use 'first' or 'last'.`],
    [
      { name: { null: 'last' } },
      "sortAllow.name has no option 'null'. Did you mean 'nulls'? The options are nulls, ignoreCase.",
    ],
    [{ name: { ignoreCase: 'yes' } }, 'sortAllow.name.ignoreCase is "yes"; use true or false.'],
    [
      { population: { ignoreCase: true } },
      "sortAllow.population has ignoreCase, and 'population' is no text; remove it.",
    ],
    [
      { 'details.a': true },
      "sortAllow.details.a has json: undefined; use the keys that lead to the value, such as { json: ['city'] }.",
    ],
    [
      { 'details.a': { json: [] } },
      "sortAllow.details.a has json: []; use the keys that lead to the value, such as { json: ['city'] }.",
    ],
    [
      { 'details.a': { json: ['a', 0] } },
      "sortAllow.details.a has json: [ 'a', 0 ]; use the keys that lead to the value, such as { json: ['city'] }.",
    ],
    [
      { 'name.a': { json: ['a'] } },
      "sortAllow names 'name.a', and name is no column of JSONB, which has values inside; remove it.",
    ],
    [
      { 'details.a': { json: ['a'], ignoreCase: true } },
      "sortAllow.details.a has no option 'ignoreCase'. The options are json, nulls.",
    ],
    [{ name: 'last' }, `sortAllow.name is "last"; use true, or an object such as { nulls: 'last' }.`],
    [{ name: false }, `sortAllow.name is false; use true, or an object such as { nulls: 'last' }.`],
    [{ tags: true }, "sortAllow names 'tags', of type array, which has no order; remove it."],
    [
      { nam: true },
      "sortAllow names 'nam', which is not an attribute. Did you mean 'name'? " +
        `The attributes are ${ATTRIBUTES}.`,
    ],
  ];
  for (const [sortAllow, problem] of WRONG) {
    it(`refuses ${JSON.stringify(sortAllow)}`, () =>
      expect(problemsOf(City, { sortAllow })).to.deep.equal([`City: ${problem}`]));
  }
});

describe('the option defaultSort', () => {
  for (const [defaultSort, expected] of [
    [undefined, 'id'],
    ['name', 'name,id'],
    ['name,-population', 'name,-population,-id'],
    ['-id,name', '-id,name'],
    [' +name , -id ', 'name,-id'],
  ] as const) {
    it(`makes the total order '${expected}' of '${defaultSort}', whatever may be sorted by`, () => {
      const plan = planOf(City, { defaultSort, sortAllow: [] });
      const terms = plan.defaultSort.map((term) => (term.descending ? '-' : '') + term.attribute);
      expect(terms.join()).to.equal(expected);
    });
  }

  it('takes up to five attributes', () => {
    const five = 'name,population,isCapital,founded,elevation';
    expect(planOf(City, { defaultSort: five }).defaultSort).to.have.length(6);
    expect(problemsOf(City, { defaultSort: `${five},area` })).to.deep.equal([
      'City: defaultSort names 6 attributes; at most 5 are allowed.',
    ]);
  });

  it('reports unknown, repeated, hidden and unsortable attributes at once', () => {
    expect(problemsOf(City, { defaultSort: '-nam,name,-name,tags,' })).to.deep.equal([
      "City: defaultSort names 'nam', which is not an attribute. Did you mean 'name'? " +
        `The attributes are ${ATTRIBUTES}.`,
      "City: defaultSort names 'name' twice; name it once.",
      "City: defaultSort names 'tags', of type array, which has no order; remove it.",
      `City: defaultSort names '', which is not an attribute. The attributes are ${ATTRIBUTES}.`,
    ]);
    expect(problemsOf(User, { defaultSort: 'passwordHash' })).to.deep.equal([hidden('defaultSort')]);
  });
});
