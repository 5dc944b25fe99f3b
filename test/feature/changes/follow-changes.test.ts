/** Feeds as pages: each event once and in order, judged by the conditions and masks of the list. */
// @runs fast
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import { buildApplication } from '../../../src/bootstrap.js';
import { Crud, EVERYTHING, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ filterAllow: ['open'] })
@Table({ tableName: 'regions', timestamps: false })
class Region extends NumberedRow {
  @Column(DataType.BOOLEAN) declare open: boolean;
}

@Crud({
  changes: true,
  filterAllow: { country: true, population: true, region: ['open'] },
  fields: { budget: { read: ({ headers }) => headers['x-role'] === 'mayor' } },
})
@Table({ tableName: 'towns', timestamps: false, version: true })
class Town extends NumberedRow {
  @Column(DataType.TEXT) declare country: string | null;
  @Column({ type: DataType.INTEGER, field: 'people' }) declare population: number | null;
  @Column(DataType.INTEGER) declare budget: number | null;
  @ForeignKey(() => Region) @Column(DataType.INTEGER) declare regionId: number | null;
  @BelongsTo(() => Region) declare region?: Region;
}

@Crud({
  changes: true,
  scope: { tenantId: ({ headers }) => Number(headers['x-tenant']) },
  visible: ({ headers }) => (headers['x-all'] ? EVERYTHING : filter`hidden==false`),
})
@Table({ tableName: 'tasks', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
class Task extends NumberedRow {
  @Column(DataType.INTEGER) declare tenantId: number;
  @Column({ type: DataType.BOOLEAN, defaultValue: false, allowNull: false }) declare hidden: boolean;
}

/** Milliseconds. */
const TICK = 50;

interface Page {
  readonly items: {
    op: string;
    id?: string;
    changed?: string[];
    version?: number;
    request_id: string | null;
    at: string;
  }[];
  readonly next_cursor: string;
  readonly has_next: boolean;
}

except(OF_FEEDS).describe('a feed of changes', () => {
  const database = forSuite(() => freshDatabase());
  const site = serveTestApp(() => ({
    models: [Region, Town, Task],
    database: { url: database.url },
    bootstrap: { changes: { tick: TICK, maxWait: 3 }, indexAdvice: false },
  }));
  const other = forSuite(() => connectTo(database.url));

  const ask = async (path: string, headers = {}) => {
    // A request makes a tick where the last one is older than that.
    await delay(TICK);
    return site.agent.get(path).set(headers);
  };
  const read = async (path: string, headers = {}): Promise<Page> => {
    const { body, status } = await ask(path, headers);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const now = async (path: string, headers = {}) => (await read(path, headers)).next_cursor;
  /** Operations and ids since a place. */
  const since = async (path: string, cursor: string, headers = {}) => {
    const { items } = await read(
      `${path}${path.includes('?') ? '&' : '?'}after=${cursor}&size=1000`,
      headers,
    );
    return items.map(({ op, id }) => (id === undefined ? op : `${op} ${id}`));
  };
  const town = async (values: object): Promise<{ id: number }> =>
    (await site.agent.post('/towns').send(values).expect(201)).body;

  const age = (interval: string) =>
    other.query(
      `UPDATE crud_changes SET at = at - interval '${interval}'; UPDATE crud_ticks SET at = at - interval '${interval}'`,
    );

  it('has each write once, in order, whoever makes it', async () => {
    const cursor = await now('/towns/changes');
    const { id } = await town({ country: 'FRA', population: 1 });
    await site.agent.patch(`/towns/${id}`).send({ population: 2 }).expect(200);
    await other.query('UPDATE towns SET people = people');
    await other.query('UPDATE towns SET people = 3, country = $1', ['ITA']);
    await site.agent.delete(`/towns/${id}`).expect(204);
    const { items, has_next } = await read(`/towns/changes?after=${cursor}`);
    const text = String(id);
    expect(items.map(({ at, request_id, ...event }) => event)).to.deep.equal([
      { op: 'create', id: text, version: 0 },
      { op: 'update', id: text, version: 1, changed: ['population', 'version'] },
      { op: 'update', id: text, version: 1, changed: ['country', 'population'] },
      { op: 'delete', id: text },
    ]);
    expect(items.every(({ at }) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(at))).to.equal(true);
    expect(has_next).to.equal(false);
  });

  it('goes on in the middle of a tick', async () => {
    const cursor = await now('/towns/changes');
    await other.query('INSERT INTO towns (people, version) SELECT n, 0 FROM generate_series(1, 7) AS n');
    const whole = await since('/towns/changes', cursor);
    expect(whole).to.have.length(7);
    let place = cursor;
    const found: (string | undefined)[] = [];
    for (let isMore = true; isMore; ) {
      const page = await read(`/towns/changes?after=${place}&size=2`);
      expect(page.items.length).to.be.at.most(2);
      found.push(...page.items.map(({ op, id }) => `${op} ${id}`));
      place = page.next_cursor;
      isMore = page.has_next;
    }
    expect(found).to.deep.equal(whole);
    expect(await since('/towns/changes', place)).to.deep.equal([]);
  });

  it('has a create where a record enters q, and a delete where it leaves', async () => {
    const path = '/towns/changes?q=country==NOR';
    const cursor = await now(path);
    const { id } = await town({ country: 'SWE' });
    await site.agent.patch(`/towns/${id}`).send({ country: 'NOR' });
    await site.agent.patch(`/towns/${id}`).send({ population: 5 });
    await site.agent.patch(`/towns/${id}`).send({ country: null });
    await site.agent.delete(`/towns/${id}`);
    expect(await since(path, cursor)).to.deep.equal([`create ${id}`, `update ${id}`, `delete ${id}`]);
  });

  it('judges conditions over relations by the rows of now', async () => {
    const path = '/towns/changes?q=region.open==true';
    const { rows } = await other.query('INSERT INTO regions (open) VALUES (true), (false) RETURNING id');
    const [open, closed] = rows.map((row) => row.id);
    const cursor = await now(path);
    const { id } = await town({ regionId: open });
    await town({ regionId: closed });
    await site.agent.patch(`/towns/${id}`).send({ regionId: closed });
    expect(await since(path, cursor)).to.deep.equal([`create ${id}`, `delete ${id}`]);
  });

  it('names no attribute that the request may not read, and leaves out an update of such alone', async () => {
    const { id } = await town({ country: 'FRA' });
    const mayor = { 'X-Role': 'mayor' };
    const cursors = [await now('/towns/changes'), await now('/towns/changes', mayor)];
    await other.query('UPDATE towns SET budget = 5 WHERE id = $1', [id]);
    await other.query('UPDATE towns SET budget = 6, people = 7 WHERE id = $1', [id]);
    const changed = async (cursor = '', headers = {}) =>
      (await read(`/towns/changes?after=${cursor}`, headers)).items.map((each) => each.changed);
    expect(await changed(cursors[0])).to.deep.equal([['population']]);
    expect(await changed(cursors[1], mayor)).to.deep.equal([['budget'], ['population', 'budget']]);
    // The mask is another one.
    const { status } = await ask(`/towns/changes?after=${cursors[0]}`, mayor);
    expect(status).to.equal(410);
  });

  it('shows a record that moves to each tenant as what it is there', async () => {
    const [one, two] = [{ 'X-Tenant': '1' }, { 'X-Tenant': '2' }];
    const cursors = [await now('/tasks/changes', one), await now('/tasks/changes', two)];
    const { body } = await site.agent.post('/tasks').set(one).send({}).expect(201);
    await other.query('UPDATE tasks SET "tenantId" = 2 WHERE id = $1', [body.id]);
    await other.query('UPDATE tasks SET hidden = true WHERE id = $1', [body.id]);
    expect(await since('/tasks/changes', cursors[0] ?? '', one)).to.deep.equal([
      `create ${body.id}`,
      `delete ${body.id}`,
    ]);
    expect(await since('/tasks/changes', cursors[1] ?? '', two)).to.deep.equal([
      `create ${body.id}`,
      `delete ${body.id}`,
    ]);
    const { status } = await ask(`/tasks/changes?after=${cursors[0]}`, two);
    expect(status).to.equal(410);
  });

  it('has a delete for a soft deletion, and a create for what is restored', async () => {
    const one = { 'X-Tenant': '1' };
    const { body } = await site.agent.post('/tasks').set(one).send({}).expect(201);
    const cursor = await now('/tasks/changes', one);
    await site.agent.delete(`/tasks/${body.id}`).set(one).expect(204);
    await other.query('UPDATE tasks SET "deletedAt" = NULL WHERE id = $1', [body.id]);
    expect(await since('/tasks/changes', cursor, one)).to.deep.equal([
      `delete ${body.id}`,
      `create ${body.id}`,
    ]);
  });

  it('says once that all is to be read again after a TRUNCATE, and where very much has changed', async () => {
    const cursor = await now('/towns/changes');
    await other.query('TRUNCATE towns');
    const page = await read(`/towns/changes?after=${cursor}`);
    expect(page.items.map(({ op, id }) => [op, id])).to.deep.equal([['reset', undefined]]);
    await other.query('INSERT INTO towns (country, version) SELECT $1, 0 FROM generate_series(1, 10001)', [
      'FRA',
    ]);
    const many = await read(`/towns/changes?after=${page.next_cursor}&size=1`);
    expect(many.items.map(({ op }) => op)).to.deep.equal(['reset']);
    expect(many.has_next).to.equal(false);
    await other.query('DELETE FROM towns WHERE id IN (SELECT min(id) FROM towns)');
    expect((await read(`/towns/changes?after=${many.next_cursor}`)).items.map(({ op }) => op)).to.deep.equal([
      'delete',
    ]);
    await other.query('TRUNCATE towns');
  });

  it('goes through many ticks with much in them, from the start as well', async () => {
    await other.query('TRUNCATE crud_changes');
    const cursor = await now('/towns/changes');
    for (let turn = 0; turn < 4; turn += 1) {
      await other.query('INSERT INTO towns (country, version) SELECT $1, 0 FROM generate_series(1, 4000)', [
        'FRA',
      ]);
      await now('/towns/changes');
    }
    for (const from of [cursor, 'start']) {
      const ids = new Set<string | undefined>();
      let count = 0;
      for (let place = from, isMore = true; isMore; ) {
        const page = await read(`/towns/changes?after=${place}&size=1000`);
        for (const { id } of page.items) ids.add(id);
        count += page.items.length;
        place = page.next_cursor;
        isMore = page.has_next;
      }
      expect([ids.size, count], from).to.deep.equal([16_000, 16_000]);
    }
  });

  it('waits for the first event', async () => {
    const cursor = await now('/towns/changes');
    const begun = performance.now();
    const waiting = read(`/towns/changes?after=${cursor}&wait=3`);
    setTimeout(() => void town({ country: 'FRA' }), 300);
    const { items } = await waiting;
    expect(items.map(({ op }) => op)).to.deep.equal(['create']);
    expect(performance.now() - begun).to.be.within(290, 2_500);
  });

  it('answers an empty page, with a place that goes on, where nothing comes', async () => {
    const cursor = await now('/towns/changes');
    const begun = performance.now();
    const empty = await read(`/towns/changes?after=${cursor}&wait=1`);
    expect(performance.now() - begun).to.be.within(990, 2_500);
    expect([empty.items, empty.next_cursor]).to.deep.equal([[], cursor]);
    const { body } = await ask(`/towns/changes?after=${cursor}&wait=4`);
    expect(body.errors).to.deep.equal([
      {
        parameter: 'wait',
        code: 'range',
        detail: "Parameter 'wait' is '4'; it accepts an integer from 0 to 3.",
      },
    ]);
  });

  it('refuses what is no cursor with 400, and one from which it cannot go on with 410', async () => {
    const cursor = await now('/towns/changes');
    const code = async (query: string) => {
      const { status, body } = await ask(`/towns/changes?${query}`);
      return [status, body.errors?.[0]?.code];
    };
    expect(await code('after=x')).to.deep.equal([400, 'cursor.malformed']);
    expect((await ask('/towns/changes?after=nwo')).body.detail).to.contain('or send now or start.');
    expect(await code(`after=${cursor}x`)).to.deep.equal([400, 'cursor.malformed']);
    expect(await code(`after=${cursor}&q=country==FRA`)).to.deep.equal([410, 'changes.expired']);
    expect(await code(`after=${cursor}&page=1`)).to.deep.equal([400, 'unknown']);
    expect(await code('q=budget==1')).to.deep.equal([400, 'q.unknown-field']);
    const { headers, text } = await site.agent.head(`/towns/changes?after=${cursor}`).expect(200);
    expect([headers['content-type'], text]).to.deep.equal(['application/json; charset=utf-8', undefined]);
    await site.agent.post('/towns/changes').send({}).expect(405);
  });

  it('has no hole behind a cursor where nobody has followed for long, and maintenance removes what is old', async () => {
    const place = await now('/towns/changes');
    const { id } = await town({ country: 'OLD' });
    const maintain = () => buildApplication({ models: [Region, Town, Task] }).maintain();
    await age('8 days');
    await maintain();
    expect(await since('/towns/changes', place)).to.deep.equal([`create ${id}`]);
    await town({ country: 'NEW' });
    await age('8 days');
    expect((await ask(`/towns/changes?after=${place}`)).status).to.equal(410);
    await maintain();
    const { rows } = await other.query("SELECT FROM crud_changes WHERE new ->> 'country' = 'OLD'");
    expect(rows).to.have.length(0);
    expect((await ask(`/towns/changes?after=${place}`)).status).to.equal(410);
  });

  it('goes on from the start, where the first events are older than a cursor may be', async () => {
    const made: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      made.push(`create ${(await town({ country: 'AGE' })).id}`);
      await now('/towns/changes');
      await age('3 days');
    }
    const found: string[] = [];
    let place = 'start';
    for (let isMore = true; isMore; ) {
      const page = await read(`/towns/changes?after=${place}&size=1`);
      found.push(...page.items.map(({ op, id }) => `${op} ${id}`));
      place = page.next_cursor;
      isMore = page.has_next;
    }
    expect(found).to.deep.equal(made.slice(2));
  });

  it('goes on behind images that no longer fit the table, and says nothing of what they lack', async () => {
    const cursor = await now('/tasks/changes', { 'X-Tenant': '1' });
    const add = async (values: string) =>
      (await other.query(`INSERT INTO tasks ("tenantId", hidden) VALUES (${values}) RETURNING id`)).rows[0]
        .id;
    const [first, second, third, last] = [
      await add('1, false'),
      await add('1, false'),
      await add('1, false'),
      await add('1, false'),
    ];
    // As they were before the columns had their types, and before one of them was there.
    const change = (image: string, id: number) =>
      other.query(`UPDATE crud_changes SET new = ${image} WHERE source = 'tasks' AND row_id = $1`, [
        String(id),
      ]);
    await change(`jsonb_set(new, '{tenantId}', '"one"')`, first);
    await change(`jsonb_set(new, '{deletedAt}', '"never"')`, second);
    await change(`new - 'deletedAt'`, third);
    expect(await since('/tasks/changes', cursor, { 'X-Tenant': '1' })).to.deep.equal([`create ${last}`]);
  });

  it('cannot go on behind events that are gone, or behind a tick that is another one', async () => {
    const cursor = await now('/towns/changes');
    await town({ country: 'FRA' });
    const later = await now('/towns/changes');
    const status = async (from: string) => (await ask(`/towns/changes?after=${from}`)).status;
    await other.query(`UPDATE crud_ticks SET at = at - interval '8 days'`);
    // Nothing has happened behind the last tick.
    expect([await status(cursor), await status(later)]).to.deep.equal([410, 200]);
    await other.query(`UPDATE crud_ticks SET at = now()`);
    expect(await status(cursor)).to.equal(200);
    // As in a cluster that was restored, where transactions have other numbers.
    const restored = await now('/towns/changes');
    await other.query(`UPDATE crud_ticks SET snap = '1000000000:1000000000:'`);
    expect([await status(restored), await status('now')]).to.deep.equal([410, 200]);
    const next = await now('/towns/changes');
    await town({ country: 'FRA' });
    expect((await read(`/towns/changes?after=${next}`)).items).to.have.length(1);
    // As where a fail-over has lost the last commits.
    const lost = await now('/towns/changes');
    await other.query('DELETE FROM crud_ticks');
    expect([await status(lost), await status('now')]).to.deep.equal([410, 200]);
  });
});
