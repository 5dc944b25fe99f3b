/** `PUT /{id}` on tables with triggers, checks and partitions, with any key, and in scopes of several values. */
import { expect } from 'chai';
import { literal } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, crudController, EVERYTHING } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

const ENDPOINTS = ['read', 'create', 'replace'] as const;
const isStaff = (request: { get(name: string): string | undefined }) => request.get('x-staff') !== undefined;

/** A trigger counts new rows, and a check concerns an attribute that stays. */
@Crud({ endpoints: ENDPOINTS, fields: { limit: { write: isStaff }, owner: { write: isStaff } } })
@Table({ tableName: 'accounts', timestamps: false })
class Account extends Model {
  @PrimaryKey @Column({ type: DataType.BIGINT }) declare id: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare balance: number;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare limit: number;

  /** Nothing but staff gives it, so that others replace only. */
  @Column({ type: DataType.STRING(10), allowNull: false }) declare owner: string;
}

/** A trigger changes what was changed. */
@Crud({ endpoints: ENDPOINTS })
@Table({ tableName: 'traced', timestamps: false })
class Traced extends Model {
  @PrimaryKey @Column({ type: DataType.STRING(10) }) declare id: string;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare value: number;
  @Column({ type: DataType.DATE, defaultValue: literal("'2026-01-31T08:00:00Z'") }) declare moment: Date;
}

@Crud({ endpoints: ENDPOINTS })
@Table({ tableName: 'parted', timestamps: false })
class Parted extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER }) declare id: number;
  @Column({ type: DataType.JSONB, allowNull: false, defaultValue: { a: 1 } }) declare data: object;
}

/** A request acts for several tenants, or for all. */
@Crud({
  endpoints: ENDPOINTS,
  scope: {
    tenant: (request) =>
      request.get('x-all') ? EVERYTHING : (request.get('x-tenants') ?? '1').split(',').map(Number),
  },
})
@Table({ tableName: 'shared', timestamps: false })
class Shared extends Model {
  @PrimaryKey @Column({ type: DataType.STRING(10) }) declare id: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column(DataType.STRING(10)) declare text: string | null;
}

/** Everybody has one. */
@Crud({ endpoints: ENDPOINTS, scope: { user: (request) => request.get('x-user') ?? 'ann' } })
@Table({ tableName: 'profiles', timestamps: false })
class Profile extends Model {
  @PrimaryKey @Column({ type: DataType.STRING(10) }) declare user: string;
  @Column(DataType.STRING(10)) declare text: string | null;
}

/** Places may be exchanged within a transaction: they are unique at its end. */
@Crud({ endpoints: ENDPOINTS })
@Table({ tableName: 'seats', timestamps: false })
class Seat extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER }) declare id: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare place: number;
}

/** Keys whose columns, in tables that exist, are narrower than the model says. */
@Crud({ endpoints: [...ENDPOINTS, 'delete'] })
@Table({ tableName: 'small', timestamps: false })
class Small extends Model {
  @PrimaryKey @Column({ type: DataType.BIGINT }) declare id: string;
}

@Crud({ endpoints: [...ENDPOINTS, 'delete'] })
@Table({ tableName: 'short', timestamps: false })
class Short extends Model {
  @PrimaryKey @Column({ type: DataType.STRING(50) }) declare id: string;
}

const TABLES = ['seats', 'accounts', 'traced', 'parted', 'shared', 'profiles', 'made_accounts'];

describe('a PUT of any record', () => {
  const site = serveTestApp(() => ({ models: [Account, Traced, Parted, Shared, Profile, Seat], minPool: 2 }));

  before(() =>
    site.engine.sequelize.query(`
      ALTER TABLE accounts ADD CHECK (balance >= -"limit");
      ALTER TABLE seats ADD UNIQUE (place) DEFERRABLE INITIALLY DEFERRED;
      CREATE TABLE made_accounts (id bigint);
      CREATE FUNCTION note_account() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO made_accounts VALUES (NEW.id); RETURN NEW; END';
      CREATE TRIGGER note BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION note_account();
      CREATE FUNCTION double_value() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN UPDATE traced SET value = 2 * NEW.value WHERE id = NEW.id; RETURN NULL; END';
      CREATE TRIGGER double AFTER UPDATE ON traced FOR EACH ROW WHEN (pg_trigger_depth() = 0)
        EXECUTE FUNCTION double_value();
      DROP TABLE parted;
      CREATE TABLE parted (id int PRIMARY KEY, data jsonb NOT NULL) PARTITION BY HASH (id);
      CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
      CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);`),
  );

  beforeEach(() => emptyTables(site, ...TABLES));

  it('[M32] checks, and has triggers run, for the row that there will be', async () => {
    const put = (body: object) => site.agent.put('/accounts/9007199254740993').send(body);
    const made = { balance: -5, limit: 10, owner: 'ann' };
    expectJson(await put(made).set('x-staff', '1'), 201, { id: '9007199254740993', ...made });
    // The limit is not the default of a new row, and the owner is not given.
    expectJson(await put({ balance: -7 }), 200, { id: '9007199254740993', ...made, balance: -7 });
    expect((await put({ balance: -11 })).status).to.equal(422);
    expect((await put({ balance: -7 })).status).to.equal(200);
    // Without what the request may not give nothing is created.
    expect((await site.agent.put('/accounts/1').send({ balance: 1 })).status).to.equal(422);
    const [created] = await site.engine.sequelize.query('SELECT id FROM made_accounts');
    expect(created).to.have.length(1);
  });

  it('is refused with a key that no row can have', async () => {
    for (const [id, code, detail] of [
      ['2147483648', 'max', 'id must not be greater than 2147483647.'],
      ['-99999999999999999999', 'min', 'id must not be less than -2147483648.'],
    ] as const) {
      expectIssue(await site.agent.put(`/parteds/${id}`).send({}), 422, { pointer: '/id', code, detail });
    }
    expect((await site.agent.put('/parteds/x').send({})).status).to.equal(400);
    expect(await Parted.count()).to.equal(0);
  });

  it('is refused with a key that only the column cannot hold, and such a key is missing elsewhere', async () => {
    await using narrow = await startTestApp({
      models: [Small, Short],
      engine: { createAll: false },
      bootstrap: { models: [], logger: new CapturedLog() },
    });
    await narrow.engine.sequelize.query(
      'CREATE TABLE small (id smallint PRIMARY KEY); CREATE TABLE short (id varchar(3) PRIMARY KEY)',
    );
    const { agent } = await buildApp({ models: [Small, Short], logger: new CapturedLog() });
    const detail = 'id is beyond the range of ids.';
    for (const [path, held, tooMuch] of [
      ['/smalls', '32767', '32768'],
      ['/smalls', '-32768', '-32769'],
      ['/shorts', 'äöü', 'abcd'],
    ] as const) {
      expect((await agent.put(encodeURI(`${path}/${held}`)).send({})).status, held).to.equal(201);
      const refused = await agent.put(`${path}/${tooMuch}`).send({});
      expectIssue(refused, 422, { pointer: '/id', code: 'id', detail });
      expect((await agent.get(`${path}/${tooMuch}`)).status, tooMuch).to.equal(404);
      expect((await agent.delete(`${path}/${tooMuch}`)).status, tooMuch).to.equal(404);
    }
  });

  it('[M16] answers what triggers have made of it, and has defaults that the database computes', async () => {
    const put = (body: object) => site.agent.put('/traceds/a').send(body);
    const [moment, other] = ['2026-01-31T08:00:00.000Z', '2026-02-01T00:00:00.000Z'];
    expectJson(await put({}), 201, { id: 'a', value: 0, moment });
    expectJson(await put({ value: 3, moment: other }), 200, { id: 'a', value: 6, moment: other });
    expectJson(await put({}), 200, { id: 'a', value: 0, moment });
  });

  it('has a key that a function reads', async () => {
    class Controller extends crudController(Traced, { idType: (raw) => raw.toLowerCase() }) {}
    const { agent } = await buildApp({ models: [], controllers: [Controller] });
    const created = await agent.put('/traceds/ABC').send({ value: 2 });
    expect([created.status, created.body.id, created.headers['location']]).to.deep.equal([
      201,
      'abc',
      '/traceds/abc',
    ]);
    expect((await agent.put('/traceds/Abc').send({ id: 'abc', value: 2 })).status).to.equal(200);
  });

  it('writes to partitions, defaults of any type, and a value that is unique at the commit', async () => {
    for (const id of [1, 2]) {
      const path = `/parteds/${id}`;
      expectJson(await site.agent.put(path).send({ data: { b: 2 } }), 201, { id, data: { b: 2 } });
      for (const status of [200, 200])
        expectJson(await site.agent.put(path).send({}), status, { id, data: { a: 1 } });
      expect((await site.agent.put(path).set('if-none-match', '*').send({})).status).to.equal(412);
    }
    const sit = (id: number, place: number) => site.agent.put(`/seats/${id}`).send({ place });
    expectJson(await sit(1, 7), 201, { id: 1, place: 7 });
    expectJson(await sit(1, 8), 200, { id: 1, place: 8 });
    expect((await sit(2, 8)).status).to.equal(409);
    expect(await Seat.findAll({ raw: true })).to.deep.equal([{ id: 1, place: 8 }]);
  });

  it('stays with the tenant that it is of', async () => {
    const put = (body: object, tenants = '1,2') =>
      site.agent.put('/shareds/a').set('x-tenants', tenants).send(body);
    expect((await put({ text: 'x' })).status).to.equal(422);
    expect((await put({ tenant: 3, text: 'x' })).status).to.equal(422);
    expectJson(await put({ tenant: 2, text: 'x' }), 201, { id: 'a', tenant: 2, text: 'x' });
    expectJson(await put({ tenant: 2 }), 200, { id: 'a', tenant: 2, text: null });
    const detail = 'Another Shared has the same id.';
    const taken = { detail, errors: [{ pointer: '/id', code: 'unique', detail }] };
    expectProblem(await put({ tenant: 1 }), 409, taken);
    expectProblem(await put({ tenant: 1 }, '1'), 409, taken);
    const all = (body: object) => site.agent.put('/shareds/a').set('x-all', '1').send(body);
    expectJson(await all({ tenant: 2, text: 'y' }), 200, { id: 'a', tenant: 2, text: 'y' });
    expectProblem(await all({ tenant: 1, text: 'z' }), 409, taken);
    expect((await Shared.findByPk('a'))?.text).to.equal('y');
  });

  it('is of the key that is the scope', async () => {
    expectJson(await site.agent.put('/profiles/ann').send({ text: 'x' }), 201, { user: 'ann', text: 'x' });
    expectJson(await site.agent.put('/profiles/ann').send({ user: 'ann' }), 200, { user: 'ann', text: null });
    await Profile.create({ user: 'bob', text: 'b' });
    for (const user of ['bob', 'eve']) {
      const refused = await site.agent.put(`/profiles/${user}`).send({ text: 'x' });
      const detail = 'This request may not write records with this user.';
      expectProblem(refused, 422, { detail, errors: [{ pointer: '/user', code: 'scope', detail }] });
    }
    expect((await Profile.findByPk('bob'))?.text).to.equal('b');
  });

  it('[M35] is described with a body whose key may be absent, and both answers', async () => {
    const { paths, components } = (await site.agent.get('/openapi.json')).body;
    const { put } = paths['/accounts/{id}'];
    expect(put.operationId).to.equal('replaceAccount');
    expect(Object.keys(put.responses)).to.include.members(['200', '201', '409', '412', '422']);
    expect(put.responses['201'].headers).to.have.property('Location');
    expect(put.parameters.map(({ name }: { name: string }) => name)).to.deep.equal([
      'id',
      'If-None-Match',
      'Prefer',
    ]);
    expect(put.requestBody.content['application/json'].schema.$ref).to.equal(
      '#/components/schemas/AccountReplace',
    );
    const { properties, required } = components.schemas.AccountReplace;
    expect(Object.keys(properties)).to.have.members(['id', 'balance', 'limit', 'owner']);
    expect(required).to.deep.equal(['balance']);
    expect(components.schemas.AccountCreate.required).to.include('id');
  });
});
