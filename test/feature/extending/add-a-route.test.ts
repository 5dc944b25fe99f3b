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

  describe('under the prefix of the resource', () => {
    it('answers on a literal path before /:id does', async () => {
      expectJson(await site.agent.get('/teams/stats'), 200, { count: 1 });
      expectJson(await site.agent.get('/teams/1'), 200, REDS);
    });

    it('answers once, and on its own path only', async () => {
      expect((await site.agent.get('/teams/stats/x')).status).to.equal(404);
      expect((await site.agent.get('/stats')).status).to.equal(404);
    });

    it('answers on methods that the generated routes do not have', async () => {
      expectJson(await site.agent.put('/teams/7'), 200, { replaced: '7' });
      expectJson(await site.agent.patch('/teams/all'), 200, { all: true });
      expectJson(await site.agent.delete('/teams?confirm=true'), 200, { confirm: true });
      expectJson(await site.agent.propfind('/teams/any'), 200, { any: true });
      expect((await site.agent.head('/teams/1/exists')).status).to.equal(200);
    });

    it('is among the methods that the path allows', async () => {
      const { headers } = await site.agent.options('/teams/1');
      expect(headers['allow']).to.equal('PUT, GET, HEAD, PATCH, DELETE, OPTIONS');
      expect((await site.agent.options('/teams')).headers['allow']).to.equal(
        'DELETE, GET, HEAD, POST, OPTIONS',
      );
    });

    it('answers on a path that is a regular expression', async () => {
      expectJson(await site.agent.get('/teams/number-42'), 200, { number: '42' });
    });

    it('is no route without a decorator', async () => {
      expect((await site.agent.get('/teams/helper')).status).to.equal(400);
    });

    it('is listed with the others, before them', async () => {
      const routes = site.crud.routes.filter(({ resource }) => resource === 'Team');
      const added = (path: string, handler: string) => ({
        method: 'GET',
        path: `/teams${path}`,
        resource: 'Team',
        operation: null,
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

  describe('that fails', () => {
    it('answers persistence errors by their table', async () => {
      expectProblem(await site.agent.get('/teams/by/Blues'), 404, {
        detail: 'There is no Team with this id.',
      });
      await Team.create({ name: 'Reds' });
      expectProblem(await site.agent.get('/teams/by/Reds'), 409, {
        detail: 'There is more than one such Team.',
      });
    });
  });

  describe('that takes a body', () => {
    const rename = (body: string | object) => site.agent.post('/teams/1/rename').type('json').send(body);

    it('gets it as its class', async () => {
      expectJson(await rename({ name: 'Blues' }), 200, { id: 1, name: 'Blues' });
    });

    it('refuses what breaks the class, without the value', async () => {
      expectIssue(await rename({ name: 'B' }), 422, {
        pointer: '/name',
        code: 'isLength',
        detail: 'name must be longer than or equal to 2 characters.',
      });
    });
  });

  describe('in a hand-written controller', () => {
    it('answers beside the resources, errors included', async () => {
      await Team.create({ name: 'Blues' });
      const response = await site.agent.post('/players/moves/1').send({ teamId: 2 });
      expectJson(response, 200, { ...FIRST, teamId: 2 });
      expectProblem(await site.agent.post('/players/moves/9').send({ teamId: 2 }), 404, {
        detail: 'There is no Player with this id.',
      });
    });
  });

  describe('twice on one path', () => {
    class Twins extends crudController(Team) {
      @Get('/:name')
      other(): object {
        return {};
      }
    }

    it('is refused when the application is built', async () => {
      expect(await configProblems(() => buildApp({ models: [Team], controllers: [Twins] }))).to.deep.equal([
        "Team: 'other' and 'read' both answer GET /teams/:id; give one another path.",
      ]);
    });
  });
});
