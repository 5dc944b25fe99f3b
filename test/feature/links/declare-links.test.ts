/** Links that an application does not start with. */
// @runs fast
import { expect } from 'chai';
import { BelongsToMany, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { type Class, Crud, type CrudContext, crudController, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';
import { OVERRIDDEN } from './people.js';

@Table({ tableName: 'teams', timestamps: false })
class Team extends NumberedRow {
  @BelongsToMany(
    () => Player,
    () => Seat,
  )
  declare players?: Player[];
  @BelongsToMany(() => Player, {
    through: { model: () => Seat, unique: false, scope: { kind: 'coach' } },
    foreignKey: 'teamId',
    otherKey: 'playerId',
  })
  declare coaches?: Player[];
  @BelongsToMany(
    () => Player,
    () => Bench,
  )
  declare others?: Player[];
  @BelongsToMany(
    () => Player,
    () => Stand,
  )
  declare fans?: Player[];
  @HasMany(() => Game, 'teamId') declare games?: Game[];
  @HasMany(() => Line, 'teamId') declare lines?: Line[];
}

@Crud()
@Table({ tableName: 'players', timestamps: false })
class Player extends NumberedRow {}

@Table({ tableName: 'seats', timestamps: false })
class Seat extends NumberedRow {
  @ForeignKey(() => Team) @Column(DataType.INTEGER) declare teamId: number;
  @ForeignKey(() => Player) @Column(DataType.INTEGER) declare playerId: number;
  @Column(DataType.TEXT) declare kind: string | null;
  @Column({ type: DataType.TEXT, allowNull: false }) declare place: string;
}

@Crud({ set: { kind: () => 'x' }, fields: { kind: { write: false } } } as object)
@Table({ tableName: 'benches', timestamps: false })
class Bench extends NumberedRow {
  @ForeignKey(() => Team) @Column(DataType.INTEGER) declare teamId: number;
  @ForeignKey(() => Player) @Column(DataType.INTEGER) declare playerId: number;
  @Column(DataType.TEXT) declare kind: string | null;
}

@Table({ tableName: 'stands', timestamps: false })
class Stand extends NumberedRow {
  @ForeignKey(() => Team) @Column(DataType.INTEGER) declare teamId: number;
  @ForeignKey(() => Player) @Column(DataType.INTEGER) declare playerId: number;
  @Column(DataType.TEXT) declare kind: string | null;

  override toJSON(): object {
    return { id: this.id };
  }
}

@Crud()
@Table({ tableName: 'games', timestamps: false })
class Game extends NumberedRow {
  @ForeignKey(() => Team) @Column(DataType.INTEGER) declare teamId: number | null;
}

@Crud()
@Table({ tableName: 'lines', timestamps: false })
class Line extends NumberedRow {
  @ForeignKey(() => Team) @Column({ type: DataType.INTEGER, allowNull: false }) declare teamId: number;
}

const MODELS = [Team, Player, Seat, Bench, Stand, Game, Line];

except(OVERRIDDEN).describe('links that cannot be', () => {
  const site = serveTestApp(() => ({ models: MODELS, bootstrap: { models: [] } }));
  before(() => site.engine.sequelize.query('ALTER TABLE seats DROP CONSTRAINT "seats_teamId_playerId_key"'));
  const start = (
    controllers: readonly unknown[],
    models: readonly ModelClass[] = [Player, Game, Line] as never,
  ) =>
    configProblems(() =>
      buildApp({ models, controllers: controllers as Class[], logger: new CapturedLog() }),
    );
  const problems = (links: unknown) => start([class extends crudController(Team, { links } as object) {}]);
  const PAIR = 'CREATE UNIQUE INDEX seats_pair ON seats ("teamId", "playerId")';
  const pairProblem =
    'Team: links.players writes rows of "seats", where one pair is one link, and no unique index of the table "seats" is over exactly ' +
    '"teamId", "playerId"; CREATE UNIQUE INDEX ON "seats" ("teamId", "playerId"); Indexes over some rows, over an expression or over more columns do ' +
    'not count, nor DEFERRABLE ones and those of another collation.';

  const WRONG: readonly (readonly [links: unknown, problem: string])[] = [
    [true, 'links is true; use an object of relations, such as { groups: true }.'],
    [{ players: 1 }, "links.players is 1; use true, or an object such as { fields: ['role'] }."],
    [
      { player: true },
      "links.player is no relation of Team. Did you mean 'players'? The relations are players, coaches, others, fans, games, lines.",
    ],
    [{ players: { max: 0 } }, 'links.players.max is 0; use an integer from 1 to 1000.'],
    [
      { players: { touch: true } },
      'links.players.touch raises a version, which the model does not have; give its @Table version: true, or leave it out.',
    ],
    [{ players: { touch: 'yes' } }, 'links.players.touch is "yes"; use true or false.'],
    [
      { players: { steal: true } },
      'links.players.steal is about children of a hasMany; a record of a belongsToMany may have many. Leave it out.',
    ],
    [
      { players: { fields: ['kin'] } },
      'links.players.fields names "kin", which is no attribute of Seat that links may have; the others are kind, place.',
    ],
    [
      { fans: true },
      "links.fans.fields is absent, and toJSON or get of Stand decides what answers show; name the attributes that links have, such as [ 'kind' ].",
    ],
    [
      { games: { fields: ['id'] } },
      'links.games.fields are attributes of a join model, which a hasMany has not; leave them out.',
    ],
    [{ players: { can: { set: true } } }, "links.players.can has no 'set'; use add and remove."],
    [
      { players: { can: { add: 1 } } },
      'links.players.can.add is 1; use a function of the request, true or false.',
    ],
    [
      { coaches: true },
      'links.coaches has a scope of its own, which a link would have to meet; leave it out.',
    ],
    [
      { lines: true },
      'links.lines leads to Line, whose teamId cannot be null, so that each row belongs to one record for good; use nested, or its own routes.',
    ],
    [
      { others: true },
      'links.others writes rows of Bench, whose options have set, which links would pass by; write them through the routes of that model, or leave it out.',
    ],
  ];
  it('do not write where readOnly is true', async () => {
    const options = { readOnly: true, links: { players: true } } as object;
    expect(await start([class extends crudController(Team, options) {}])).to.include(
      'Team: readOnly is true, and links writes; remove one of the two.',
    );
  });

  for (const [links, problem] of WRONG)
    it(`say so: ${JSON.stringify(links)}`, async () => {
      expect(await problems(links)).to.include(`Team: ${problem}`);
    });

  for (const [kind, index] of Object.entries({
    'no index': 'SELECT 1',
    'a partial index': `${PAIR} WHERE kind IS NULL`,
    'a wider index': 'CREATE UNIQUE INDEX seats_pair ON seats ("teamId", "playerId", kind)',
    'a deferrable constraint':
      'ALTER TABLE seats ADD CONSTRAINT seats_pair UNIQUE ("teamId", "playerId") DEFERRABLE',
  }))
    it(`need a unique index, and ${kind} is none`, async () => {
      const run = (text: string) => site.engine.sequelize.query(text);
      await run(index);
      expect(await problems({ players: true })).to.deep.equal([pairProblem]);
      await run('ALTER TABLE seats DROP CONSTRAINT IF EXISTS seats_pair; DROP INDEX IF EXISTS seats_pair');
    });

  describe('beside code that they would pass by', () => {
    before(() => site.engine.sequelize.query(PAIR));

    it('are refused for an override of the record', async () => {
      class Teams extends crudController(Team, { links: { players: true } } as object) {
        override async update(id: number, values: object, context: CrudContext): Promise<Team> {
          return super.update(id, values as never, context) as Promise<Team>;
        }
      }
      expect(await start([Teams])).to.deep.equal([
        'Team: links.players would change what its own code may refuse, because Teams has a method update; give it can: { add, remove } with rules of the ' +
          'request, or leave it out.',
      ]);
    });

    for (const [title, options, passed] of [
      ['sets an attribute', { set: { kind: () => 'x' } }, 'set'],
      [
        'has rules for writing attributes',
        { fields: { kind: { write: () => true }, place: { read: () => true, update: false } } },
        'fields with rules for writing kind, place',
      ],
    ] as const)
      it(`are refused where the controller of the join model ${title}`, async () => {
        class Teams extends crudController(Team, { links: { players: true } } as object) {}
        class Seats extends crudController(Seat, options as object) {}
        expect(await start([Teams, Seats])).to.deep.equal([
          `Team: links.players writes rows of Seat, whose options have ${passed}, which links would pass by; write them through the routes of that model, ` +
            'or leave it out.',
        ]);
      });

    it('are refused where fields leaves out an attribute that a new link needs', async () => {
      expect(await problems({ players: { fields: ['kind'] } })).to.deep.equal([
        "Team: links.players.fields leaves out 'place', without which there is no new link; name it, or give it a default.",
      ]);
    });

    it('are refused for a list of the target that may hide rows', async () => {
      class Players extends crudController(Player) {
        override list(...given: Parameters<InstanceType<ReturnType<typeof crudController<Player>>>['list']>) {
          return super.list(...given);
        }
      }
      class Teams extends crudController(Team, { links: { players: true } } as object) {}
      const [problem] = await start([Players, Teams], [Game, Line] as never);
      expect(problem).to.match(
        /^Team: links\.players would show what the routes of Player may hide, because .*; name it in subresources with where: /,
      );
    });

    it('are refused where hooks choose the rows of a side', async () => {
      await withHook(
        Player,
        'beforeFind',
        () => {},
        async () => {
          expect((await problems({ players: true }))[0]).to.match(
            /^Team: links\.players hooks, a finder of its own/,
          );
        },
      );
    });
  });
});
