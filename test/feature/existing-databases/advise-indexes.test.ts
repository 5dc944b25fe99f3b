/** At the start, one warning for each order and filter that no index serves, with the index that would. */
// @runs fast
import { expect } from 'chai';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  HasMany,
  HasOne,
  Model,
  PrimaryKey,
  Sequelize,
  Table,
} from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog, type LogLine } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

const LIST = { filterAllow: ['state'], sortAllow: ['id', 'made', 'state'], defaultSort: '-made,state' };

@Crud(LIST as object)
@Table({ tableName: 'jobs', timestamps: false })
class Job extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER, field: 'job no' }) declare id: number;
  @Column({ type: DataType.DATE, allowNull: false, field: 'made_at' }) declare made: Date;
  @Column({ type: DataType.TEXT }) declare state: string | null;
}

@Crud({ filterAllow: ['state'] as never })
@Table({ tableName: 'tasks', timestamps: false })
class Task extends KeyedRow {
  @Column({ type: DataType.TEXT }) declare state: string | null;
}

@Crud({
  scope: { hall: () => 1 },
  filterAllow: ['state', 'hall'] as never,
  sortAllow: ['state', 'hall'] as never,
})
@Table({ tableName: 'seats', timestamps: false })
class Seat extends KeyedRow {
  @Column({ type: DataType.INTEGER, field: 'hall_id' }) declare hall: number;
  @Column({ type: DataType.TEXT }) declare state: string | null;
}

@Crud({
  scope: { hall: () => 1 },
  filterAllow: {
    tags: true,
    sizes: ['=isnull='],
    marks: ['=isempty='],
    during: ['=overlaps='],
    'details.colour': 'string',
    'details.deep.size': 'number',
  },
} as object)
@Table({ tableName: 'labels', timestamps: false })
class Label extends KeyedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare hall: number;
  @Column({ type: DataType.ARRAY(DataType.TEXT), field: 'the tags' }) declare tags: string[] | null;
  @Column(DataType.ARRAY(DataType.INTEGER)) declare sizes: number[] | null;
  @Column(DataType.ARRAY(DataType.UUID)) declare marks: string[] | null;
  @Column(DataType.RANGE(DataType.DATEONLY)) declare during: unknown;
  @Column({ type: DataType.JSONB, field: 'the details' }) declare details: unknown;
}

@Crud()
@Table({ tableName: 'badges', paranoid: true, createdAt: false, updatedAt: false, deletedAt: 'goneAt' })
class Badge extends KeyedRow {
  @Column(DataType.TEXT) declare code: string;
  @Column({ type: DataType.DATE, field: 'gone at' }) declare goneAt: Date | null;
}

/** Without routes of its own. */
@Table({ tableName: 'rooms', timestamps: false })
class Room extends KeyedRow {
  @Column({ type: DataType.TEXT, unique: true }) declare name: string;
}

@Crud({ defaultSort: '-paidAt', sortAllow: ['paidAt'], scope: { house: () => 1 } })
@Table({ tableName: 'guests', timestamps: false })
class Guest extends KeyedRow {
  @Column(DataType.INTEGER) declare house: number;
  @Column({ type: DataType.DATE, field: 'paid_at' }) declare paidAt: Date | null;
  @Column({ type: DataType.INTEGER, field: 'stay_id' }) declare stayId: number | null;
  @Column(DataType.TEXT) declare kind: string | null;
  @Column({ type: DataType.INTEGER, field: 'tour_id' }) declare tourId: number | null;
  @BelongsTo(() => Stay, { foreignKey: 'stayId', constraints: false }) declare stay?: object | null;
}

@Table({ tableName: 'stay_rooms', timestamps: false })
class StayRoom extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare roomId: number;
  @PrimaryKey @Column({ type: DataType.INTEGER, field: 'stay_id' }) declare stayId: number;
}

@Crud({
  include: {
    guests: UNGUARDED,
    children: UNGUARDED,
    'children.stay': UNGUARDED,
    payer: UNGUARDED,
    room: true,
    named: true,
    rooms: true,
  },
  filterAllow: { guests: ['kind'], 'payer.kind': true },
} as object)
@Table({ tableName: 'stays', timestamps: false })
class Stay extends KeyedRow {
  @Column(DataType.INTEGER) declare roomId: number | null;
  @Column(DataType.TEXT) declare roomName: string | null;
  @Column(DataType.INTEGER) declare tourId: number | null;
  @HasMany(() => Guest, 'stayId') declare guests?: Guest[];
  @HasMany(() => Guest, { foreignKey: 'stayId', scope: { kind: 'child' } }) declare children?: Guest[];
  @HasOne(() => Guest, { foreignKey: 'stayId' }) declare payer?: Guest | null;
  @BelongsTo(() => Room, { foreignKey: 'roomId', constraints: false }) declare room?: Room | null;

  @BelongsTo(() => Room, { foreignKey: 'roomName', targetKey: 'name', constraints: false })
  declare named?: object | null;

  @BelongsToMany(() => Room, {
    through: () => StayRoom,
    foreignKey: 'stayId',
    otherKey: 'roomId',
    constraints: false,
  })
  declare rooms?: Room[];
}

/** Its relations are only filtered by. */
@Crud({ filterAllow: { guests: ['kind'], stays: { 'named.name': true, 'room.name': true } } } as object)
@Table({ tableName: 'tours', timestamps: false })
class Tour extends Model {
  @HasMany(() => Guest, { foreignKey: 'tourId', constraints: false }) declare guests?: Guest[];
  @HasMany(() => Stay, { foreignKey: 'tourId', constraints: false }) declare stays?: Stay[];
}

@Crud()
@Table({ tableName: 'lost', timestamps: false })
class Lost extends Model {}

const KEY = '"job no"';
const STATE = `Job: no index serves the order 'state' (sortAllow); CREATE INDEX ON "jobs" ("state", ${KEY});`;
const DEFAULT = `Job: no index serves the order '-made,state,id' (defaultSort); CREATE INDEX ON "jobs" ("made_at" DESC, "state", ${KEY});`;

const TASK = `Task: no index serves a filter by 'state' (filterAllow); CREATE INDEX ON "tasks" ("state", "id");`;

/** A model with more columns to sort by than the warning names. */
@Crud({ sortAllow: Array.from({ length: 23 }, (_, index) => `column${index}`) as never })
@Table({ tableName: 'wide', timestamps: false })
class Wide extends Model {}
for (let index = 0; index < 23; index += 1) Column(DataType.INTEGER)(Wide.prototype, `column${index}`);

/** With orders other than those of its columns. */
@Crud({ sortAllow: { name: { ignoreCase: true }, 'doc.city': { json: ['place', 'city'] } } } as object)
@Table({ tableName: 'folded', timestamps: false })
class Folded extends KeyedRow {
  @Column({ type: DataType.STRING(20), field: 'the name' }) declare name: string;
  @Column(DataType.JSONB) declare doc: object;
}

@Crud({ sortAllow: { score: { nulls: 'first' } }, defaultSort: '-score' } as object)
@Table({ tableName: 'scores', timestamps: false })
class Score extends KeyedRow {
  @Column({ type: DataType.INTEGER, field: 'the score' }) declare score: number | null;
}

/** Lines of a log, but for the models of the engine that an application leaves out. */
function aboutIndexes({ lines }: CapturedLog): LogLine[] {
  return lines.filter(({ message }) => !message.includes('have @Crud and no routes'));
}

/** The lines of the one warning about indexes. */
function advisedIn({ lines }: CapturedLog): string[] {
  const warnings = lines.filter(({ message }) => /^\d+ index(?:es are| is) missing/.test(message));
  expect(warnings.length).to.be.at.most(1);
  return warnings.flatMap(({ message }) => message.split('\n  ').slice(1));
}

describe('advising indexes', () => {
  const site = serveTestApp(() => ({
    models: [Job, Task, Seat, Label, Badge, Room, Guest, StayRoom, Stay, Tour, Wide, Score, Folded],
    bootstrap: { models: [Job, Task, Seat], logger: new CapturedLog() },
  }));

  /** The advice with only these indexes there, each in the syntax behind `CREATE INDEX ON`. */
  async function adviceWith(models: readonly ModelClass[], indexes: readonly string[]): Promise<string[]> {
    const { sequelize } = site.engine;
    for (const [number, index] of indexes.entries())
      await sequelize.query(`CREATE INDEX advised_${number} ON ${index}`);
    const logger = new CapturedLog();
    await buildApp({ models, logger });
    for (const number of indexes.keys()) await sequelize.query(`DROP INDEX advised_${number}`);
    return advisedIn(logger);
  }

  /** With indexes of the one table. */
  const adviceFor = (model: typeof Job | typeof Task | typeof Seat | typeof Label, ...indexes: string[]) =>
    adviceWith(
      [model],
      indexes.map((index) => `${model.tableName} ${index}`),
    );

  it('is one warning for all models, which indexAdvice switches off', async () => {
    const logger = new CapturedLog();
    await buildApp({ models: [Job, Task], logger });
    expect(aboutIndexes(logger)).to.deep.equal([
      {
        level: 'warn',
        message:
          '3 indexes are missing, and requests without them read a whole table; create them, or set indexAdvice: false in ' +
          `bootstrap where the tables are small:\n  ${STATE}\n  ${DEFAULT}\n  ${TASK}`,
        details: {},
      },
    ]);
    const quiet = new CapturedLog();
    await buildApp({ models: [Job, Task], logger: quiet, indexAdvice: false });
    expect(aboutIndexes(quiet)).to.deep.equal([]);
  });

  it('names twenty at most, and where the others are', async () => {
    const logger = new CapturedLog();
    await buildApp({ models: [Wide], logger });
    const advised = (column: number) =>
      `Wide: no index serves the order 'column${column}' (sortAllow); CREATE INDEX ON "wide" ("column${column}", "id");`;
    expect(advisedIn(logger)).to.deep.equal([
      ...Array.from({ length: 20 }, (_, column) => advised(column)),
      'and 3 more; npx crud-controllers sql prints them with the others.',
    ]);
    expect(aboutIndexes(logger)[0]?.message).to.match(/^23 indexes are missing/);
  });

  const indexed: readonly (readonly [
    what: string,
    indexes: readonly string[],
    advised: readonly string[],
  ])[] = [
    ['none', [], [DEFAULT, STATE]],
    ['one of its own advice', ['(made_at DESC, state, "job no")'], [STATE]],
    ['all of its own advice', ['(made_at DESC, state, "job no")', '(state, "job no")'], []],
    ['one that is walked backward', ['(made_at, state DESC)', '(state DESC)'], []],
    ['one in another direction', ['(made_at, state)', '(state)'], [DEFAULT]],
    ['one in other directions', ['(made_at DESC, state DESC)', '(state)'], [DEFAULT]],
    ['one in another order', ['(state, made_at)', '(made_at)'], [DEFAULT]],
    ['one with NULL elsewhere', ['(made_at DESC NULLS LAST, state)', '(state)'], [DEFAULT]],
    [
      'one in another collation',
      ['(made_at DESC, state COLLATE "C")', '(state COLLATE "C")'],
      [DEFAULT, STATE],
    ],
    ['one over some rows', ['(made_at) WHERE state IS NOT NULL', '(state)'], [DEFAULT]],
    [
      'one over an expression, or without an order',
      ['(lower(state))', 'USING hash (state)'],
      [DEFAULT, STATE],
    ],
  ];
  for (const [what, indexes, advised] of indexed) {
    it(`advises each index once beside ${what}`, async () => {
      expect(await adviceFor(Job, ...indexes)).to.have.members(advised);
    });
  }

  it('has the place of NULLs that sortAllow declares, in an index for each direction', async () => {
    const told = (order: string, option: string, index: string) =>
      `Score: no index serves the order '${order}' (${option}); CREATE INDEX ON "scores" (${index});`;
    const ascending = told('score', 'sortAllow', '"the score" NULLS FIRST, "id"');
    const descending = told('-score', 'sortAllow', '"the score" DESC, "id" DESC');
    const advice = (...indexes: string[]) =>
      adviceWith(
        [Score],
        indexes.map((index) => `scores ${index}`),
      );
    expect(await advice()).to.deep.equal([ascending, descending]);
    expect(await advice('("the score" NULLS FIRST, id)')).to.deep.equal([descending]);
    expect(await advice('("the score" DESC NULLS LAST)')).to.deep.equal([descending]);
    expect(await advice('("the score")')).to.deep.equal([ascending]);
  });

  it('is for the expressions that rows are sorted by', async () => {
    const indexes = [
      '"folded" ((lower("the name")), "the name", "id")',
      `"folded" ((("doc" -> 'place' ->> 'city') COLLATE "C"), "id")`,
    ];
    const told = ['name', 'doc.city'].map(
      (name, index) =>
        `Folded: no index serves the order '${name}' (sortAllow); CREATE INDEX ON ${indexes[index]};`,
    );
    expect(await adviceWith([Folded], [])).to.deep.equal(told);
    expect(await adviceWith([Folded], indexes)).to.deep.equal([]);
    const others = [
      `folded ((lower("the name")), id)`,
      `folded ((doc -> 'place' ->> 'city'), id)`,
      `folded ("the name", id)`,
    ];
    expect(await adviceWith([Folded], others)).to.deep.equal(told);
    const ofBytes = 'ALTER TABLE folded ALTER "the name" TYPE varchar(20) COLLATE "C"';
    await site.engine.sequelize.query(ofBytes);
    expect(await adviceWith([Folded], indexes)).to.deep.equal([]);
    const inOthers = indexes.map((index) => index.replace('e")), "', 'e")) COLLATE "ucs_basic", "'));
    expect(await adviceWith([Folded], inOthers)).to.deep.equal(told.slice(0, 1));
  });

  it('takes any index that begins with the column for a filter', async () => {
    for (const index of ['USING hash (state)', '(state DESC)', '(state, id)', '(state) INCLUDE (id)']) {
      expect(await adviceFor(Task, index), index).to.deep.equal([]);
    }
    for (const index of [
      '(id, state)',
      '(id) INCLUDE (state)',
      "(state) WHERE state <> 'x'",
      '(lower(state))',
      '(state COLLATE "C")',
    ]) {
      expect(await adviceFor(Task, index), index).to.have.lengthOf(1);
    }
  });

  it('asks for indexes that begin with the columns of a scope', async () => {
    const within = (problem: string, columns: string) =>
      `Seat: no index serves ${problem} within the scope of hall; CREATE INDEX ON "seats" (${columns});`;
    const byState = within("the order 'state' (sortAllow)", '"hall_id", "state", "id"');
    const byHall = within("the order 'hall' (sortAllow)", '"hall_id", "id"');
    expect(await adviceFor(Seat)).to.deep.equal([byState, byHall]);
    expect(await adviceFor(Seat, '(state, hall_id)', '(id, hall_id)')).to.deep.equal([byState, byHall]);
    expect(await adviceFor(Seat, '(hall_id, state)')).to.deep.equal([byHall]);
    expect(await adviceFor(Seat, '(hall_id DESC, state DESC)', '(hall_id, id)')).to.deep.equal([]);
  });

  it('asks for GIN indexes for the elements of arrays, and GiST indexes for ranges', async () => {
    const within = ' within the scope of hall';
    const told = (attribute: string, index: string, scope = '') =>
      `Label: no index serves a filter by '${attribute}' (filterAllow)${scope}; CREATE INDEX ON "labels" ${index};`;
    const tags = told('tags', 'USING gin ("the tags")');
    const marks = told('marks', 'USING gin ("marks")');
    const during = told('during', 'USING gist ("during")');
    const sizes = told('sizes', '("hall", "sizes", "id")', within);
    const order = `Label: no index serves the order 'id' (sortAllow)${within}; CREATE INDEX ON "labels" ("hall", "id");`;
    const arrays = async (...indexes: string[]) =>
      (await adviceFor(Label, ...indexes)).filter((line) => /filterAllow(?!.*details)/.test(line));
    const lines = await adviceFor(Label);
    expect(lines.filter((line) => !line.includes('details'))).to.have.members([
      order,
      tags,
      sizes,
      marks,
      during,
    ]);
    expect(await arrays('USING gin ("the tags")', 'USING gin (marks)', '(during)')).to.deep.equal([
      sizes,
      during,
    ]);
    expect(
      await arrays('USING gin (marks, "the tags")', '(hall, sizes)', 'USING gist (during)'),
    ).to.deep.equal([]);
    expect(await arrays('("the tags")', 'USING hash (marks)')).to.have.members([tags, sizes, marks, during]);
  });

  it('asks for indexes of expressions for values inside of JSON', async () => {
    const told = (path: string, expression: string) =>
      `Label: no index serves a filter by '${path}' (filterAllow) within the scope of hall; ` +
      `CREATE INDEX ON "labels" ("hall", ${expression});`;
    const colour = told('details.colour', `("the details" ->> 'colour')`);
    const size = told('details.deep.size', `("the details" -> 'deep' -> 'size')`);
    const inside = async (...indexes: string[]) =>
      (await adviceFor(Label, ...indexes)).filter((line) => line.includes('details'));
    expect(await inside()).to.have.members([colour, size]);
    const followed = [colour, size].map((line) => /CREATE INDEX ON "labels" (.*);$/.exec(line)?.[1] ?? '');
    expect(await inside(...followed)).to.deep.equal([]);
    const served = [
      `(hall, ("the details"->>'colour'), id)`,
      `(hall DESC, (("the details"->'deep')->'size') DESC)`,
    ];
    expect(await inside(...served)).to.deep.equal([]);
    for (const index of [
      'USING gin ("the details")',
      `(hall, lower("the details" ->> 'colour'))`,
      `(hall, ("the details" -> 'colour'))`,
      `(hall, ("the details" #>> '{colour}'))`,
      `(hall, id, ("the details" ->> 'colour'))`,
      `(("the details" ->> 'colour'))`,
      `(hall, ("the details" ->> 'colour')) WHERE id > 1`,
    ])
      expect(await inside(index), index).to.have.members([colour, size]);
  });

  describe('for relations', () => {
    const line = (path: string, index: string) =>
      `Stay: no index serves the relation '${path}' (include); CREATE INDEX ON ${index};`;
    const GUESTS = line('guests', '"guests" ("house", "stay_id", "paid_at" DESC, "id" DESC)');
    const ROOMS = line('rooms', '"stay_rooms" ("stay_id")');

    /** Advice on the relations of a stay with only these indexes there, each in the syntax behind `CREATE INDEX`. */
    const relationAdvice = (...indexes: readonly string[]): Promise<string[]> =>
      adviceOn([Stay, Guest], ...indexes);

    async function adviceOn(models: readonly [ModelClass, ...ModelClass[]], ...indexes: readonly string[]) {
      const start = `${models[0].name}: no index serves the relation `;
      return (await adviceWith(models, indexes)).filter((each) => each.startsWith(start));
    }

    it('asks for the foreign key and the order of its rows, and not for keys that are unique', async () => {
      expect(await relationAdvice()).to.have.members([GUESTS, ROOMS]);
    });

    it('is silent where its own advice was followed', async () => {
      const followed = [GUESTS, ROOMS].map((each) => /CREATE INDEX ON (.*);$/.exec(each)?.[1] ?? '');
      expect(await relationAdvice(...followed)).to.deep.equal([]);
    });

    it('takes an index with the keys in another order, or without the values of the relation', async () => {
      const served = 'guests (stay_id, house, paid_at DESC)';
      expect(await relationAdvice(served)).to.deep.equal([ROOMS]);
      const onlyChildren = 'guests (stay_id, kind, house, paid_at)';
      expect(await relationAdvice(onlyChildren)).to.have.members([GUESTS, ROOMS]);
    });

    it('does not take an index of another order, without the scope, or over some rows', async () => {
      for (const index of [
        'guests (stay_id, paid_at DESC)',
        'guests (house, stay_id)',
        'guests (house, paid_at, stay_id)',
        'guests (house, stay_id, paid_at DESC NULLS LAST)',
        'guests (house, stay_id, paid_at) WHERE kind IS NULL',
      ])
        expect(await relationAdvice(index), index).to.include(GUESTS);
      expect(await relationAdvice('stay_rooms ("roomId", stay_id)')).to.include(ROOMS);
    });

    it('asks for the keys of relations that are only filtered by', async () => {
      const asked = (path: string, index: string) =>
        `Tour: no index serves the relation '${path}' (filterAllow); CREATE INDEX ON ${index};`;
      const guests = asked('guests', '"guests" ("tour_id")');
      const stays = asked('stays', '"stays" ("tourId")');
      expect(await adviceOn([Tour])).to.have.members([guests, stays]);
      expect(await adviceOn([Tour], 'guests (tour_id)', 'stays ("tourId", id)')).to.deep.equal([]);
      expect(await adviceOn([Tour], 'guests (house, tour_id)')).to.deep.equal([stays]);
      expect(await adviceOn([Tour], 'guests (kind, tour_id)')).to.include(guests);
    });

    it('is silent about a table that is missing, which is told by itself', async () => {
      const { sequelize } = site.engine;
      await sequelize.query('ALTER TABLE rooms RENAME TO halls');
      const loggers = [new CapturedLog(), new CapturedLog()] as const;
      await buildApp({ models: [Stay, Guest], logger: loggers[0] });
      await buildApp({ models: [Tour], logger: loggers[1] });
      await sequelize.query('ALTER TABLE halls RENAME TO rooms');
      for (const { lines } of loggers) {
        const found = lines.filter(({ message }) => message.includes('"rooms"'));
        expect(found.map(({ level, message }) => [level, message])).to.deep.equal([
          [
            'error',
            'Room: there is no table "rooms"; create it by a migration, or by createAll: true of engineLifespan.',
          ],
        ]);
      }
    });
  });

  describe('for unique values of soft-deleted rows', () => {
    /** Advice with only these indexes there, in the syntax behind `CREATE UNIQUE INDEX`, or of a constraint. */
    async function uniqueAdvice(...made: readonly string[]): Promise<string[]> {
      const { sequelize } = site.engine;
      for (const statement of made) await sequelize.query(statement);
      const logger = new CapturedLog();
      await buildApp({ models: [Badge], logger });
      return logger.lines.map(({ message }) => message).filter((each) => each.includes('soft-deleted'));
    }

    afterEach(() =>
      site.engine.sequelize.query(
        'ALTER TABLE badges DROP CONSTRAINT IF EXISTS "Own"; DROP INDEX IF EXISTS "Own"; DROP TABLE IF EXISTS pins',
      ),
    );

    for (const [what, made, told] of [
      ['an index', 'CREATE UNIQUE INDEX "Own" ON badges (code, lower(code))', 'DROP INDEX "Own"; '],
      [
        'an index over some rows',
        'CREATE UNIQUE INDEX "Own" ON badges (code) WHERE code <> \'x\'',
        'DROP INDEX "Own"; ',
      ],
      [
        'a constraint',
        'ALTER TABLE badges ADD CONSTRAINT "Own" UNIQUE (code)',
        'ALTER TABLE "badges" DROP CONSTRAINT "Own"; ',
      ],
    ] as const) {
      it(`[S15] tells of ${what}, and is silent where its own advice was followed`, async () => {
        const lines = await uniqueAdvice(made);
        expect(lines).to.have.lengthOf(1);
        expect(lines[0]).to.include(
          `Badge: soft-deleted records keep their values in the unique index "Own"; BEGIN; ${told}CREATE UNIQUE INDEX "Own" ON `,
        );
        const [, statements = ''] = /; (BEGIN; .*)$/.exec(lines[0] ?? '') ?? [];
        expect(await uniqueAdvice(statements)).to.deep.equal([]);
        await site.engine.sequelize.query(
          "INSERT INTO badges VALUES (1, 'a', now()), (2, 'a', NULL); DELETE FROM badges",
        );
      });
    }

    it('[S15] is silent about indexes with the moment, and about what cannot be over some rows', async () => {
      for (const made of [
        'CREATE UNIQUE INDEX "Own" ON badges (code, "gone at")',
        'CREATE UNIQUE INDEX "Own" ON badges (code, (coalesce("gone at", \'epoch\')))',
        'CREATE UNIQUE INDEX "Own" ON badges (code) WHERE "gone at" IS NULL AND code <> \'x\'',
        'CREATE INDEX "Own" ON badges (code)',
        'ALTER TABLE badges ADD CONSTRAINT "Own" UNIQUE (code) DEFERRABLE',
        'ALTER TABLE badges ADD CONSTRAINT "Own" UNIQUE (code); CREATE TABLE pins (code text REFERENCES badges (code))',
      ]) {
        expect(await uniqueAdvice(made), made).to.deep.equal([]);
        await site.engine.sequelize.query(
          'DROP TABLE IF EXISTS pins; ALTER TABLE badges DROP CONSTRAINT IF EXISTS "Own"; DROP INDEX IF EXISTS "Own"',
        );
      }
    });
  });

  it('starts without advice where the database cannot be asked', async () => {
    const logger = new CapturedLog();
    const unreachable = new Sequelize('postgres://nobody@127.0.0.1:1/none', {
      models: [Lost],
      logging: false,
    });
    await buildApp({ models: [Lost], logger });
    await unreachable.close();
    expect(logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
      [
        'error',
        'The tables of the models could not be read from the catalogue; their requests are answered 503, and each tries again',
      ],
    ]);
  });
});
