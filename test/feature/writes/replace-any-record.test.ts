/** `PUT /{id}` on tables with triggers, checks and partitions, with any key, in scopes of several values, and where the server makes the key. */

import { expect } from 'chai';
import type { Request } from 'express';
import { type DataType as ColumnType, literal } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, crudController, EVERYTHING } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

const ENDPOINTS = ['read', 'create', 'replace'] as const;
const isStaff = (request: { get(name: string): string | undefined }) => request.get('x-staff') !== undefined;

/** A trigger counts new rows, and a check concerns an attribute that stays. */
@Crud({ endpoints: ENDPOINTS, fields: { limit: { write: isStaff }, owner: { write: isStaff } } })
@Table({ tableName: 'accounts', timestamps: false })
class Account extends Model {
  @PrimaryKey @Column({ type: DataType.BIGINT }) declare id: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare balance: number;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare limit: number;

  /** Only staff may set it, so that others replace only. */
  @Column({ type: DataType.STRING(10), allowNull: false }) declare owner: string;
}

const { INTEGER, DATE, JSONB } = DataType;
const key = (type: ColumnType) => ({ type, primaryKey: true });
const crud = { endpoints: ENDPOINTS };
/** They have keys that clients give. */
const keyed = (name: string, columns: Parameters<typeof served>[1], more: object = crud) =>
  served(name, columns, { base: Model, crud: more });

/** A trigger changes the written value. */
const Traced = keyed('traced', {
  id: key(DataType.STRING(10)),
  value: { type: INTEGER, allowNull: false, defaultValue: 0 },
  moment: { type: DATE, defaultValue: literal("'2026-01-31T08:00:00Z'") },
});
const Parted = keyed('parted', {
  id: key(INTEGER),
  data: { type: JSONB, allowNull: false, defaultValue: { a: 1 } },
});
/** A request acts for several tenants, or for all. */
const tenant = (request: Request) =>
  request.get('x-all') ? EVERYTHING : (request.get('x-tenants') ?? '1').split(',').map(Number);
const Shared = keyed(
  'shared',
  { id: key(DataType.STRING(10)), tenant: { type: INTEGER, allowNull: false }, text: DataType.STRING(10) },
  { ...crud, scope: { tenant } },
);
/** Everybody has one. */
const Profile = keyed(
  'profiles',
  { user: key(DataType.STRING(10)), text: DataType.STRING(10) },
  { ...crud, scope: { user: (request: Request) => request.get('x-user') ?? 'ann' } },
);
/** Places may be exchanged within a transaction: they are unique at its end. */
const Seat = keyed('seats', { id: key(INTEGER), place: { type: INTEGER, allowNull: false } });
/** Keys whose columns, in tables that exist, are narrower than their types in the model. */
const DELETABLE = { endpoints: [...ENDPOINTS, 'delete'] };
const Small = keyed('small', { id: key(DataType.BIGINT) }, DELETABLE);
const Short = keyed('short', { id: key(DataType.STRING(50)) }, DELETABLE);

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
    // Without an attribute that the request may not set nothing is created.
    expect((await site.agent.put('/accounts/1').send({ balance: 1 })).status).to.equal(422);
    const [created] = await site.engine.sequelize.query('SELECT id FROM made_accounts');
    expect(created).to.have.length(1);
  });

  it('is refused with a key that no row can have', async () => {
    for (const [id, code, detail] of [
      ['2147483648', 'max', 'id must not be greater than 2147483647.'],
      ['-99999999999999999999', 'min', 'id must not be less than -2147483648.'],
    ] as const) {
      expectIssue(await site.agent.put(`/parted/${id}`).send({}), 422, { pointer: '/id', code, detail });
    }
    expect((await site.agent.put('/parted/x').send({})).status).to.equal(400);
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
      ['/small', '32767', '32768'],
      ['/small', '-32768', '-32769'],
      ['/short', 'äöü', 'abcd'],
    ] as const) {
      expect((await agent.put(encodeURI(`${path}/${held}`)).send({})).status, held).to.equal(201);
      const refused = await agent.put(`${path}/${tooMuch}`).send({});
      expectIssue(refused, 422, { pointer: '/id', code: 'id', detail });
      expect((await agent.get(`${path}/${tooMuch}`)).status, tooMuch).to.equal(404);
      expect((await agent.delete(`${path}/${tooMuch}`)).status, tooMuch).to.equal(404);
    }
  });

  it('[M16] answers what triggers have made of it, and has defaults that the database computes', async () => {
    const put = (body: object) => site.agent.put('/traced/a').send(body);
    const [moment, other] = ['2026-01-31T08:00:00.000Z', '2026-02-01T00:00:00.000Z'];
    expectJson(await put({}), 201, { id: 'a', value: 0, moment });
    expectJson(await put({ value: 3, moment: other }), 200, { id: 'a', value: 6, moment: other });
    expectJson(await put({}), 200, { id: 'a', value: 0, moment });
  });

  it('has a key that a function reads', async () => {
    class Controller extends crudController(Traced, { idType: (raw) => raw.toLowerCase() }) {}
    const { agent } = await buildApp({ models: [], controllers: [Controller] });
    const created = await agent.put('/traced/ABC').send({ value: 2 });
    expect([created.status, created.body.id, created.headers['location']]).to.deep.equal([
      201,
      'abc',
      '/traced/abc',
    ]);
    expect((await agent.put('/traced/Abc').send({ id: 'abc', value: 2 })).status).to.equal(200);
  });

  it('writes to partitions, defaults of any type, and a value that is unique at the commit', async () => {
    for (const id of [1, 2]) {
      const path = `/parted/${id}`;
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
      site.agent.put('/shared/a').set('x-tenants', tenants).send(body);
    expect((await put({ text: 'x' })).status).to.equal(422);
    expect((await put({ tenant: 3, text: 'x' })).status).to.equal(422);
    expectJson(await put({ tenant: 2, text: 'x' }), 201, { id: 'a', tenant: 2, text: 'x' });
    expectJson(await put({ tenant: 2 }), 200, { id: 'a', tenant: 2, text: null });
    const detail = 'Another Shared has the same id.';
    const taken = { detail, errors: [{ pointer: '/id', code: 'unique', detail }] };
    expectProblem(await put({ tenant: 1 }), 409, taken);
    expectProblem(await put({ tenant: 1 }, '1'), 409, taken);
    const all = (body: object) => site.agent.put('/shared/a').set('x-all', '1').send(body);
    expectJson(await all({ tenant: 2, text: 'y' }), 200, { id: 'a', tenant: 2, text: 'y' });
    expectProblem(await all({ tenant: 1, text: 'z' }), 409, taken);
    expect((await Shared.findByPk('a'))?.get('text')).to.equal('y');
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
    expect((await Profile.findByPk('bob'))?.get('text')).to.equal('b');
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

@Crud({
  endpoints: ['read', 'create', 'replace'],
  scope: { owner: ({ headers }: Request) => headers['x-owner'] ?? 'ann' },
  can: { create: false },
  fields: { stars: { update: ({ headers }: Request) => headers['x-staff'] !== undefined } },
} as object)
@Table({ tableName: 'reports', version: true, createdAt: true, updatedAt: false })
class Report extends NumberedRow {
  @Column({ type: DataType.STRING(10), allowNull: false }) declare title: string;
  @Column({ type: DataType.TEXT, defaultValue: 'none' }) declare note: string | null;
  @Column(DataType.INTEGER) declare stars: number | null;
  @Column(DataType.TEXT) declare owner: string;
}

@Crud({ endpoints: ['read', 'create', 'replace'] })
@Table({ tableName: 'tokens', timestamps: false })
class Token extends NumberedRow {
  @Column({ type: DataType.UUID, primaryKey: true, defaultValue: DataType.UUIDV4 }) declare id: never;
  @Column(DataType.TEXT) declare text: string | null;
}

describe('a PUT of a record whose key the server makes', () => {
  const site = serveTestApp(() => ({
    models: [Report, Token],
    bootstrap: { logger: new CapturedLog(), idempotency: { principal: () => 'ann' } },
  }));

  beforeEach(async () => {
    await emptyTables(site, 'reports', 'tokens', 'crud_idempotency');
    await Report.bulkCreate([
      { title: 'a', note: 'x', stars: 3, owner: 'ann' },
      { title: 'b', owner: 'bob' },
    ] as never[]);
  });

  const put = (id: number | string, body: object, headers = {}) =>
    site.agent.put(`/reports/${id}`).set(headers).send(body);
  const missing = { detail: 'There is no Report with this id.' };

  it('sets what the request may set, to its default where it is left out, and keeps the rest', async () => {
    const before = (await site.agent.get('/reports/1')).body;
    const whole = { ...before, title: 'c', note: 'none', version: 1 };
    const answer = await put(1, { title: 'c' });
    expectJson(answer, 200, whole);
    expect(answer.headers['location']).to.equal(undefined);
    // The part behind a dot is the state of the values that code of the user's has shaped.
    expect(answer.headers['etag']).to.match(/^"1(\.[\w-]+)?"$/);
    expectJson(await put(1, { title: 'd', note: null }, { 'X-Staff': '1' }), 200, {
      ...whole,
      title: 'd',
      note: null,
      stars: null,
      version: 2,
    });
  });

  it('[M17] creates nothing, whoever is missing', async () => {
    for (const [id, headers] of [
      [9, {}],
      [2, {}],
      [1, { 'X-Owner': 'bob' }],
      [9_000_000_000, {}],
    ] as const)
      expectProblem(await put(id, { title: 'c' }, headers), 404, missing);
    expect((await put('x', { title: 'c' })).status).to.equal(400);
    const detail =
      'Only a Report that is there can be changed, and nothing was done; leave If-None-Match out.';
    expectProblem(await put(9, { title: 'c' }, { 'If-None-Match': '*' }), 412, { detail });
    expect(await Report.count()).to.equal(2);
  });

  it('needs what a new record needs, and refuses what the server sets', async () => {
    expectIssue(await put(1, {}), 422, {
      pointer: '/title',
      code: 'isDefined',
      detail: 'title is required.',
    });
    for (const name of ['id', 'version', 'createdAt', 'owner', 'stars'])
      expectIssue(await put(1, { title: 'c', [name]: 1 }), 422, {
        pointer: `/${name}`,
        code: 'readOnly',
        detail: `${name} cannot be set.`,
      });
  });

  it('is a change: under a condition, under a key, and with the hooks and methods of one', async () => {
    expect((await put(1, { title: 'c' }, { 'If-Match': '"7"' })).status).to.equal(412);
    const first = await put(1, { title: 'c' }, { 'If-Match': '"0"', 'Idempotency-Key': 'a' });
    const again = await put(1, { title: 'c' }, { 'If-Match': '"0"', 'Idempotency-Key': 'a' });
    expect([again.status, again.text, first.status]).to.deep.equal([200, first.text, 200]);
    const seen: string[] = [];
    await withHook(
      Report,
      'beforeUpdate',
      (report: Report) => seen.push(report.title),
      () => put(1, { title: 'd' }),
    );
    expect(seen).to.deep.equal(['d']);
    class Reports extends crudController(Report) {
      override update(id: never, values: { title: string }, context: never) {
        return super.update(id, { ...values, title: `${values.title}!` } as never, context);
      }
    }
    class Replacing extends crudController(Report) {
      override replace(id: never, values: { title: string }, context: never) {
        return super.replace(id, { ...values, title: `${values.title}?` } as never, context);
      }
    }
    for (const [controller, title] of [
      [Reports, 'e!'],
      [Replacing, 'e?'],
    ] as const) {
      const { agent } = await buildApp({ models: [Report], controllers: [controller] });
      const { body } = await agent.put('/reports/1').send({ title: 'e' });
      expect([body.title, body.note]).to.deep.equal([title, 'none']);
      expectProblem(await agent.put('/reports/9').send({ title: 'e' }), 404, missing);
    }
  });

  it('is there for keys that a model makes, too', async () => {
    const { body } = await site.agent.post('/tokens').send({ text: 'a' });
    expectJson(await site.agent.put(`/tokens/${body.id}`).send({}), 200, { id: body.id, text: null });
    const other = '00000000-0000-4000-8000-000000000000';
    expectProblem(await site.agent.put(`/tokens/${other}`).send({}), 404, {
      detail: 'There is no Token with this id.',
    });
  });

  it('is described', async () => {
    const { paths, components } = (await site.agent.get('/openapi.json')).body;
    const { operationId, parameters, responses, requestBody } = paths['/reports/{id}'].put;
    expect([operationId, parameters.map(({ name }: { name: string }) => name)]).to.deep.equal([
      'replaceReport',
      ['id', 'If-Match', 'Idempotency-Key', 'Prefer'],
    ]);
    expect(Object.keys(responses)).to.include.members(['200', '404', '412', '422']).and.not.include('201');
    const name: string = requestBody.content['application/json'].schema.$ref.split('/').at(-1);
    expect([
      Object.keys(components.schemas[name].properties),
      components.schemas[name].required,
    ]).to.deep.equal([['title', 'note', 'stars'], ['title']]);
  });
});
