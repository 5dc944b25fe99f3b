/** The writer of each change: actor, request, operation and key of the request that makes it, by whatever way. */
import { expect } from 'chai';
import type { Request } from 'express';
import { Body, JsonController, Post } from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { AfterUpdate, BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import { Crud, type CrudContext, crudController, unitOfWork } from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const ALL = [
  'list',
  'create',
  'read',
  'update',
  'delete',
  'createMany',
  'updateMany',
  'deleteMany',
  'replace',
  'restore',
  'purge',
  'upsert',
] as const;

@Crud({
  history: true,
  endpoints: ALL,
  upsert: [['code']],
  filterAllow: ['name'],
  import: { modes: ['create'] },
})
@Table({ tableName: 'ships', paranoid: true, timestamps: true, version: true })
class Ship extends NamedRow {
  @Column({ type: DataType.TEXT, unique: true }) declare code: string | null;
}

/** It writes the table of crews, and has no history of its own. */
@Crud({ endpoints: ['create'] })
@Table({ tableName: 'crews', timestamps: false })
class Mate extends NamedRow {}

/** Rows that its foreign key removes. */
@Crud()
@Table({ tableName: 'ports', timestamps: false })
class Port extends NamedRow {}

@Crud({ history: true })
@Table({ tableName: 'berths', timestamps: false })
class Berth extends NumberedRow {
  @ForeignKey(() => Port) @Column(DataType.INTEGER) declare portId: number;
  @BelongsTo(() => Port, { onDelete: 'CASCADE' }) declare port?: Port;
}

/** Only Sequelize writes it. */
@Crud({ history: true })
@Table({ tableName: 'crews', timestamps: false })
class Crew extends NamedRow {
  @AfterUpdate
  static async follow({ id }: Crew): Promise<void> {
    await Crew.sequelize?.query(`INSERT INTO crews (name) VALUES ('hook of ${id}')`);
  }
}

class CrewController extends crudController(Crew) {
  override async create(data: object, context: CrudContext): Promise<Crew> {
    await context.repository.unscoped().create({ name: 'override' });
    return super.create(data as never, context) as Promise<Crew>;
  }
}

@JsonController('/fleets')
class FleetController {
  @Post()
  async build(@Body() { name }: { name: string }): Promise<object> {
    await unitOfWork(async (unit) => {
      await unit.repository(Ship).create({ name });
      await Ship.sequelize?.query(`UPDATE ships SET name = name || '!'`);
    });
    await Ship.sequelize?.query(`UPDATE ships SET name = name || '?'`);
    return { name };
  }
}

@JsonController('/docks')
class DockController {
  @Post()
  async count(): Promise<object> {
    const ports = await Port.findAll();
    return { count: ports.length };
  }
}

const log = new SqlLog();

interface Change {
  readonly source: string;
  readonly row_id: string;
  readonly op: string;
  readonly context: Record<string, string | null> | null;
  readonly db_user: string;
}

except(OF_MANY).describe('the writer of a change', () => {
  const site = serveTestApp(() => ({
    models: [Ship, Port, Berth, Crew, Mate],
    bootstrap: {
      models: [Ship, Port, Berth, Crew, Mate],
      controllers: [CrewController, FleetController, DockController],
      history: { actor: async (request: Request) => request.get('user') },
      idempotency: { principal: () => 'all' },
    },
    engine: { groupCommit: true, logging: log.record },
    minPool: 2,
  }));

  beforeEach(() =>
    emptyTables(site, 'berths', 'ports', 'ships', 'crews', 'crud_idempotency', 'crud_changes'),
  );

  const changes = () =>
    site.engine.sequelize.query<Change>(
      'SELECT source, row_id, op, context, db_user FROM crud_changes ORDER BY id',
      {
        type: QueryTypes.SELECT,
        useMaster: true,
      } as { type: QueryTypes.SELECT },
    );
  const forget = () => site.engine.sequelize.query('DELETE FROM crud_changes');
  const send = (verb: 'post' | 'patch' | 'put' | 'delete', path: string, body?: object | string) => {
    const request = site.agent[verb](path).set('user', 'ann');
    return body === undefined ? request : request.send(body);
  };
  /** `u 1`, each with the operation of the request. */
  const expectChanges = async (operation: string, ...events: string[]) => {
    const found = await changes();
    expect(found.map(({ op, row_id: id }) => `${op} ${id}`)).to.deep.equal(events);
    for (const { context } of found)
      expect(context).to.deep.equal({ actor: 'ann', request_id: 'same', operation });
    await forget();
  };

  it('is the request, for each generated write', async () => {
    await send('post', '/ships', { name: 'a', code: 'A' }).expect(201);
    await expectChanges('Ship.create', 'i 1');
    await send('patch', '/ships/1', { name: 'b' }).expect(200);
    await expectChanges('Ship.update', 'u 1');
    await send('patch', '/ships/1', { name: 'b' }).expect(200);
    await expectChanges('Ship.update');
    await send('put', '/ships/1', { name: 'c', code: 'A' }).expect(200);
    await expectChanges('Ship.replace', 'u 1');
    await send('post', '/ships', [{ name: 'd' }, { name: 'e' }]).expect(201);
    await expectChanges('Ship.create', 'i 2', 'i 3');
    await send('patch', '/ships', [
      { id: 2, name: 'f' },
      { id: 3, name: 'f' },
    ]).expect(200);
    await expectChanges('Ship.updateMany', 'u 2', 'u 3');
    await send('patch', '/ships?q=name==f&max_affected=5', { name: 'g' }).expect(200);
    await expectChanges('Ship.updateMany', 'u 2', 'u 3');
    await send('delete', '/ships?q=name==g&max_affected=5').expect(200);
    await expectChanges('Ship.deleteMany', 'u 2', 'u 3');
    await send('post', '/ships/2/restore').expect(200);
    await expectChanges('Ship.restore', 'u 2');
    await send('delete', '/ships/1').expect(204);
    await expectChanges('Ship.delete', 'u 1');
    await send('delete', '/ships/1/purge').expect(204);
    await expectChanges('Ship.purge', 'd 1');
    await send('post', '/ships?on_conflict=code', { name: 'u', code: 'U' }).expect(201);
    const [{ row_id: id = '' } = {}] = await changes();
    await expectChanges('Ship.create', `i ${id}`);
    await send('post', '/ships?on_conflict=code', { name: 'v', code: 'U' }).expect(200);
    await expectChanges('Ship.create', `u ${id}`);
  });

  it('is the request, for another resource of the table', async () => {
    await send('post', '/mates', { name: 'a' }).expect(201);
    await expectChanges('Mate.create', 'i 1');
  });

  it('is the request, for imports, which leave nothing of a dry run', async () => {
    const file = (query: string) =>
      send('post', `/ships/import${query}`, '{"name":"a"}\n{"name":"b"}\n').type('application/x-ndjson');
    await file('?dry_run=true').expect(200);
    await expectChanges('Ship.import');
    await file('').expect(200);
    const found = await changes();
    expect(found.map(({ op, context }) => [op, context?.['operation'], context?.['actor']])).to.deep.equal([
      ['i', 'Ship.import', 'ann'],
      ['i', 'Ship.import', 'ann'],
    ]);
  });

  it('is the request, for rows that foreign keys remove', async () => {
    await send('post', '/ports', { name: 'p' }).expect(201);
    await send('post', '/berths', { portId: 1 }).expect(201);
    await expectChanges('Berth.create', 'i 1');
    await send('delete', '/ports/1').expect(204);
    await expectChanges('Port.delete', 'd 1');
  });

  it('is the request, for hooks, overrides, raw SQL and units of work', async () => {
    await send('post', '/crews', { name: 'c' }).expect(201);
    await expectChanges('Crew.create', 'i 1', 'i 2');
    await send('patch', '/crews/2', { name: 'd' }).expect(200);
    await expectChanges('Crew.update', 'u 2', 'i 3');
    await send('post', '/fleets', { name: 'f' }).expect(200);
    await expectChanges('FleetController.build', 'i 1', 'u 1', 'u 1');
  });

  except({ unit: 'it counts statements, and a unit of work begins and commits' }).it(
    'costs a read of code of the user nothing',
    async () => {
      const { statements } = await log.during(() => send('post', '/docks').expect(200));
      expect(statements).to.have.length(1);
      expect(statements[0]).to.match(/^SELECT /);
    },
  );

  it('has the key of a write that is sent again, and one change', async () => {
    const sent = () => send('post', '/ships', { name: 'k' }).set('idempotency-key', '"one"');
    await sent().expect(201);
    await sent().expect(201);
    expect((await changes()).map(({ context }) => context)).to.deep.equal([
      { actor: 'ann', request_id: 'same', operation: 'Ship.create', key: 'one' },
    ]);
  });

  it('is its own for each of many at the same time', async () => {
    const actors = Array.from({ length: 16 }, (_, index) => `actor ${index}`);
    for (const round of ['a', 'b'])
      await Promise.all(
        actors.map((actor) =>
          site.agent
            .post('/ships')
            .set('user', actor)
            .send({ name: `${round} ${actor}` })
            .expect(201),
        ),
      );
    const rows = await site.engine.sequelize.query<{ name: string; actor: string }>(
      `SELECT new->>'name' AS name, context->>'actor' AS actor FROM crud_changes`,
      { type: QueryTypes.SELECT },
    );
    expect(rows).to.have.length(32);
    for (const { name, actor } of rows) expect(name.slice(2)).to.equal(actor);
  });

  it('is nobody known where something else writes', async () => {
    await site.engine.sequelize.query(
      `INSERT INTO ships (name, version, "createdAt", "updatedAt") VALUES ('s', 0, now(), now())`,
    );
    const [{ context, db_user: user } = {}] = await changes();
    expect(context).to.equal(null);
    expect(user).to.match(/./);
  });
});
