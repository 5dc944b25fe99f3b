import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { IsString } from 'class-validator';
import { DataTypes } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { bodySchema } from '../../../src/schema/body-schema.js';
import { caughtError } from '../../support/caught-error.js';
import { attach, defineModel, planOf } from '../../support/offline-models.js';
import { bodyIssues, parseBody, parseBodyText, parseCreate, UNSAFE_KEY } from '../../support/parse-bodies.js';

const Article = defineModel(
  'Article',
  {
    title: { type: DataTypes.STRING(20), allowNull: false },
    views: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
    price: DataTypes.DECIMAL(5, 2),
    publishedAt: DataTypes.DATE,
    tags: DataTypes.ARRAY(DataTypes.STRING(5)),
    details: DataTypes.JSONB,
  },
  { timestamps: true, version: true },
);
const PROPERTIES = 'title, views, price, publishedAt, tags, details';
const create = bodySchema(planOf(Article), 'create');
const update = bodySchema(planOf(Article), 'update');

describe('bodySchema', () => {
  it('lists what may be given, and what is only shown', () => {
    expect(create.properties).to.deep.equal(new Set(PROPERTIES.split(', ')));
    expect(create.readOnly).to.deep.equal(new Set(['id', 'createdAt', 'updatedAt', 'version']));
    expect([create.class.name, update.class.name]).to.deep.equal(['ArticleCreate', 'ArticleUpdate']);
  });

  it('has a primary key that the client gives in a create only', () => {
    const Country = defineModel('Country', {
      code: { type: DataTypes.CHAR(3), primaryKey: true },
      name: DataTypes.STRING,
    });
    const plan = planOf(Country);
    expect(bodySchema(plan, 'create')).to.deep.include({
      properties: new Set(['code', 'name']),
      readOnly: new Set(),
    });
    expect(bodySchema(plan, 'update')).to.deep.include({
      properties: new Set(['name']),
      readOnly: new Set(['code']),
    });
  });

  it('does not tell that a hidden attribute exists', () => {
    @Table({ timestamps: false })
    class User extends Model {
      @Column(DataType.STRING) declare name: string;
      @Exclude() @Column(DataType.STRING) declare secret: string;
      @Exclude({ toClassOnly: true }) @Column(DataType.STRING) declare computed: string;
    }
    expect(bodySchema(planOf(attach(User)), 'create')).to.deep.include({
      properties: new Set(['name']),
      readOnly: new Set(['id', 'computed']),
    });
  });

  it('takes the class that the user gave instead', () => {
    class Headline {
      @IsString() title = '';
    }
    const plan = planOf(Article, { createSchema: Headline });
    const schema = bodySchema(plan, 'create');
    expect(schema.class).to.equal(Headline);
    expect(schema.properties).to.deep.equal(new Set(['title']));
    expect(schema.readOnly.has('views')).to.equal(true);
    expect(bodySchema(plan, 'update').class.name).to.equal('ArticleUpdate');
  });
});

describe('parseBody', () => {
  describe('of a right body', () => {
    it('gives the values as the model holds them', async () => {
      const body = {
        title: 'Hello',
        views: 7,
        price: '12.50',
        publishedAt: '2026-01-31T10:00:00+02:00',
        tags: ['a', '🎈'],
        details: JSON.parse('{"deep":[{"toString":1,"then":"x","length":3}]}'),
      };
      expect(await parseBody(create, body)).to.deep.equal({
        ...body,
        publishedAt: new Date('2026-01-31T08:00:00Z'),
      });
    });

    it('adds null in a create for what may be null, and nothing for what has a default', async () => {
      expect(await parseBody(create, { title: 'Hello' })).to.deep.equal({
        title: 'Hello',
        price: null,
        publishedAt: null,
        tags: null,
        details: null,
      });
    });

    it('adds nothing in an update', async () => {
      expect(await parseBody(update, {})).to.deep.equal({});
      expect(await parseBody(update, { price: null })).to.deep.equal({ price: null });
    });

    it('is left as it came', async () => {
      const body = Object.freeze({ title: 'Hello', tags: Object.freeze(['a']), details: Object.freeze({}) });
      const values = await parseBody(create, body);
      expect(values['details']).to.deep.equal({});
      expect(body).to.deep.equal({ title: 'Hello', tags: ['a'], details: {} });
    });

    it('keeps JSON as it is, whatever its keys are called', async () => {
      const details = {
        toString: 1,
        hasOwnProperty: [],
        valueOf: { __defineGetter__: 'x' },
        '': null,
        'a/b': {},
      };
      const { details: parsed } = await parseBody(update, { details });
      expect(parsed).to.deep.equal(details);
    });
  });

  for (const [label, body] of [
    ['null', null],
    ['an array', [{ title: 'Hello' }]],
    ['a text', 'Hello'],
    ['a number', 5],
    ['nothing', undefined],
  ] as const) {
    it(`refuses ${label} for a body`, async () => {
      expect(await bodyIssues(parseBody(create, body))).to.deep.equal([
        { pointer: '', code: 'isObject', detail: 'The body must be a JSON object.' },
      ]);
    });
  }

  it('tells all that is wrong at once, each with its pointer, a word and a sentence', async () => {
    const body = {
      id: 5,
      titel: 'Hello',
      views: null,
      price: 12.5,
      publishedAt: '2024-02-30T00:00:00Z',
      tags: ['a', 'too long'],
      details: { a: '\0' },
    };
    expect(await bodyIssues(parseBody(create, body))).to.deep.equal([
      { pointer: '/id', code: 'readOnly', detail: 'id cannot be set.' },
      {
        pointer: '/titel',
        code: 'unknownProperty',
        detail: `There is no such property. Did you mean 'title'? The properties are ${PROPERTIES}.`,
      },
      { pointer: '/title', code: 'isDefined', detail: 'title is required.' },
      { pointer: '/views', code: 'isDefined', detail: 'views must not be null.' },
      {
        pointer: '/price',
        code: 'isDecimal',
        detail:
          'price must be a string holding a decimal number with at most 3 digits before the point and 2 after it, ' +
          'such as "12.5" (JSON numbers would be rounded).',
      },
      {
        pointer: '/publishedAt',
        code: 'isDateTime',
        detail:
          'publishedAt must be an RFC 3339 date and time with an offset and at most milliseconds, ' +
          'such as "2026-01-31T08:00:00.000Z".',
      },
      {
        pointer: '/tags',
        code: 'maxLengthEach',
        detail: 'tags must hold only values of which each must be at most 5 characters long.',
      },
      { pointer: '/details', code: 'isStorableJson', detail: `details ${UNSAFE_KEY}` },
    ]);
  });

  it('counts the problems in its message', async () => {
    const error = await caughtError(() => parseBody(create, { id: 1 }));
    expect(String(error)).to.equal('InvalidBodyError: The body has 2 problems.');
  });

  it('looks for a hundred unknown properties and one more', async () => {
    const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`p${index}`, 1]));
    const issues = await bodyIssues(parseBody(create, body));
    expect(issues.filter(({ code }) => code === 'unknownProperty')).to.have.length(101);
    expect(issues[99]).to.deep.include({ pointer: '/p99', code: 'unknownProperty' });
  });

  it('says so where a body has no properties at all', async () => {
    const Counter = defineModel('Counter');
    expect(await parseCreate(Counter, {})).to.deep.equal({});
    expect(await bodyIssues(parseCreate(Counter, { x: 1 }))).to.deep.equal([
      { pointer: '/x', code: 'unknownProperty', detail: 'There is no such property. The body has none.' },
    ]);
  });

  describe('of properties that are not its own', () => {
    for (const name of [
      '__proto__',
      'constructor',
      'prototype',
      'hasOwnProperty',
      'toString',
      'valueOf',
      'isPrototypeOf',
      '__defineGetter__',
      'then',
      '',
      'password',
    ]) {
      it(`refuses '${name}', alone and beside others`, async () => {
        const issue = {
          pointer: `/${name}`,
          code: 'unknownProperty',
          detail: `There is no such property. The properties are ${PROPERTIES}.`,
        };
        for (const schema of [create, update]) {
          const text = `{"title":"Hello","${name}":{"isAdmin":true}}`;
          expect(await bodyIssues(parseBodyText(schema, text))).to.deep.equal([issue]);
        }
        expect(({} as { isAdmin?: unknown }).isAdmin).to.equal(undefined);
      });
    }

    for (const name of ['id', 'createdAt', 'updatedAt', 'version']) {
      it(`[C1] refuses ${name}, which nobody but the stack writes`, async () => {
        const issue = { pointer: `/${name}`, code: 'readOnly', detail: `${name} cannot be set.` };
        for (const schema of [create, update]) {
          expect(await bodyIssues(parseBody(schema, { title: 'Hello', [name]: null }))).to.deep.equal([
            issue,
          ]);
        }
      });
    }
  });

  describe('of keys that would change a prototype, inside values', () => {
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      for (const [property, text] of [
        ['details', `{"${key}":{"isAdmin":true}}`],
        ['details', `[[{"deep":{"${key}":"x"}}]]`],
        ['details', `{"${key}":null}`],
        ['title', `{"${key}":"x"}`],
        ['tags', `["a",{"${key}":{}}]`],
      ] as const) {
        it(`refuses "${property}":${text}`, async () => {
          const parsing = parseBodyText(update, `{"${property}":${text}}`);
          expect(await bodyIssues(parsing)).to.deep.equal([
            { pointer: `/${property}`, code: 'isStorableJson', detail: `${property} ${UNSAFE_KEY}` },
          ]);
          expect(({} as { isAdmin?: unknown }).isAdmin).to.equal(undefined);
        });
      }
    }

    it('does not call such a value missing as well', async () => {
      const issues = await bodyIssues(parseBodyText(create, '{"title":{"constructor":1},"views":"x"}'));
      expect(issues).to.deep.equal([
        { pointer: '/title', code: 'isStorableJson', detail: `title ${UNSAFE_KEY}` },
        { pointer: '/views', code: 'isInt', detail: 'views must be an integer.' },
      ]);
    });
  });
});
