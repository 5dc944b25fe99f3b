import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { compilePlan } from '../../../src/compile/compile-plan.js';
import { valueShape } from '../../../src/compile/compile-sort.js';
import type { RelationFilter, ResourceDeclaration } from '../../../src/compile/resource-plan.js';
import type { CrudOptions, ModelClass } from '../../../src/declare/crud-options.js';
import { decoratorReader, problemsOfAll } from '../../support/offline-models.js';
import { relatedModels } from '../../support/related-models.js';

type Options = Partial<Record<keyof ReturnType<typeof relatedModels>, object>>;

type Models = Readonly<Record<string, ModelClass>>;

function declared(options: Options, guards: readonly string[] = [], models: Models = relatedModels()) {
  Exclude()((models['Country'] as ModelClass).prototype, 'secret');
  return Object.entries(options).map(
    ([name, each]): ResourceDeclaration => ({
      model: models[name] as ModelClass,
      options: each as CrudOptions,
      ...(name === 'City' ? {} : { guards }),
    }),
  );
}

const compile = (options: Options) => compilePlan(declared(options), decoratorReader);

/** The names that a filter may use, in short. */
function shown(filters: ReadonlyMap<string, RelationFilter>): object {
  return Object.fromEntries(
    [...filters].map(([name, { filters: own, relations }]) => [
      name,
      {
        ...Object.fromEntries([...own].map(([each, { operators }]) => [each, operators])),
        ...shown(relations),
      },
    ]),
  );
}

function filtersOf(filterAllow: unknown, others: Options = {}): object {
  const plan = compile({ City: { filterAllow }, ...others }).find(({ name }) => name === 'City');
  return shown(plan?.relations.filters ?? new Map());
}

const problemsOf = (filterAllow: unknown, others: Options = {}, guards: readonly string[] = []) =>
  problemsOfAll(declared({ City: { filterAllow }, ...others }, guards));

const TEXT =
  '== != =in= =out= =isnull= =lt= =le= =gt= =ge= =between= =notbetween= =like= =notlike= =ilike= =inotlike=';
const text = TEXT.split(' ');

describe('sortAllow with relations', () => {
  const sorted = (sortAllow: object, options: object = {}, country: object = { sortAllow: ['name'] }) =>
    declared({ City: { sortAllow, ...options }, Country: country });

  it('has the keys of the target, where its sortAllow names the attribute', () => {
    const country = { sortAllow: { name: { ignoreCase: true, nulls: 'first' } } };
    const [plan] = compilePlan(sorted({ 'country.name': { nulls: 'last' } }, {}, country), decoratorReader);
    const keys = plan?.sortKeys.get('country.name') ?? [];
    const shape = keys.map(({ attribute, nulls, value }) => [attribute, nulls, value && valueShape(value)]);
    expect([plan?.sortable, shape]).to.deep.equal([
      ['country.name'],
      [
        ['country.name', 'last', ['country', 'name', 'first', { kind: 'lower' }]],
        ['country.name', undefined, ['country', 'name', null, null]],
      ],
    ]);
  });

  const WRONG: readonly (readonly [allow: object, problem: string])[] = [
    [
      { 'country.region': true },
      "sortAllow names 'country.region', and sortAllow of Country has no 'region'; add it there, or remove it.",
    ],
    [
      { 'country.continent.name': true },
      "sortAllow names 'country.continent.name', behind more than one relation, which is the most that an order may follow; remove it.",
    ],
    [
      { 'reviews.rating': true },
      "sortAllow names 'reviews.rating', and reviews leads to many records, of which none is the one to sort by; remove it.",
    ],
    [
      { 'contry.name': true },
      "sortAllow.contry is no relation of City. Did you mean 'country'? The relations are country, reviews, tags.",
    ],
    [
      { 'country.name': { ignoreCase: true } },
      "sortAllow.country.name has no option 'ignoreCase'. The options are nulls.",
    ],
    [
      { country: true },
      "sortAllow names 'country', which is a relation and not an attribute. The attributes are id, name, size, countryId.",
    ],
    [{ 'country.name': 1 }, "sortAllow.country.name is 1; use true, or an object such as { nulls: 'last' }."],
  ];
  for (const [sortAllow, problem] of WRONG) {
    it(`refuses ${JSON.stringify(sortAllow)}`, () =>
      expect(problemsOfAll(sorted(sortAllow))).to.deep.equal([`City: ${problem}`]));
  }

  it('refuses such a default order', () =>
    expect(problemsOfAll(sorted({ 'country.name': true }, { defaultSort: '-country.name' }))).to.deep.equal([
      "City: defaultSort names 'country.name', which is in another table, so that no index serves it; have clients send sort=-country.name.",
    ]));

  it('refuses rows that other code guards', () =>
    expect(
      problemsOfAll(
        declared({ City: { sortAllow: { 'country.name': true } }, Country: { sortAllow: ['name'] } }, [
          'it has a lock',
        ]),
      ),
    ).to.deep.equal([
      'City: sortAllow.country would show what the routes of Country may hide, because it has a lock; ' +
        "name it in include: 'country': { where: … } says which rows may be seen, 'all' or a function of the request.",
    ]));
});

describe('filterAllow with relations', () => {
  it('takes attributes behind relations, in both forms', () => {
    expect(filtersOf(['name', 'country.region'])).to.deep.equal({ country: { region: text } });
    expect(filtersOf({ 'country.region': ['==', '=in='], 'country.continent.name': true })).to.deep.equal({
      country: { region: ['==', '=in='], continent: { name: text } },
    });
    expect(filtersOf({ reviews: ['text', 'author.name'], tags: { name: ['=ke='] } })).to.deep.equal({
      reviews: { text, author: { name: text } },
      tags: { name: ['=like='] },
    });
  });

  it('takes what the lists of the other model can be filtered by', () => {
    const Review = { filterAllow: { text: ['=='], 'author.name': true } };
    expect(filtersOf(['reviews'], { Review })).to.deep.equal({ reviews: { text: ['=='] } });
    expect(filtersOf({ reviews: true }, { Review })).to.deep.equal({ reviews: { text: ['=='] } });
    expect(filtersOf({ reviews: [] })).to.deep.equal({ reviews: {} });
  });

  it('asks the rule of the relation that may be included', () => {
    const where = () => null as never;
    const [plan] = compile({ City: { filterAllow: ['country.name'], include: { country: { where } } } });
    const { include, filters } = plan?.relations ?? {};
    expect(filters?.get('country')?.related).to.equal(include?.get('country'));
    expect(include?.get('country')?.where).to.equal(where);
  });

  for (const [filterAllow, problem] of [
    [
      ['contry.region'],
      "filterAllow.contry is no relation of City. Did you mean 'country'? The relations are country, reviews, tags.",
    ],
    [
      { revews: true },
      "filterAllow names 'revews', which is not an attribute. Did you mean 'reviews'? " +
        'The attributes are id, name, size, countryId.',
    ],
    [
      ['country.regin'],
      "filterAllow names 'country.regin', which is not an attribute of Country. Did you mean 'region'? " +
        'The attributes are id, name, region, flag, continentId.',
    ],
    [
      ['country.secret'],
      "filterAllow names 'country.secret', which @Exclude() hides from answers; " +
        'remove it, or its values can be guessed by comparing.',
    ],
    [
      { reviews: { rating: ['=gee='] } },
      "filterAllow.reviews.rating has the operator '=gee=', which does not exist; " +
        'use some of ==, !=, =in=, =out=, =isnull=, =lt=, =le=, =gt=, =ge=, =between=, =notbetween=. ' +
        "Did you mean '=ge='?",
    ],
    [
      ['reviews.rating'],
      "filterAllow names 'reviews.rating', and reviews leads to many records, whose attributes stand in a list of " +
        "their own; use reviews: ['rating'].",
    ],
    [
      ['country.cities.name'],
      "filterAllow names 'country.cities', which leads to many records; only the first relation of a condition may do so.",
    ],
    [
      ['country.continent.planet.name'],
      "filterAllow names 'country.continent.planet.name', behind more than 2 relations, which is the most that a " +
        'condition may follow.',
    ],
    [
      { 'country.continent': true },
      "filterAllow names 'country.continent', which is a relation; name an attribute of Continent: 'country.continent.…'.",
    ],
    [
      { reviews: 'rating' },
      'filterAllow has reviews: "rating"; use true, a list of attributes, or an object of attributes and operators.',
    ],
    [
      { reviews: true },
      'filterAllow has reviews: true, and filterAllow of Review names no attribute; use a list of attributes.',
    ],
  ] as const) {
    it(`is refused, with the mend: ${problem}`, () =>
      expect(problemsOf(filterAllow)).to.deep.equal([`City: ${problem}`]));
  }

  it('refuses rows that other code guards, unless include says which may be seen', () => {
    const others = { Country: {} };
    expect(problemsOf(['country.name'], others, ['CountryController overrides read'])).to.deep.equal([
      'City: filterAllow.country would show what the routes of Country may hide, because CountryController overrides read; ' +
        "name it in include: 'country': { where: … } says which rows may be seen, 'all' or a function of the request.",
    ]);
    const City = { filterAllow: ['country.name'], include: { country: { where: 'all' } } };
    expect(problemsOfAll(declared({ City, ...others }, ['CountryController overrides read']))).to.deep.equal(
      [],
    );
  });

  for (const [what, choose] of Object.entries({
    'a hook': ({ Country }) => Country?.addHook('beforeFind', () => {}),
    'a finder of its own': ({ Country }) => {
      if (Country) Country.findAll = async () => [];
    },
    'a scope that joins another table': ({ Country }) =>
      Country?.addScope('defaultScope', { include: [{ association: 'continent', required: true }] }),
    'a scope that joins the rows of another table': ({ Country }) =>
      Country?.addScope('defaultScope', { include: [{ association: 'continent', right: true }] }),
    'a scope that joins a table with a condition': ({ Country, Continent }) => {
      Continent?.addScope('defaultScope', { where: { name: 'Europe' } });
      Country?.addScope('defaultScope', { include: 'continent' });
    },
  } satisfies Record<string, (models: Models) => unknown>)) {
    it(`refuses rows that ${what} chooses`, () => {
      const models: Models = relatedModels();
      choose(models);
      const problems = (City: object) => problemsOfAll(declared({ City }, [], models)).join();
      expect(problems({ filterAllow: ['country.name'] })).to.include("names 'country', and hooks");
      const { City } = models;
      City?.hasMany(models['Country'] as ModelClass, {
        as: 'copies',
        foreignKey: 'region',
        constraints: false,
      });
      const counted = { include: { copies: { count: true } } };
      expect(problems(counted)).to.include('include.copies.count cannot be: hooks');
      expect(problems({ include: { copies: true } })).to.equal('');
    });
  }

  it('takes rows that a scope joins with others, and none without them', () => {
    const models: Models = relatedModels();
    models['Country']?.addScope('defaultScope', { include: [{ association: 'continent' }] });
    const City = { filterAllow: ['country.name'] };
    expect(problemsOfAll(declared({ City }, [], models))).to.deep.equal([]);
  });

  it('tells what is wrong with an included relation once', () => {
    const City = { filterAllow: ['country.name'], include: { country: { where: 'none' } } };
    expect(problemsOfAll(declared({ City }))).to.have.length(1);
  });
});
