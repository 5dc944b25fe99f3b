/** A table that joins two others has no single key, and belongs to a tenant all the same. */
// @runs fast
import { expect } from 'chai';
import { BodyParam, Get, Post } from 'routing-controllers';
import {
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import {
  Crud,
  crudController,
  InjectRepository,
  type ModelClass,
  type Repository,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { ask, TwoPaths } from '../../support/two-paths.js';

abstract class Owned extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
}

@Crud()
@Table({ tableName: 'people', timestamps: false })
class Person extends Owned {
  @BelongsToMany(() => Team, { through: () => Membership }) declare teams?: Team[];
  @HasMany(() => Membership) declare memberships?: Membership[];
}

@Crud()
@Table({ tableName: 'teams', timestamps: false })
class Team extends Owned {}

@Table({ tableName: 'memberships', timestamps: false })
class Membership extends Model {
  @PrimaryKey @ForeignKey(() => Person) @Column(DataType.INTEGER) declare personId: number;
  @PrimaryKey @ForeignKey(() => Team) @Column(DataType.INTEGER) declare teamId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
}

const keys = ({ personId, teamId, tenant }: Membership) => [personId, teamId, tenant];

class PersonController extends crudController(Person) {
  @Get('/of/teams')
  async ofTeams(@InjectRepository(Person) people: Repository<Person>) {
    const [person] = await people.list({ include: ['teams'] });
    return { teams: person?.teams?.map(({ id }) => id) };
  }

  @Get('/of/memberships')
  async ofMemberships(@InjectRepository(Membership) memberships: Repository<Membership>) {
    return (await memberships.list()).map(keys);
  }

  @Post('/of/memberships')
  async join(
    @BodyParam('teamId') teamId: number,
    @InjectRepository(Membership) memberships: Repository<Membership>,
  ) {
    return keys(await memberships.create({ personId: 1, teamId }));
  }
}

describe('a table that joins two others', () => {
  it('is within the scope', async () => {
    await using paths = await TwoPaths.start({
      models: [Person, Team, Membership] as ModelClass[],
      bootstrap: {
        models: [Person, Team] as ModelClass[],
        scope: { tenant: (request) => request.get('tenant') },
        controllers: [PersonController],
      },
    });
    await Person.bulkCreate([{ tenant: 'A' }]);
    await Team.bulkCreate([{ tenant: 'A' }, { tenant: 'B' }, { tenant: 'A' }, { tenant: 'A' }]);
    const others = [
      { personId: 1, teamId: 2, tenant: 'B' },
      { personId: 1, teamId: 4, tenant: 'B' },
    ];
    await Membership.bulkCreate([{ personId: 1, teamId: 1, tenant: 'A' }, ...others]);
    const headers = { tenant: 'A' };
    const get = async (path: string) => JSON.parse((await paths.same({ path, headers })).body);
    expect(await get('/people/of/teams')).to.deep.equal({ teams: [1] });
    expect(await get('/people/of/memberships')).to.deep.equal([[1, 1, 'A']]);
    const join = (teamId: number) =>
      ask(paths.fast, { method: 'POST', path: '/people/of/memberships', headers, body: { teamId } });
    expect((await join(2)).body).to.equal((await join(99)).body);
    expect(JSON.parse((await join(3)).body)).to.deep.equal([1, 3, 'A']);
    await paths.withHooks(() => Membership.destroy({ where: { teamId: 3 } }));
    expect(JSON.parse((await paths.withHooks(() => join(3))).body)).to.deep.equal([1, 3, 'A']);
  });
});
