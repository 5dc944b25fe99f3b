/** Views and materialized views: a path has only the methods that PostgreSQL can execute, and no change is lost. */
// @runs fast

import { expect } from 'chai';
import express from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import supertest, { type Test } from 'supertest';
import { Crud, crudRouter, type ModelClass } from '../../../src/index.js';
import { ENDPOINTS_FOR_GOOD } from '../../models/endpoints.js';
import { KeyedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTables } from '../../support/serve-tables.js';

const TABLES = `
  CREATE TABLE here (id int PRIMARY KEY, name text NOT NULL, version int);
  CREATE TABLE there (id int PRIMARY KEY, name text NOT NULL);
  CREATE VIEW unions AS SELECT id, name FROM here UNION ALL SELECT * FROM there;
  CREATE VIEW somes AS SELECT * FROM here WHERE name <> 'hidden';
  CREATE MATERIALIZED VIEW copies AS SELECT * FROM unions;
  CREATE UNIQUE INDEX ON copies (id);
  CREATE VIEW joins AS SELECT * FROM unions;
  CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    IF TG_OP = 'DELETE' THEN DELETE FROM here WHERE id = OLD.id; RETURN OLD; END IF;
    INSERT INTO here VALUES (NEW.id, NEW.name); RETURN NEW;
  END $f$;
  CREATE TRIGGER moving INSTEAD OF INSERT OR DELETE ON joins FOR EACH ROW EXECUTE FUNCTION move();
  CREATE TABLE price_rows (id int PRIMARY KEY, name text NOT NULL, price numeric(10, 2));
  CREATE FUNCTION fold() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.name := lower(NEW.name); RETURN NEW; END $f$;
  CREATE TRIGGER folding BEFORE UPDATE ON price_rows FOR EACH ROW EXECUTE FUNCTION fold();
  CREATE VIEW prices AS SELECT * FROM price_rows;
  CREATE TABLE lines (order_id int, no int, name text NOT NULL, PRIMARY KEY (order_id, no));
  CREATE VIEW line_keys AS SELECT order_id || '-' || no AS id, upper(name) AS title, * FROM lines`;

class Named extends KeyedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
}

@Crud({ prefix: '/unions', endpoints: ENDPOINTS_FOR_GOOD, filterAllow: ['name'] })
@Table({ tableName: 'unions', timestamps: false })
class Union extends Named {}

@Crud({ prefix: '/copies', endpoints: ENDPOINTS_FOR_GOOD, filterAllow: ['name'], etag: 'xmin' })
@Table({ tableName: 'copies', timestamps: false })
class Copy extends Named {}

/** A view whose triggers insert and delete. */
@Crud({ prefix: '/joins', endpoints: ENDPOINTS_FOR_GOOD, filterAllow: ['name'] })
@Table({ tableName: 'joins', timestamps: false })
class Join extends Named {}

@Crud({ prefix: '/reports', readOnly: true })
@Table({ tableName: 'unions', timestamps: false })
class Report extends Named {}

/** The key of its rows is a text that the view makes of two columns. */
@Crud({ prefix: '/line-keys' })
@Table({ tableName: 'line_keys', timestamps: false })
class LineKey extends Named {
  @Column({ type: DataType.TEXT, primaryKey: true }) declare id: never;
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'order_id' }) declare orderId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare no: number;
  @Column(DataType.TEXT) declare title: string;
}

@Crud({ prefix: '/tagged', etag: 'xmin' })
@Table({ tableName: 'line_keys', timestamps: false })
class Tagged extends LineKey {}

/** A view that shows some of the rows that it accepts. */
@Crud({ prefix: '/some' })
@Table({ tableName: 'somes', timestamps: false, version: true })
class Some extends Named {}

/** A view of a table that rounds and folds values. */
@Crud({ prefix: '/prices', endpoints: ['update', 'updateMany'] })
@Table({ tableName: 'prices', timestamps: false })
class Price extends Named {
  @Column(DataType.DECIMAL(10, 2)) declare price: string | null;
}

const MODELS: ModelClass[] = [Union, Copy, Join, Report, LineKey, Some, Price];

except(OF_MANY).describe('a view', () => {
  const { apps, query } = serveTables(TABLES, MODELS, { others: [Tagged] });
  const rows = () => query('SELECT * FROM unions UNION ALL SELECT order_id, name FROM lines ORDER BY 1, 2');

  beforeEach(() =>
    query(`TRUNCATE here, there, lines; INSERT INTO here VALUES (1, 'one'); INSERT INTO there VALUES (2, 'two');
      INSERT INTO lines VALUES (1, 1, 'bolt'), (1, 2, 'nut'); REFRESH MATERIALIZED VIEW copies`),
  );

  const writes = (agent: BuiltApp['agent'], path: string): Readonly<Record<string, Test>> => ({
    create: agent.post(path).send({ id: 3, name: 'x' }),
    update: agent.patch(`${path}/1`).send({ name: 'x' }),
    delete: agent.delete(`${path}/1`),
    replace: agent.put(`${path}/1`).send({ name: 'x' }),
    createMany: agent.post(path).send([{ id: 3, name: 'x' }]),
    updateMany: agent.patch(path).send([{ id: 1, name: 'x' }]),
    deleteMany: agent.delete(`${path}?q=name==one`),
  });

  for (const path of ['/unions', '/copies']) {
    it(`of ${path} has the methods that read alone`, async () => {
      const before = await rows();
      for (const { agent } of apps) {
        const items = [
          { id: 1, name: 'one' },
          { id: 2, name: 'two' },
        ];
        expect((await agent.get(path)).body).to.deep.include({ items, total: 2 });
        expectJson(await agent.get(`${path}/2`), 200, items[1]);
        for (const [endpoint, request] of Object.entries(writes(agent, path))) {
          const { method } = request;
          const answer = await request;
          const detail = `This path does not have the method ${method}; it has GET, HEAD, OPTIONS.`;
          expectProblem(answer, 405, { detail });
          expect(answer.headers, endpoint).to.include({ allow: 'GET, HEAD, OPTIONS' });
        }
        for (const each of [path, `${path}/1`])
          expect((await agent.options(each)).headers).to.include({ allow: 'GET, HEAD, OPTIONS' });
        // No record has a word as its id, so that the path has no method at all.
        const many = await agent.post(`${path}/many`).send([]);
        expect([many.status, many.headers['allow']]).to.deep.equal([405, 'OPTIONS']);
        // Before the rules of the body: there is no such method, whatever is sent.
        expect((await agent.post(path).send('{')).status).to.equal(405);
      }
      expect(await rows()).to.deep.equal(before);
    });
  }

  it('has the methods that its triggers serve', async () => {
    for (const { agent } of apps) {
      expectJson(await agent.post('/joins').send({ id: 3, name: 'new' }), 201, { id: 3, name: 'new' });
      expectJson(await agent.get('/joins/3'), 200, { id: 3, name: 'new' });
      expectNothing(await agent.delete('/joins/3'), 204);
      expectJson(await agent.post('/joins').send([{ id: 4, name: 'new' }]), 201, {
        items: [{ id: 4, name: 'new' }],
      });
      expectJson(await agent.delete('/joins?q=name==new'), 200, { affected: 1 });
      for (const request of [
        agent.patch('/joins/1').send({ name: 'x' }),
        agent.put('/joins/1').send({ name: 'x' }),
      ]) {
        const answer = await request;
        expect(answer.status).to.equal(405);
        expect(answer.headers).to.include({ allow: 'GET, HEAD, DELETE, OPTIONS' });
      }
      expect((await agent.patch('/joins').send([{ id: 1, name: 'x' }])).headers).to.include({
        allow: 'GET, HEAD, POST, DELETE, OPTIONS',
      });
    }
  });

  it('that only reads has no other routes', async () => {
    for (const { agent } of apps) {
      expectJson(await agent.get('/reports/2'), 200, { id: 2, name: 'two' });
      for (const each of ['/reports', '/reports/1'])
        expect((await agent.options(each)).headers).to.include({ allow: 'GET, HEAD, OPTIONS' });
      const answer = await agent.patch('/reports/1').send({ name: 'x' });
      expectProblem(answer, 405, {
        detail: 'This path does not have the method PATCH; it has GET, HEAD, OPTIONS.',
      });
    }
  });

  it('has them in a router of its own, too', async () => {
    const app = express().use(
      '/router',
      crudRouter(Union, { endpoints: ['list', 'read', 'create', 'update'] }),
    );
    const agent = supertest(app);
    const post = await agent.post('/router').send({ id: 3, name: 'x' });
    expect([post.status, post.headers['allow']]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    for (const path of ['/router', '/router/1'])
      expect((await agent.options(path)).headers).to.include({ allow: 'GET, HEAD, OPTIONS' });
    const keys = express().use('/keys', crudRouter(LineKey));
    const { headers } = await supertest(keys).options('/keys');
    expect(headers['allow']).to.equal('GET, HEAD, POST, OPTIONS');
  });

  it('takes a row that it does not show', async () => {
    for (const { agent } of apps) {
      const row = { id: 9, name: 'hidden', version: 0 };
      expectJson(await agent.post('/some').send({ id: 9, name: 'hidden' }), 201, row);
      expect((await agent.get('/some/9')).status).to.equal(404);
      await agent.post('/some').send({ id: 8, name: 'shown' });
      const detail = 'The database did not store the record, and nothing was done.';
      expectProblem(await agent.patch('/some/8').send({ name: 'hidden' }), 409, { detail });
      expectJson(await agent.get('/some/8'), 200, { id: 8, name: 'shown', version: 0 });
      await query('TRUNCATE here');
    }
  });

  it('takes a change after which its row is as before', async () => {
    for (const { agent } of apps) {
      await query("TRUNCATE price_rows; INSERT INTO price_rows VALUES (1, 'ann', 3.5), (2, 'ben', 1)");
      const row = { id: 1, name: 'ann', price: '3.50' };
      expectJson(await agent.patch('/prices/1').send({ price: '3.5' }), 200, row);
      expectJson(await agent.patch('/prices/1').send({ name: 'ANN' }), 200, row);
      const changes = [
        { id: 1, price: '3.5' },
        { id: 2, price: '9' },
      ];
      const { status, body } = await agent.patch('/prices').send(changes);
      expect([status, body.items]).to.deep.equal([200, [row, { id: 2, name: 'ben', price: '9.00' }]]);
    }
  });

  it('is described with the methods that it has', () => {
    for (const { crud } of apps) {
      const { paths } = crud.openapi();
      const methods = Object.entries(paths).map(([path, item]) => [path, Object.keys(item)] as const);
      expect(Object.fromEntries(methods)).to.deep.include({
        '/unions': ['get'],
        '/unions/{id}': ['get'],
        '/copies': ['get'],
        '/copies/{id}': ['get'],
        '/reports': ['get'],
        '/reports/{id}': ['get'],
        '/joins': ['get', 'post', 'delete'],
        '/joins/{id}': ['get', 'delete'],
        '/line-keys/{id}': ['get', 'patch', 'delete'],
      });
    }
  });

  it('is named once at the start, with the mend', async () => {
    const logger = new CapturedLog();
    const { agent } = await buildApp({ models: MODELS, logger, indexAdvice: false });
    await agent.get('/unions');
    const head = (kind: string, refused: string) =>
      `the ${kind} takes no ${refused}, so that PostgreSQL would refuse each, and it is answered 405; write`;
    const all = 'create, update, delete, replace, createMany, updateMany, deleteMany';
    const warnings = logger.lines
      .filter(({ level }) => level === 'warn')
      .map(({ message }) => message)
      .filter((each) => each.includes('405'));
    const elsewhere = 'in its @Crud, or write elsewhere by INSTEAD OF triggers or routes of your own.';
    expect(warnings).to.deep.equal([
      `Union: ${head('view "unions"', all)} readOnly: true ${elsewhere}`,
      `Copy: ${head('materialized view "copies"', all)} readOnly: true in its @Crud, or write elsewhere by routes of your own.`,
      `Join: ${head('view "joins"', 'update, replace, updateMany')} endpoints: ['list', 'read', 'create', 'delete', 'createMany', ` +
        `'deleteMany'] ${elsewhere}`,
    ]);
  });

  it('undoes a change after which the row has another id', async () => {
    const detail = 'The database did not store the record, and nothing was done.';
    for (const { agent } of apps) {
      const before = await rows();
      expectProblem(await agent.patch('/line-keys/1-1').send({ no: 3 }), 409, { detail });
      expect(await rows()).to.deep.equal(before);
      expect((await agent.get('/line-keys/1-3')).status).to.equal(404);
      expectJson(await agent.patch('/line-keys/1-1').send({ name: 'screw' }), 200, {
        id: '1-1',
        name: 'screw',
        orderId: 1,
        no: 1,
        title: 'SCREW',
      });
      expect((await agent.patch('/line-keys/9-9').send({ no: 3 })).status).to.equal(404);
    }
  });

  it('computes what no body may set', async () => {
    for (const [index, { agent }] of apps.entries()) {
      const no = 5 + index;
      const created = await agent.post('/line-keys').send({ name: 'pin', orderId: 1, no });
      expectJson(created, 201, { id: `1-${no}`, name: 'pin', orderId: 1, no, title: 'PIN' });
      expect(created.headers['location']).to.equal(`/line-keys/1-${no}`);
      for (const name of ['id', 'title']) {
        const { status, body } = await agent
          .post('/line-keys')
          .send({ name: 'x', orderId: 9, no, [name]: '1-1' });
        expect([status, body.errors]).to.deep.equal([
          422,
          [{ pointer: `/${name}`, code: 'readOnly', detail: `${name} cannot be set.` }],
        ]);
      }
    }
  });

  it('has no tags of its own', async () => {
    const failure = await caughtError(() => buildApp({ models: [Tagged], logger: new CapturedLog() }));
    expect(failure).to.have.deep.property('problems', [
      `Tagged: etag is 'xmin', and the view "line_keys" has no such column of its own; give the model a version, or leave etag out.`,
    ]);
  });
});
