/** Events of records whose answers are made by code, or whose id has changed: no update of what a client shows is left out. */
// @runs fast
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Exclude, Expose, Transform } from 'class-transformer';
import { BelongsTo, Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { serveTestApp } from '../../support/test-app.js';

class CityView {
  @Expose() id!: number;
  @Expose({ name: 'title' }) name!: string;
  @Expose({ name: 'edition' }) version!: number;
}

@Crud({ changes: true, readSchema: CityView, etag: 'version' })
@Table({ tableName: 'cities', timestamps: false, version: true })
class City extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.INTEGER) declare population: number | null;
}

class TallView {
  @Expose() id!: number;
  @Expose({ toClassOnly: true }) private height!: number;
  @Expose() get isTall(): boolean {
    return this.height > 100;
  }
}

@Crud({ changes: true, readSchema: TallView })
@Table({ tableName: 'towers', timestamps: false })
class Tower extends NumberedRow {
  @Column(DataType.INTEGER) declare height: number;
}

class LabelView {
  @Expose() id!: number;
  @Transform(({ obj, value }) => `${value} of ${obj.maker}`)
  @Expose()
  name!: string;
}

@Crud({ changes: true, readSchema: LabelView })
@Table({ tableName: 'labels', timestamps: false })
class Label extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.TEXT) declare maker: string;
}

@Crud({ changes: true, fields: { wage: { read: false } } })
@Table({ tableName: 'people', timestamps: false })
class Person extends NumberedRow {
  @Exclude() @Column(DataType.TEXT) declare first: string;
  @Column(DataType.TEXT) declare last: string;
  @Column(DataType.INTEGER) declare wage: number | null;

  @Column(DataType.VIRTUAL(DataType.TEXT))
  get full(): string {
    return `${this.first} ${this.last}`;
  }
}

@Crud({ changes: true })
@Table({ tableName: 'locks', timestamps: false })
class Lock extends NumberedRow {
  @Exclude() @Column(DataType.TEXT) declare code: string;
}

@Crud({ changes: true, id: { attributes: ['house', 'number'], member: 'id' } })
@Table({ tableName: 'rooms', timestamps: false })
class Room extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare house: number;
  @PrimaryKey @Column(DataType.INTEGER) declare number: number;
  @Exclude() @Column(DataType.TEXT) declare code: string | null;
}

@Crud({ changes: true, include: { lock: true } })
@Table({ tableName: 'gates', timestamps: false })
class Gate extends NumberedRow {
  @Exclude() @ForeignKey(() => Lock) @Column(DataType.INTEGER) declare lockId: number | null;
  @Exclude() @Column(DataType.TEXT) declare code: string | null;
  @BelongsTo(() => Lock) declare lock?: Lock;
}

@Crud({ changes: { path: '/_changes' }, id: 'slug', filterAllow: ['slug'] })
@Table({ tableName: 'articles', timestamps: false })
class Article extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare slug: string;
  @Column(DataType.TEXT) declare text: string | null;
}

@Crud({
  changes: true,
  history: { exclude: ['plan'], renamed: { town: 'city', org: 'tenant', map: 'plan' } },
  scope: { tenant: () => 1 },
})
@Table({ tableName: 'streets', timestamps: false })
class Street extends NumberedRow {
  @Column(DataType.INTEGER) declare tenant: number;
  @Column(DataType.TEXT) declare city: string | null;
  @Column(DataType.TEXT) declare plan: string | null;
}

@Crud({ changes: true })
@Table({ tableName: 'moments', timestamps: false })
class Moment extends Model {
  @PrimaryKey @Column(DataType.DATE) declare at: Date;
  @Column(DataType.TEXT) declare note: string | null;
}

/** Milliseconds. */
const TICK = 50;

interface Event {
  readonly op: string;
  readonly id?: string;
  readonly version?: number;
  readonly changed?: readonly string[];
}

except(OF_FEEDS).describe('an event', () => {
  const site = serveTestApp(() => ({
    models: [City, Tower, Label, Person, Lock, Room, Gate, Article, Street, Moment],
    bootstrap: { changes: { tick: TICK }, indexAdvice: false },
  }));
  const sql = (text: string) => site.engine.sequelize.query(text);
  const read = async (path: string): Promise<{ items: Event[]; next_cursor: string; has_next: boolean }> => {
    // A request makes a tick where the last one is older than that.
    await delay(TICK);
    const { body, status } = await site.agent.get(path);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  /** Events of some writes. */
  const eventsOf = async (path: string, write: () => Promise<unknown>): Promise<Event[]> => {
    const { next_cursor } = await read(path);
    await write();
    const { items } = await read(`${path}${path.includes('?') ? '&' : '?'}after=${next_cursor}`);
    return items.map(({ op, id, version, changed }) => ({
      op,
      ...(id === undefined ? {} : { id }),
      ...(version === undefined ? {} : { version }),
      ...(changed ? { changed } : {}),
    }));
  };

  it('has the id of the path of its record, where the key is a moment', async () => {
    await sql(`INSERT INTO moments VALUES ('2026-01-31 08:00:00.25+00')`);
    const [event] = await eventsOf('/moments/changes', () => sql(`UPDATE moments SET note = 'x'`));
    expect(event).to.deep.equal({ op: 'update', id: '2026-01-31T08:00:00.250Z', changed: ['note'] });
    await site.agent.get(`/moments/${event?.id}`).expect(200);
  });

  it('has the names and the version that answers have', async () => {
    await sql(`INSERT INTO cities VALUES (1, 'Rome', 10, 3)`);
    const events = await eventsOf('/cities/changes', async () => {
      await site.agent.patch('/cities/1').send({ name: 'Roma' }).expect(200);
      await sql(`UPDATE cities SET name = 'Rome'`);
      // No answer shows it.
      await sql('UPDATE cities SET population = 20');
    });
    expect(events).to.deep.equal([
      { op: 'update', id: '1', version: 4, changed: ['title', 'edition'] },
      { op: 'update', id: '1', version: 4, changed: ['title'] },
    ]);
  });

  it('is there where a computed property may have changed, with no name', async () => {
    await sql('INSERT INTO towers VALUES (1, 50)');
    const update = { op: 'update', id: '1', changed: [] };
    expect(await eventsOf('/towers/changes', () => sql('UPDATE towers SET height = 200'))).to.deep.equal([
      update,
    ]);
    await sql(`INSERT INTO labels VALUES (1, 'Chair', 'Ann')`);
    expect(await eventsOf('/labels/changes', () => sql(`UPDATE labels SET maker = 'Bea'`))).to.deep.equal([
      update,
    ]);
    await sql(`INSERT INTO people VALUES (1, 'Ann', 'Lee', 1)`);
    const people = await eventsOf('/people/changes', async () => {
      await sql(`UPDATE people SET first = 'Bea'`);
      await sql(`UPDATE people SET first = 'Cleo', last = 'Poe', wage = 2`);
      // Closed to the request.
      await sql('UPDATE people SET wage = 3');
    });
    expect(people).to.deep.equal([update, { ...update, changed: ['last'] }]);
  });

  it('is there where another record is shown in one, and not for what is hidden otherwise', async () => {
    await sql(`INSERT INTO locks VALUES (1, 'a'); INSERT INTO gates VALUES (1, NULL, 'a')`);
    expect(await eventsOf('/locks/changes', () => sql(`UPDATE locks SET code = 'b'`))).to.deep.equal([]);
    await sql('INSERT INTO rooms VALUES (1, 2)');
    expect(await eventsOf('/rooms/changes', () => sql(`UPDATE rooms SET code = 'b'`))).to.deep.equal([]);
    const gates = await eventsOf('/gates/changes', async () => {
      await sql(`UPDATE gates SET code = 'b'`);
      await sql('UPDATE gates SET "lockId" = 1');
    });
    expect(gates).to.deep.equal([{ op: 'update', id: '1', changed: [] }]);
  });

  it('is there where columns have got another name behind the place of the follower', async () => {
    await sql(`INSERT INTO streets VALUES (1, 1, 'Rome', 'a'), (2, 1, 'Oslo', 'b'), (3, 2, 'Bern', 'c')`);
    const events = await eventsOf('/streets/changes', async () => {
      await sql(`UPDATE streets SET city = 'Paris'; UPDATE streets SET plan = 'z' WHERE id = 1`);
      await sql('DELETE FROM streets WHERE id IN (2, 3)');
      // As they were stored under the names of then.
      const past = (side: string) =>
        `${side} - '{city,tenant}'::text[] || jsonb_build_object('town', ${side} -> 'city', 'org', ${side} -> 'tenant')`;
      await sql(
        `UPDATE crud_changes SET old = ${past('old')}, new = ${past('new')}, left_out = array_replace(left_out, 'plan', 'map') WHERE source = 'streets'`,
      );
    });
    expect(events).to.deep.equal([
      { op: 'update', id: '1', changed: ['city'] },
      { op: 'update', id: '2', changed: ['city'] },
      { op: 'update', id: '1', changed: ['plan'] },
      { op: 'delete', id: '2' },
    ]);
  });

  it('says that the old id is gone where the id has changed, on one page', async () => {
    const write = async () => {
      await site.agent.post('/articles').send({ slug: 'hello' }).expect(201);
      await site.agent.patch('/articles/hello').send({ slug: 'bye' }).expect(200);
      await site.agent.patch('/articles/bye').send({ text: 'new' }).expect(200);
    };
    const { next_cursor } = await read('/articles/_changes');
    const stream = new OpenStream(await requestStream(`${site.server.url}/articles/_changes`));
    await stream.until(({ ids }) => ids.length > 0);
    expect(await eventsOf('/articles/_changes', write)).to.deep.equal([
      { op: 'create', id: 'hello' },
      { op: 'delete', id: 'hello' },
      { op: 'create', id: 'bye' },
      { op: 'update', id: 'bye', changed: ['text'] },
    ]);
    await stream.until(({ events }) => events.length >= 4);
    expect(stream.events.map(({ op, id }) => `${op} ${id}`)).to.deep.equal([
      'create hello',
      'delete hello',
      'create bye',
      'update bye',
    ]);
    stream.response.destroy();
    const pages: string[][] = [];
    for (let place = next_cursor, isMore = true; isMore; ) {
      const page = await read(`/articles/_changes?size=1&after=${place}`);
      pages.push(page.items.map(({ op, id }) => `${op} ${id}`));
      place = page.next_cursor;
      isMore = page.has_next;
    }
    expect(pages).to.deep.equal([['create hello'], ['delete hello', 'create bye'], ['update bye']]);
    const entered = await eventsOf('/articles/_changes?q=slug==last', () =>
      sql(`UPDATE articles SET slug = 'last'`),
    );
    expect(entered).to.deep.equal([{ op: 'create', id: 'last' }]);
  });
});
