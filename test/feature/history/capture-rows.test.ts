/** Changes of tables that need a trigger for each row. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configError } from '../../support/config-error.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ history: true })
@Table({ tableName: 'metered', timestamps: false })
class Metered extends Model {
  @PrimaryKey @Column(DataType.DATEONLY) declare day: string;
  @PrimaryKey @Column(DataType.INTEGER) declare meter: number;
  @Column(DataType.INTEGER) declare value: number | null;
}

@Crud({ history: { capture: 'row' } })
@Table({ tableName: 'singles', timestamps: false })
class Single extends NumberedRow {
  @Column(DataType.INTEGER) declare value: number | null;
}

@Crud({ history: true, readOnly: true })
@Table({ tableName: 'viewed', timestamps: false })
class Viewed extends NumberedRow {}

@Crud({ history: true })
@Table({ tableName: 'towns', timestamps: false })
class Town extends NumberedRow {}

@Crud({ history: { capture: 'row' } })
@Table({ tableName: 'sites', timestamps: false })
class Site extends NumberedRow {}

@Crud({ history: { capture: 'row' }, only: true })
@Table({ tableName: 'spots', timestamps: false })
class Spot extends NumberedRow {}

const TABLES = `
  CREATE TABLE metered (day date, meter int, value int, PRIMARY KEY (day, meter)) PARTITION BY RANGE (day);
  CREATE TABLE metered_1 PARTITION OF metered FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
  CREATE TABLE metered_2 PARTITION OF metered FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
  CREATE VIEW viewed AS SELECT 1 AS id;
  CREATE TABLE towns (id serial PRIMARY KEY); CREATE TABLE capitals () INHERITS (towns); CREATE TABLE seats () INHERITS (capitals);
  CREATE TABLE sites (id serial PRIMARY KEY); CREATE TABLE ruins () INHERITS (sites);
  CREATE TABLE spots (id serial PRIMARY KEY); CREATE TABLE holes () INHERITS (spots)`;

async function prepared() {
  const database = await freshDatabase();
  await execute(database.url, TABLES);
  return database;
}

describe('changes by triggers for rows', () => {
  const logger = new CapturedLog();
  const models: ModelClass[] = [Metered, Single];
  const site = serveTestApp(async () => ({
    models: [...models, Viewed, Town, Site, Spot],
    database: await prepared(),
    bootstrap: { models, logger },
  }));

  const run = (text: string) => site.engine.sequelize.query(text);
  const events = async () => {
    const rows = await site.engine.sequelize.query<{ event: string }>(
      `SELECT concat_ws(' ', source, row_id, op) AS event FROM crud_changes ORDER BY id`,
      { type: QueryTypes.SELECT, useMaster: true } as { type: QueryTypes.SELECT },
    );
    return rows.map(({ event }) => event);
  };

  it('are whole for partitioned tables, also where a partition is named', async () => {
    await site.agent.post('/metereds').send({ day: '2026-01-05', meter: 1, value: 1 }).expect(201);
    await run(
      `INSERT INTO metered_1 VALUES ('2026-01-06', 2, 1); UPDATE metered_1 SET value = value WHERE meter = 2`,
    );
    await site.agent.patch('/metereds/2026-01-05,1').send({ value: 3 }).expect(200);
    await run(`UPDATE metered SET day = '2026-02-07' WHERE meter = 2`);
    await site.agent.delete('/metereds/2026-01-05,1').expect(204);
    expect(await events()).to.deep.equal([
      'metered 2026-01-05,1 i',
      'metered 2026-01-06,2 i',
      'metered 2026-01-05,1 u',
      'metered 2026-01-06,2 d',
      'metered 2026-02-07,2 i',
      'metered 2026-01-05,1 d',
    ]);
    const lines = logger.lines.filter(({ message }) => message.includes('Metered: its table is partitioned'));
    expect(lines).to.have.length(1);
  });

  it('are stored for any table that wants them', async () => {
    await run('DELETE FROM crud_changes');
    await site.agent.post('/singles').send({ value: 1 }).expect(201);
    await run('UPDATE singles SET value = 1; UPDATE singles SET value = 2; TRUNCATE singles');
    expect(await events()).to.deep.equal(['singles 1 i', 'singles 1 u', 'singles  t']);
  });

  it('stand in the order of the writes, where a trigger whose name comes later writes the same row', async () => {
    await run(`DELETE FROM crud_changes;
      CREATE FUNCTION write_again() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN UPDATE singles SET value = value + 1 WHERE id = NEW.id; RETURN NULL; END $$;
      CREATE TRIGGER number_singles AFTER INSERT ON singles FOR EACH ROW EXECUTE FUNCTION write_again()`);
    const { body } = await site.agent.post('/singles').send({ value: 1 }).expect(201);
    await run('DROP FUNCTION write_again CASCADE');
    expect(await events()).to.deep.equal([`singles ${body.id} i`, `singles ${body.id} u`]);
  });

  it('lack writes of heirs by their own names, which the start says', async () => {
    const log = new CapturedLog();
    await buildBoth({ models: [Town, Spot], logger: log });
    const told = log.lines.flatMap(({ message }) => (message.includes('changes') ? message : []));
    expect([...new Set(told)]).to.deep.equal([
      'Town: rows of capitals, seats, which inherit from "towns", are records, too, and their changes are stored where a statement writes "towns", ' +
        'and not where it names their own table, so that history and feed lack these; write only: true in its @Crud to leave them out, or write ' +
        'them through "towns" alone.',
    ]);
    await run('DELETE FROM crud_changes; INSERT INTO capitals VALUES (5); DELETE FROM towns WHERE id = 5');
    expect(await events()).to.deep.equal(['towns 5 d']);
  });

  it('are refused for heirs, whose rows fire no trigger of their parent', async () => {
    expect(await configError(() => buildBoth({ models: [Site], logger }))).to.include(
      'Site: rows of ruins, which inherit from "sites", are records, too, and no trigger for each row of "sites" stores their changes; leave ' +
        "capture: 'row' out, or write only: true in its @Crud to leave them out.",
    );
  });

  it('are refused for views', async () => {
    const message = await configError(() => buildBoth({ models: [Viewed], logger }));
    expect(message).to.include(
      'Viewed: its table is a view, which has no triggers that history needs; leave it out.',
    );
  });
});
