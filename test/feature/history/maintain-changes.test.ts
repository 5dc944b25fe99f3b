/** The command `maintain`: partitions for the months to come, and changes that are older than their retention. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { buildApplication } from '../../../src/bootstrap.js';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

@Crud({ history: { retention: '2 years' } })
@Table({ tableName: 'deeds', timestamps: false })
class Deed extends NumberedRow {
  @Column(DataType.TEXT) declare text: string | null;
}

@Crud({ changes: { retention: '7 days' } })
@Table({ tableName: 'calls', timestamps: false })
class Call extends NumberedRow {
  @Column(DataType.TEXT) declare text: string | null;
}

/** Kept for ever, beside a feed that reads seven days. */
@Crud({ history: true, changes: true })
@Table({ tableName: 'births', timestamps: false })
class Birth extends NumberedRow {
  @Column(DataType.TEXT) declare text: string | null;
}

except(OF_FEEDS).describe('the maintenance of stored changes', () => {
  const site = serveTestApp(() => ({ models: [Deed, Call, Birth], minPool: 3 }));

  const select = <R extends object>(text: string): Promise<R[]> =>
    site.engine.sequelize.query<R>(text, { type: QueryTypes.SELECT, useMaster: true } as {
      type: QueryTypes.SELECT;
    });
  const run = (text: string) => site.engine.sequelize.query(text);
  const maintain = (...models: ModelClass[]) => buildApplication({ models }).maintain();
  const store = (source: string, age: string, count = 1) =>
    run(
      `INSERT INTO crud_changes (at, source, row_id, op) SELECT now() - interval '${age}', '${source}', n, 'i' FROM generate_series(1, ${count}) AS n`,
    );
  const counts = async () => {
    const rows = await select<{ source: string; count: string }>(
      'SELECT source, count(*) FROM crud_changes GROUP BY source ORDER BY source',
    );
    return Object.fromEntries(rows.map(({ source, count }) => [source, Number(count)]));
  };
  const parts = async () =>
    (
      await select<{ part: string }>(
        `SELECT inhrelid::regclass::text AS part FROM pg_inherits WHERE inhparent = 'crud_changes'::regclass ORDER BY 1`,
      )
    ).map(({ part }) => part);

  beforeEach(() => run('DELETE FROM crud_changes; DELETE FROM crud_ticks'));

  it('removes what is older than the retention of its resource, and nothing else', async () => {
    await store('calls', '8 days', 2_300);
    await store('calls', '6 days', 3);
    await store('deeds', '800 days', 2);
    await store('deeds', '8 days', 4);
    await store('births', '80 years', 5);
    await store('of another application', '80 years', 6);
    expect(await maintain(Deed, Call, Birth)).to.deep.equal([
      '"crud_changes": 2302 changes, 0 months and 0 ticks removed',
    ]);
    expect(await counts()).to.deep.equal({ births: 5, calls: 3, deeds: 4, 'of another application': 6 });
  });

  it('makes the partitions that are missing, and moves rows there', async () => {
    const before = await parts();
    expect(before).to.have.length(5);
    await run(`DROP TABLE ${before[1]}`);
    await run(
      `INSERT INTO crud_changes (at, source, row_id, op) VALUES (date_trunc('month', now()) + interval '40 days', 'deeds', '1', 'i')`,
    );
    await maintain(Deed);
    expect(await parts()).to.deep.equal(before);
    expect(await counts()).to.deep.equal({ deeds: 1 });
    const [left] = await select<{ count: string }>('SELECT count(*) FROM crud_changes_default');
    expect(left).to.deep.equal({ count: '0' });
  });

  it('drops a month that is over for all, unless it has changes of others', async () => {
    await run(
      `CREATE TABLE crud_changes_2001_01 PARTITION OF crud_changes FOR VALUES FROM ('2001-01-01 00:00:00+00') TO ('2001-02-01 00:00:00+00')`,
    );
    const insert = (source: string) =>
      run(`INSERT INTO crud_changes (at, source, row_id, op) VALUES ('2001-01-15', '${source}', '1', 'i')`);
    await insert('deeds');
    await insert('births');
    await maintain(Deed, Call);
    expect(await counts()).to.deep.equal({ births: 1 });
    await run(`DELETE FROM crud_changes WHERE source = 'births'`);
    await insert('calls');
    await maintain(Deed, Call, Birth);
    expect(await parts()).to.include('crud_changes_2001_01');
    expect(await maintain(Deed, Call)).to.deep.equal([
      '"crud_changes": 0 changes, 1 months and 0 ticks removed',
    ]);
    expect(await parts()).not.to.include('crud_changes_2001_01');
  });

  it('leaves a month that is being read, so that writes do not wait', async () => {
    await run(
      `CREATE TABLE crud_changes_2001_02 PARTITION OF crud_changes FOR VALUES FROM ('2001-02-01 00:00:00+00') TO ('2001-03-01 00:00:00+00')`,
    );
    const reader = await site.engine.sequelize.transaction();
    try {
      await run(`DROP TABLE ${(await parts())[1]}`);
      await site.engine.sequelize.query('SELECT FROM crud_changes', { transaction: reader });
      const maintained = maintain(Deed, Call);
      const started = performance.now();
      while (performance.now() - started < 3_000) await run(`INSERT INTO deeds (text) VALUES ('a')`);
      expect(await maintained).to.deep.equal([
        '"crud_changes": 0 changes, 0 months and 0 ticks removed; the months to come are left for the next run, because the table is in use; 1 months are in use, and left for the next run',
      ]);
    } finally {
      await reader.rollback();
    }
    expect(await maintain(Deed, Call)).to.deep.equal([
      '"crud_changes": 0 changes, 1 months and 0 ticks removed',
    ]);
    expect(await parts()).not.to.include('crud_changes_2001_02');
  });

  it('removes ticks that no cursor may name any more, but the last one', async () => {
    const tick = (age: string) =>
      run(`INSERT INTO crud_ticks (snap, at) VALUES (pg_current_snapshot(), now() - interval '${age}')`);
    for (const age of ['9 days', '8 days', '6 days', '1 day']) await tick(age);
    await maintain(Deed, Call, Birth);
    // Behind the one of 8 days ago begin changes that are younger.
    expect(await select('SELECT n FROM crud_ticks')).to.have.length(3);
    await run(`UPDATE crud_ticks SET at = at - interval '1 year'`);
    await maintain(Deed, Call, Birth);
    expect(await select('SELECT n FROM crud_ticks')).to.have.length(1);
  });
});

except(OF_FEEDS).describe('the maintenance by a role that owns nothing', () => {
  it('names the role to use, where it runs with another one', async () => {
    await using site = await startTestApp({ models: [Deed, Call], engine: { pool: { max: 1 } } });
    const run = (text: string) => site.engine.sequelize.query(text);
    const role = `keeper_${Math.random().toString(36).slice(2, 10)}`;
    await run(`CREATE ROLE ${role}; GRANT SELECT ON crud_changes, crud_ticks TO ${role}; SET ROLE ${role}`);
    try {
      const { message } = (await caughtError(() =>
        buildApplication({ models: [Deed, Call] }).maintain(),
      )) as Error;
      expect(message).to.match(
        /^"crud_changes" was not maintained: .*; run maintain with the address of the role that owns "crud_changes"\.$/,
      );
    } finally {
      await run(`RESET ROLE; DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });
});
