/** Rules that see the record: 403 for a row that is seen and may not be changed, in every form of a write and by each executor. */
// @runs fast
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  Crud,
  type CrudController,
  crudController,
  EVERYTHING,
  filter,
  type ModelClass,
} from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { passingController } from '../../support/passing-controllers.js';
import { wholeOr } from '../../support/short.js';
import { ask as send, TwoPaths, type WholeRequest } from '../../support/two-paths.js';
import { untilLocked } from '../../support/until-locked.js';

/** The administrator changes all records, and a request without a user none. */
const owned = (request: Request) =>
  request.get('user') === 'admin' ? EVERYTHING : filter`owner==${request.get('user')}`;

@Crud({
  endpoints: [
    ...(['list', 'read', 'create', 'update', 'delete', 'restore', 'purge', 'replace'] as const),
    ...(['updateMany', 'deleteMany'] as const),
  ],
  filterAllow: ['id', 'text'],
  visible: () => filter`isHidden==false`,
  can: {
    update: owned,
    delete: owned,
    deleted: true,
  },
})
@Table({ tableName: 'papers', paranoid: true, createdAt: false, updatedAt: false, version: true })
class Paper extends KeyedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare owner: string;
  @Column({ type: DataType.TEXT, allowNull: false, defaultValue: 'old' }) declare text: string;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare isHidden: boolean;
}

/** Rows by the result of a request of Ann: hers, one that she sees, and one that she does not; the same deleted. */
const ROWS = [
  { id: 1, owner: 'ann' },
  { id: 2, owner: 'bob' },
  { id: 3, owner: 'ann', isHidden: true },
  { id: 4, owner: 'ann', deletedAt: new Date(0) },
  { id: 5, owner: 'bob', deletedAt: new Date(0) },
  { id: 6, owner: 'ann', isHidden: true, deletedAt: new Date(0) },
];
const MISSING = 9;

type Statuses = readonly [own: number, seen: number, hidden: number, missing: number];
const USUAL: Statuses = [200, 403, 404, 404];
const GONE: Statuses = [204, 403, 404, 404];
const change = { text: 'new' };
const replaced = { owner: 'ann', text: 'new' };
const NOW = { 'If-Match': '"0"' };
const OLD = { 'If-Match': '"7"' };
const one = (id: number) => `/papers/${id}`;
const found = (id: number) => `/papers?q=id==${id}`;
const many = () => '/papers';
const deleted = (id: number) => (id === MISSING ? one(id) : one(id + 3));

/** A request, and the status of its answer in each case. */
type Form = readonly [
  method: string,
  path: (id: number) => string,
  statuses: Statuses,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
];

/** Each form of a write, by the row that it is about. */
const FORMS: Readonly<Record<string, Form>> = {
  PATCH: ['PATCH', one, USUAL, change],
  'PATCH that gives the row away': ['PATCH', one, USUAL, { owner: 'bob' }],
  'PATCH without a change': ['PATCH', one, USUAL, {}],
  'PATCH with If-Match': ['PATCH', one, USUAL, change, NOW],
  'PATCH with an old If-Match': ['PATCH', one, [412, 403, 404, 404], change, OLD],
  DELETE: ['DELETE', one, GONE],
  'DELETE with If-Match': ['DELETE', one, GONE, undefined, NOW],
  'DELETE with an old If-Match': ['DELETE', one, [412, 403, 404, 404], undefined, OLD],
  // Any create with a key shows that the key is taken, so 409 reveals nothing new.
  PUT: ['PUT', one, [200, 403, 409, 201], replaced],
  'PUT with If-Match': ['PUT', one, [200, 403, 412, 412], replaced, { 'If-Match': '*' }],
  'PUT with If-None-Match': ['PUT', one, [412, 403, 409, 201], replaced, { 'If-None-Match': '*' }],
  restore: ['POST', (id) => `${deleted(id)}/restore`, USUAL],
  'restore of what is not deleted': ['POST', (id) => `${one(id)}/restore`, [409, 403, 404, 404]],
  purge: ['DELETE', (id) => `${deleted(id)}/purge`, GONE],
  'purge of what is not deleted': ['DELETE', (id) => `${one(id)}/purge`, [409, 403, 404, 404]],
  'PATCH of an array': ['PATCH', many, USUAL, (id: number) => [{ id, ...change }]],
  'PATCH of an array with others': [
    'PATCH',
    many,
    USUAL,
    (id: number) => [...new Set([1, id])].map((each) => ({ id: each, ...change })),
  ],
  'PATCH by q': ['PATCH', found, [200, 403, 200, 200], change],
  'PATCH by q with others': ['PATCH', (id) => `/papers?q=id=in=(1,${id})`, [200, 403, 200, 200], change],
  'PATCH by q, and undone': ['PATCH', (id) => `${found(id)}&dry_run=true`, [200, 403, 200, 200], change],
  'DELETE by q': ['DELETE', found, [200, 403, 200, 200]],
};

function toRequest([method, path, , body, headers = {}]: Form, id: number): WholeRequest {
  return { method, path: path(id), body: typeof body === 'function' ? body(id) : body, headers };
}

const Passing = passingController(crudController(Paper)) as unknown as new () => CrudController;

/** Code of the user's that writes records by their own methods, and past the id of the path. */
class Writing extends crudController(Paper) {
  override async update(...[id, values, { repository }]: Parameters<CrudController<Paper>['update']>) {
    const record = await repository.get(id);
    return record.update(values);
  }
  override async remove(...[id, { repository }]: Parameters<CrudController<Paper>['remove']>) {
    await (await repository.get(id)).destroy();
  }
}

const APPLICATIONS: Readonly<Record<string, BootstrapOptions>> = {
  'generated routes': {},
  'overrides that call super': { controllers: [Passing] },
  'overrides that write records': { controllers: [Writing] },
  // Each request has another principal, so that none is a repetition.
  'an Idempotency-Key': { idempotency: { principal: () => randomUUID(), required: true } },
};

const SHORT = ['generated routes', 'overrides that write records'];

for (const kind of wholeOr(SHORT, Object.keys(APPLICATIONS))) {
  const options = APPLICATIONS[kind] ?? {};
  except(OF_MANY).describe(`a rule that sees the record, with ${kind}`, function () {
    this.timeout(60_000);
    const log = new CapturedLog();
    const paths = forSuite(() =>
      TwoPaths.start({ models: [Paper] as ModelClass[], minPool: 2, bootstrap: { logger: log, ...options } }),
    );

    async function reset(): Promise<void> {
      await Paper.destroy({ where: {}, force: true });
      await Paper.bulkCreate(ROWS as never[]);
    }
    const rows = async () =>
      JSON.stringify(await Paper.findAll({ paranoid: false, order: ['id'], raw: true }));
    const key = options.idempotency ? { 'Idempotency-Key': '"1"' } : {};
    const ask = (request: WholeRequest) =>
      paths.same({ ...request, headers: { user: 'ann', ...key, ...request.headers } }, reset);

    beforeEach(reset);

    for (const [name, form] of Object.entries(FORMS)) {
      it(`answers ${name}`, async () => {
        const before = await rows();
        for (const [index, id] of [1, 2, 3, MISSING].entries()) {
          const { status, body } = await ask(toRequest(form, id));
          expect(status, `${id}: ${body}`).to.equal(form[2][index]);
          if (status < 300) continue;
          if (status === 403)
            expect(body).to.match(/This request may not (update|delete|replace|restore|purge) this Paper\./);
          expect(await rows()).to.equal(before);
        }
      });
    }

    it('tells nothing of a deleted row', async () => {
      for (const request of [
        { method: 'PATCH', path: '/papers/5', body: change },
        { method: 'DELETE', path: '/papers/5' },
      ])
        expect((await ask(request)).status).to.equal(404);
    });

    it('allows all rows, or refuses before the body is read', async () => {
      const path = '/papers/2';
      const all = await ask({ method: 'PATCH', path, body: change, headers: { user: 'admin' } });
      expect(all.status).to.equal(200);
      const none = await send(paths.fast, { method: 'PATCH', path, body: 'no object' });
      const detail = '{"detail":"This request has no access to Paper."}';
      expect([none.status, none.body]).to.deep.equal([403, detail]);
    });

    it('refuses a row that is given away while the write waits for it', async () => {
      const { sequelize } = paths.site.engine;
      for (const form of ['PATCH', 'DELETE', 'PUT', 'PATCH of an array', 'PATCH by q', 'DELETE by q']) {
        for (const site of [paths.fast, paths.general]) {
          const transaction = await sequelize.transaction();
          await Paper.update({ owner: 'bob' }, { where: { id: 1 }, transaction, hooks: false });
          const request = toRequest(FORMS[form] as Form, 1);
          const answer = send(site, { ...request, headers: { user: 'ann', ...key } });
          await untilLocked(sequelize);
          await transaction.commit();
          expect((await answer).status, form).to.equal(403);
          const [row] = await Paper.findAll({ where: { id: 1 }, raw: true });
          expect([row?.owner, row?.text]).to.deep.equal(['bob', 'old']);
          await reset();
        }
      }
    });

    it('names each of many that is refused', async () => {
      const body = [1, 2, 3].map((id) => ({ id, ...change }));
      const answer = await ask({ method: 'PATCH', path: '/papers?atomic=false', body });
      const refused = (pointer: string, code: string, detail: string) => ({
        detail,
        errors: [{ pointer, code, detail }],
      });
      const { items } = JSON.parse(answer.body);
      expect(items.slice(1)).to.deep.equal([
        { status: 403, problem: refused('/1', 'forbidden', 'This request may not update this Paper.') },
        { status: 404, problem: refused('/2', 'notFound', 'There is no Paper with this id.') },
      ]);
      expect([answer.status, items[0].status, items[0].item.text]).to.deep.equal([207, 200, 'new']);
    });
  });
}
