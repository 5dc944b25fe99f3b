/** A write with an `Idempotency-Key` that is one statement: the row is kept as PostgreSQL writes it, and answered with the same bytes. */
import { expect } from 'chai';
import { Column, DataType, Sequelize, Table } from 'sequelize-typescript';
import { keyTableOf } from '../../../src/features/idempotency/key-table.js';
import { type CreateValues, Crud, type CrudContext, crudController } from '../../../src/index.js';
import { NumberedRow, TitledRow } from '../../models/rows.js';
import { type BuiltApp, buildApp, buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectProblem } from '../../support/expect-answer.js';
import { expectReplay, UNANSWERED, UNDER_WAY } from '../../support/expect-replay.js';
import { freshDatabase } from '../../support/postgres.js';
import { SqlLog } from '../../support/sql-log.js';
import { TENANTS, TenantDatabase } from '../../support/tenant-database.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

@Crud({ etag: 'xmin' })
@Table({ tableName: 'Odd letters', timestamps: false })
class Letter extends NumberedRow {
  @Column(DataType.TEXT) declare written: string | null;
  @Column(DataType.BOOLEAN) declare sent: boolean | null;
  @Column(DataType.DOUBLE) declare weight: number | null;
  @Column(DataType.DATE(6)) declare moment: Date | null;
  @Column(DataType.BLOB) declare seal: Buffer | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare lines: string[] | null;
  @Column(DataType.JSON) declare extra: unknown;
  @Column({ type: DataType.TEXT, field: 'crud', defaultValue: '' }) declare empty: string | null;
}

@Crud()
@Table({ tableName: 'stamps', paranoid: true, version: true })
class Stamp extends NumberedRow {
  @Column({ type: DataType.TEXT, unique: true }) declare name: string | null;
}

@Crud()
@Table({ tableName: 'parcels', schema: 'post', timestamps: false })
class Parcel extends NumberedRow {
  @Column(DataType.TEXT) declare text: string | null;
}

@Crud()
@Table({ tableName: 'drafts', timestamps: false })
class Draft extends TitledRow {}

const TEXTS = ['', ...` "\\,)\n\t`, '""', '\\\\"', '(a,b)', 'NULL', '{"a":1}', '\u{1f600}', "'$1", '=x'];
const BODIES: object[] = [
  {},
  ...TEXTS.map((each) => ({
    written: each,
    lines: [each, each],
    extra: { [each]: [each, null, 1.5] },
    empty: each,
  })),
  { sent: true, weight: 0.1, moment: '2026-01-31T08:00:00.123Z', seal: 'AAEC/w==' },
  { sent: false, weight: -1e300, lines: [], seal: '', extra: [] },
];

describe('a row that is kept under a key', () => {
  const log = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Letter, Stamp],
    bootstrap: { models: [Letter, Stamp], idempotency },
    engine: { logging: log.record, dialectOptions: { lock_timeout: 250 } },
    minPool: 2,
  }));
  const idempotency = { principal: () => 'ann' };

  beforeEach(() => emptyTables(site, 'stamps', 'crud_idempotency'));

  const post = (path: string, key: string, body: object, { agent }: Pick<BuiltApp, 'agent'> = site) =>
    agent.post(path).set('idempotency-key', key).send(body);

  it('[K15] is answered with the same bytes, whatever is in it', async () => {
    for (const [index, body] of BODIES.entries()) {
      expectReplay(await post('/letters', `k${index}`, body), await post('/letters', `k${index}`, body));
    }
    expect(await Letter.count()).to.equal(BODIES.length);
  });

  const more = 'a unit of work begins and commits, and its code reads';
  except({ general: more, values: more, unit: more, session: more, records: more }).it(
    '[K14] is written by the statement that keeps it',
    async () => {
      await post('/stamps', 'warm', { name: 'warm' });
      for (const send of [
        () => post('/stamps', 'a', { name: 'a' }),
        () => site.agent.patch('/stamps/1').set('idempotency-key', 'b').send({ name: 'b' }),
        () => site.agent.delete('/stamps/1').set('idempotency-key', 'c'),
      ]) {
        const { result, statements } = await log.duringRequest(send);
        expect(result.status).to.be.below(300);
        expect(statements.filter((text) => !text.includes('pg_trigger'))).to.have.length(1);
      }
    },
  );

  it('[K16] waits for the same request where another unique index comes first', async () => {
    const [begun, ended] = [deferred(), deferred()];
    class Stamps extends crudController(Stamp) {
      override async create(values: CreateValues<Stamp>, context: CrudContext<Stamp>) {
        const stamp = await super.create(values, context);
        begun.resolve();
        await ended.promise;
        return stamp;
      }
    }
    const slow = await buildApp({ models: [Stamp], controllers: [Stamps], idempotency });
    const quick = site;
    const first = post('/stamps', 'a', { name: 'a' }, slow).then((answer) => answer);
    await begun.promise;
    const refused = await post('/stamps', 'a', { name: 'a' }, quick);
    expectProblem(refused, 409, UNDER_WAY);
    expect(refused.headers['retry-after']).to.equal('1');
    // Another request, which the same row keeps waiting.
    const busy = await post('/stamps', 'b', { name: 'a' }, quick);
    expectProblem(busy, 503, { detail: 'The database is busy; try again.' });
    ended.resolve();
    const done = await first;
    const again = await post('/stamps', 'a', { name: 'a' }, quick);
    expect([again.text, again.headers['idempotent-replayed']]).to.deep.equal([done.text, 'true']);
  });

  it('is not answered from where the application has other columns by now', async () => {
    await post('/stamps', 'a', { name: 'a' });
    await site.engine.sequelize.query(`UPDATE crud_idempotency SET answer = '=other' || answer`);
    expectProblem(await post('/stamps', 'a', { name: 'a' }), 409, UNANSWERED);
    expect(await Stamp.count()).to.equal(1);
  });

  it('is written otherwise into a table with rules', async () => {
    const { sequelize } = site.engine;
    await sequelize.query('CREATE RULE tell AS ON INSERT TO stamps DO ALSO NOTIFY stamps');
    try {
      expectReplay(await post('/stamps', 'a', { name: 'a' }), await post('/stamps', 'a', { name: 'a' }));
    } finally {
      await sequelize.query('DROP RULE tell ON stamps');
    }
    const [kept] = await sequelize.query('SELECT key FROM crud_idempotency');
    expect([kept, await Stamp.count()]).to.deep.equal([[{ key: 'a' }], 1]);
  });

  it("[K10] is kept in the schema of its model, by an instance of the user's too", async () => {
    const database = await freshDatabase();
    const sequelize = new Sequelize(database.url, { dialect: 'postgres', models: [Parcel], logging: false });
    await using _closed = { [Symbol.asyncDispose]: () => sequelize.close().then(database.drop) };
    await sequelize.createSchema('post', {});
    await sequelize.sync();
    await sequelize.query(keyTableOf(Parcel).definition.join(';'));
    for (const [key, own] of Object.entries(await buildBoth({ models: [Parcel], idempotency }))) {
      const send = () => post('/parcels', key, { text: key }, own);
      expectReplay(await send(), await send());
    }
    const [kept] = await sequelize.query('SELECT key FROM post.crud_idempotency ORDER BY key');
    expect([kept, await Parcel.count()]).to.deep.equal([[{ key: '0' }, { key: '1' }], 2]);
  });

  for (const preparedStatements of [true, false]) {
    it(`is kept under row security, for each tenant, with preparedStatements ${preparedStatements}`, async () => {
      await using database = await TenantDatabase.create(['drafts']);
      await using secured = await startTestApp({
        models: [Draft],
        database: { url: database.url() },
        engine: { createAll: false, preparedStatements },
        minPool: 2,
        bootstrap: {
          models: [Draft],
          logger: new CapturedLog(),
          rls: { settings: (request) => ({ 'app.tenant': String(request.get('x-tenant')) }) },
          idempotency: { principal: (request) => request.get('x-user') ?? request.get('x-tenant') },
        },
      });
      await database.control.query(keyTableOf(Draft).definition.join(';'));
      await database.control.query(`GRANT ALL ON crud_idempotency TO ${database.role}`);
      for (const tenant of TENANTS.slice(0, 2)) {
        const send = () => post('/drafts', 'a', { title: tenant }, secured).set('x-tenant', tenant);
        expectReplay(await send(), await send());
        const { rows } = await database.control.query('SELECT tenant FROM drafts WHERE title = $1', [tenant]);
        expect(rows).to.deep.equal([{ tenant }]);
      }
      const [own, other] = TENANTS;
      const write = (tenant = '') =>
        post('/drafts', 'b', { title: 'b' }, secured).set({ 'x-user': 'ann', 'x-tenant': tenant });
      expectReplay(await write(own), await write(own));
      expectProblem(await write(other), 409, UNANSWERED);
    });
  }
});
