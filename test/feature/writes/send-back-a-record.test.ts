/** `sentBack`: a PATCH or PUT of a record as a GET gave it, with all that no body may set. */
import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import type { Request } from 'express';
import { type Action, Interceptor, type InterceptorInterface } from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, UNGUARDED } from '../../support/combination.js';
import { configError } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

class Shown {
  @Expose() id = 0;
  @Expose({ name: 'title' }) name = '';
  @Expose() get greeting(): string {
    return 'Hello';
  }
}

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'replace', 'updateMany'],
  sentBack: 'ignore-unchanged',
  include: { parent: UNGUARDED },
  scope: { owner: ({ headers }: Request) => headers['x-owner'] ?? 'ann' },
  fields: { score: { update: false, read: ({ headers }: Request) => headers['x-score'] !== 'no' } },
} as object)
@Table({ tableName: 'pages', version: true })
class Page extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare title: string;
  @Column(DataType.JSONB) declare data: unknown;
  @Column(DataType.DECIMAL(6, 2)) declare score: string | null;
  @Column(DataType.TEXT) declare owner: string;
  @Exclude() @Column(DataType.TEXT) declare secret: string | null;
  @ForeignKey(() => Page) @Column(DataType.INTEGER) declare parentId: number | null;
  @BelongsTo(() => Page, { foreignKey: 'parentId', constraints: false }) declare parent?: unknown;
}

@Crud({ sentBack: 'ignore-unchanged', readSchema: Shown })
@Table({ tableName: 'labels', timestamps: false })
class Label extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
}

@Crud({ include: { label: UNGUARDED } } as object)
@Table({ tableName: 'stickers', timestamps: false })
class Sticker extends NumberedRow {
  @ForeignKey(() => Label) @Column(DataType.INTEGER) declare labelId: number;
  @BelongsTo(() => Label, { constraints: false }) declare label?: unknown;
}

const readOnly = (...names: string[]) => {
  const errors = names.map((name) => ({
    pointer: `/${name}`,
    code: 'readOnly',
    detail: `${name} cannot be set.`,
  }));
  return errors.length === 1
    ? { detail: errors[0]?.detail, errors }
    : { detail: `The body has ${errors.length} problems.`, errors };
};

const REASON = 'code of the user’s that takes part in answers switches the option off';

except({ values: REASON, session: REASON, records: REASON }).describe('a record that is sent back', () => {
  const site = serveTestApp(() => ({
    models: [Page, Label, Sticker],
    bootstrap: { logger: new CapturedLog(), idempotency: { principal: () => 'ann' } },
  }));

  beforeEach(async () => {
    await emptyTables(site, 'pages', 'labels', 'stickers', 'crud_idempotency');
    const page = { data: { a: [1, null] }, score: '1.50', owner: 'ann', secret: 's' };
    await Page.bulkCreate([
      { ...page, title: 'a' },
      { ...page, title: 'b', parentId: 1 },
    ] as never[]);
  });

  const read = async (query = '', id = 2) => (await site.agent.get(`/pages/${id}${query}`)).body;
  const send = (verb: 'patch' | 'put', body: object, headers = {}, id = 2) =>
    site.agent[verb](`/pages/${id}`).set(headers).send(body);

  for (const verb of ['patch', 'put'] as const)
    it(`is taken by ${verb.toUpperCase()}, whole or in part, and changes what may be changed`, async () => {
      const whole = await read();
      const { body: same } = await send(verb, whole);
      expect({ ...same, updatedAt: whole.updatedAt }).to.deep.equal(whole);
      const changed = await send(verb, { ...whole, title: 'c' }, { 'If-Match': '"0"' });
      const { updatedAt } = changed.body;
      expectJson(changed, 200, { ...whole, title: 'c', version: 1, updatedAt });
      const part = await read('?fields=id,title,version,createdAt');
      expect((await send(verb, { ...part, title: 'd' })).body).to.include({ title: 'd', version: 2 });
      expect(await Page.count({ where: { secret: 's', owner: 'ann' } })).to.equal(2);
    });

  it('is refused where a value is another one, as it was before', async () => {
    const changes = { id: 3, version: 7, createdAt: '2026-01-01T00:00:00.000Z', score: '1.5', owner: 'bob' };
    for (const verb of ['patch', 'put'] as const) {
      const whole = await read();
      for (const [name, value] of Object.entries(changes))
        expectProblem(await send(verb, { ...whole, title: 'c', [name]: value }), 422, readOnly(name));
      expectProblem(await send(verb, { ...whole, id: '2', version: null }), 422, readOnly('id', 'version'));
      // A record that another client has changed.
      const { body: newer } = await send('patch', { title: `${verb}!` });
      const { status, body } = await send(verb, { ...newer, version: newer.version - 1, title: 'c' });
      expect([status, body]).to.deep.equal([422, readOnly('version')]);
    }
    expect((await read()).title).to.equal('put!');
  });

  it('shows nothing that the request may not read, and is missing where it is', async () => {
    const whole = await read();
    for (const score of ['1.50', '9.99'])
      expectProblem(await send('patch', { title: 'c', score }, { 'X-Score': 'no' }), 422, readOnly('score'));
    const unknown = await send('patch', { secret: 's' });
    expect([unknown.status, unknown.body.errors[0].code]).to.deep.equal([422, 'unknownProperty']);
    for (const [headers, id] of [
      [{ 'X-Owner': 'bob' }, 2],
      [{}, 9],
    ] as const)
      expectProblem(await send('patch', whole, headers, id), 404, {
        detail: 'There is no Page with this id.',
      });
    expectProblem(await send('patch', await read('?include=parent')), 422, {
      detail: (await send('patch', { parent: {} })).body.detail,
      errors: (await send('patch', { parent: {} })).body.errors,
    });
    const [item] = (await site.agent.patch('/pages').send([whole])).body.errors;
    expect(item.code).to.equal('readOnly');
  });

  it('is compared with the row that is written, and with no older one', async () => {
    const whole = await read();
    const answers = await Promise.all(
      [...'cdefgh'].map((title) => send('patch', { ...whole, title }, { 'Idempotency-Key': title })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([200, 422, 422, 422, 422, 422]);
    expect((await read()).version).to.equal(1);
  });

  it('has the names and values of a schema of the user’s own', async () => {
    await site.agent.post('/labels').send({ name: 'a' });
    const { body } = await site.agent.get('/labels/1');
    expectJson(await site.agent.patch('/labels/1').send({ ...body, name: 'b' }), 200, {
      ...body,
      title: 'b',
    });
    expectProblem(await site.agent.patch('/labels/1').send({ greeting: 'Bye' }), 422, readOnly('greeting'));
  });

  it('is refused as ever where code of the user’s decides what a read shows, and without the option', async () => {
    await Label.create({ name: 'a' });
    class Labels extends crudController(Label) {
      override read() {
        return Promise.resolve(null as never);
      }
    }
    class Plain extends crudController(Label, { sentBack: 'refuse' }) {}
    class Open extends crudController(Label) {}
    @Interceptor()
    class Hide implements InterceptorInterface {
      intercept(_action: Action, content: unknown) {
        return content;
      }
    }
    for (const [controller, interceptors] of [
      [Labels, []],
      [Plain, []],
      [Open, [Hide]],
    ] as const) {
      const { agent } = await buildApp({
        models: [Label],
        controllers: [controller],
        routing: { interceptors: [...interceptors] },
      });
      expectProblem(await agent.patch('/labels/1').send({ id: 1 }), 422, readOnly('id'));
    }
    const wrong = [
      [{ sentBack: true }, "sentBack is true; use 'refuse' or 'ignore-unchanged'."],
      [{ sentBack: 'ignore-unchanged', endpoints: ['read'] }, "endpoints has neither 'update' nor 'replace'"],
      [
        { sentBack: 'ignore-unchanged', endpoints: ['list', 'update'] },
        "sentBack compares a body with the answer of 'read', which endpoints lacks; add it, or leave sentBack out.",
      ],
    ] as const;
    for (const [options, problem] of wrong) {
      class Wrong extends crudController(Label, options as never) {}
      expect(await configError(() => buildApp({ models: [Label], controllers: [Wrong] }))).to.include(
        problem,
      );
    }
  });

  it('is no problem of an application that includes the records, and does not serve them', async () => {
    await Label.create({ name: 'a' });
    await Sticker.create({ labelId: 1 });
    const { agent } = await buildApp({ models: [Sticker] });
    const sticker = await agent.get('/stickers/1?include=label');
    expectJson(sticker, 200, { id: 1, labelId: 1, label: { id: 1, title: 'a', greeting: 'Hello' } });
  });
});
