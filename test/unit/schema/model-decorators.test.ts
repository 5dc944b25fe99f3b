import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import { IsString } from 'class-validator';
import { Column, DataType, Default, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { classProperties } from '../../../src/schema/class-properties.js';
import { describeExposure } from '../../../src/schema/model-decorators.js';
import { readSchema } from '../../../src/schema/model-schemas.js';
import { attach, infoOf, planOf, problemsOf } from '../../support/offline-models.js';

const REQUIRED = { type: DataType.STRING, allowNull: false };

type AnyModel = Parameters<typeof attach>[0];

function describeModel(model: AnyModel) {
  const problems: string[] = [];
  const exposure = describeExposure(infoOf(attach(model)), (problem) => problems.push(problem));
  return { unreadable: [...exposure.unreadable], unwritable: [...exposure.unwritable], problems };
}

describe('describeExposure', () => {
  it('adds up the decorators of an attribute, in any order, each in its direction', () => {
    @Table
    class User extends Model {
      @Column(DataType.STRING) declare shown: string;
      @Exclude() @Column(DataType.STRING) declare note: string | null;
      @Exclude()
      @Default(false)
      @Column({ type: DataType.BOOLEAN, allowNull: false })
      declare isAdmin: boolean;
      @Exclude({ toPlainOnly: true }) @Column(DataType.STRING) declare shownNever: string;
      @Exclude({ toClassOnly: true }) @Column(DataType.STRING) declare givenNever: string;
      @Exclude({ toClassOnly: true }) @Column(REQUIRED) declare hook: string;
      @Exclude({ toClassOnly: true, toPlainOnly: true }) @Column(DataType.STRING) declare never: string;
      @Exclude({ toClassOnly: true })
      @Exclude({ toPlainOnly: true })
      @Column(DataType.STRING)
      declare one: string;
      @Exclude({ toPlainOnly: true })
      @Exclude({ toClassOnly: true })
      @Column(DataType.STRING)
      declare two: string;
      @Exclude({ toPlainOnly: true }) @Expose() @Exclude() @Column(DataType.STRING) declare three: string;
      @Exclude({ toPlainOnly: true })
      @Exclude({ toPlainOnly: true })
      @Column(DataType.STRING)
      declare four: string;
    }
    const both = ['never', 'one', 'two', 'three'];
    const { unreadable, unwritable, problems } = describeModel(User);
    expect(unreadable).to.have.members(['note', 'isAdmin', 'shownNever', ...both, 'four']);
    expect(unwritable).to.have.members(['note', 'isAdmin', 'givenNever', 'hook', ...both]);
    expect(problems).to.deep.equal([]);
  });

  it('adds up those of a class and of the class that it extends', () => {
    abstract class Base extends Model {
      @Exclude({ toPlainOnly: true }) @Column(DataType.STRING) declare one: string;
      @Exclude() @Column(DataType.STRING) declare two: string;
      @Exclude() @Column(DataType.STRING) declare three: string;
    }
    @Table({ timestamps: false })
    class User extends Base {
      @Exclude({ toClassOnly: true }) @Column(DataType.STRING) declare one: string;
      @Exclude({ toPlainOnly: true }) @Column(DataType.STRING) declare two: string;
    }
    const all = ['one', 'two', 'three'];
    expect(describeModel(User)).to.deep.equal({ unreadable: all, unwritable: all, problems: [] });
  });

  it('adds them up in schemas of the user, too', () => {
    class View {
      @Expose() declare shown: string;
      @Exclude({ toClassOnly: true }) @Exclude({ toPlainOnly: true }) @IsString() declare hidden: string;
    }
    expect([...classProperties(View, 'read')]).to.deep.equal(['shown']);
    expect([...classProperties(View, 'write')]).to.deep.equal(['shown']);
  });

  describe('of a required attribute', () => {
    @Exclude()
    @Table({ timestamps: false })
    class Closed extends Model {
      @Expose() @PrimaryKey @Column(DataType.INTEGER) declare id: number;
      @Column(REQUIRED) declare secret: string;
      @Expose({ toClassOnly: true }) @Column(REQUIRED) declare given: string;
    }

    @Table
    class User extends Model {
      @Exclude() @Column(REQUIRED) declare password: string;
      @Exclude({ toPlainOnly: true }) @Column(REQUIRED) declare given: string;
      @Exclude({ toPlainOnly: true, toClassOnly: true }) @Column(REQUIRED) declare hook: string;
      @Exclude({ toClassOnly: true })
      @Exclude({ toPlainOnly: true })
      @Column(REQUIRED)
      declare stacked: string;
      @Exclude() @Default('x') @Column(REQUIRED) declare preset: string;
      @Exclude() declare createdAt: Date;
    }

    const problem = (name: string, inBodies: string): string =>
      `${name} is required, and @Exclude() hides it from bodies too, so no create could give it; write ${inBodies} to ` +
      'hide it from answers only, or @Exclude({ toPlainOnly: true, toClassOnly: true }) where a hook or an override sets it.';

    it('must say whether bodies have it', () => {
      expect(problemsOf(attach(User))).to.deep.equal([
        problem('User.password', '@Exclude({ toPlainOnly: true })'),
      ]);
      expect(problemsOf(attach(Closed))).to.deep.equal([
        problem('Closed.secret', '@Expose({ toClassOnly: true })'),
      ]);
    });

    it('is hidden from both where no body of a create is derived', () => {
      class SignUp {
        @IsString() declare given: string;
      }
      const options = [{ endpoints: ['list', 'update'] }, { createSchema: SignUp }];
      for (const each of options) {
        const { exposure } = planOf(attach(User), each);
        expect([...exposure.unwritable].join(' ')).to.equal('password hook stacked preset createdAt');
        expect([...exposure.unreadable]).to.include('password');
      }
    });
  });

  it('hides with @Exclude() on the class what has no @Expose()', () => {
    @Exclude()
    @Table({ timestamps: false })
    class User extends Model {
      @Expose() @PrimaryKey @Column(DataType.INTEGER) declare id: number;
      @Expose() @Column(DataType.STRING) declare name: string;
      @Expose({ toPlainOnly: true }) @Column(DataType.STRING) declare shown: string;
      @Expose({ toClassOnly: true }) @Column(DataType.STRING) declare given: string;
      @Column(DataType.STRING) declare secret: string;
    }
    expect(describeModel(User)).to.deep.equal({
      unreadable: ['given', 'secret'],
      unwritable: ['shown', 'secret'],
      problems: [],
    });
  });

  it('hides with @Exclude({ toPlainOnly: true }) on the class from answers only', () => {
    @Exclude({ toPlainOnly: true })
    @Table({ timestamps: false })
    class User extends Model {
      @Expose() @PrimaryKey @Column(DataType.INTEGER) declare id: number;
      @Column(DataType.STRING) declare secret: string;
    }
    expect(describeModel(User)).to.deep.equal({ unreadable: ['secret'], unwritable: [], problems: [] });
  });

  it('hides nothing with @Expose() on the class', () => {
    @Expose()
    @Table({ timestamps: false })
    class User extends Model {
      @Column(DataType.STRING) declare name: string;
    }
    expect(describeModel(User)).to.deep.equal({ unreadable: [], unwritable: [], problems: [] });
  });

  it('reports an attribute that @Expose({ name }) renames, and not one that keeps its name', () => {
    @Table({ timestamps: false })
    class User extends Model {
      @Expose({ name: 'fullName' }) @Column(DataType.STRING) declare name: string;
      @Expose({ name: 'email' }) @Column(DataType.STRING) declare email: string;
      @Expose() @Column(DataType.STRING) declare phone: string;
    }
    expect(describeModel(User)).to.deep.equal({
      unreadable: [],
      unwritable: [],
      problems: [
        "User.name: @Expose({ name: 'fullName' }) renames it in answers only; rename the attribute " +
          "(its column keeps its name with @Column({ field: '…' })), or give @Crud a readSchema.",
      ],
    });
  });

  it('says nothing where only a schema is asked for', () => {
    @Table({ timestamps: false })
    class Renamed extends Model {
      @Expose({ name: 'fullName' }) @Column(DataType.STRING) declare name: string;
    }
    expect(readSchema(attach(Renamed)).name).to.equal('RenamedRead');
  });
});
