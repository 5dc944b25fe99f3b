import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import { Column, DataType, Default, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { describeExposure } from '../../../src/schema/model-decorators.js';
import { readSchema } from '../../../src/schema/model-schemas.js';
import { attach, infoOf, planOf } from '../../support/offline-models.js';

type AnyModel = Parameters<typeof attach>[0];

interface Description {
  readonly unreadable: readonly string[];
  readonly unwritable: readonly string[];
  readonly problems: readonly string[];
}

function describeModel(model: AnyModel): Description {
  const problems: string[] = [];
  const exposure = describeExposure(infoOf(attach(model)), (problem) => problems.push(problem));
  return { unreadable: [...exposure.unreadable], unwritable: [...exposure.unwritable], problems };
}

describe('describeExposure', () => {
  it('hides nothing without decorators', () => {
    @Table
    class User extends Model {
      @Column(DataType.STRING) declare name: string;
    }
    expect(describeModel(User)).to.deep.equal({ unreadable: [], unwritable: [], problems: [] });
  });

  it('hides an attribute with @Exclude() from answers and bodies', () => {
    @Table
    class User extends Model {
      @Exclude() @Column(DataType.STRING) declare note: string | null;
      @Exclude()
      @Default(false)
      @Column({ type: DataType.BOOLEAN, allowNull: false })
      declare isAdmin: boolean;
    }
    expect(describeModel(User)).to.deep.equal({
      unreadable: ['note', 'isAdmin'],
      unwritable: ['note', 'isAdmin'],
      problems: [],
    });
  });

  it('lets a body give one without which no row could be created', () => {
    @Table
    class User extends Model {
      @Exclude() @Column({ type: DataType.STRING, allowNull: false }) declare password: string;
    }
    expect(describeModel(User)).to.deep.equal({ unreadable: ['password'], unwritable: [], problems: [] });
  });

  it('hides in one direction where the decorator says so', () => {
    @Table
    class User extends Model {
      @Exclude({ toPlainOnly: true }) @Column(DataType.STRING) declare shownNever: string;
      @Exclude({ toClassOnly: true }) @Column(DataType.STRING) declare givenNever: string;
      @Exclude({ toClassOnly: true })
      @Column({ type: DataType.STRING, allowNull: false })
      declare hook: string;
      @Exclude({ toClassOnly: true, toPlainOnly: true }) @Column(DataType.STRING) declare never: string;
    }
    expect(describeModel(User)).to.deep.equal({
      unreadable: ['shownNever', 'never'],
      unwritable: ['givenNever', 'hook', 'never'],
      problems: [],
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

  it('keeps hidden what a class that the model extends hides', () => {
    abstract class Base extends Model {
      @Exclude() @Column(DataType.STRING) declare secret: string;
    }
    @Table({ timestamps: false })
    class User extends Base {
      @Column(DataType.STRING) declare name: string;
    }
    expect(describeModel(User)).to.deep.equal({
      unreadable: ['secret'],
      unwritable: ['secret'],
      problems: [],
    });
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

  it('is frozen', () => {
    @Table
    class User extends Model {}
    expect(planOf(attach(User)).exposure).to.satisfy(Object.isFrozen);
  });

  it('says nothing where only a schema is asked for', () => {
    @Table({ timestamps: false })
    class Renamed extends Model {
      @Expose({ name: 'fullName' }) @Column(DataType.STRING) declare name: string;
    }
    expect(readSchema(attach(Renamed)).name).to.equal('RenamedRead');
  });
});
