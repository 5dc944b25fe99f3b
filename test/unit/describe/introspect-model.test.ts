import { expect } from 'chai';
import { DataTypes, Model as SequelizeModel } from 'sequelize';
import {
  AllowNull,
  AutoIncrement,
  Column,
  CreatedAt,
  DataType,
  Default,
  DeletedAt,
  Model,
  PrimaryKey,
  Table,
  UpdatedAt,
} from 'sequelize-typescript';
import { introspectModel, isAttached } from '../../../src/describe/describe-model.js';
import type { AttributeInfo } from '../../../src/describe/model-info.js';
import { attach, defineModel, infoOf } from '../../support/offline-models.js';

const INT4 = { kind: 'integer', minimum: -2147483648, maximum: 2147483647 } as const;

function attributesOf(model: Parameters<typeof infoOf>[0]): AttributeInfo[] {
  return [...infoOf(model).attributes.values()];
}

describe('introspectModel', () => {
  describe('of names', () => {
    const problemsOf = (names: readonly string[], field?: string) => {
      const options = { type: DataTypes.STRING, ...(field === undefined ? {} : { field }) };
      return introspectModel(defineModel('Odd', Object.fromEntries(names.map((name) => [name, options]))))
        .problems;
    };

    const members = [
      ...[
        'toString',
        'constructor',
        'hasOwnProperty',
        'valueOf',
        '__proto__',
        '__defineGetter__',
        'isPrototypeOf',
      ],
      ...['isNewRecord', 'dataValues', '_previousDataValues', 'uniqno', '_changed', '_options', 'sequelize'],
      ...[
        'get',
        'set',
        'save',
        'update',
        'destroy',
        'restore',
        'reload',
        'changed',
        'previous',
        'validate',
        'where',
      ],
      ...['toJSON', 'equals', 'increment', '_customGetters', '_customSetters', '_hasCustomGetters'],
    ];
    for (const name of members) {
      it(`refuses ${name}, which every record has`, () => {
        expect(problemsOf([name])).to.deep.equal([
          `Odd.${name} has the name of a member that every record of Sequelize has; rename the attribute (its column ` +
            `keeps its name with @Column({ field: '${name}' })).`,
        ]);
      });
    }

    const signs =
      "which begins with '$', or has one of . , \" in it, and means something else to Sequelize or in a query string";
    for (const name of ['a.b', '$x', '$a.b$', 'a"b', 'a,b', '.', '$']) {
      it(`refuses ${name}, which a column may have`, () => {
        expect(problemsOf([name])).to.deep.equal([
          `Odd.${name} has a name ${signs}; rename the attribute (best with its column).`,
        ]);
        expect(problemsOf(['good'], name)).to.deep.equal([]);
      });
    }

    it('tells all of them at once', () => {
      expect(problemsOf(['save', 'good', 'a.b', 'isNewRecord'])).to.have.lengthOf(3);
    });

    it('takes all others, such as the names of columns in any language', () => {
      const names = [
        'then',
        'a$b',
        'größe',
        '名前',
        'first-name',
        'a b',
        "it's",
        ':x',
        '?',
        'prototype',
        'length',
        'count',
      ];
      expect(problemsOf([...names, 'default', 'table', 'name', 'scope', 'include', 'limit'])).to.deep.equal(
        [],
      );
      for (const field of ['toString', 'constructor', 'isNewRecord', 'save']) {
        expect(problemsOf(['good'], field), field).to.deep.equal([]);
      }
    });
  });

  describe('of attributes', () => {
    it('describes each in the order of the model, with its column, type and role', () => {
      const model = defineModel('Article', {
        title: { type: DataTypes.STRING(80), allowNull: false },
        subTitle: { type: DataTypes.TEXT, field: 'sub_title' },
      });
      expect(attributesOf(model)).to.deep.equal([
        {
          name: 'id',
          column: 'id',
          type: INT4,
          role: 'primaryKey',
          nullable: false,
          hasDefault: true,
          found: undefined,
        },
        {
          name: 'title',
          column: 'title',
          type: { kind: 'string', maxLength: 80 },
          role: 'data',
          nullable: false,
          hasDefault: false,
          found: undefined,
        },
        {
          name: 'subTitle',
          column: 'sub_title',
          type: { kind: 'string', maxLength: null },
          role: 'data',
          nullable: true,
          hasDefault: false,
          found: undefined,
        },
      ]);
    });

    it('names columns in snake case where the model is underscored', () => {
      const model = defineModel('Article', { homePage: DataTypes.STRING }, { underscored: true });
      expect(infoOf(model).attributes.get('homePage')?.column).to.equal('home_page');
    });

    it('takes an attribute for nullable unless allowNull is false', () => {
      const model = defineModel('Article', {
        silent: DataTypes.STRING,
        yes: { type: DataTypes.STRING, allowNull: true },
        no: { type: DataTypes.STRING, allowNull: false },
      });
      expect(attributesOf(model).map(({ name, nullable }) => [name, nullable])).to.deep.equal([
        ['id', false],
        ['silent', true],
        ['yes', true],
        ['no', false],
      ]);
    });

    it('takes values, null, functions and SQL for defaults', () => {
      const model = defineModel('Article', {
        none: DataTypes.STRING,
        value: { type: DataTypes.STRING, defaultValue: '' },
        zero: { type: DataTypes.INTEGER, defaultValue: 0 },
        empty: { type: DataTypes.STRING, defaultValue: null },
        computed: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
      });
      expect(attributesOf(model).map(({ name, hasDefault }) => [name, hasDefault])).to.deep.equal([
        ['id', true],
        ['none', false],
        ['value', true],
        ['zero', true],
        ['empty', true],
        ['computed', true],
      ]);
    });
  });

  describe('of what Sequelize writes itself', () => {
    it('tells timestamps under their usual names', () => {
      const model = defineModel('Article', {}, { timestamps: true });
      expect(attributesOf(model).map(({ name, role }) => [name, role])).to.deep.equal([
        ['id', 'primaryKey'],
        ['createdAt', 'timestamp'],
        ['updatedAt', 'timestamp'],
      ]);
    });

    it('tells timestamps under names of the user, in decorators', () => {
      @Table
      class Article extends Model {
        @CreatedAt declare born: Date;
        @UpdatedAt declare touched: Date;
        @DeletedAt declare buried: Date | null;
      }
      const info = infoOf(attach(Article));
      const roles = [...info.attributes.values()].map(({ name, role }) => [name, role]);
      expect({ roles, paranoid: info.paranoid }).to.deep.equal({
        roles: [
          ['id', 'primaryKey'],
          ['born', 'timestamp'],
          ['touched', 'timestamp'],
          ['buried', 'timestamp'],
        ],
        paranoid: true,
      });
    });

    it('tells timestamps under names of the user, in options', () => {
      const model = defineModel(
        'Article',
        {},
        { timestamps: true, createdAt: 'made', updatedAt: false, deletedAt: 'gone', paranoid: true },
      );
      expect(attributesOf(model).map(({ name, role }) => [name, role])).to.deep.equal([
        ['id', 'primaryKey'],
        ['made', 'timestamp'],
        ['gone', 'timestamp'],
      ]);
    });

    it('takes createdAt for data where the model has no timestamps', () => {
      const model = defineModel('Article', { createdAt: DataTypes.DATE });
      expect(infoOf(model).attributes.get('createdAt')?.role).to.equal('data');
    });

    it('tells the version attribute by its usual name and by one of the user', () => {
      const usual = infoOf(defineModel('Article', {}, { version: true })).attributes.get('version');
      const own = infoOf(defineModel('Article', {}, { version: 'revision' })).attributes.get('revision');
      expect([usual?.role, own?.role]).to.deep.equal(['version', 'version']);
    });

    it('is not paranoid by default', () => {
      expect(infoOf(defineModel('Article', {}, { timestamps: true })).paranoid).to.equal(false);
    });
  });

  describe('of primary keys', () => {
    it('takes the integer that Sequelize adds', () => {
      expect(infoOf(defineModel('Article')).primaryKey).to.deep.equal({
        name: 'id',
        column: 'id',
        type: INT4,
        role: 'primaryKey',
        nullable: false,
        hasDefault: true,
        found: undefined,
      });
    });

    it('takes an auto-increment bigint', () => {
      @Table
      class Review extends Model {
        @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
      }
      expect(infoOf(attach(Review)).primaryKey).to.deep.equal({
        name: 'id',
        column: 'id',
        type: { kind: 'bigint' },
        role: 'primaryKey',
        nullable: false,
        hasDefault: true,
        found: undefined,
      });
    });

    it('takes a uuid with a default', () => {
      @Table
      class Session extends Model {
        @PrimaryKey @Default(DataType.UUIDV4) @Column(DataType.UUID) declare token: string;
      }
      expect(infoOf(attach(Session)).primaryKey).to.deep.equal({
        name: 'token',
        column: 'token',
        type: { kind: 'uuid' },
        role: 'primaryKey',
        nullable: false,
        hasDefault: true,
        found: undefined,
      });
    });

    it('takes a string that the client has to give, and never for nullable', () => {
      @Table
      class Country extends Model {
        @PrimaryKey @AllowNull @Column({ type: DataType.CHAR(3), field: 'cca3' }) declare code: string;
      }
      expect(infoOf(attach(Country)).primaryKey).to.deep.equal({
        name: 'code',
        column: 'cca3',
        type: { kind: 'string', maxLength: 3 },
        role: 'primaryKey',
        nullable: false,
        hasDefault: false,
        found: undefined,
      });
    });

    it('refuses a composite one', () => {
      const model = defineModel('Membership', {
        userId: { type: DataTypes.INTEGER, primaryKey: true },
        groupId: { type: DataTypes.INTEGER, primaryKey: true },
      });
      expect(introspectModel(model)).to.deep.equal({
        info: null,
        problems: [
          'Membership has a composite primary key (userId, groupId); give it one attribute with @PrimaryKey, unique in the table by itself, ' +
            'so that /{id} can address a row.',
        ],
      });
    });

    it('refuses a model without one', () => {
      const model = defineModel('Log', { line: DataTypes.STRING });
      model.removeAttribute('id');
      expect(introspectModel(model)).to.deep.equal({
        info: null,
        problems: [
          'Log has no primary key; give it one attribute with @PrimaryKey, unique in the table by itself, so that /{id} can address a row.',
        ],
      });
    });
  });

  describe('of the model itself', () => {
    it('gives its name and its plural as Sequelize forms it', () => {
      const names = ['City', 'Person', 'BlogPost', 'Sheep'].map((name) => {
        const info = infoOf(defineModel(name));
        return [info.name, info.pluralName];
      });
      expect(names).to.deep.equal([
        ['City', 'Cities'],
        ['Person', 'People'],
        ['BlogPost', 'BlogPosts'],
        ['Sheep', 'Sheep'],
      ]);
    });

    it('takes a plural that the user gave', () => {
      const model = defineModel('Datum', {}, { name: { singular: 'Datum', plural: 'Measurements' } });
      expect(infoOf(model).pluralName).to.equal('Measurements');
    });

    it('freezes the description, its attributes and their types', () => {
      const info = infoOf(defineModel('Article', { tags: DataTypes.ARRAY(DataTypes.STRING) }));
      const tags = info.attributes.get('tags');
      const element = tags?.type.kind === 'array' ? tags.type.element : undefined;
      expect([info, tags, tags?.type, element].map(Object.isFrozen)).to.deep.equal([true, true, true, true]);
    });

    it('changes nothing of the model', () => {
      const model = defineModel('Article', { title: { type: DataTypes.STRING, allowNull: false } });
      const before = { ...model.getAttributes() };
      introspectModel(model);
      expect(model.getAttributes()).to.deep.equal(before);
    });
  });

  describe('of a model that is not attached', () => {
    class Article extends SequelizeModel {}

    it('says so and nothing else', () => {
      expect(introspectModel(Article)).to.deep.equal({
        info: null,
        problems: [
          "Article is not attached to a Sequelize instance; list it in the engine's models, or in " +
            'new Sequelize({ models: [...] }), before bootstrap is called.',
        ],
      });
    });

    it('is told apart from one that is', () => {
      expect([isAttached(Article), isAttached(defineModel('Article'))]).to.deep.equal([false, true]);
    });

    it('names a class that is no model at all', () => {
      class Stranger {}
      expect(introspectModel(Stranger as never).problems).to.deep.equal([
        "Stranger has @Crud and is no model; write class Stranger extends Model, with import { Model } from 'sequelize-typescript'.",
      ]);
    });
  });

  describe('of class fields that hide attributes', () => {
    it('reports every one, and not those written with declare', () => {
      @Table
      class Article extends Model {
        @Column(DataType.STRING) title!: string;
        @Column(DataType.STRING) declare slug: string;
        @Column(DataType.STRING) state = 'draft';
      }
      expect(introspectModel(attach(Article))).to.deep.equal({
        info: null,
        problems: [
          "Article.title is a class field that hides the attribute's accessor; " +
            'write `declare title: …` instead of `title!: …`.',
          "Article.state is a class field that hides the attribute's accessor; " +
            'write `declare state: …` instead of `state!: …`.',
        ],
      });
    });

    it('reports the one that hides the primary key', () => {
      @Table({ timestamps: false })
      class Country extends Model {
        @PrimaryKey @Column(DataType.STRING) code!: string;
      }
      expect(introspectModel(attach(Country)).problems).to.deep.equal([
        "Country.code is a class field that hides the attribute's accessor; " +
          'write `declare code: …` instead of `code!: …`.',
      ]);
    });

    it('reports them together with what is wrong with the primary key', () => {
      @Table({ timestamps: false })
      class Membership extends Model {
        @PrimaryKey @Column(DataType.INTEGER) declare userId: number;
        @PrimaryKey @Column(DataType.INTEGER) groupId!: number;
      }
      expect(introspectModel(attach(Membership)).problems).to.deep.equal([
        'Membership has a composite primary key (userId, groupId); give it one attribute with @PrimaryKey, unique in the table by itself, ' +
          'so that /{id} can address a row.',
        "Membership.groupId is a class field that hides the attribute's accessor; " +
          'write `declare groupId: …` instead of `groupId!: …`.',
      ]);
    });

    it('accepts fields that are no attributes', () => {
      @Table({ timestamps: false })
      class Article extends Model {
        @Column(DataType.STRING) declare title: string;
        draft = true;
      }
      expect(introspectModel(attach(Article)).problems).to.deep.equal([]);
    });
  });
});
