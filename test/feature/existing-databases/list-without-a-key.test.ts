/** Tables and views without a key: their rows are listed by an order of the model's and created, and no statement is about one of them. */
// @runs fast

import { expect } from 'chai';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, type ModelClass, Repository } from '../../../src/index.js';
import { buildBoth } from '../../support/build-app.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { defineModel, problemsOf, problemsOfAll } from '../../support/offline-models.js';
import { serveTables } from '../../support/serve-tables.js';
import { SqlLog } from '../../support/sql-log.js';

abstract class Line extends Model {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare text: string;
  @Column(DataType.INTEGER) declare level: number | null;
}

const LISTED = {
  filterAllow: ['text', 'level'],
  sortAllow: ['text', 'level'],
  defaultSort: 'level,text',
  scope: { tenant: (request) => request.get('x-tenant') ?? 1 },
  count: { allow: ['exact', 'none', 'capped'] },
} satisfies CrudOptions<Entry>;

@Crud({ ...LISTED, prefix: '/entries', endpoints: ['list', 'create'] })
@Table({ tableName: 'entries', timestamps: false })
class Entry extends Line {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
}

/** Its hooks have Sequelize send all statements. */
@Crud({ ...LISTED, prefix: '/hooked', endpoints: ['list', 'create'] })
@Table({ tableName: 'entries', timestamps: false, hooks: { beforeCreate() {}, beforeFind() {} } })
class Hooked extends Line {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
}

@Crud({ prefix: '/levels', endpoints: ['list'], defaultSort: '-level', filterAllow: ['level'] })
@Table({ tableName: 'levels', timestamps: false })
class Level extends Model {
  @Column({ type: DataType.INTEGER }) declare level: number;
  @Column(DataType.INTEGER) declare lines: number;
}

/** It has the key that Sequelize adds. */
@Crud({ prefix: '/bare', endpoints: ['list'], defaultSort: 'text' })
@Table({ tableName: 'entries', timestamps: false })
class Bare extends Line {}

const TABLES = `
  CREATE TABLE entries (tenant int NOT NULL, text varchar(20) NOT NULL, level int);
  CREATE VIEW levels AS SELECT level, count(*)::int AS lines FROM entries GROUP BY level`;

except(OF_MANY).describe('a table without a key', () => {
  const models = [Entry, Hooked, Level];
  const log = new SqlLog();
  const { site, apps, query } = serveTables(TABLES, models, {
    others: [Bare],
    engine: { logging: log.record },
    // Sequelize adds it to a model without a key.
    prepare: () => models.forEach((model) => void model.removeAttribute('id')),
  });

  beforeEach(() =>
    query(`TRUNCATE entries; INSERT INTO entries VALUES
      (1, 'a', 2), (1, 'a', 2), (1, 'b', 1), (1, 'c', NULL), (2, 'd', 1)`),
  );

  for (const path of ['/entries', '/hooked']) {
    it(`lists rows by the order of the model at ${path}`, async () => {
      const row = (text: string, level: number | null) => ({ text, level, tenant: 1 });
      const all = [row('b', 1), row('a', 2), row('a', 2), row('c', null)];
      for (const { agent } of apps) {
        const pages = [1, 2].map(async (page) => (await agent.get(`${path}?size=2&page=${page}`)).body);
        const [first, second] = await Promise.all(pages);
        expect([...first.items, ...second.items]).to.deep.equal(all);
        expect([first.total, first.has_next, second.has_next]).to.deep.equal([4, true, false]);
        expect((await agent.get(`${path}?q=level=isnull=true`)).body.items).to.deep.equal([all[3]]);
        expect((await agent.get(`${path}?sort=-text&fields=text`)).body.items).to.deep.equal([
          { text: 'c' },
          { text: 'b' },
          { text: 'a' },
          { text: 'a' },
        ]);
        expect((await agent.get(`${path}?count=capped&size=1`)).body.total).to.equal(4);
        const other = await agent.get(path).set('x-tenant', '2');
        expect(other.body.items).to.deep.equal([{ text: 'd', level: 1, tenant: 2 }]);
        expectProblem(await agent.get(`${path}?after=x`), 400, {
          detail: (await agent.get(`${path}?after=x`)).body.detail,
          errors: (await agent.get(`${path}?after=x`)).body.errors,
        });
        for (const each of [`${path}/1`, `${path}/a`]) expect((await agent.get(each)).status).to.equal(404);
        expect((await agent.delete(path)).status).to.equal(405);
      }
    });

    it(`creates rows at ${path}`, async () => {
      for (const { agent, crud } of apps) {
        await query('TRUNCATE entries');
        const created = await agent.post(path).send({ text: 'new', level: 3 });
        expectJson(created, 201, { text: 'new', level: 3, tenant: 1 });
        expect(created.headers).to.not.have.any.keys('location', 'etag-of-none');
        expect((await agent.post(path).send({ text: 'new', id: 1 })).status).to.equal(422);
        expect(await query('SELECT count(*)::int AS n FROM entries')).to.deep.equal([{ n: 1 }]);
        const paths = Object.keys(crud.openapi().paths).filter((each) => each.startsWith(path));
        expect(paths.some((each) => each.includes('{'))).to.equal(false);
      }
    });
  }

  it('lists a view', async () => {
    for (const { agent } of apps) {
      const { items } = (await agent.get('/levels?q=level=isnull=false')).body;
      expect(items).to.deep.equal([
        { level: 2, lines: 2 },
        { level: 1, lines: 2 },
      ]);
    }
  });

  it('gives no record that could be saved', async () => {
    for (const model of [Entry, Hooked]) {
      const entries = new Repository<Entry>(model as unknown as ModelClass<Entry>);
      const before = await query('TABLE entries ORDER BY 1, 2, 3');
      const { statements } = await log.during(async () => {
        const [found] = await entries.list({ where: { text: 'b' } });
        const other = await entries.one({ text: 'c' });
        for (const record of [found, other] as Entry[])
          for (const use of [
            () => record.destroy(),
            () => record.update({ text: 'x' }),
            () => record.set('text', 'y').save(),
            () => record.increment('level'),
            () => record.reload(),
          ])
            expect(await caughtError(async () => use()), String(use)).to.be.instanceOf(Error);
        for (const use of [
          () => entries.get(1),
          () => entries.update(1, { text: 'x' }),
          () => entries.delete(1),
        ])
          expect(await caughtError(use), String(use)).to.be.instanceOf(Error);
      });
      expect(statements.filter((each) => /UPDATE|DELETE/.test(each))).to.deep.equal([]);
      expect(await query('TABLE entries ORDER BY 1, 2, 3')).to.deep.equal(before);
    }
  });

  it('is told from a table whose key is missing', async () => {
    const failure = await caughtError(() => buildBoth({ models: [Bare] }));
    expect(Object(failure).problems).to.deep.equal([
      'Bare.id: the table "entries" has no column "id", which is the key of the model; Sequelize adds it to a model without a key: give ' +
        "@PrimaryKey to the attributes that are unique together, or list the rows without one (endpoints: ['list'], defaultSort), behind " +
        "Bare.removeAttribute('id') before bootstrap.",
    ]);
  });

  it('is refused where a route needs one', () => {
    const entry = defineModel('Entry', { text: DataType.STRING(20) });
    entry.removeAttribute('id');
    const order = { defaultSort: 'text' };
    const noPath =
      'no attributes tell its rows apart, so that no path can address one; name attributes whose values together are unique and not ' +
      "null with id: [...], or leave out what needs an id: endpoints: ['list', 'create'].";
    const noOrder =
      'no attributes tell its rows apart, so that its list has no order; give it a defaultSort, or name them with id.';
    const noCursor =
      "pagination is 'cursor', and no attributes tell its rows apart, so that a cursor would leave some out; name them with id, or use 'offset'.";
    const problems: readonly (readonly [CrudOptions, readonly string[]])[] = [
      [{ endpoints: ['list', 'create'], ...order }, []],
      [{ endpoints: ['create'] }, []],
      [{ endpoints: ['list'], readOnly: true, ...order }, []],
      [order, [noPath]],
      [{ endpoints: ['list', 'read'], ...order }, [noPath]],
      [{ readOnly: true, ...order }, [noPath]],
      [{ endpoints: ['list', 'deleteMany'], ...order }, [noPath]],
      [{ endpoints: ['list'] }, [noOrder]],
      [{ endpoints: ['list'], pagination: 'cursor', ...order }, [noCursor]],
    ];
    for (const [options, expected] of problems)
      expect(problemsOf(entry, options), JSON.stringify(options)).to.deep.equal(
        expected.map((each) => `Entry: ${each}`),
      );
  });

  it('is refused behind a relation that shows its rows', async () => {
    await query('CREATE TABLE logs (id int PRIMARY KEY); INSERT INTO logs VALUES (1)');
    const attributes = { id: { type: DataType.INTEGER, primaryKey: true } };
    const log = site.engine.sequelize.define('Log', attributes, { timestamps: false, tableName: 'logs' });
    log.hasMany(Entry, { as: 'entries', foreignKey: 'tenant', constraints: false });
    const reason =
      'leads to Entry, of which no attributes tell its rows apart; name them with id: [...] in the @Crud of Entry, or list its rows with a filter.';
    const options: CrudOptions = { include: { entries: { where: 'all' } } };
    expect(problemsOfAll([{ model: log, options }])).to.deep.equal([`Log: include.entries ${reason}`]);
    const failure = await caughtError(() => new Repository(log).list({ include: ['entries'] }));
    expect(Object(failure).problems).to.deep.equal([`'entries' ${reason}`]);
  });
});
