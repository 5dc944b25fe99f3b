/** Changes of a table, whoever makes them: triggers store each in the transaction of its write. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ history: { exclude: ['notes'] } })
@Table({ tableName: 'lamps', timestamps: false })
class Lamp extends NumberedRow {
  @Column({ type: DataType.TEXT, unique: true }) declare name: string | null;
  @Column({ type: DataType.INTEGER, field: 'o' }) declare watts: number | null;
  @Column({ type: DataType.TEXT, field: 'crud:old' }) declare old: string | null;
  @Column(DataType.TEXT) declare notes: string | null;
  @Exclude()
  @Column({ type: DataType.TEXT, field: 'n' })
  declare secret: string | null;
  @Column(DataType.BLOB) declare image: Buffer | null;
}

@Crud({ history: true })
@Table({ tableName: 'bulbs', timestamps: false })
class Bulb extends Model {
  @PrimaryKey
  @Column({
    type: DataType.INTEGER,
    references: { model: 'lamps', key: 'id' },
    onDelete: 'CASCADE',
    onUpdate: 'CASCADE',
  })
  declare lampId: number;
  @PrimaryKey @Column(DataType.TEXT) declare socket: string;
  @Column(DataType.TEXT) declare colour: string | null;
}

@Crud({ history: { images: 'changed' } })
@Table({ tableName: 'meters', timestamps: false })
class Meter extends NumberedRow {
  @Column(DataType.INTEGER) declare low: number | null;
  @Column(DataType.INTEGER) declare high: number | null;
}

@Crud({ changes: { retention: '1 day' } })
@Table({ tableName: 'panels', timestamps: false })
class Panel extends NumberedRow {
  @Column(DataType.INTEGER) declare part: number;
}

/** A stored change. */
interface Change {
  readonly source: string;
  readonly row_id: string;
  readonly op: string;
  readonly old: Record<string, unknown> | null;
  readonly new: Record<string, unknown> | null;
  readonly left_out: string[] | null;
}

except(OF_FEEDS).describe('the capture of changes', () => {
  const site = serveTestApp(() => ({ models: [Lamp, Bulb, Meter, Panel] }));

  beforeEach(() => emptyTables(site, 'bulbs', 'lamps', 'meters', 'panels', 'crud_changes'));

  const run = (text: string) => site.engine.sequelize.query(text);
  const changes = () =>
    site.engine.sequelize.query<Change>(
      'SELECT source, row_id, op, old, new, left_out FROM crud_changes ORDER BY id',
      {
        type: QueryTypes.SELECT,
        useMaster: true,
      } as { type: QueryTypes.SELECT },
    );
  /** `lamps 1 u`. */
  const events = async () => (await changes()).map(({ source, row_id: id, op }) => `${source} ${id} ${op}`);

  const serverVersion = async () => {
    const [{ version } = { version: 0 }] = await site.engine.sequelize.query<{ version: number }>(
      `SELECT current_setting('server_version_num')::int / 10000 AS version`,
      { type: QueryTypes.SELECT },
    );
    return version;
  };

  const LAMP = `INSERT INTO lamps (id, name) VALUES (1, 'a')`;
  const PANELS = 'INSERT INTO panels VALUES (1, 1), (2, 2)';
  const PANEL_EVENTS = ['panels 1 i', 'panels 2 i'];
  const writes: Readonly<Record<string, readonly [write: string, ...events: string[]]>> = {
    INSERT: [LAMP, 'lamps 1 i'],
    UPDATE: [`${LAMP}; UPDATE lamps SET name = 'b'`, 'lamps 1 i', 'lamps 1 u'],
    'an UPDATE that changes nothing': [`${LAMP}; UPDATE lamps SET name = 'a'`, 'lamps 1 i'],
    'a primary key that changes': [`${LAMP}; UPDATE lamps SET id = 2`, 'lamps 1 i', 'lamps 1 d', 'lamps 2 i'],
    DELETE: [`${LAMP}; DELETE FROM lamps`, 'lamps 1 i', 'lamps 1 d'],
    'ON CONFLICT DO UPDATE': [
      `${LAMP}; INSERT INTO lamps (id, name) VALUES (1, 'b'), (2, 'c') ON CONFLICT (id) DO UPDATE SET name = excluded.name`,
      'lamps 1 i',
      'lamps 1 u',
      'lamps 2 i',
    ],
    'a foreign key that deletes': [
      `${LAMP}; INSERT INTO bulbs VALUES (1, 'x', 'red'), (1, 'y,/', 'red'); DELETE FROM lamps`,
      'lamps 1 i',
      'bulbs 1,x i',
      'bulbs 1,y~2~1 i',
      'bulbs 1,x d',
      'bulbs 1,y~2~1 d',
      'lamps 1 d',
    ],
    'a foreign key that follows': [
      `${LAMP}; INSERT INTO bulbs VALUES (1, 'x', 'red'); UPDATE lamps SET id = 3`,
      'lamps 1 i',
      'bulbs 1,x i',
      'bulbs 1,x d',
      'bulbs 3,x i',
      'lamps 1 d',
      'lamps 3 i',
    ],
    'a savepoint that is rolled back': [
      `BEGIN; ${LAMP}; SAVEPOINT s; UPDATE lamps SET name = 'b'; ROLLBACK TO s; UPDATE lamps SET name = 'c'; COMMIT`,
      'lamps 1 i',
      'lamps 1 u',
    ],
    ROLLBACK: [`BEGIN; ${LAMP}; ROLLBACK`],
    TRUNCATE: [`${LAMP}; TRUNCATE lamps CASCADE`, 'lamps 1 i', 'bulbs  t', 'lamps  t'],
    changes: ['INSERT INTO panels VALUES (1, 1)', 'panels 1 i'],
    'a whole row': [`${PANELS}; UPDATE panels SET part = 3 WHERE id = 2`, ...PANEL_EVENTS, 'panels 2 u'],
    'a whole row that stays': [`${PANELS}; UPDATE panels SET part = 2 WHERE id = 2`, ...PANEL_EVENTS],
    'the key of a whole row': [
      `${PANELS}; UPDATE panels SET id = 3 WHERE id = 2`,
      ...PANEL_EVENTS,
      'panels 2 d',
      'panels 3 i',
    ],
    'whole rows, of which one stays': [
      `${PANELS}; UPDATE panels SET part = 2`,
      ...PANEL_EVENTS,
      'panels 1 u',
    ],
    'a whole row in conflict': [
      `${PANELS}; INSERT INTO panels VALUES (1, 5), (3, 3) ON CONFLICT (id) DO UPDATE SET part = excluded.part`,
      ...PANEL_EVENTS,
      'panels 1 u',
      'panels 3 i',
    ],
    COPY: [`COPY lamps (id) FROM PROGRAM 'echo 1'`, 'lamps 1 i'],
    MERGE: [
      `${LAMP}; INSERT INTO lamps (id) VALUES (2); MERGE INTO lamps USING (VALUES (1), (2), (3)) AS v (n) ON id = v.n
        WHEN MATCHED AND id = 1 THEN UPDATE SET name = 'b' WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (v.n)`,
      'lamps 1 i',
      'lamps 2 i',
      'lamps 1 u',
      'lamps 2 d',
      'lamps 3 i',
    ],
  };
  for (const [name, [write, ...expected]] of Object.entries(writes)) {
    it(`stores ${name}`, async function () {
      if (name === 'MERGE' && (await serverVersion()) < 15) this.skip();
      await run(write);
      expect((await events()).sort()).to.deep.equal(expected.sort());
    });
  }

  it('stores rows without what is excluded, and names what changed there', async () => {
    await run(`INSERT INTO lamps VALUES (1, 'a', 2, 'x', 'long', 'hash', 'bytes')`);
    await run(`UPDATE lamps SET n = 'other', notes = 'longer'`);
    const row = { id: 1, name: 'a', o: 2, 'crud:old': 'x' };
    const event = { source: 'lamps', row_id: '1' };
    expect(await changes()).to.deep.equal([
      { ...event, op: 'i', old: null, new: row, left_out: ['image', 'n', 'notes'] },
      { ...event, op: 'u', old: row, new: row, left_out: ['n', 'notes'] },
    ]);
  });

  it('stores what has changed alone, where images says so', async () => {
    await run('INSERT INTO meters VALUES (1, 2, 3); UPDATE meters SET high = 4; DELETE FROM meters');
    expect((await changes()).map((each) => [each.old, each.new])).to.deep.equal([
      [null, { id: 1, low: 2, high: 3 }],
      [
        { id: 1, high: 3 },
        { id: 1, high: 4 },
      ],
      [{ id: 1, low: 2, high: 4 }, null],
    ]);
  });
});
