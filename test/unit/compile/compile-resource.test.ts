import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import { IsString } from 'class-validator';
import { DataTypes } from 'sequelize';
import { defineModel, planOf, problemsOf } from '../../support/offline-models.js';

const OPTIONS =
  'prefix, tags, description, endpoints, readOnly, only, pagination, pageSize, count, filterAllow, sortAllow, defaultSort, readSchema, createSchema, ' +
  'updateSchema, dependencies, id, idType, unknownQuery, etag, ifMatch, include, subresources, scope, visible, can, fields, set';

const Article = defineModel('Article', { title: DataTypes.STRING, views: DataTypes.INTEGER });

class Accepted {
  @IsString() title = '';
}

class Undecorated {
  title = '';
}

class Guard {
  use(): void {}
}

const nothingPasses = (option: string, name: string) =>
  `Article: no property of the ${option} ${name} may pass; give each one @Expose() or a class-validator decorator.`;
const noDependency = (index: number, shown: string) =>
  `Article: dependencies[${index}] is ${shown}; use an Express handler or a routing-controllers middleware class.`;

describe('compileResource', () => {
  it('takes null and undefined for options that were not given', () => {
    const nothing = {
      tags: null,
      endpoints: undefined,
      pageSize: null,
      filterAllow: null,
      sortAllow: null,
      readSchema: null,
    };
    const { parseId: _, idParts: _0, ...plan } = planOf(Article, nothing);
    const { parseId: __, idParts: _1, ...usual } = planOf(Article);
    expect(plan).to.deep.equal(usual);
  });

  it('reports everything that is wrong with the options, in their order', () => {
    const problems = problemsOf(Article, {
      tags: 'Blog',
      pagenation: 'cursor',
      pagination: 'keyset',
      readSchema: 'Shown',
      createSchema: Undecorated,
      updateSchema: {},
      dependencies: [undefined, 'auth'],
      idType: 'int',
      unknownQuery: 'drop',
    });
    expect(problems).to.deep.equal([
      'Article: tags is "Blog"; use a list of names.',
      `Article: @Crud has no option 'pagenation'. Did you mean 'pagination'? The options are ${OPTIONS}.`,
      "Article: pagination is \"keyset\"; use 'offset' or 'cursor'.",
      'Article: readSchema is "Shown"; give it a class.',
      nothingPasses('createSchema', 'Undecorated'),
      'Article: updateSchema is {}; give it a class.',
      noDependency(0, 'undefined'),
      noDependency(1, '"auth"'),
      "Article: unknownQuery is \"drop\"; use 'reject' or 'ignore'.",
      "Article: idType \"int\" is unknown; use 'integer', 'bigint', 'uuid', 'string' or a function.",
    ]);
  });

  describe('the name of an option', () => {
    it('refuses arrays of BLOBs that bodies would write, whatever is in them', () => {
      const File = defineModel('File', {
        parts: DataTypes.ARRAY(DataTypes.BLOB),
        deep: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.BLOB)),
      });
      const problem = (name: string): string =>
        `File.${name} is an array of BLOBs, which Sequelize stores as other bytes; keep it out of bodies with ` +
        '@Exclude({ toClassOnly: true }), or give each BLOB a row of its own.';
      expect(problemsOf(File)).to.deep.equal([problem('parts'), problem('deep')]);
      expect(problemsOf(File, { endpoints: ['update'] })).to.have.lengthOf(2);
      expect(problemsOf(File, { endpoints: ['list', 'read', 'delete'] })).to.deep.equal([]);
    });

    it('refuses to filter and sort by names that q and sort cannot spell', () => {
      const names = ['größe', 'first-name', 'a b', '-up', '+up', ' x'];
      const Odd = defineModel('Odd', Object.fromEntries(names.map((name) => [name, DataTypes.STRING])));
      const rename = 'which q cannot spell; rename it with letters of ASCII, digits and _, or remove it.';
      expect(problemsOf(Odd, { filterAllow: names })).to.deep.equal(
        names.map((name) => `Odd: filterAllow names '${name}', ${rename}`),
      );
      expect(problemsOf(Odd, { sortAllow: names })).to.deep.equal(
        ['-up', '+up', ' x'].map(
          (name) => `Odd: sortAllow names '${name}', which sort cannot spell; rename it, or remove it.`,
        ),
      );
      expect(problemsOf(Odd)).to.deep.equal([]);
      expect(problemsOf(Odd, { sortAllow: ['größe', 'first-name', 'a b'] })).to.deep.equal([]);
    });

    it('leaves the order by a key that sort cannot spell to the server', () => {
      const key = { type: DataTypes.INTEGER, primaryKey: true };
      const { sortable, defaultSort } = planOf(defineModel('Odd', { '-id': key }));
      expect([sortable, defaultSort]).to.deep.equal([[], [{ attribute: '-id', descending: false }]]);
    });

    it('refuses a model as a schema, whose instances would be records', () =>
      expect(problemsOf(Article, { readSchema: Article })).to.deep.equal([
        'Article: readSchema is the model Article; give it a class of its own, or leave it out.',
      ]));

    it('is not looked for among the properties of every object', () =>
      expect(problemsOf(Article, { toString: true, constructor: 1 })).to.deep.equal([
        `Article: @Crud has no option 'toString'. The options are ${OPTIONS}.`,
        `Article: @Crud has no option 'constructor'. The options are ${OPTIONS}.`,
      ]));

    it('may be in another case for the nearest one', () =>
      expect(problemsOf(Article, { pagesize: 20 })).to.deep.equal([
        `Article: @Crud has no option 'pagesize'. Did you mean 'pageSize'? The options are ${OPTIONS}.`,
      ]));
  });

  describe('the attribute that id names', () => {
    const Post = defineModel(
      'Post',
      {
        slug: DataTypes.STRING,
        secret: DataTypes.STRING,
        whole: DataTypes.VIRTUAL,
        ratio: DataTypes.DOUBLE,
        version: DataTypes.INTEGER,
        key: { type: DataTypes.UUID, primaryKey: true },
      },
      { version: true },
    );
    Exclude()(Post.prototype, 'secret');
    const cases: readonly (readonly [options: object, problem: string])[] = [
      [
        { id: 'slag' },
        "id names 'slag', which is not an attribute. Did you mean 'slug'? The attributes are slug, secret, whole, ratio, version, key.",
      ],
      [{ id: [] }, 'id is an empty list; name attributes, or leave it out.'],
      [{ id: ['slug', 'slug'] }, "id names 'slug' twice; name it once."],
      [{ id: [7] }, 'id is 7; use the name of an attribute, or a list of names.'],
      [
        { id: { member: 'text' } },
        "id is { member: 'text' }; use the name of an attribute, a list of names, or { attributes: [...], member: 'id' }.",
      ],
      [{ id: { attributes: 'slug', name: 'text' } }, "id has no 'name'; use attributes and member."],
      [
        { id: { attributes: ['slug'], member: 'a b' } },
        `id has the member "a b"; use a name of letters, digits and '_', such as 'id'.`,
      ],
      ...['slug', 'save', 'text'].map((member) => {
        const why =
          'which the model has already, or which @Crud of the model does not name; use another name, or name it there.';
        return [{ id: { attributes: ['slug'], member } }, `id has the member '${member}', ${why}`] as const;
      }),
      [
        { id: 'secret' },
        "id names 'secret', which @Exclude() hides from answers, so that no client could address what it was answered; show it, or name " +
          'another attribute.',
      ],
      [
        { id: 'whole' },
        "id names 'whole', which is virtual: no column finds a row by it; use an attribute with a column.",
      ],
      [{ id: 'version' }, "id names 'version', which Sequelize writes; use another attribute."],
      [
        { id: 'ratio' },
        "the attribute 'ratio' is of type float, which no path segment can hold; give @Crud an idType function that reads it.",
      ],
      [
        { id: 'slug', idType: 'integer' },
        "idType 'integer' does not fit the attribute 'slug', which is of type string; leave it out, or use 'bigint', 'uuid', 'string' or a " +
          'function.',
      ],
      [
        { id: 'slug', fields: { slug: { read: () => true } } },
        'fields.slug.read is about the attribute that addresses records, which every path has; remove it.',
      ],
    ];
    for (const [options, problem] of cases) {
      it(`is refused: ${problem}`, () =>
        expect(problemsOf(Post, { endpoints: ['read'], ...options })).to.deep.equal([`Post: ${problem}`]));
    }
  });

  describe('a choice', () => {
    it('gets the nearest one for a near miss', () =>
      expect(problemsOf(Article, { pagination: 'Cursor', unknownQuery: 'rejct' })).to.deep.equal([
        "Article: pagination is \"Cursor\"; use 'offset' or 'cursor'. Did you mean 'cursor'?",
        "Article: unknownQuery is \"rejct\"; use 'reject' or 'ignore'. Did you mean 'reject'?",
      ]));

    it('may be wrong in any way', () =>
      expect(
        problemsOf(Article, { pagination: Object.create(null), unknownQuery: Symbol('x') }),
      ).to.deep.equal([
        "Article: pagination is [Object: null prototype] {}; use 'offset' or 'cursor'.",
        "Article: unknownQuery is Symbol(x); use 'reject' or 'ignore'.",
      ]));
  });

  describe('a schema class', () => {
    it('[C7] needs a property that may pass in its own direction', () => {
      class ReadOnly {
        @Expose({ toPlainOnly: true }) title = '';
      }
      class WriteOnly {
        @Expose({ toClassOnly: true }) title = '';
      }
      class Hidden {
        @Exclude() @IsString() title = '';
      }
      const options = { readSchema: WriteOnly, createSchema: ReadOnly, updateSchema: Hidden };
      expect(problemsOf(Article, options)).to.deep.equal([
        nothingPasses('readSchema', 'WriteOnly'),
        nothingPasses('createSchema', 'ReadOnly'),
        nothingPasses('updateSchema', 'Hidden'),
      ]);
      expect(problemsOf(Article, { readSchema: ReadOnly, createSchema: WriteOnly })).to.deep.equal([]);
    });

    it('may have its properties from a class that it extends', () => {
      class Extended extends Accepted {}
      expect(planOf(Article, { createSchema: Extended }).explicitSchemas.create).to.equal(Extended);
    });
  });

  it('the dependencies may hold anything, however large or circular, and it is named shortly', () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    expect(problemsOf(Article, { dependencies: [circular, 5n, new Guard(), 'x'.repeat(9)] })).to.deep.equal([
      noDependency(0, '<ref *1> { self: [Circular *1] }'),
      noDependency(1, '5n'),
      noDependency(2, 'Guard {}'),
      noDependency(3, '"xxxxxxxxx"'),
    ]);
  });

  it('refuses writes of a version that the default scope leaves out', () => {
    const scoped = { version: true, defaultScope: { attributes: { exclude: ['version'] } } };
    const made = defineModel('Log', { name: DataTypes.TEXT }, scoped);
    expect(problemsOf(made, {})).to.deep.equal([
      'Log: the default scope leaves out version, without which Sequelize changes no row; have the scope read it: @Exclude() hides ' +
        'it from answers.',
    ]);
    expect(problemsOf(made, { endpoints: ['list', 'read', 'create'] })).to.deep.equal([]);
  });
});
