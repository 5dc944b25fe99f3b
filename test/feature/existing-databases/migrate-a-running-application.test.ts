/** Migrations beside a running application, whose requests follow them within a minute. */
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY, SERVES_MANY, UNGUARDED } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ sortAllow: ['name'] })
@Table({ tableName: 'ports', timestamps: false })
class Port extends NamedRow {}

@Crud<Ship>({
  pagination: 'cursor',
  sortAllow: { weight: true, 'port.name': true },
  include: { port: UNGUARDED },
  id: 'name',
})
@Table({ tableName: 'ships', timestamps: false })
class Ship extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare name: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare weight: number;
  @Column(DataType.TEXT) declare note: string | null;
  @ForeignKey(() => Port) @Column({ type: DataType.INTEGER, allowNull: false }) declare portId: number;
  @BelongsTo(() => Port) declare port: Port;
}

@Crud({
  endpoints: ['list', 'create'],
  ...(SERVES_MANY ? { upsert: [['name']], endpoints: ['list', 'create', 'upsert'] } : {}),
} as object)
@Table({ tableName: 'buoys', timestamps: false })
class Buoy extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare name: string;
}

const { now } = performance;

describe('a running application', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Port, Ship, Buoy],
    // A lock, the catalogue behind it, and a request.
    minPool: 3,
    bootstrap: { logger, indexAdvice: false },
  }));
  const query = (sql: string) => site.engine.sequelize.query(sql);

  beforeEach(async () => {
    await query('TRUNCATE ports, ships RESTART IDENTITY');
    await query(`INSERT INTO ports (name) VALUES ('Bergen'), ('Aden')`);
    await query(
      `INSERT INTO ships (name, weight, "portId") VALUES ('a', 1, 1), ('b', 2, 2), ('c', 3, 1), ('d', 4, 2)`,
    );
  });

  afterEach(() => {
    performance.now = now;
  });

  /** As when no request came for so many seconds. */
  function rest(seconds: number): void {
    performance.now = () => now.call(performance) + seconds * 1_000;
  }

  /** Ids of all pages. */
  async function walk(sort: string): Promise<number[]> {
    const ids: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path = `/ships?sort=${sort}&size=2${cursor && `&after=${encodeURIComponent(cursor)}`}`;
      const { status, body } = await site.agent.get(path);
      expect(status, JSON.stringify(body)).to.equal(200);
      ids.push(...body.items.map(({ id }: { readonly id: number }) => id));
      cursor = body.next_cursor;
    }
    return ids;
  }

  it('lists rows whose column may be NULL since a migration', async () => {
    expect(await walk('weight')).to.deep.equal([1, 2, 3, 4]);
    await query('ALTER TABLE ships ALTER weight DROP NOT NULL');
    await query(`INSERT INTO ships (name, "portId") VALUES ('e', 1)`);
    rest(61);
    expect(await walk('weight')).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('lists rows that have no record behind a relation since a migration', async () => {
    expect(await walk('port.name')).to.deep.equal([2, 4, 1, 3]);
    await query('ALTER TABLE ships DROP CONSTRAINT "ships_portId_fkey"');
    await query(`INSERT INTO ships (name, weight, "portId") VALUES ('e', 5, 77)`);
    rest(122);
    expect(await walk('port.name')).to.deep.equal([2, 4, 1, 3, 5]);
  });

  it('follows also while requests come, without one that waits', async () => {
    await query('ALTER TABLE ships ADD size integer NOT NULL DEFAULT 0, ALTER "portId" DROP NOT NULL');
    await query(`INSERT INTO ships (name, weight, "portId") VALUES ('e', 5, NULL)`);
    rest(160);
    await walk('port.name');
    for (let tries = 0; tries < 100 && (await walk('port.name')).length < 5; tries += 1);
    expect(await walk('port.name')).to.deep.equal([2, 4, 1, 3, 5]);
  });

  it('logs a problem that would have refused the start', async () => {
    logger.clear();
    await query('ALTER TABLE ships ALTER name DROP NOT NULL');
    rest(240);
    await walk('weight');
    expect(logger.lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      'error A table was changed while the application runs: Ship: id names \'name\', and its column "name" of the table "ships" may be NULL, ' +
        'so that some records would have no address; ALTER TABLE "ships" ALTER COLUMN "name" SET NOT NULL; and give the attribute ' +
        '@AllowNull(false).',
    ]);
  });

  it('stores a new default', async () => {
    const before = await site.agent.post('/ships').send({ name: 'before', weight: 6, portId: 1 });
    expect([before.status, before.body.note]).to.deep.equal([201, null]);
    await query("ALTER TABLE ships ALTER note SET DEFAULT 'new'");
    rest(301);
    const { status, body } = await site.agent.post('/ships').send({ name: 'e', weight: 5, portId: 1 });
    expect([status, body.note], JSON.stringify(body)).to.deep.equal([201, 'new']);
  });

  it('follows a view in the place of a table, and a table in the place of a view', async () => {
    const post = async (name: string) => (await site.agent.post('/buoys').send({ name })).status;
    expect(await post('a')).to.equal(201);
    await query('ALTER TABLE buoys RENAME TO buoy_rows');
    await query('CREATE VIEW buoys AS SELECT DISTINCT id, name FROM buoy_rows');
    rest(370);
    expect(await post('b')).to.equal(405);
    await query('DROP VIEW buoys');
    await query('ALTER TABLE buoy_rows RENAME TO buoys');
    rest(440);
    expect(await post('c')).to.equal(201);
  });

  except(OF_MANY).it('logs that a unique index is gone which an upsert needs', async () => {
    logger.clear();
    await query('ALTER TABLE buoys DROP CONSTRAINT buoys_name_key');
    rest(510);
    await site.agent.get('/buoys');
    const [line] = logger.lines.map(({ level, message }) => `${level} ${message}`);
    expect(line).to.match(/^error A table was changed while the application runs: Buoy: upsert/);
  });

  it('goes on while a lock holds the catalogue back', async () => {
    await query('ALTER TABLE ports ADD size integer');
    const transaction = await site.engine.sequelize.transaction();
    try {
      await site.engine.sequelize.query('LOCK TABLE ports', { transaction });
      rest(580);
      expect(await walk('weight')).to.deep.equal([1, 2, 3, 4]);
    } finally {
      await transaction.rollback();
    }
  });

  it('goes on where a view takes the place of a table', async () => {
    await query('ALTER TABLE ships RENAME TO boats');
    await query('CREATE VIEW ships AS SELECT * FROM boats');
    rest(660);
    expect(await walk('weight')).to.deep.equal([1, 2, 3, 4]);
  });
});
