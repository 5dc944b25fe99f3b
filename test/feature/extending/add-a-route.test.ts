/** Routes that a subclass adds to a resource, and hand-written controllers beside it. */

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { IsInt, IsString, Length } from 'class-validator';
import {
  All,
  Body,
  Delete,
  Get,
  Head,
  JsonController,
  NotFoundError,
  Param,
  Params,
  Patch,
  Post,
  Put,
  QueryParam,
} from 'routing-controllers';
import {
  AutoIncrement,
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, crudController, Repository } from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'teams', timestamps: false })
class Team extends NamedRow {
  @Exclude() @Column({ type: DataType.STRING(20), defaultValue: 'hidden' }) declare budget: string;
  @HasMany(() => Player) declare players?: Player[];
}

@Crud()
@Table({ tableName: 'players', timestamps: false })
class Player extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column({ type: DataType.DECIMAL(8, 2), allowNull: false, defaultValue: '0' }) declare score: string;
  @Exclude() @Column({ type: DataType.STRING(20), defaultValue: 'hidden' }) declare salary: string;
  @ForeignKey(() => Team) @Column(DataType.INTEGER) declare teamId: number | null;
  @BelongsTo(() => Team) declare team?: Team;
}

class Rename {
  @IsString() @Length(2, 20) declare name: string;
}

class Move {
  @IsInt() declare teamId: number;
}

class TeamController extends crudController(Team) {
  @Get('/stats')
  async stats(): Promise<object> {
    return { count: await Team.count() };
  }

  @Get('/by/:name')
  async byName(@Param('name') name: string): Promise<Team | null> {
    return new Repository(Team).one({ name });
  }

  @Get('/:id/players')
  async players(@Param('id') id: string): Promise<Player[]> {
    return Player.findAll({ where: { teamId: Number(id) }, order: ['id'] });
  }

  @Get('/:id/overview')
  async overview(@Params() { id }: { id: string }): Promise<object> {
    const team = await Team.findByPk(Number(id), { include: [Player] });
    if (!team) throw new NotFoundError('No such team.');
    return {
      team,
      best: { player: team.players?.[0] ?? null },
      all: [team.players],
      when: new Date(0),
      big: String(2n ** 60n),
      nothing: undefined,
    };
  }

  @Post('/:id/rename')
  async rename(@Param('id') id: string, @Body() { name }: Rename): Promise<Team> {
    return new Repository(Team).update(Number(id), { name });
  }

  // Another name for the same parameter as in the generated routes.
  @Put('/:teamId')
  exchange(@Param('teamId') id: string): object {
    return { replaced: id };
  }

  @Delete('/')
  async clear(@QueryParam('confirm', { required: true }) confirm: boolean): Promise<object> {
    return { confirm };
  }

  @Patch('/all')
  all(): object {
    return { all: true };
  }

  @All('/any')
  any(): object {
    return { any: true };
  }

  @Head('/:id/exists')
  exists(): object {
    return {};
  }

  @Get(/\/number-(\d+)/)
  numbered(@Param('0') number: string): object {
    return { number };
  }

  helper(): string {
    return 'not a route';
  }
}

@JsonController('/players/moves')
class MoveController {
  @Post('/:id')
  async move(@Param('id') id: string, @Body() { teamId }: Move): Promise<Player> {
    return new Repository(Player).update(id, { teamId });
  }
}

describe('adding a route', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Team, Player],
    bootstrap: { controllers: [TeamController, MoveController], logger },
  }));

  beforeEach(async () => {
    await emptyTables(site, 'players', 'teams');
    await Team.create({ name: 'Reds' });
    await Player.bulkCreate([{ teamId: 1, score: '1.50' }, { teamId: 1 }]);
  });

  afterEach(() => {
    expect(logger.lines).to.deep.equal([]);
  });

  const REDS = { id: 1, name: 'Reds' };
  const FIRST = { id: '1', score: '1.50', teamId: 1 };
  const SECOND = { id: '2', score: '0.00', teamId: 1 };

  for (const [verb, path, body] of [
    ['get', '/teams/stats', { count: 1 }],
    ['get', '/teams/1', REDS],
    ['put', '/teams/7', { replaced: '7' }],
    ['patch', '/teams/all', { all: true }],
    ['delete', '/teams?confirm=true', { confirm: true }],
    ['propfind', '/teams/any', { any: true }],
    ['head', '/teams/1/exists', {}],
    ['get', '/teams/number-42', { number: '42' }],
  ] as const)
    it(`answers ${verb} ${path} by the route that it is`, async () =>
      expectJson(await site.agent[verb](path), 200, body));

  it('answers on its own path only, and is no route without a decorator', async () => {
    for (const path of ['/teams/stats/x', '/stats'])
      expect((await site.agent.get(path)).status).to.equal(404);
    expect((await site.agent.get('/teams/helper')).status).to.equal(400);
  });

  it('is among the methods that the path allows, and is listed before the generated routes', async () => {
    for (const [path, allow] of [
      ['/teams/1', 'PUT, GET, HEAD, PATCH, DELETE, OPTIONS'],
      ['/teams', 'DELETE, GET, HEAD, POST, OPTIONS'],
    ] as const)
      expect((await site.agent.options(path)).headers['allow']).to.equal(allow);

    const routes = site.crud.routes.filter(({ resource }) => resource === 'Team');
    const added = (path: string, handler: string) => ({
      method: 'GET',
      path: `/teams${path}`,
      resource: 'Team',
      operation: null,
      joined: [],
      handler,
      generalPathReasons: ['the route is hand-written'],
    });
    expect(routes.slice(0, 3)).to.deep.equal([
      added('/stats', 'stats'),
      added('/by/:name', 'byName'),
      added('/:id/players', 'players'),
    ]);
    expect(routes).to.have.lengthOf(16);
  });

  for (const [what, path, body] of [
    ['one record through its read schema', '/teams/by/Reds', REDS],
    ['several through the schema of their own model', '/teams/1/players', [FIRST, SECOND]],
    ['none as nothing', '/teams/2/players', []],
    [
      'those inside plain objects and arrays',
      '/teams/1/overview',
      {
        team: REDS,
        best: { player: FIRST },
        all: [[FIRST, SECOND]],
        when: '1970-01-01T00:00:00.000Z',
        big: '1152921504606846976',
      },
    ],
  ] as const) {
    it(`sends ${what}, and nothing that is excluded`, async () => {
      const response = await site.agent.get(path);
      expectJson(response, 200, body);
      expect(response.text).to.not.contain('hidden');
    });
  }

  it('answers errors by their table, in a hand-written controller as well', async () => {
    const missing = (name: string) => ({ detail: `There is no ${name} with this id.` });
    expectProblem(await site.agent.get('/teams/by/Blues'), 404, missing('Team'));
    await Team.bulkCreate([{ name: 'Reds' }, { name: 'Blues' }]);
    expectProblem(await site.agent.get('/teams/by/Reds'), 409, {
      detail: 'There is more than one such Team.',
    });
    const move = (id: number) => site.agent.post(`/players/moves/${id}`).send({ teamId: 2 });
    expectJson(await move(1), 200, { ...FIRST, teamId: 2 });
    expectProblem(await move(9), 404, missing('Player'));
  });

  it('gets a body as its class, and refuses what breaks it, without the value', async () => {
    const rename = (body: object) => site.agent.post('/teams/1/rename').send(body);
    expectJson(await rename({ name: 'Blues' }), 200, { id: 1, name: 'Blues' });
    expectIssue(await rename({ name: 'B' }), 422, {
      pointer: '/name',
      code: 'isLength',
      detail: 'name must be longer than or equal to 2 characters.',
    });
  });

  it('is refused twice on one path, when the application is built', async () => {
    class Twins extends crudController(Team) {
      @Get('/:name')
      other(): object {
        return {};
      }
    }
    expect(await configProblems(() => buildApp({ models: [Team], controllers: [Twins] }))).to.deep.equal([
      "Team: 'other' and 'read' both answer GET /teams/:id; give one another path.",
    ]);
  });
});
