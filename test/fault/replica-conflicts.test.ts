/** Reads that the recovery of a replica ends: they are answered by the primary, and nothing is written meanwhile. */
import { expect } from 'chai';
import { Client } from 'pg';
import { Get } from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  InjectSession,
  type ListQuery,
  type ReadSession,
} from '../../src/index.js';
import { KeyedRow } from '../models/rows.js';
import { CapturedLog } from '../support/captured-log.js';
import { forSuite } from '../support/for-suite.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { connectTo } from '../support/postgres.js';
import { ask, TwoPaths, type WholeAnswer } from '../support/two-paths.js';

/** A view that takes long on a replica, and says whether that has read it. */
@Crud({ filterAllow: ['id'] })
@Table({ tableName: 'sights', timestamps: false })
class Sight extends KeyedRow {
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare isReplica: boolean;
}

/** The same view, read in a session of the request. */
@Crud()
@Table({ tableName: 'sights', timestamps: false })
class Scene extends KeyedRow {
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare isReplica: boolean;
}

class SceneController extends crudController(Scene) {
  override async list(query: ListQuery, context: CrudContext<Scene>) {
    return super.list(query, context);
  }
}

/** A view that writes where it can. */
@Crud()
@Table({ tableName: 'traces', timestamps: false })
class Trace extends KeyedRow {}

class SightController extends crudController(Sight) {
  @Get('/found')
  async find() {
    return { items: await Sight.findAll() };
  }

  @Get('/asked')
  async ask() {
    return { items: await Sight.sequelize?.query('SELECT * FROM sights;', { type: QueryTypes.SELECT }) };
  }

  @Get('/session')
  async findInSession(@InjectSession() session: ReadSession) {
    return { items: await session.repository(Sight).list() };
  }
}

/** Each is a single read. */
const READS = ['/scenes', '/sights/1', '/sights', '/sights?q=id==1', '/sights/found', '/sights/asked'];
const BUSY = { detail: 'The database is busy; try again.' };

const SCHEMA = `
  CREATE TABLE items (id integer PRIMARY KEY, changes integer NOT NULL DEFAULT 0);
  CREATE TABLE notes (id integer);
  INSERT INTO items VALUES (1);
  CREATE VIEW sights AS
    SELECT id, pg_is_in_recovery() AS "isReplica" FROM items
    WHERE CASE WHEN pg_is_in_recovery() THEN pg_sleep(4)::text ELSE '' END = '';
  CREATE FUNCTION note() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    IF pg_is_in_recovery() THEN PERFORM pg_sleep(4); ELSE INSERT INTO notes VALUES (1); END IF;
    RETURN true;
  END $$;
  CREATE VIEW traces AS SELECT id FROM items WHERE note();
`;

describe('a replica whose recovery ends reads', function () {
  // Two servers are made for it, and reads are asked again until each has met a recovery.
  this.timeout(300_000);
  const logger = new CapturedLog();
  const primary = forSuite(() => OwnPostgres.create('primary'));
  const onPrimary = forSuite(() => connectTo(primary.url('postgres')));
  const replica = forSuite(async () => {
    await onPrimary.query(SCHEMA);
    const settings = { max_standby_streaming_delay: '0', hot_standby_feedback: 'off' };
    return primary.createStandby('replica', settings);
  });
  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Sight, Scene, Trace],
      database: { url: primary.url('postgres') },
      engine: { createAll: false, replicas: [replica.url('postgres')], pool: { max: 10 } },
      bootstrap: { controllers: [SightController, SceneController], logger },
    }),
  );

  beforeEach(() => logger.clear());

  /** Removes rows that reads of the replica still see, until all are answered: each removal ends those under way. */
  async function whileRowsAreRemoved<T>(reads: readonly Promise<T>[]): Promise<T[]> {
    let isDone = false;
    const answers = Promise.all(reads).finally(() => {
      isDone = true;
    });
    while (!isDone) await removeRows();
    return answers;
  }

  /** Returns when the replica has removed them, too. */
  async function removeRows(): Promise<void> {
    await onPrimary.query('UPDATE items SET changes = changes + 1');
    await onPrimary.query('VACUUM items');
    const { rows } = await onPrimary.query<{ place: string }>('SELECT pg_current_wal_lsn() AS place');
    while (!(await hasReplayed(String(rows[0]?.place))));
  }

  /** Queries the replica. The recovery may end this connection, too; the result is false then. */
  async function hasReplayed(place: string): Promise<boolean> {
    const onReplica = new Client({ connectionString: replica.url('postgres') });
    onReplica.on('error', () => {});
    try {
      await onReplica.connect();
      const { rows } = await onReplica.query<{ isThere: boolean }>(
        'SELECT pg_last_wal_replay_lsn() >= $1 AS "isThere"',
        [place],
      );
      return rows[0]?.isThere ?? false;
    } catch {
      return false;
    } finally {
      await onReplica.end().catch(() => {});
    }
  }

  for (const path of ['fast', 'general'] as const) {
    const get = (address: string) => ask(paths[path], { path: address });

    /**
     * Sends requests until each address has had an answer of the kind that the test expects. A read that begins while the recovery waits
     * for the page of another one is not ended, and answers as if nothing had happened.
     */
    async function untilEach(
      addresses: readonly string[],
      isSought: (answer: WholeAnswer) => boolean,
    ): Promise<WholeAnswer[]> {
      const answers = await whileRowsAreRemoved(addresses.map(get));
      const sought = answers.filter(isSought);
      for (const { status } of answers.filter((answer) => !isSought(answer))) expect(status).to.equal(200);
      const others = addresses.filter((_, index) => !isSought(answers[index] as WholeAnswer));
      return others.length === 0 ? sought : [...sought, ...(await untilEach(others, isSought))];
    }

    it(`has each answered by the primary, on the ${path} path`, async () => {
      const answers = await untilEach(READS, ({ body }) => body.includes('"isReplica":false'));
      expect(answers.map(({ status }) => status)).to.deep.equal(READS.map(() => 200));
      // The warning about the failures of the test before may be logged now.
      const own = logger.lines.filter(({ message }) => !/more requests? failed in a second$/.test(message));
      expect(own).to.deep.equal([]);
    });

    it(`answers 503 where a read belongs to a session, or would write, on the ${path} path`, async () => {
      const answers = await untilEach(['/sights/session', '/traces/1'], ({ status }) => status === 503);
      for (const { headers, body } of answers) {
        expect(headers).to.include('Retry-After: 1');
        expect(JSON.parse(body)).to.deep.equal(BUSY);
      }
      expect(logger.codes).to.deep.equal(['40001']);
      expect((await onPrimary.query('SELECT FROM notes')).rowCount).to.equal(0);
    });
  }

  it('fails no read while rows are removed again and again', async () => {
    const reads = Array.from({ length: 10 }, () => [
      ask(paths.fast, { path: '/sights/1' }),
      ask(paths.general, { path: '/sights' }),
    ]).flat();
    const answers = await whileRowsAreRemoved(reads);
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
    expect(answers.some(({ body }) => body.includes('"isReplica":false'))).to.equal(true);
  });
});
