import { expect } from 'chai';
import { DataTypes, Model as SequelizeModel } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { introspectModel } from '../../../src/describe/describe-model.js';
import { attach, defineModel, infoOf } from '../../support/offline-models.js';

describe('introspectModel', () => {
  describe('of names', () => {
    const problemsOf = (names: readonly string[], field?: string) => {
      const options = { type: DataTypes.STRING, ...(field === undefined ? {} : { field }) };
      return introspectModel(defineModel('Odd', Object.fromEntries(names.map((name) => [name, options]))))
        .problems;
    };

    it('refuses what every record has', () => {
      const model = defineModel('Any');
      const owners = [Object.prototype, SequelizeModel.prototype, model.build()];
      // By `_isAttribute` Sequelize itself defines no model.
      const ofClass = Object.getOwnPropertyNames(model.prototype).filter((name) => /^_.*ustom/.test(name));
      for (const name of new Set([...owners.flatMap(Object.getOwnPropertyNames), ...ofClass])) {
        // Its column is refused, too.
        if (name === '__proto__') continue;
        expect(problemsOf([name])).to.deep.equal([
          `Odd.${name} has the name of a member that every record of Sequelize has; rename the attribute (its column ` +
            `keeps its name with @Column({ field: '${name}' })).`,
        ]);
      }
    });

    const signs =
      "which begins with '$', or has one of . , \" in it, and means something else to Sequelize or in a query string";
    for (const name of ['a.b', '$x', '$a.b$', 'a"b', 'a,b', '.', '$']) {
      it(`refuses ${name}, which a column may have`, () => {
        expect(problemsOf([name])).to.deep.equal([
          `Odd.${name} has a name ${signs}; rename the attribute (best with its column).`,
        ]);
        if (!/"|\$\w/.test(name)) expect(problemsOf(['good'], name)).to.deep.equal([]);
      });
    }

    it('refuses columns and tables in whose place Sequelize would read others', () => {
      const unread =
        'has a quotation mark, and Sequelize leaves it out of every name, so that something else would be read; rename it, or read it ' +
        'through a view that gives it another name.';
      expect(problemsOf(['good'], 'Or"der')).to.deep.equal([`Odd.good: its column ${unread}`]);
      const renamed = 'rename it, or read it through a view that gives it another name.';
      const parameter = `its column has a $, and Sequelize takes it for that of a parameter; ${renamed}`;
      for (const field of ['$1', 'a $b', '$$'])
        expect(problemsOf(['good'], field)).to.deep.equal([`Odd.good: ${parameter}`]);
      // The same where the attribute has the name of its column.
      expect(problemsOf(['a $b'])).to.deep.equal([`Odd.a $b: ${parameter}`]);
      expect(problemsOf(['good'], '*')).to.deep.equal([
        `Odd.good: its column is *, which Sequelize takes for all columns; ${renamed}`,
      ]);
      expect(problemsOf(['good'], '__proto__')).to.deep.equal([
        `Odd.good: its column is __proto__, which an object takes for its prototype, so that Sequelize would write nothing; ${renamed}`,
      ]);
      for (const table of [{ tableName: 'a"b' }, { tableName: 'a', schema: 's"' }]) {
        const model = defineModel('Odd', { name: DataTypes.STRING }, table);
        expect(introspectModel(model).problems).to.deep.equal([`Odd: the name of its table ${unread}`]);
      }
    });

    it('refuses a key whose value Sequelize would read from another attribute', () => {
      const key = { type: DataTypes.INTEGER, primaryKey: true, field: 'code' };
      const code = { type: DataTypes.INTEGER };
      expect(introspectModel(defineModel('Odd', { no: key, code })).problems).to.deep.equal([
        "Odd.no: its column 'code' is that of another attribute, and Sequelize would read the key of a new row there; give the attributes " +
          'of the key columns that no other attribute has.',
      ]);
    });

    it('refuses a column with the name of another attribute, which Sequelize would take for it', () => {
      const text = { type: DataTypes.STRING };
      const book = { name: { ...text, field: 'title' }, title: { ...text, field: 'heading' } };
      expect(introspectModel(defineModel('Book', book)).problems).to.deep.equal([
        "Book.name: its column 'title' has the name of another attribute, and Sequelize would sort by the other column, and show its values " +
          "after a write; rename the attribute 'title' (its column keeps its name with @Column({ field: 'heading' })).",
      ]);
      const virtual = { raw: { ...text, field: 'state' }, state: { type: DataTypes.VIRTUAL } };
      expect(introspectModel(defineModel('Virtual', virtual)).problems).to.deep.equal([]);
    });

    it('refuses columns with a parenthesis, where Sequelize takes them for no column', () => {
      const model = defineModel('Odd', { price: { type: DataTypes.INTEGER, field: 'price (EUR)' } });
      expect(introspectModel(model).problems).to.deep.equal([
        "Odd.price: its column 'price (EUR)' has a parenthesis, and Sequelize takes such a name for no column; set attributeBehavior: " +
          "'escape' in the options of its Sequelize instance.",
      ]);
    });

    it('takes all others, such as the names of columns in any language', () => {
      const names =
        "then a$b a$ größe 名前 first-name it's :x ? prototype length count default table name scope include limit".split(
          ' ',
        );
      expect(problemsOf([...names, 'a b'])).to.deep.equal([]);
      for (const field of ['toString', 'constructor', 'isNewRecord', 'save']) {
        expect(problemsOf(['good'], field), field).to.deep.equal([]);
      }
    });
  });

  describe('of primary keys', () => {
    it('takes several, in their order, and none', () => {
      const several = defineModel('Line', {
        no: { type: DataTypes.INTEGER, primaryKey: true },
        order: { type: DataTypes.STRING, primaryKey: true },
      });
      const none = defineModel('Log', { line: DataTypes.STRING });
      none.removeAttribute('id');
      expect(infoOf(several).primaryKey.map(({ name, isPart }) => [name, isPart])).to.deep.equal([
        ['no', true],
        ['order', true],
      ]);
      expect(infoOf(none).primaryKey).to.deep.equal([]);
    });
  });

  describe('of the model itself', () => {
    it('takes a plural that the user gave', () => {
      const model = defineModel('Datum', {}, { name: { singular: 'Datum', plural: 'Measurements' } });
      expect(infoOf(model).pluralName).to.equal('Measurements');
    });
  });

  it('refuses a model without a name, which is that of its rows in statements', () => {
    // As Sequelize does for an anonymous class.
    const model = Object.defineProperty(defineModel('', {}, { tableName: 'notes' }), 'name', { value: '' });
    expect(introspectModel(model)).to.deep.equal({
      info: null,
      problems: [
        'The model of the table "notes" has no name, by which statements name its rows; write class Name extends Model, or give @Table a modelName.',
      ],
    });
  });

  describe('of a model that is not attached', () => {
    class Article extends SequelizeModel {}

    it('says so and nothing else', () =>
      expect(introspectModel(Article)).to.deep.equal({
        info: null,
        problems: [
          "Article is not attached to a Sequelize instance; list it in the engine's models, or in " +
            'new Sequelize({ models: [...] }), before bootstrap is called.',
        ],
      }));
  });

  describe('of class fields that hide attributes', () => {
    it('reports every one, and not those written with declare', () => {
      @Table
      class Article extends Model {
        @Column(DataType.STRING) title!: string;
        @Column(DataType.STRING) declare slug: string;
        @Column(DataType.STRING) state = 'draft';
        isDraft = true;
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
  });
});
