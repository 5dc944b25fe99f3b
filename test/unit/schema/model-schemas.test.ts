import { expect } from 'chai';
import { Expose, plainToInstance, Transform } from 'class-transformer';
import { IsEmail, validate } from 'class-validator';
import { DataTypes, Model } from 'sequelize';
import { classJsonSchema } from '../../../src/schema/class-json-schema.js';
import type { SchemaClass } from '../../../src/schema/class-properties.js';
import { classProperties } from '../../../src/schema/class-properties.js';
import { createSchema, readSchema, updateSchema } from '../../../src/schema/model-schemas.js';
import { WIRE_PATTERNS } from '../../../src/schema/wire-value.js';
import { ConfigError } from '../../../src/util/config-error.js';
import { defineModel } from '../../support/offline-models.js';

const Article = defineModel(
  'Article',
  {
    title: { type: DataTypes.STRING, allowNull: false },
    subtitle: DataTypes.STRING,
    status: { type: DataTypes.STRING, allowNull: false, defaultValue: 'draft' },
    rating: { type: DataTypes.INTEGER, defaultValue: 3 },
    publishedAt: DataTypes.DATE,
  },
  { timestamps: true, paranoid: true, version: true },
);

/** Problems of the values, as `property: rule, …`. */
async function failuresOf(schema: SchemaClass, values: object): Promise<string[]> {
  const errors = await validate(plainToInstance(schema, values, { exposeUnsetFields: false }));
  return errors.map(
    ({ property, constraints = {} }) => `${property}: ${Object.keys(constraints).join(', ')}`,
  );
}

describe('readSchema, createSchema and updateSchema', () => {
  it('name their classes after the model', () => {
    const names = [readSchema, createSchema, updateSchema].map((schema) => schema(Article).name);
    expect(names).to.deep.equal(['ArticleRead', 'ArticleCreate', 'ArticleUpdate']);
  });

  it('give the same class for the same model, and other classes for another one', () => {
    const Other = defineModel('Article', { title: DataTypes.STRING });
    for (const schema of [readSchema, createSchema, updateSchema]) {
      expect(schema(Article)).to.equal(schema(Article));
      expect(schema(Other)).not.to.equal(schema(Article));
    }
  });

  it('refuse what is no model, such as a class that a circular import has not loaded yet', () => {
    class Form {}
    const refusal = (given: unknown) => () => createSchema(given as typeof Article);
    expect(refusal(Form)).to.throw(ConfigError, 'createSchema expects a model class; got the class Form.');
    expect(refusal(undefined)).to.throw(
      ConfigError,
      'createSchema expects a model class; got undefined, which a class is as long as a circular import loads it.',
    );
  });

  it('describe their rules in classes that extend them, but for properties with decorators there', () => {
    class Draft extends createSchema(Article) {
      @IsEmail() author!: string;
      @Transform(({ value }) => String(value)) declare subtitle: string;
    }
    const { properties, required } = classJsonSchema(Draft);
    expect(properties).to.deep.equal({
      title: { type: 'string', maxLength: 255 },
      subtitle: {},
      status: { type: 'string', maxLength: 255 },
      rating: { type: ['integer', 'null'], format: 'int32', minimum: -2147483648, maximum: 2147483647 },
      publishedAt: { type: ['string', 'null'], format: 'date-time', pattern: WIRE_PATTERNS.timestamp },
      author: { type: 'string', format: 'email' },
    });
    expect(required).to.have.members(['title', 'author']);
  });

  it('can be extended before the model is attached, and refuse to be used before', async () => {
    class Late extends Model {}
    class LateForm extends createSchema(Late) {
      @IsEmail() email!: string;
    }
    class LateView extends readSchema(Late) {
      @Expose()
      get loud(): string {
        return 'LOUD';
      }
    }
    expect(() => new LateForm()).to.throw(
      ConfigError,
      "Late is not attached to a Sequelize instance; list it in the engine's models, or in " +
        'new Sequelize({ models: [...] }), before bootstrap is called.',
    );
    expect(() => classProperties(LateView, 'read')).to.throw(ConfigError, 'Late is not attached');
    const { sequelize } = Article;
    if (!sequelize) throw new Error('Article is not attached');
    const title = { type: DataTypes.STRING(5), allowNull: false };
    Late.init({ title, note: DataTypes.STRING }, { sequelize, modelName: 'Later', timestamps: false });
    expect(await failuresOf(LateForm, { title: 'too long' })).to.deep.equal([
      'email: isEmail',
      'title: maxLength',
    ]);
    expect({ ...new LateForm() }).to.deep.include({ note: null });
    expect([...classProperties(LateForm, 'write')].sort()).to.deep.equal(['email', 'note', 'title']);
    expect([...classProperties(LateView, 'read')].sort()).to.deep.equal(['id', 'loud', 'note', 'title']);
    expect(Object.getPrototypeOf(LateForm))
      .to.equal(createSchema(Late))
      .and.have.property('name', 'LaterCreate');
  });
});

describe('the classes of a model', () => {
  const Country = defineModel('Country', {
    code: { type: DataTypes.CHAR(3), primaryKey: true },
    name: DataTypes.STRING,
  });
  const Session = defineModel('Session', {
    token: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 },
    note: DataTypes.STRING,
  });
  const nulls = { title: null, subtitle: null, status: null, rating: null, publishedAt: null };

  it('begin with null in a create for what may be null and has no default, and empty in an update', () => {
    const Account = defineModel('Account', {
      password: { type: DataTypes.VIRTUAL, set() {} },
      label: { type: DataTypes.VIRTUAL, get: () => 'label' },
      note: DataTypes.STRING,
    });
    expect({ ...new (createSchema(Article))() }).to.deep.equal({ subtitle: null, publishedAt: null });
    expect({ ...new (createSchema(Account))() }).to.deep.equal({ note: null });
    expect({ ...new (updateSchema(Article))() }).to.deep.equal({});
  });

  for (const [title, schema, values, failures] of [
    ['require what has neither a default nor null', createSchema(Article), {}, ['title: isDefined']],
    [
      'refuse null for a default where the column does',
      createSchema(Article),
      { title: 'a', status: null, rating: null },
      ['status: isDefined'],
    ],
    ['require a key that nothing else fills', createSchema(Country), {}, ['code: isDefined']],
    ['check a key by its column', createSchema(Country), { code: 'FRAN' }, ['code: maxLength']],
    ['have no key with a default', createSchema(Session), { token: 'x', note: 5 }, ['note: isString']],
    ['require nothing in an update', updateSchema(Article), {}, []],
    [
      'tell null from absent in an update',
      updateSchema(Article),
      nulls,
      ['title: isDefined', 'status: isDefined'],
    ],
    ['have no key in an update', updateSchema(Country), { code: 5, name: 5 }, ['name: isString']],
    [
      'have the rules of the columns in an answer',
      readSchema(Country),
      { name: 5 },
      ['code: isDefined', 'name: isString'],
    ],
  ] as const) {
    it(title, async () => expect(await failuresOf(schema, values)).to.deep.equal(failures));
  }
});
