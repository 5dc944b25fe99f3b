import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { DataTypes, Op, type Sequelize } from 'sequelize';
import { compilePlan } from '../../../src/compile/compile-plan.js';
import { everyInclude, type ResourceDeclaration } from '../../../src/compile/resource-plan.js';
import { Crud } from '../../../src/declare/crud.js';
import type { CrudOptions, ModelClass } from '../../../src/declare/crud-options.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { decoratorReader, problemsOfAll } from '../../support/offline-models.js';
import { relatedModels } from '../../support/related-models.js';

/** Models of one database, with associations between them. */
function declare() {
  const { City, Country, Review, Tag } = relatedModels();
  const key = { type: DataTypes.INTEGER, primaryKey: true };
  const Pair: ModelClass = (City.sequelize as Sequelize).define(
    'Pair',
    { a: key, b: key },
    { timestamps: false },
  );
  City.hasMany(Pair, { as: 'pairs', foreignKey: 'a' });
  Country.belongsTo(City, { as: 'capital', foreignKey: 'capitalId' });
  Review.belongsTo(City, { as: 'city', foreignKey: 'cityId' });
  return { City, Country, Review, Tag, Pair };
}

type Models = ReturnType<typeof declare>;
/** Options by name of a model, and code that guards it. */
type Said = Partial<Record<keyof Models, Options>>;
type Options = Readonly<Record<string, unknown>>;

const { City, Country, Review, Tag, Pair } = declare();
const models: Models = { City, Country, Review, Tag, Pair };

function declarations(said: Said, of: Models): ResourceDeclaration[] {
  return Object.entries(said).map(([name, { guards = [], ...options }]) => ({
    model: of[name as keyof Models],
    options: options as CrudOptions,
    guards: guards as string[],
  }));
}

const compile = (said: Said) => compilePlan(declarations(said, models), decoratorReader);
const problems = (said: Said, of: Models = models) => problemsOfAll(declarations(said, of));

const included = (include: unknown, more: object = {}): Said => ({
  City: { include, ...more },
  Country: {},
  Review: {},
});
const WHERE = "give it where: a function of the request that says which rows may be seen here, or 'all'.";

describe('[R23] compiling include', () => {
  useEmptyRegistry();

  it('takes nothing, and sizes of its own', () => {
    for (const none of [undefined, null, {}]) {
      const [plan] = compile(included(none));
      expect(plan?.relations.include).to.deep.equal(new Map());
    }
    const include = {
      ...{ country: true, 'country.cities': { size: { default: 3 } } },
      ...{ reviews: { size: { max: 5 } }, tags: { size: { default: 30 } } },
    };
    const [plan] = compile(included(include, { pageSize: { max: 10 } }));
    const sizes = everyInclude(plan?.relations.include ?? new Map()).map(({ path, size }) => [path, size]);
    expect(sizes).to.deep.equal([
      ['country', null],
      ['country.cities', { default: 3, max: 20 }],
      ['reviews', { default: 5, max: 5 }],
      ['tags', { default: 30, max: 30 }],
    ]);
  });

  const RELATIONS = 'use an object of relations, such as { reviews: true }.';
  const VALUE = 'use true, or an object such as { size: { max: 20 } }.';
  const LOWER = 'at most 10000 are allowed. Lower pageSize.max, or the size of a relation.';
  const CASES: readonly (readonly [include: unknown, problems: readonly string[], more?: object])[] = [
    [['country'], [` is [ 'country' ]; ${RELATIONS}`]],
    ['country', [` is "country"; ${RELATIONS}`]],
    [
      { contry: true },
      [
        ".contry is no relation of City. Did you mean 'country'? The relations are country, reviews, tags, pairs.",
      ],
    ],
    [{ name: true }, ['.name has the name of a property of City; give one of them another name.']],
    [{ tags: true, 'tags.cities': true }, ['.tags.cities is no relation of Tag. Tag has no relations.']],
    [
      { country: false, reviews: null, tags: 'all' },
      [`.country is false; ${VALUE}`, `.reviews is null; ${VALUE}`, `.tags is "all"; ${VALUE}`],
    ],
    [
      { reviews: { siez: {} } },
      [".reviews has no option 'siez'. Did you mean 'size'? The options are size, count, where."],
    ],
    [{ country: { size: { max: 2 } } }, ['.country.size is about a relation to one record; remove it.']],
    [{ reviews: { size: 5 } }, ['.reviews.size is 5; use an object such as { default: 3, max: 20 }.']],
    [{ reviews: { size: { mx: 5 } } }, [".reviews.size has no 'mx'; use default and max."]],
    [
      { reviews: { size: { max: 0 } }, tags: { size: { default: 1.5 } } },
      ['.reviews.size has 0; use integers from 1.', '.tags.size has 1.5; use integers from 1.'],
    ],
    [
      { reviews: { size: { default: 6, max: 5 } } },
      ['.reviews.size has the default 6, above its max 5; raise max.'],
    ],
    [
      { reviews: { where: { rating: 5 } } },
      [
        ".reviews has where: { rating: 5 }; use 'all', or a function of the request that gives a filter`…` or EVERYTHING.",
      ],
    ],
    [{ 'reviews.city': true }, [" has 'reviews.city' without 'reviews'; add 'reviews': true."]],
    [
      { '': true, country: true, 'country.': true },
      ['', 'country.'].map(
        (path) =>
          ` has '${path}', which names no relation between its dots; write a path such as 'reviews.author'.`,
      ),
    ],
    [
      Object.fromEntries(
        ['', '.capital', '.capital.country', '.capital.country.capital'].map((rest) => [
          `country${rest}`,
          true,
        ]),
      ),
      ['.country.capital.country.capital is 4 relations deep; at most 3 are allowed.'],
    ],
    [
      Object.fromEntries(
        (
          'country reviews tags country.capital country.cities country.capital.country country.capital.reviews ' +
          'country.capital.tags country.cities.country country.cities.tags country.cities.reviews'
        )
          .split(' ')
          .map((path) => [path, true]),
      ),
      [' names 11 relations; at most 10 are allowed.'],
      { pageSize: { max: 1 } },
    ],
    [
      { reviews: { size: { max: 100 } } },
      [` lets a request read 101 rows for each of 100 records of a page, 10100 in all; ${LOWER}`],
    ],
    [
      { reviews: { size: { max: 9 } }, 'reviews.city': true, 'reviews.city.reviews': { size: { max: 9 } } },
      [` lets a request read 109 rows for each of 100 records of a page, 10900 in all; ${LOWER}`],
    ],
  ];
  for (const [include, expected, more] of CASES) {
    it(`refuses what is wrong: include${expected[0]}`, () => {
      const found = problems(included(include, more));
      expect(found).to.deep.equal(expected.map((problem) => `City: include${problem}`));
    });
  }

  it('reads exactly as many rows as are allowed', () => {
    expect(problems(included({ reviews: { size: { max: 99 } } }))).to.deep.equal([]);
    const smaller = included({ reviews: { size: { max: 100 } } }, { pageSize: { max: 99 } });
    expect(problems(smaller)).to.deep.equal([]);
  });

  it('refuses the name of a property, at any depth', () => {
    class Shown {
      @Expose() reviews = '';
    }
    expect(problems({ City: { include: { reviews: true }, readSchema: Shown }, Review: {} })).to.deep.equal([
      'City: include.reviews has the name of a property of City; give one of them another name.',
    ]);
    const deep = { cities: true, 'cities.reviews': true };
    expect(problems({ Country: { include: deep }, City: { readSchema: Shown }, Review: {} })).to.deep.equal([
      'Country: include.cities.reviews has the name of a property of City; give one of them another name.',
    ]);
  });

  it('refuses models that cannot be shown', () => {
    const own = declare();
    const elsewhere = declare();
    own.City.hasMany(elsewhere.Review, { as: 'remarks', foreignKey: 'cityId' });
    expect(problems(included({ remarks: true }), own)).to.deep.equal([
      'City: include.remarks leads to Review, which is in another database; read it by itself.',
    ]);
  });

  it('refuses keys and scopes of associations that it cannot compare', () => {
    const own = declare();
    own.City.hasMany(own.Review, { as: 'late', foreignKey: 'cityId', scope: { rating: { [Op.gt]: 3 } } });
    own.City.hasMany(own.Review, { as: 'gone', foreignKey: 'cityId', scope: { raing: 3 } });
    own.City.belongsToMany(own.Tag, {
      as: 'marks',
      through: { model: 'city_marks', scope: { kind: 'mark' } },
      foreignKey: 'cityId',
      otherKey: 'tagId',
    });
    own.City.hasMany(own.Review, { as: 'keyless', foreignKey: 'cityKey', sourceKey: 'name' });
    own.Review.removeAttribute('cityKey');
    const found = problems(included({ late: true, gone: true, marks: true, keyless: true }), own);
    expect(found).to.deep.equal([
      'City: include.late has the scope { rating: { [Symbol(gt)]: 3 } }, which is no value of an attribute; use plain values.',
      'City: include.gone has the scope { raing: 3 }, which is no value of an attribute; use plain values.',
      'City: include.marks has the scope { kind: "mark" }, which is no value of an attribute; use plain values.',
      "City: include.keyless has the key 'cityKey', which is no attribute of Review; declare it there.",
    ]);
  });

  it('refuses a model whose rows are deleted by another rule than that there is a moment of it', () => {
    const own = declare();
    const Lamp: ModelClass = (own.City.sequelize as Sequelize).define(
      'Lamp',
      { gone: { type: DataTypes.DATE, defaultValue: new Date(0) } },
      { paranoid: true, deletedAt: 'gone' },
    );
    own.City.hasMany(Lamp, { as: 'lamps', foreignKey: 'cityId' });
    expect(problems(included({ lamps: true }), own)).to.deep.equal([
      'City: include.lamps leads to Lamp, whose gone has a default; rows that are not deleted must have NULL there.',
    ]);
  });

  it('refuses keys that records do not keep whole', () => {
    const own = declare();
    const sequelize = own.City.sequelize as Sequelize;
    const Hour = sequelize.define('Hour', { at: DataTypes.DATE }, { timestamps: false });
    Hour.hasMany(own.Review, { as: 'reviews', foreignKey: 'cityId', sourceKey: 'at' });
    own.City = Hour;
    for (const option of [{ include: { reviews: true } }, { subresources: ['reviews'] }])
      expect(problems({ City: option, Country: {}, Review: {} }, own)).to.deep.equal([
        `Hour: ${Object.keys(option)}.reviews is found by Hour.at, a date, of which records keep milliseconds alone; use a key of another type.`,
      ]);
  });

  it('refuses rules of a join table that mean nothing', () => {
    const own = declare();
    const Link = own.City.sequelize?.models['CityTag'] as ModelClass;
    Crud({ fields: { CityId: { read: () => true } } } as CrudOptions)(Link);
    expect(problems(included({ tags: true }), own)).to.deep.equal([
      'City: include.tags leads over rows that cannot be asked for: CityTag: fields.CityId.read is about the primary key, which ' +
        'addresses and cursors tell; remove it.',
    ]);
  });

  it('refuses keys that a default scope leaves out of records', () => {
    for (const attributes of [['id', 'name'], { exclude: ['countryId', 'id'] }]) {
      const own = declare();
      own.City.addScope('defaultScope', { attributes } as object);
      const include = { country: true, reviews: true };
      const found = problems({ City: { include, subresources: ['reviews'] }, Country: {}, Review: {} }, own);
      const left = (option: string, key: string) =>
        `City: ${option} is found by City.${key}, which its default scope leaves out; have the scope read it: @Exclude() hides it from answers.`;
      const ofId = [left('include.reviews', 'id'), left('subresources.reviews', 'id')];
      const withId = Array.isArray(attributes) ? [] : ofId;
      expect(found).to.deep.equal([left('include.country', 'countryId'), ...withId]);
      // Keys of related records are read with them.
      const related = { Review: { include: { city: true, 'city.country': true } }, Country: {}, City: {} };
      expect(problems(related, own)).to.deep.equal([]);
    }
  });

  it('refuses to show what other code guards, unless a condition is given', () => {
    const guard = () => {};
    const guarded = (review: Options, country: Options = {}): Said => ({
      City: { include: { reviews: true, country: true } },
      Review: review,
      Country: country,
    });
    const refusal = (name: string, path: string, why: string) =>
      `City: include.${path} would show what the routes of ${name} may hide, because ${why}; ${WHERE}`;
    for (const [said, ...expected] of [
      [guarded({ dependencies: [guard] }), refusal('Review', 'reviews', 'it has dependencies')],
      [guarded({ endpoints: ['read'] }), refusal('Review', 'reviews', 'it has no list')],
      [guarded({ endpoints: ['list'] })],
      [guarded({}, { endpoints: ['list'] }), refusal('Country', 'country', 'it has no read')],
      [guarded({}, { endpoints: ['read'] })],
      [
        guarded({ dependencies: [guard], endpoints: ['read'], guards: ['ReviewController overrides list'] }),
        refusal('Review', 'reviews', 'it has dependencies, it has no list, ReviewController overrides list'),
      ],
    ] as const) {
      expect(problems(said)).to.deep.equal(expected);
      const { City: city, ...others } = said;
      const include = { reviews: { where: 'all' }, country: { where: () => null } };
      expect(problems({ City: { ...city, include }, ...others })).to.deep.equal([]);
    }
  });

  it('tells all that is wrong at once, each with its resource', () => {
    const said: Said = {
      City: { include: { contry: true, 'reviews.city': true } },
      Country: { include: { capitol: true } },
      Review: {},
    };
    const found = problems(said);
    const starts = found.map((each) => each.split(/[. ]/).slice(0, 3).join(' '));
    expect(starts).to.deep.equal(['City: include has', 'City: include contry', 'Country: include capitol']);
  });
});
