import { expect } from 'chai';
import fc from 'fast-check';
import { compilePlan } from '../../../../src/compile/compile-plan.js';
import type { CrudOptions } from '../../../../src/declare/crud-options.js';
import { filter } from '../../../../src/declare/filter-template.js';
import { filterReader } from '../../../../src/features/filter.js';
import { type Access, OPEN_ACCESS } from '../../../../src/operation/access.js';
import { FILTER_LIMITS } from '../../../../src/request/query/filter-syntax.js';
import type { Filter } from '../../../../src/request/query/predicate.js';
import { typeTemplate } from '../../../../src/request/query/rule-filters.js';
import type { RequestIssue } from '../../../../src/schema/request-issue.js';
import { decoratorReader } from '../../../support/offline-models.js';
import { relatedModels } from '../../../support/related-models.js';

const ALLOWED = {
  name: true,
  'country.name': true,
  'country.region': ['=='],
  'country.continent.name': true,
  reviews: { rating: true, text: true, 'author.name': true },
  tags: ['name'],
  'latest.rating': true,
  'latest.text': true,
};

const { City, Country, Review } = relatedModels();
// Without a unique index, so that a second row is possible.
City.hasOne(Review, { as: 'latest', foreignKey: 'cityId' });
const [plan] = compilePlan(
  [
    { model: City, options: { filterAllow: ALLOWED } as CrudOptions },
    { model: Country, options: { fields: { region: { read: () => true } } } as CrudOptions },
  ],
  decoratorReader,
);
if (!plan) throw new Error('There is no plan.');
const read = filterReader(plan);

/** All rows; some attributes of reviews may be hidden. */
function parse(q: string, hidden: readonly string[] = []) {
  const issues: RequestIssue[] = [];
  const form = { ...OPEN_ACCESS.form, unreadable: new Set(hidden) };
  const masked: Access = { ...OPEN_ACCESS, form };
  const filter = read(q, OPEN_ACCESS.form, issues, ({ relation: { name } }) => ({
    target: name === 'reviews' || name === 'country' ? masked : OPEN_ACCESS,
    where: null,
    through: null,
  }));
  return { filter, issues };
}

/** A filter in short. */
function short(filter: Filter | null): unknown {
  if (filter === null) return null;
  if (filter.kind === 'comparison') return `${filter.attribute}${filter.operator}${filter.values.join()}`;
  if (filter.kind === 'exists') {
    const word = filter.isNegated ? 'no' : 'a';
    return filter.where
      ? { [`${word} ${filter.target.name}`]: short(filter.where) }
      : `${word} ${filter.target.name}`;
  }
  return 'operands' in filter ? { [filter.kind]: filter.operands.map(short) } : filter;
}

function issueOf(q: string, hidden: readonly string[] = []): RequestIssue {
  const { filter, issues } = parse(q, hidden);
  expect(filter).to.equal(null);
  expect(issues).to.have.length(1);
  return issues[0] as RequestIssue;
}

/** Names that only some requests may read are left out. */
const FILTERABLE =
  'name country country.name country.continent country.continent.name reviews tags latest latest.rating latest.text'.split(
    ' ',
  );

describe('a filter by relations', () => {
  for (const [q, expected] of Object.entries({
    'country.name==x': { 'a Country': 'name==x' },
    'country.continent.name==x': { 'a Country': { 'a Continent': 'name==x' } },
    'country=isnull=true': 'no Country',
    'country=null=false': 'a Country',
    'country.continent=isnull=true': { 'a Country': 'no Continent' },
    'reviews=isempty=true': 'no Review',
    'reviews=isempty=false': 'a Review',
    'reviews=none=(rating<3)': { 'no Review': 'rating=lt=3' },
    'reviews=any=(rating>=4;author.name==x)': {
      'a Review': { and: ['rating=ge=4', { 'a Author': 'name==x' }] },
    },
    'tags =any= ( name == x )': { 'a CityTag': { 'a Tag': 'name==x' } },
    'tags=none=(name==x)': { 'no CityTag': { 'a Tag': 'name==x' } },
  })) {
    it(`understands ${q}`, () => {
      const { filter, issues } = parse(q);
      expect([short(filter), issues]).to.deep.equal([expected, []]);
      expect(filter).to.be.frozen;
    });
  }

  describe('asks a relation once', () => {
    for (const [q, expected] of Object.entries({
      'country.name==x,country.region==y,name==z': {
        or: [{ 'a Country': { or: ['name==x', 'region==y'] } }, 'name==z'],
      },
      'country.name==x;country.region==y': { 'a Country': { and: ['name==x', 'region==y'] } },
      '(country.name==x,country.name==y),country.name==z': {
        'a Country': { or: ['name==x', 'name==y', 'name==z'] },
      },
      'country.continent.name==x,country.continent.name==y': {
        'a Country': { 'a Continent': { or: ['name==x', 'name==y'] } },
      },
      'country.name==x,country=isnull=false': 'a Country',
      'country.name==x;country=isnull=false': { 'a Country': 'name==x' },
      'country=isnull=false;country=isnull=false': 'a Country',
      'reviews=any=(rating==1),reviews=any=(rating==2,text==x)': {
        'a Review': { or: ['rating==1', 'rating==2', 'text==x'] },
      },
      'reviews=none=(rating==1);reviews=none=(rating==2;text==x)': {
        'no Review': { or: ['rating==1', { and: ['rating==2', 'text==x'] }] },
      },
      'reviews=none=(rating==1);reviews=isempty=true': 'no Review',
    })) {
      it(q, () => expect(short(parse(q).filter)).to.deep.equal(expected));
    }

    for (const [q, kind] of Object.entries({
      'reviews=any=(rating==1);reviews=any=(text==x)': 'and',
      'reviews=none=(rating==1),reviews=none=(text==x)': 'or',
      'reviews=any=(rating==1),reviews=none=(rating==1)': 'or',
      'country=isnull=true,country.name==x': 'or',
      'country.name==x,reviews=any=(rating==1)': 'or',
      'country.name==x;latest.rating==1': 'and',
      'tags=any=(name==x);tags=any=(name==y)': 'and',
      'latest.rating==1;latest.text==x': 'and',
    })) {
      it(`but not where that means something else: ${q}`, () =>
        expect(short(parse(q).filter))
          .to.have.property(kind)
          .with.length(2));
    }
  });

  describe('refuses', () => {
    it('a path to many records, with the right spelling', () => {
      for (const rest of ['rating', 'nothing']) {
        expect(issueOf(`name==x;reviews.${rest}==5`)).to.deep.equal({
          parameter: 'q',
          code: 'q.to-many',
          detail: `'reviews' has many records; write reviews=any=(${rest}==…) for one of them, or =none= for none.`,
          position: 8,
        });
      }
    });

    it('unknown names, with those that there are', () => {
      expect(issueOf('contry.name==x')).to.deep.equal({
        parameter: 'q',
        code: 'q.unknown-field',
        detail: `Cannot filter by 'contry.name'. Did you mean 'country.name'? Filterable: ${FILTERABLE.join(', ')}.`,
        position: 0,
        allowed: FILTERABLE,
      });
      expect(issueOf('reviews=any=(rating==1;txt==x)')).to.deep.equal({
        parameter: 'q',
        code: 'q.unknown-field',
        detail: "Cannot filter by 'txt'. Did you mean 'text'? Filterable: rating, text, author, author.name.",
        position: 23,
        allowed: ['rating', 'text', 'author', 'author.name'],
      });
    });

    it('names that the request may not read, like unknown names', () => {
      expect(issueOf('reviews=any=(text==x)', ['text'])).to.deep.include({
        detail: "Cannot filter by 'text'. Filterable: rating, author, author.name.",
        allowed: ['rating', 'author', 'author.name'],
      });
      const told = (name: string) =>
        JSON.stringify(issueOf(`country.${name}==x`, ['region'])).replaceAll(name, '');
      expect(told('region')).to.equal(told('regio1'));
      // The value of a key is also visible through its relation.
      expect(issueOf('reviews=any=(author.name==x)', ['authorId']).allowed).to.deep.equal(['rating', 'text']);
    });

    /** Found behind the name of the field. */
    const unavailable = (operator: string, field: string, use: string) =>
      [
        'q.operator-not-allowed',
        field.indexOf("'", 1) - 1,
        `'${operator}' is not available for ${field}. Use ${use}.`,
      ] as const;
    for (const [q, code, position, detail] of [
      ['country==x', ...unavailable('==', "'country' (one record)", '=isnull=')],
      ['country=any=(name==x)', ...unavailable('=any=', "'country' (one record)", '=isnull=')],
      ['reviews=in=(1)', ...unavailable('=in=', "'reviews' (many records)", '=any=, =none=, =isempty=')],
      ['country.region!=x', ...unavailable('!=', "'country.region' (string)", '==')],
      ['reviews=isempty=yes', 'q.type', 16, "'yes' is not true or false (field 'reviews')."],
      ['reviews=isempty=(true,true)', 'q.arity', 7, "'=isempty=' takes one value; use =in=(a,b) for a list."],
      ['name=any=(x==1)', 'q.unknown-operator', 4, "Unknown operator '=any='."],
      ['reviews=any=5', 'q.syntax', 12, "Unexpected '5' at position 12; expected '(' and a condition."],
      ['reviews=any=()', 'q.syntax', 13, "Unexpected ')' at position 13; expected a field name."],
      ['reviews=any=(rating==1', 'q.unclosed', 12, "'(' opened at position 12 is not closed."],
      ['reviews=any=(rating==x)', 'q.type', 21, "'x' is not an integer (field 'rating')."],
      [
        'reviews=any=(reviews=any=(rating==1))',
        'q.unknown-field',
        13,
        "Cannot filter by 'reviews'. Filterable: rating, text, author, author.name.",
      ],
    ] as const) {
      it(q, () => {
        const issue = issueOf(q);
        expect(issue).to.include({ code, position });
        expect(issue.detail).to.include(detail);
      });
    }

    it('[D5] more conditions on relations than five, those inside of others among them', () => {
      const some = Array.from({ length: FILTER_LIMITS.relations }, (_, index) => `country.name==${index}`);
      expect(parse(some.join()).issues).to.deep.equal([]);
      expect(parse(some.join().replaceAll('country', 'country.continent')).issues).to.deep.equal([]);
      const sixth = `reviews=any=(author.name==x;text==y),${some.slice(2).join()}`;
      expect(parse(sixth).issues).to.deep.equal([]);
      expect(issueOf(`${sixth},tags=isempty=true`)).to.include({
        code: 'q.too-complex',
        position: sixth.length + 1,
        detail: 'At most 5 conditions on related records are allowed.',
      });
    });

    it('conditions that are beyond the other limits inside', () => {
      const inside = (condition: string) => issueOf(`reviews=any=(${condition})`).code;
      const many = (count: number) => Array.from({ length: count }, () => 'text==x').join(';');
      expect(parse(`reviews=any=(${many(10)})`).issues).to.deep.equal([]);
      expect(inside(many(11))).to.equal('q.too-complex');
      expect(inside(many(50))).to.equal('q.too-complex');
      expect(inside(`${'('.repeat(8)}text==x${')'.repeat(8)}`)).to.equal('q.too-deep');
      expect(inside(`text=in=(${Array.from({ length: 101 }, () => 'x').join()})`)).to.equal(
        'q.list-too-long',
      );
      expect(inside(`text==${'x'.repeat(2048)}`)).to.equal('q.too-long');
      const own = Array.from({ length: 10 }, () => 'name==x').join(';');
      expect(parse(`${own};country.name==x;country.continent.name==x`).issues).to.deep.equal([]);
      const both = issueOf(`reviews=any=(${many(6)}),reviews=any=(${many(5)})`);
      expect(both.detail).to.equal("At most 10 comparisons of 'text' are allowed.");
    });
  });

  it('is a filter, or problems with a position, whatever the text', () => {
    const words = (
      'name country country.name country.continent.name reviews rating text author.name tags ( ) ( ) ; , == =isnull= =any=( ' +
      '=none=( =isempty= true 1 x "'
    ).split(' ');
    const text = fc.array(fc.constantFrom(...words), { maxLength: 25 }).map((some) => some.join(''));
    fc.assert(
      fc.property(text, (q) => {
        const { filter: found, issues } = parse(q);
        for (const { position = -1 } of issues) expect(position).to.be.within(0, q.length);
        if (issues.length > 0) expect(found).to.equal(null);
        else if (q !== '') expect(found).to.be.frozen;
      }),
      { numRuns: 500 },
    );
  });

  it('tells no relation whose key not every request may read', () => {
    const { City: Town, Review: Opinion } = relatedModels();
    const [town] = compilePlan(
      [
        { model: Town, options: { filterAllow: { name: true, reviews: ['rating'] } } as CrudOptions },
        { model: Opinion, options: { fields: { cityId: { read: () => true } } } as CrudOptions },
      ],
      decoratorReader,
    );
    const issues: RequestIssue[] = [];
    const all = { target: OPEN_ACCESS, where: null, through: null };
    if (town) filterReader(town)('nothing==x', OPEN_ACCESS.form, issues, () => all);
    expect(issues.map(({ allowed }) => allowed)).to.deep.equal([['name']]);
  });

  it('is no rule of access', () => {
    for (const rule of [
      filter`reviews=any=(rating==${1})`,
      filter`id==${1},country.name==${'x'}`,
      filter`country=isnull=true`,
    ]) {
      expect(() => typeTemplate(plan.info, rule)).to.throw(
        TypeError,
        /^visible of City gave a filter by a relation, and a rule is about attributes of the row itself: /,
      );
    }
  });
});
