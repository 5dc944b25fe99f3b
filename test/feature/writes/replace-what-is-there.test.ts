/** `PUT /{id}` where the server makes the key: it changes all of a record that is there, and creates none. */
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

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
    // Behind a dot is the state of what code of the user's has shaped.
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
