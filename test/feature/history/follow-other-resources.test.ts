/** Changes that requests of another resource make: by children, links, foreign keys and hooks. Each has its writer, and none is lost. */
import { expect } from 'chai';
import type { Request } from 'express';
import { QueryTypes } from 'sequelize';
import {
  AfterCreate,
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp, startTestApp, type TestAppOptions } from '../../support/test-app.js';

/** Its children, and theirs, have a history. */
@Crud({
  endpoints: ['list', 'create', 'update', 'delete', 'createMany', 'deleteMany'],
  filterAllow: ['name'],
  nested: { legs: true, 'legs.stops': true },
})
@Table({ tableName: 'trips', timestamps: false })
class Trip extends NamedRow {
  @HasMany(() => Leg) declare legs: Leg[];
}

@Crud()
@Table({ tableName: 'legs', timestamps: false, indexes: [{ fields: ['tripId'] }] })
class Leg extends NumberedRow {
  @ForeignKey(() => Trip) @Column({ type: DataType.INTEGER, allowNull: false }) declare tripId: number;
  @BelongsTo(() => Trip, { onDelete: 'CASCADE' }) declare trip?: Trip;
  @HasMany(() => Stop) declare stops: Stop[];
}

@Crud({ history: true })
@Table({ tableName: 'stops', timestamps: false, indexes: [{ fields: ['legId'] }] })
class Stop extends NumberedRow {
  @ForeignKey(() => Leg) @Column({ type: DataType.INTEGER, allowNull: false }) declare legId: number;
  @BelongsTo(() => Leg, { onDelete: 'CASCADE' }) declare leg?: Leg;
  @Column({ type: DataType.TEXT, allowNull: false }) declare town: string;
}

/** Its lodgers stay when it goes. */
@Crud({ subresources: { lodgers: true }, links: { lodgers: true } })
@Table({ tableName: 'houses', timestamps: false })
class House extends NamedRow {
  @HasMany(() => Lodger, { onDelete: 'SET NULL' }) declare lodgers: Lodger[];
}

@Crud({ changes: true })
@Table({ tableName: 'lodgers', timestamps: false })
class Lodger extends NamedRow {
  @ForeignKey(() => House) @Column(DataType.INTEGER) declare houseId: number | null;
  @BelongsTo(() => House, { onDelete: 'SET NULL' }) declare house?: House;
}

@Crud({ subresources: { tasks: true }, links: { tasks: true } })
@Table({ tableName: 'boards', timestamps: false })
class Board extends NamedRow {
  @BelongsToMany(
    () => Task,
    () => Pin,
  )
  declare tasks: Task[];
}

@Crud()
@Table({ tableName: 'tasks', timestamps: false })
class Task extends NamedRow {}

@Crud({ history: true, endpoints: ['list'] })
@Table({ tableName: 'pins', timestamps: false })
class Pin extends Model {
  @ForeignKey(() => Board) @PrimaryKey @Column(DataType.INTEGER) declare boardId: number;
  @ForeignKey(() => Task) @PrimaryKey @Column(DataType.INTEGER) declare taskId: number;
}

/** Its hook writes a table with a history. */
@Crud()
@Table({ tableName: 'diaries', timestamps: false })
class Diary extends NamedRow {
  @AfterCreate
  static async begin({ id }: Diary): Promise<void> {
    await Diary.sequelize?.query(`INSERT INTO entries (name) VALUES ('first of ${id}')`);
  }
}

@Crud({ history: true })
@Table({ tableName: 'entries', timestamps: false })
class Entry extends NamedRow {}

const OVERRIDDEN = 'nested writes and links would pass by the overrides of other resources';
const { describe: describeBeside } = except({ session: OVERRIDDEN, records: OVERRIDDEN });

const options = (): TestAppOptions => ({
  models: [Trip, Leg, Stop, House, Lodger, Board, Task, Pin, Diary, Entry] as unknown as ModelClass[],
  bootstrap: {
    indexAdvice: false,
    logger: new CapturedLog(),
    history: { actor: (request: Request) => request.get('user') },
  },
});
const FILL =
  `INSERT INTO boards (name) VALUES ('a'); INSERT INTO tasks (name) VALUES ('b'), ('c'); ` +
  `INSERT INTO houses (name) VALUES ('h'); INSERT INTO lodgers (name, "houseId") VALUES ('l', 1); DELETE FROM crud_changes`;
const TRIP = { name: 'North', legs: [{ stops: [{ town: 'Oslo' }, { town: 'Bodø' }] }] };

describeBeside('changes by requests of other resources', () => {
  const site = serveTestApp(options);
  const query = (text: string) => site.engine.sequelize.query(text);
  const send = (verb: 'post' | 'patch' | 'put' | 'delete', path: string, body?: object) => {
    const request = site.agent[verb](path).set('user', 'ann');
    return body === undefined ? request : request.send(body);
  };
  /** The changes since the last call, such as `stops i`: each has the request as its writer. */
  const expectChanges = async (operation: string, ...events: string[]) => {
    const found = await site.engine.sequelize.query<{ event: string; context: object }>(
      `SELECT concat_ws(' ', source, op) AS event, context FROM crud_changes ORDER BY id`,
      { type: QueryTypes.SELECT, useMaster: true } as { type: QueryTypes.SELECT },
    );
    expect(found.map(({ event }) => event)).to.deep.equal(events);
    for (const { context } of found)
      expect(context).to.deep.equal({ actor: 'ann', request_id: 'same', operation });
    await query('DELETE FROM crud_changes');
  };

  beforeEach(async () => {
    await emptyTables(site, 'stops', 'legs', 'trips', 'lodgers', 'houses', 'pins', 'boards', 'tasks');
    await emptyTables(site, 'diaries', 'entries');
    await query(FILL);
  });

  it('have their writer where the request writes children', async () => {
    await send('post', '/trips', TRIP).expect(201);
    await expectChanges('Trip.create', 'stops i', 'stops i');
    await send('post', '/trips', [TRIP]).expect(201);
    await expectChanges('Trip.create', 'stops i', 'stops i');
    const update = [{ id: 1, stops: { update: [{ id: 1, town: 'Rome' }] } }];
    await send('patch', '/trips/1', { legs: { update } }).expect(200);
    await expectChanges('Trip.update', 'stops u');
    await send('patch', '/trips/1', { legs: { delete: [1] } }).expect(200);
    await expectChanges('Trip.update', 'stops d', 'stops d');
    await send('delete', '/trips/2').expect(204);
    await expectChanges('Trip.delete', 'stops d', 'stops d');
  });

  it('have their writer where the request links', async () => {
    await send('put', '/boards/1/tasks/1').expect(201);
    await expectChanges('Board.tasks.link', 'pins i');
    await send('post', '/boards/1/tasks', [{ id: 2 }]).expect(200);
    await expectChanges('Board.tasks.add', 'pins i');
    await send('put', '/boards/1/tasks', [{ id: 2 }]).expect(200);
    await expectChanges('Board.tasks.replace', 'pins d');
    await send('delete', '/boards/1/tasks/2').expect(204);
    await expectChanges('Board.tasks.unlink', 'pins d');
  });

  it('have their writer where a foreign key empties a column', async () => {
    await send('delete', '/houses/1').expect(204);
    await expectChanges('House.delete', 'lodgers u');
  });

  it('have their writer where a hook makes them', async () => {
    await send('post', '/diaries', { name: 'a' }).expect(201);
    await expectChanges('Diary.create', 'entries i');
  });
});

describeBeside('requests that reach the table of another resource', () => {
  it('are refused while a trigger is away that would store their changes', async () => {
    await using site = await startTestApp(options());
    const { sequelize } = site.engine;
    const triggers = (change: 'DISABLE' | 'ENABLE') =>
      sequelize.query(
        `ALTER TABLE stops ${change} TRIGGER crud_capture_insert; ALTER TABLE stops ${change} TRIGGER crud_capture_delete; ` +
          `ALTER TABLE pins ${change} TRIGGER crud_capture_insert; ALTER TABLE lodgers ${change} TRIGGER crud_capture_update`,
      );
    await sequelize.query(`${FILL}; INSERT INTO trips (name) VALUES ('old')`);
    await triggers('DISABLE');
    const writes = [
      ['post', '/trips', 201, TRIP],
      ['patch', '/trips/1', 200, { legs: { create: [{ stops: [{ town: 'Rome' }] }] } }],
      ['delete', '/trips/1', 204, {}],
      ['put', '/boards/1/tasks/1', 201, {}],
      ['post', '/boards/1/tasks', 200, [{ id: 2 }]],
      ['delete', '/houses/1/lodgers/1', 204, {}],
      ['put', '/houses/1/lodgers/1', 201, {}],
      ['delete', '/houses/1', 204, {}],
      ['delete', '/tasks/1', 204, {}],
      ['delete', '/trips?q=name==North', 200, {}],
    ] as const;
    const write = async ([verb, path, , body]: (typeof writes)[number]) => {
      const { status } = await site.agent[verb](path).send(body as object);
      return `${verb} ${path} ${status}`;
    };
    for (const each of writes) expect(await write(each)).to.equal(`${each[0]} ${each[1]} 503`);
    const text = 'SELECT name FROM trips UNION ALL SELECT town FROM stops';
    expect(await sequelize.query(text, { type: QueryTypes.SELECT })).to.deep.equal([{ name: 'old' }]);
    // These reach no table without its triggers.
    await site.agent.get('/trips').expect(200);
    for (const path of ['/houses/1', '/boards/1', '/tasks/1'])
      await site.agent.patch(path).send({ name: 'new' }).expect(200);
    await triggers('ENABLE');
    for (const each of writes) expect(await write(each)).to.equal(`${each[0]} ${each[1]} ${each[2]}`);
  });
});
