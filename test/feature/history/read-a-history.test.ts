/** `GET /{id}/history`: the changes of a record, by the rules of today on the values of then. */
import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import { Column, DataType, DefaultScope, Table } from 'sequelize-typescript';
import { Crud, filter } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

const isStaff = (request: { get(name: string): string | undefined }) => request.get('Role') === 'staff';

@Crud({
  scope: { tenant: (request) => request.get('Tenant') },
  visible: (request) => (isStaff(request) ? filter`grade<=9` : filter`grade<=5,grade=isnull=true`),
  can: { history: (request) => request.get('Role') !== 'guest', deleted: (request) => isStaff(request) },
  fields: { wage: { read: isStaff, update: isStaff } },
  history: { exclude: ['photo'], renamed: { town: 'city', portrait: 'photo' } },
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'history'],
  pageSize: { default: 5, max: 10 },
})
@Table({ tableName: 'workers', timestamps: false, version: true })
class Worker extends NumberedRow {
  @Column(DataType.TEXT) declare tenant: string;
  @Column(DataType.INTEGER) declare grade: number | null;
  @Column({ type: DataType.TEXT, field: 'full name' }) declare name: string | null;
  @Column(DataType.INTEGER) declare wage: number | null;
  @Column(DataType.TEXT) declare city: string | null;
  @Column(DataType.TEXT) declare photo: string | null;
  @Exclude() @Column(DataType.TEXT) declare secret: string | null;
}

@Crud({
  can: { history: true, deleted: (request) => isStaff(request) },
  history: true,
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'restore', 'purge', 'history'],
})
@Table({ tableName: 'shops', paranoid: true, createdAt: false, updatedAt: false })
class Shop extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
}

@Crud({ can: { history: true }, history: true, endpoints: ['read', 'history'] })
@DefaultScope(() => ({ where: { isOpen: true } }))
@Table({ tableName: 'doors', timestamps: false })
class Door extends NumberedRow {
  @Column(DataType.BOOLEAN) declare isOpen: boolean | null;
  @Column(DataType.TEXT) declare name: string;
  @Exclude() @Column(DataType.TEXT) declare code: string;
}

@Crud({
  id: 'slug',
  can: { history: true, deleted: true },
  history: true,
  endpoints: ['read', 'delete', 'history'],
})
@Table({ tableName: 'pages', timestamps: false })
class Page extends KeyedRow {
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare slug: string;
  @Column(DataType.TEXT) declare body: string | null;
}

class BadgeView {
  @Expose() id!: number;
  @Expose({ name: 'picture' }) photo!: string;
}

@Crud({
  can: { history: true },
  history: { exclude: ['photo'] },
  endpoints: ['read', 'history'],
  readSchema: BadgeView,
})
@Table({ tableName: 'badges', timestamps: false })
class Badge extends NumberedRow {
  @Column(DataType.TEXT) declare photo: string;
}

/** A change of an answer. */
interface Item {
  readonly id: string;
  readonly op: string;
  readonly version: number | null;
  readonly changed: string[];
  readonly changes: Record<string, { from?: unknown; to?: unknown; raw?: true }>;
}

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('the history of a record', () => {
  const site = serveTestApp(() => ({
    models: [Worker, Shop, Page, Door, Badge],
    bootstrap: { indexAdvice: false },
  }));
  const sql = (text: string) => site.engine.sequelize.query(text);
  const get = (path: string, headers: Record<string, string> = {}) =>
    site.agent.get(path).set({ Tenant: 'a', ...headers });
  const items = async (path: string, headers: Record<string, string> = {}): Promise<Item[]> => {
    const { body, status } = await get(path, headers);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.items;
  };
  const HISTORY = '/workers/1/history';

  beforeEach(() => emptyTables(site, 'workers', 'shops', 'pages', 'doors', 'badges', 'crud_changes'));
  const insert = (values = `1, 'a', 3, 'Ann', 10, 'Rome', 'p', 's', 0`) =>
    sql(`INSERT INTO workers VALUES (${values})`);

  it('has the newest change first, with the values before and after', async () => {
    await insert();
    await site.agent.patch('/workers/1').set('Tenant', 'a').send({ name: 'Bea' });
    const { body } = await get(HISTORY);
    const { id, at, ...first } = body.items[0];
    expect(Number(id)).to.be.greaterThan(Number(body.items[1].id));
    expect(Math.abs(Date.now() - Date.parse(at))).to.be.lessThan(60_000);
    expect(first.changes).to.deep.equal({ name: { from: 'Ann', to: 'Bea' }, version: { from: 0, to: 1 } });
    expect(first.changed).to.deep.equal(['name', 'version']);
    expect(first).to.include({ op: 'update', version: 1, of: null });
    expect(body.items[1].changes).to.deep.equal({
      id: { to: 1 },
      tenant: { to: 'a' },
      grade: { to: 3 },
      name: { to: 'Ann' },
      city: { to: 'Rome' },
      version: { to: 0 },
    });
    expect(body.items[1].changed).to.include.members(['photo', 'secret']);
    expect(body).to.include({ next_cursor: null, prev_cursor: null, has_next: false, has_prev: false });
    expect(JSON.stringify(body)).to.not.match(/"p"|"s"|wage/);
  });

  it('judges by a default scope, beside values that are not stored', async () => {
    await sql(`INSERT INTO doors VALUES (1, true, 'front', 'x')`);
    await sql(`UPDATE doors SET "isOpen" = NULL, name = 'hidden'`);
    const found = await items('/doors/1/history');
    expect(found.map(({ op }) => op)).to.deep.equal(['delete', 'create']);
    expect(JSON.stringify(found)).to.not.include('hidden');
  });

  it('shows a value to those who may read it today', async () => {
    await insert();
    await sql('UPDATE workers SET wage = 20');
    expect(await items(HISTORY)).to.have.length(1);
    const [last] = await items(HISTORY, { Role: 'staff' });
    expect(last?.changes).to.deep.equal({ wage: { from: 10, to: 20 } });
  });

  it('names a value that is not stored', async () => {
    await insert();
    await sql(`UPDATE workers SET photo = 'hidden 1', secret = 'hidden 2'`);
    const [last] = await items(HISTORY);
    expect(last?.changed).to.deep.equal(['photo', 'secret']);
    expect(last?.changes).to.deep.equal({});
  });

  it('shows each tenant its part of a record that has moved', async () => {
    await insert();
    await sql(`UPDATE workers SET "full name" = 'of a'`);
    await sql(`UPDATE workers SET tenant = 'b', "full name" = 'of b'`);
    await sql(`UPDATE workers SET "full name" = 'still of b'`);
    const [left, ...before] = await items(HISTORY);
    expect(left).to.deep.include({ op: 'delete', version: 0 });
    expect(left?.changes['name']).to.deep.equal({ from: 'of a' });
    expect(left?.changes['tenant']).to.deep.equal({ from: 'a' });
    expect(before.map(({ op }) => op)).to.deep.equal(['update', 'create']);
    const [last, entered, ...others] = await items(HISTORY, { Tenant: 'b' });
    expect(last?.changes).to.deep.equal({ name: { from: 'of b', to: 'still of b' } });
    expect(entered?.op).to.equal('create');
    expect(entered?.changes).to.deep.equal({
      id: { to: 1 },
      tenant: { to: 'b' },
      grade: { to: 3 },
      name: { to: 'of b' },
      city: { to: 'Rome' },
      version: { to: 0 },
    });
    expect(others).to.deep.equal([]);
    expectProblem(await get(HISTORY, { Tenant: 'c' }), 404, { detail: 'There is no Worker with this id.' });
  });

  it('judges the values of then by the condition of today', async () => {
    await insert();
    await sql('UPDATE workers SET grade = 8');
    await sql(`UPDATE workers SET "full name" = 'too high'`);
    await sql('UPDATE workers SET grade = 4');
    const shown = await items(HISTORY);
    expect(shown.map(({ op }) => op)).to.deep.equal(['create', 'delete', 'create']);
    expect(shown[0]?.changes['name']).to.deep.equal({ to: 'too high' });
    expect(shown[1]?.changes['grade']).to.deep.equal({ from: 3 });
    expect((await items(HISTORY, { Role: 'staff' })).map(({ op }) => op)).to.deep.equal([
      'update',
      'update',
      'update',
      'create',
    ]);
  });

  it('is that of a deleted record for those who may see deleted ones', async () => {
    await insert();
    await sql('DELETE FROM workers');
    const missing = { detail: 'There is no Worker with this id.' };
    expectProblem(await get(HISTORY), 404, missing);
    expectProblem(await get(HISTORY, { Role: 'staff', Tenant: 'b' }), 404, missing);
    const [last] = await items(HISTORY, { Role: 'staff' });
    expect(last).to.deep.include({ op: 'delete' });
    expect(last?.changes['wage']).to.deep.equal({ from: 10 });
    expectProblem(await get('/workers/7/history', { Role: 'staff' }), 404, missing);
  });

  it('has soft deletes, restores and purges', async () => {
    await sql(`INSERT INTO shops VALUES (1, 'one', NULL)`);
    const staff = (request: ReturnType<typeof get>) => request.set('Role', 'staff');
    await staff(site.agent.delete('/shops/1'));
    expectProblem(await get('/shops/1/history'), 404, { detail: 'There is no Shop with this id.' });
    await staff(site.agent.post('/shops/1/restore'));
    expect((await items('/shops/1/history')).map(({ op }) => op)).to.deep.equal([
      'restore',
      'delete',
      'create',
    ]);
    await staff(site.agent.delete('/shops/1'));
    await staff(site.agent.delete('/shops/1/purge'));
    const all = await items('/shops/1/history', { Role: 'staff' });
    expect(all.map(({ op }) => op)).to.deep.equal(['delete', 'delete', 'restore', 'delete', 'create']);
  });

  it('is found by the address of today, and that of the last image', async () => {
    await sql(`INSERT INTO pages (id, slug, body) VALUES (1, 'old', 'x')`);
    await sql(`UPDATE pages SET slug = 'new'`);
    expectProblem(await get('/pages/old/history'), 404, { detail: 'There is no Page with this slug.' });
    expect(await items('/pages/new/history')).to.have.length(2);
    await sql('DELETE FROM pages');
    expect(await items('/pages/new/history')).to.have.length(3);
    expectProblem(await get('/pages/old/history'), 404, { detail: 'There is no Page with this slug.' });
  });

  it('leaves the values of columns out that are gone, and finds renamed ones', async () => {
    await insert();
    await sql(`ALTER TABLE workers RENAME city TO town; UPDATE workers SET town = 'Oslo'`);
    await sql('ALTER TABLE workers RENAME town TO city');
    await sql(
      `ALTER TABLE workers ADD gone text; UPDATE workers SET gone = 'hidden', "full name" = 'x'; ALTER TABLE workers DROP gone`,
    );
    const [last, moved] = await items(HISTORY);
    expect(last?.changes).to.deep.equal({ name: { from: 'Ann', to: 'x' } });
    expect(moved?.changes['city']).to.deep.equal({ from: 'Rome', to: 'Oslo' });
  });

  it('names a column without stored values that had another name', async () => {
    await insert();
    await sql(`UPDATE workers SET photo = 'y'`);
    await sql(`UPDATE crud_changes SET left_out = array_replace(left_out, 'photo', 'portrait')`);
    const [last] = await items(HISTORY);
    expect(last?.changed).to.deep.equal(['photo']);
  });

  it('shows a value that no longer fits as it was stored', async () => {
    await insert();
    await sql(`ALTER TABLE workers ALTER city TYPE integer USING 7`);
    const [first] = await items(HISTORY);
    expect(first?.changes['city']).to.deep.equal({ to: 'Rome', raw: true });
    await sql(`ALTER TABLE workers ALTER city TYPE text`);
  });

  it('says nothing of a change that a rule cannot judge', async () => {
    await sql('ALTER TABLE workers RENAME grade TO rank');
    await insert();
    await sql('ALTER TABLE workers RENAME rank TO grade');
    expect(await items(HISTORY)).to.deep.equal([]);
    await sql(`UPDATE workers SET "full name" = 'x'`);
    expect(await items(HISTORY)).to.have.length(1);
  });

  it('is walked by cursors while others write', async () => {
    await insert();
    for (let grade = 0; grade < 12; grade += 1) await sql(`UPDATE workers SET "full name" = 'n${grade}'`);
    const seen: Item[] = [];
    let path = `${HISTORY}?size=5`;
    for (let turn = 0; turn < 9 && path; turn += 1) {
      const { body } = await get(path);
      seen.push(...body.items);
      expect(body.has_next).to.equal(body.next_cursor !== null);
      await sql(`UPDATE workers SET "full name" = 'later ${turn}'`);
      path = body.next_cursor ? `${HISTORY}?size=5&after=${body.next_cursor}` : '';
    }
    expect(seen.map(({ changes }) => changes['name']?.to)).to.deep.equal([
      ...Array.from({ length: 12 }, (_, index) => `n${index}`).reverse(),
      'Ann',
    ]);
    const { body: last } = await get(`${HISTORY}?size=2`);
    const { body: next } = await get(`${HISTORY}?size=2&after=${last.next_cursor}`);
    const { body: back } = await get(`${HISTORY}?size=2&before=${next.prev_cursor}`);
    expect(back.items).to.deep.equal(last.items);
    expect(back.has_prev).to.equal(false);
    const wrong = await get(`${HISTORY}?after=${last.next_cursor}`, { Role: 'staff' });
    expect(wrong.status).to.equal(400);
    expect(wrong.body.errors[0].code).to.equal('cursor.mismatch');
  });

  it('has the changes of some properties', async () => {
    await insert();
    await sql(`UPDATE workers SET "full name" = 'x', city = 'y'`);
    await sql(`UPDATE workers SET city = 'z'`);
    const shown = await items(`${HISTORY}?fields=name`);
    expect(shown.map(({ changes }) => changes)).to.deep.equal([
      { name: { from: 'Ann', to: 'x' } },
      { name: { to: 'Ann' } },
    ]);
    expect((await get(`${HISTORY}?fields=wage`)).status).to.equal(400);
    expect((await get(`${HISTORY}?fields=wage`, { Role: 'staff' })).status).to.equal(200);
  });

  it('has no change of other properties whose values are not stored', async () => {
    await insert();
    await sql(`UPDATE workers SET photo = 'hidden 1', "full name" = 'x'`);
    await sql(`UPDATE workers SET photo = 'hidden 2'`);
    await sql(`UPDATE workers SET secret = 'hidden 3'`);
    const changed = async (fields: string, headers = {}) =>
      (await items(`${HISTORY}?fields=${fields}`, headers)).map((each) => each.changed);
    for (const headers of [{}, { Role: 'staff' }]) {
      expect(await changed('name', headers)).to.deep.equal([['name'], ['name']]);
      expect(await changed('photo', headers)).to.deep.equal([['photo'], ['photo'], ['photo']]);
      expect(await changed('name,photo', headers)).to.deep.equal([
        ['photo'],
        ['name', 'photo'],
        ['name', 'photo'],
      ]);
      expect((await items(HISTORY, headers)).map((each) => each.changed.at(-1))).to.deep.equal([
        'secret',
        'photo',
        'photo',
        'secret',
      ]);
    }
  });

  it('names a value that is not stored as answers do', async () => {
    await sql(`INSERT INTO badges VALUES (1, 'hidden 1'); UPDATE badges SET photo = 'hidden 2'`);
    for (const query of ['', '?fields=picture']) {
      const [last] = await items(`/badges/1/history${query}`);
      expect(last?.changed).to.deep.equal(['picture']);
    }
    expect((await items('/badges/1/history?fields=id')).map(({ op }) => op)).to.deep.equal(['create']);
  });

  it('refuses other parameters, and sizes beyond the largest', async () => {
    await insert();
    const [include, size] = [await get(`${HISTORY}?include=region`), await get(`${HISTORY}?size=11`)];
    expect(include.status).to.equal(400);
    expect(include.body.errors[0].parameter).to.equal('include');
    expectIssue(size, 400, {
      parameter: 'size',
      code: 'range',
      detail: "Parameter 'size' is '11'; it accepts an integer from 1 to 10.",
    });
  });

  it('is refused where can.history does not allow it', async () => {
    await insert();
    const refused = await get(HISTORY, { Role: 'guest' });
    expect(refused.status).to.equal(403);
    expect(refused.body.detail).to.equal('This request may not read the history of Worker.');
  });

  it('is empty for a record that was there before', async () => {
    await sql('ALTER TABLE workers DISABLE TRIGGER USER');
    await insert();
    await sql('ALTER TABLE workers ENABLE TRIGGER USER');
    expect(await items(HISTORY)).to.deep.equal([]);
  });

  it('has a tag, and no body for HEAD', async () => {
    await insert();
    const { headers } = await get(HISTORY);
    expect((await get(HISTORY, { 'If-None-Match': String(headers['etag']) })).status).to.equal(304);
    const head = await site.agent.head(HISTORY).set('Tenant', 'a');
    expect(head.status).to.equal(200);
    expect(head.text ?? '').to.equal('');
  });
});
