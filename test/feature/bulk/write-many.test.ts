/** Many records in one request: `POST /` with an array, `PATCH /` and `DELETE /`. All happens, or nothing. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import type { NextFunction, Request, Response } from 'express';
import { type Action, Authorized, HttpCode, Req, UseBefore, UseInterceptor } from 'routing-controllers';
import { Column, DataType, ForeignKey, Model, PrimaryKey, Sequelize, Table } from 'sequelize-typescript';
import type { Response as Answer } from 'supertest';
import {
  type BootstrapOptions,
  type Class,
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  type Id,
  NotFoundError,
  type UpdateValues,
  unitOfWork,
} from '../../../src/index.js';
import { callbacksUnderWay } from '../../../src/postgres/session/commit-callbacks.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { except, OF_MANY } from '../../support/combination.js';
import { configError } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { onEnd } from '../../support/on-end.js';
import { passingController } from '../../support/passing-controllers.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'createMany', 'updateMany', 'deleteMany'],
  bulk: { max: 5 },
  filterAllow: ['title', 'rank', 'code'],
  scope: { tenant: (request) => Number(request.get('x-tenant') ?? 1) },
  can: { list: (request) => request.get('x-blind') === undefined },
  fields: { rank: { write: (request) => request.get('x-guest') === undefined } },
})
@Table({ tableName: 'papers', version: true, timestamps: false })
class Paper extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column({ type: DataType.STRING(10), allowNull: false }) declare title: string;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare rank: number;
  @Column({ type: DataType.STRING(10), unique: true }) declare code: string | null;

  @ForeignKey(() => Paper)
  @Column({ type: DataType.INTEGER, references: { model: 'papers', key: 'id' }, onDelete: 'CASCADE' })
  declare parentId: number | null;
}

@Crud({ endpoints: ['createMany'] })
@Table({ tableName: 'labels', timestamps: false })
class Label extends Model {
  @PrimaryKey @Column(DataType.STRING(5)) declare name: string;
}

/** Blanks at the end of a key mean nothing. */
@Crud({ endpoints: ['updateMany'] })
@Table({ tableName: 'padded_labels', timestamps: false })
class PaddedLabel extends Model {
  @PrimaryKey @Column(DataType.CHAR(3)) declare name: string;
  @Column(DataType.INTEGER) declare size: number | null;
}

@Table({ tableName: 'plain_labels', timestamps: false })
class PlainLabel extends Model {}

const wire = (id: number, title: string, more: object = {}) => ({
  ...{ id, tenant: 1, title, rank: 0, code: null, parentId: null, version: 0 },
  ...more,
});

const TAKEN = 'Another Paper has the same code.';
const REPEATED = 'is that of the item 0, too; a record may stand in a body once.';
const repeatedAs = (key: string, item: number) => ({
  detail: 'The body has 2 problems.',
  errors: [
    [0, item],
    [item, 0],
  ].map(([at, other]) => ({
    pointer: `/${at}/${key}`,
    code: 'repeated',
    detail: `${key} is that of the item ${other}, too; a record may stand in a body once.`,
  })),
});
const REFUSING = { authorizationChecker: () => false };

const issue = (pointer: string, code: string, detail: string) => ({
  detail,
  errors: [{ pointer, code, detail }],
});

except(OF_MANY).describe('many records in one request', () => {
  const site = serveTestApp(() => ({
    models: [Paper, Label, PaddedLabel, PlainLabel],
    bootstrap: { models: [Paper, Label, PaddedLabel] },
    minPool: 2,
  }));

  const rows = async () =>
    (await Paper.findAll({ order: ['id'] })).map(({ id, title, version }) => [id, title, version]);
  const post = (query: string, body: unknown) => site.agent.post(`/papers${query}`).send(body as object);
  const patch = (query: string, body: unknown) => site.agent.patch(`/papers${query}`).send(body as object);
  const remove = (query: string) => site.agent.delete(`/papers${query}`);

  beforeEach(async () => {
    await emptyTables(site, 'papers', 'labels');
    await Paper.bulkCreate([
      { tenant: 1, title: 'one', code: 'a' },
      { tenant: 1, title: 'two' },
      { tenant: 2, title: 'foreign' },
      { tenant: 1, title: 'four' },
    ]);
  });

  /** Expects a body to be refused for these, by their pointers and codes. */
  const expectErrors = ({ status, body }: Answer, ...expected: readonly string[]) => {
    expect(status).to.equal(422);
    const found = body.errors.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`);
    expect(found).to.deep.equal(expected);
  };
  const statusesOf = ({ body }: Answer) => body.items.map(({ status }: { status: number }) => status);
  /** An application whose papers have other options, or another controller. */
  const serve = (controller: unknown, options: BootstrapOptions = {}) =>
    buildApp({ models: [], controllers: [controller as Class], ...options });

  const BEFORE = [
    [1, 'one', 0],
    [2, 'two', 0],
    [3, 'foreign', 0],
    [4, 'four', 0],
  ];

  describe('that are new', () => {
    it('[M12] are created in the order asked', async () => {
      expectJson(await post('', [{ title: 'x', rank: 3 }, { title: 'y' }, { title: 'z', code: 'q' }]), 201, {
        items: [wire(5, 'x', { rank: 3 }), wire(6, 'y'), wire(7, 'z', { code: 'q' })],
      });
      expect(await rows()).to.have.length(7);
    });

    it('are created one at a time as before', async () => {
      const one = await post('', { title: 'x' });
      expectJson(one, 201, wire(5, 'x'));
      expect(one.headers['location']).to.equal('/papers/5');
      expect(one.headers['etag']).to.match(/^"0[".]/);
    });

    it('[M20] are no dry run of one, even where unknown parameters are ignored', async () => {
      const endpoints = ['create', 'createMany'] as const;
      const { agent } = await serve(crudController(Paper, { unknownQuery: 'ignore', endpoints }));
      const refused = await agent.post('/papers?dry_run=true').send({ title: 'x' });
      expect([refused.status, refused.body.errors[0].parameter]).to.deep.equal([400, 'dry_run']);
      expect(await rows()).to.deep.equal(BEFORE);
    });

    it('[M22] are refused with all that is wrong with any of them', async () => {
      expectErrors(
        await post('', [{ title: 'x' }, { title: 5 }, 'text', { titel: 'x', tenant: 2, version: 1 }]),
        ...['/1/title isString', '/2 isObject', '/3/titel unknownProperty'],
        ...['/3/tenant readOnly', '/3/version readOnly', '/3/title isDefined'],
      );
      expect(await rows()).to.deep.equal(BEFORE);
    });

    it('[E18 M1 M9 M24] are refused together where the database refuses one', async () => {
      const taken = await post('', [{ title: 'x' }, { title: 'y', code: 'a' }]);
      expectProblem(taken, 409, issue('/1/code', 'unique', TAKEN));
      const twice = await post('', [{ title: 'x', code: 'k' }, { title: 'y' }, { title: 'z', code: 'k' }]);
      expectProblem(twice, 409, issue('/2/code', 'unique', TAKEN));
      expect(await rows()).to.deep.equal(BEFORE);
    });

    it('[M9 M23] have keys of their own, each once', async () => {
      const label = (body: unknown) => site.agent.post('/labels').send(body as object);
      const twice = await label([{ name: 'a' }, { name: 'b' }, { name: 'a' }]);
      expectProblem(twice, 422, repeatedAs('name', 2));
      expectJson(await label([{ name: 'b' }, { name: 'a' }]), 201, { items: [{ name: 'b' }, { name: 'a' }] });
      expectProblem(await label({ name: 'c' }), 422, issue('', 'isArray', 'The body must be a JSON array.'));
      expect(await Label.count()).to.equal(2);
    });

    it('[E18 M21] are as many as the resource allows, and one at least', async () => {
      const many = Array.from({ length: 6 }, () => ({ title: 'x' }));
      const tooMany = 'The body has 6 items; at most 5 are accepted.';
      expectProblem(await post('', many), 413, issue('', 'tooMany', tooMany));
      const empty = 'The body is an array without items; send one at least.';
      expectProblem(await post('', []), 400, issue('', 'empty', empty));
      expect(await rows()).to.deep.equal(BEFORE);
    });

    it('[M1 M21] are a hundred at most, or as many as the resource says, up to a thousand', async () => {
      const labels = (count: number) =>
        Array.from({ length: count }, (_, index) => ({ name: `l${(index * 7) % count}` }));
      const tooMany = issue('', 'tooMany', 'The body has 101 items; at most 100 are accepted.');
      expectProblem(await site.agent.post('/labels').send(labels(101)), 413, tooMany);
      const { agent } = await serve(crudController(Label, { bulk: { max: 1000 } }));
      expectJson(await agent.post('/labels').send(labels(1000)), 201, { items: labels(1000) });
      expect(await Label.count()).to.equal(1000);
    });

    it('[M21] have the limit of a body together', async () => {
      const { agent } = await buildApp({ models: [Paper], bodyLimit: 60 });
      const send = (count: number) =>
        agent.post('/papers').send(Array(count).fill({ title: 'x'.repeat(10) }));
      expectProblem(await send(3), 413, issue('', 'tooLarge', 'The body is larger than 60 bytes.'));
      expect(await rows()).to.deep.equal(BEFORE);
      expect((await send(2)).status).to.equal(201);
    });

    it('[M24] are named where the database alone can refuse one', async () => {
      const query = (text: string) => site.engine.sequelize.query(text);
      await query(`CREATE TABLE known_labels (name varchar(5) PRIMARY KEY);
        INSERT INTO known_labels VALUES ('a'), ('large');
        ALTER TABLE labels ADD CONSTRAINT labels_known FOREIGN KEY (name) REFERENCES known_labels,
          ADD CONSTRAINT labels_short CHECK (length(name) < 5)`);
      try {
        for (const [name, status, pointer] of [
          ['b', 409, '/1'],
          ['large', 422, '/1'],
        ] as const) {
          const refused = await site.agent.post('/labels').send([{ name: 'a' }, { name }]);
          expect([refused.status, refused.body.errors?.[0].pointer]).to.deep.equal([status, pointer]);
          expect(await Label.count()).to.equal(0);
        }
      } finally {
        await query(`ALTER TABLE labels DROP CONSTRAINT labels_known, DROP CONSTRAINT labels_short;
          DROP TABLE known_labels`);
      }
    });

    it('are answered without a tag, which is that of one record', async () => {
      for (const answer of [
        await post('', [{ title: 'x' }]),
        await patch('', [{ id: 1, title: 'x' }]),
        await patch('?q=rank==0', { rank: 1 }),
        await remove('?q=rank==1&atomic=false'),
      ]) {
        expect(answer.headers).not.to.have.any.keys('etag', 'location');
      }
    });

    it('[M18] may each stand for itself', async () => {
      const answer = await post('?atomic=false', [
        { title: 'x' },
        { title: 5 },
        { title: 'y', code: 'a' },
        { title: 'z', parentId: 3 },
        { title: 'w' },
      ]);
      expect(answer.status).to.equal(207);
      const { items } = answer.body;
      expect(statusesOf(answer)).to.deep.equal([201, 422, 409, 409, 201]);
      expect(items[0]).to.deep.equal({ status: 201, item: wire(items[0].item.id, 'x') });
      expect(items[2]).to.deep.equal({ status: 409, problem: issue('/2/code', 'unique', TAKEN) });
      const pointers = [1, 3].map((at) => items[at].problem.errors[0].pointer);
      expect(pointers).to.deep.equal(['/1/title', '/3/parentId']);
      expect((await rows()).slice(4).map(([, title]) => title)).to.deep.equal(['x', 'w']);
    });

    it('take no attribute that the request may not write', async () => {
      const refused = await post('', [{ title: 'x' }, { title: 'y', rank: 1 }]).set('x-guest', '1');
      expectProblem(refused, 422, issue('/1/rank', 'readOnly', 'rank cannot be set.'));
      expect(await rows()).to.deep.equal(BEFORE);
    });
  });

  describe('that are changed by their keys', () => {
    it('[M3 M13] are answered in the order asked, each with its version', async () =>
      expectJson(
        await patch('', [
          { id: 4, title: 'IV' },
          { id: 1, rank: 9, version: 0 },
        ]),
        200,
        { items: [wire(4, 'IV', { version: 1 }), wire(1, 'one', { code: 'a', rank: 9, version: 1 })] },
      ));

    it('[M1 M5 M7 M26] are changed all or none', async () => {
      const change = { id: 1, title: 'I' };
      const missing = 'There is no Paper with this id.';
      const unversioned = issue('/1/version', 'isInt', 'version must be an integer from 0.');
      const changed = 'The Paper has been changed since; read it again, and repeat the change.';
      for (const [item, status, problem] of [
        [{ id: 9, title: 'x' }, 404, issue('/1', 'notFound', missing)],
        [{ id: 3, title: 'x' }, 404, issue('/1', 'notFound', missing)],
        [{ id: 99999999999, title: 'x' }, 404, issue('/1', 'notFound', missing)],
        [{ id: 2, version: 7, title: 'x' }, 412, issue('/1', 'changed', changed)],
        [{ id: 2, code: 'a' }, 409, issue('/1/code', 'unique', TAKEN)],
        [{ id: '2', title: 'x' }, 422, issue('/1/id', 'id', 'id must be a number.')],
        [{ id: 2.5, title: 'x' }, 422, issue('/1/id', 'id', 'id must be an integer.')],
        [{ title: 'x' }, 422, issue('/1/id', 'isDefined', 'id is required.')],
        ...['0', -1, 2 ** 31].map((version) => [{ id: 2, version }, 422, unversioned] as const),
        [{ id: 2, tenant: 2 }, 422, issue('/1/tenant', 'readOnly', 'tenant cannot be set.')],
        [{ id: 1, title: 'x' }, 422, repeatedAs('id', 1)],
      ] as const) {
        expectProblem(await patch('', [change, item]), status, problem);
        expect(await rows()).to.deep.equal(BEFORE);
      }
    });

    it('may each stand for itself', async () => {
      const answer = await patch('?atomic=false', [
        { id: 1, title: 'I' },
        { id: 9, title: 'x' },
        { id: 2, version: 3 },
        { id: 1, title: 'again' },
        { id: 4, title: 'IV', version: 0 },
      ]);
      expect(answer.status).to.equal(207);
      expect(statusesOf(answer)).to.deep.equal([200, 404, 412, 422, 200]);
      const pointers = [1, 2, 3].map((at) => answer.body.items[at].problem.errors[0].pointer);
      expect(pointers).to.deep.equal(['/1', '/2', '/3/id']);
      expect(await rows()).to.deep.equal([
        [1, 'I', 1],
        [2, 'two', 0],
        [3, 'foreign', 0],
        [4, 'IV', 1],
      ]);
    });

    it('are answered as an override gives them, without keys, too', async () => {
      class Labels extends crudController(PaddedLabel) {
        override async update(_name: string, { size }: UpdateValues<PaddedLabel>) {
          return { size } as PaddedLabel;
        }
      }
      await PaddedLabel.create({ name: 'q' });
      const { agent } = await serve(Labels);
      const changed = await agent.patch('/padded-labels').send([
        { name: 'q', size: 1 },
        { name: 'r', size: 2 },
      ]);
      expectJson(changed, 200, { items: [{ size: 1 }, { size: 2 }] });
    });

    it('[M23] are each changed once, however their keys are written', async () => {
      await PaddedLabel.bulkCreate(['0', 'a'].map((name) => ({ name, size: 0 })));
      const stored = () => PaddedLabel.findOne({ raw: true, where: { name: 'a' } });
      const repeated = issue('/1/name', 'repeated', `name ${REPEATED}`);
      const change = (query: string) =>
        site.agent.patch(`/padded-labels${query}`).send([
          { name: 'a', size: 1 },
          { name: 'a ', size: 2 },
        ]);
      expectProblem(await change(''), 422, repeatedAs('name', 1));
      const mistyped = await site.agent.patch('/padded-labels').send([{ name: 7 }]);
      expectProblem(mistyped, 422, issue('/0/name', 'id', 'name must be a text.'));
      expect(await stored()).to.have.property('size', 0);
      expectJson(await change('?atomic=false'), 207, {
        items: [
          { status: 200, item: { name: 'a', size: 1 } },
          { status: 422, problem: repeated },
        ],
      });
      expect(await stored()).to.have.property('size', 1);
    });

    it('are refused with all that is wrong with any of them', async () => {
      const changes = [{ id: 1, title: 5, rank: 'x' }, { id: 2, title: 'x' }, 7, { title: null }];
      const ofFirst = ['/0/title isString', '/0/rank isInt'];
      expectErrors(
        await patch('', changes),
        ...ofFirst,
        '/2 isObject',
        '/3/id isDefined',
        '/3/title isDefined',
      );
      expect((await patch('', [])).status).to.equal(400);
      const many = Array.from({ length: 6 }, (_, index) => ({ id: index, title: 'x' }));
      expect((await patch('', many)).status).to.equal(413);
      expect(await rows()).to.deep.equal(BEFORE);
    });

    it('take no q beside them, and no If-Match', async () => {
      expect((await patch('?max_affected=3', [{ id: 1, title: 'x' }])).status).to.equal(400);
      const refused = await patch('', [{ id: 1, title: 'x' }]).set('if-match', '"0"');
      expect(refused.status).to.equal(412);
      const needed = 'A change of many records needs q, or a body that is an array.';
      expectProblem(await patch('', { title: 'x' }), 400, {
        detail: needed,
        errors: [{ parameter: 'q', code: 'required', detail: needed }],
      });
      for (const refused of [
        await patch('', [{ id: 1, title: 'x' }]).set('if-none-match', '*'),
        await patch('?q=rank==0', { rank: 1 }).set('if-match', '"0"'),
        await remove('?q=rank==0').set('if-match', '*'),
        await post('', [{ title: 'x' }]).set('if-match', '"0"'),
      ]) {
        expect(refused.status).to.equal(412);
      }
      expect(await rows()).to.deep.equal(BEFORE);
      expect((await post('', [{ title: 'x' }]).set('if-none-match', '*')).status).to.equal(201);
    });
  });

  describe('that q finds', () => {
    it('[M14] are changed within the scope of the request', async () => {
      expectJson(await patch('?q=rank==0', { rank: 1 }), 200, { affected: 3 });
      expectJson(await patch('?q=title==nothing', { rank: 1 }), 200, { affected: 0 });
      expect((await rows()).map(([, , version]) => version)).to.deep.equal([1, 1, 0, 1]);
    });

    it('[M14] are deleted within the scope of the request, with what refers to them', async () => {
      await Paper.update({ parentId: 1 }, { where: { id: [2] } });
      expectJson(await remove('?q=title=in=(one,two,foreign)'), 200, { affected: 2 });
      expect((await rows()).map(([id]) => id)).to.deep.equal([3, 4]);
    });

    it('[M4 M15] are at most as many as the request allows', async () => {
      for (const [most, records] of [
        [1, '1 record'],
        [2, '2 records'],
      ] as const) {
        const detail = `q finds more than ${records}, and nothing was written; narrow it, or raise max_affected.`;
        expectProblem(await remove(`?q=rank==0&max_affected=${most}`), 409, { detail });
        expectProblem(await patch(`?q=rank==0&max_affected=${most}`, { rank: 1 }), 409, { detail });
      }
      for (const value of ['0', '6', 'x', '']) {
        expect((await remove(`?q=rank==0&max_affected=${value}`)).status).to.equal(400);
      }
      expect(await rows()).to.deep.equal(BEFORE);
      expectJson(await remove('?q=rank==0&max_affected=3'), 200, { affected: 3 });
    });

    it('[M15] are as many as the resource allows, and a hundred at most, where the request does not say', async () => {
      await Paper.bulkCreate(Array.from({ length: 101 }, () => ({ tenant: 1, title: 'x' })));
      const { agent } = await serve(crudController(Paper, { bulk: { max: 1000 } }));
      for (const [by, most] of [
        [site.agent, 5],
        [agent, 100],
      ] as const) {
        const detail = `q finds more than ${most} records, and nothing was written; narrow it, or raise max_affected.`;
        expectProblem(await by.patch('/papers?q=title==x').send({ rank: 1 }), 409, { detail });
        expectProblem(await by.delete('/papers?q=title==x'), 409, { detail });
      }
      const send = (most: number) => agent.patch(`/papers?q=title==x&max_affected=${most}`).send({ rank: 1 });
      expect((await send(1001)).status).to.equal(400);
      expect(await Paper.count({ where: { title: 'x', rank: 0 } })).to.equal(101);
      expectJson(await send(101), 200, { affected: 101 });
    });

    it('are those that it finds, where a function of the user reads the ids of paths', async () => {
      const idType = (raw: string) => Number.parseInt(raw, 16);
      const { agent } = await serve(crudController(Paper, { idType }));
      await Paper.bulkCreate([
        { id: 16, tenant: 1, title: 'x' },
        { id: 22, tenant: 1, title: 'y' },
      ]);
      expectJson(await agent.patch('/papers?q=title==x').send({ title: 'z' }), 200, { affected: 1 });
      expect((await agent.delete('/papers?q=title==z')).status).to.equal(200);
      expect((await rows()).slice(4)).to.deep.equal([[22, 'y', 0]]);
    });

    it('are given to overrides by keys of the type that paths have', async () => {
      const seen: unknown[] = [];
      class Papers extends crudController(Paper, { idType: 'bigint' }) {
        override remove(id: Id, context: CrudContext<Paper>) {
          seen.push(id);
          return super.remove(id, context);
        }
      }
      const { agent } = await serve(Papers);
      expect((await agent.delete('/papers?q=title==one')).body).to.deep.equal({ affected: 1 });
      expect((await agent.delete('/papers/2')).status).to.equal(204);
      expect(seen).to.deep.equal(['1', '2']);
    });

    it('[M6] are never more than the request allows, whatever others write meanwhile', async () => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          index % 3 > 0 ? post('', [{ title: 'x' }]) : patch('?q=title==x&max_affected=2', { title: 'y' }),
        ),
      );
      const changed = answers.filter(({ body }) => body.affected !== undefined);
      for (const { body } of changed) expect(body.affected).to.be.at.most(2);
      const affected = changed.reduce((sum, { body }) => sum + body.affected, 0);
      expect(await Paper.count({ where: { title: 'y' } })).to.equal(affected);
      for (const { status } of answers) expect(status).to.be.oneOf([200, 201, 409]);
    });

    it('[M2 M14] need a q that is understood', async () => {
      const wrong = '?q= ?q=%20 ?q=titel==x ?q=title ?q=rank==0&page=1 ?q=rank==0&q=rank==0'.split(' ');
      for (const query of ['', ...wrong]) {
        expect([query, (await remove(query)).status]).to.deep.equal([query, 400]);
        expect([query, (await patch(query, { rank: 1 })).status]).to.deep.equal([query, 400]);
      }
      expect((await patch('?q=rank==0', [{ id: 1 }])).status).to.equal(422);
      for (const name of ['tenant', 'id', 'version']) {
        const refused = await patch('?q=rank==0', { [name]: 2 });
        expectProblem(refused, 422, issue(`/${name}`, 'readOnly', `${name} cannot be set.`));
      }
      expect((await remove('?q=rank==0').set('x-blind', '1')).status).to.equal(403);
      expect(await rows()).to.deep.equal(BEFORE);
    });

    it('[M7 M18] are written all or none, or each for itself', async () => {
      const conflict = issue('/code', 'unique', TAKEN);
      expectProblem(await patch('?q=title=in=(two,four)', { code: 'n' }), 409, conflict);
      expect(await rows()).to.deep.equal(BEFORE);
      expectJson(await patch('?q=title=in=(two,four)&atomic=false', { code: 'n' }), 207, {
        items: [
          { status: 200, key: 2, item: wire(2, 'two', { code: 'n', version: 1 }) },
          { status: 409, key: 4, problem: conflict },
        ],
      });
      expectJson(await remove('?q=title=in=(two,four)&atomic=false'), 207, {
        items: [
          { status: 204, key: 2 },
          { status: 204, key: 4 },
        ],
      });
    });
  });

  it('[M4 M20] take no parameter that is not known, also where other routes pass it over', async () => {
    const endpoints = ['list', 'createMany', 'updateMany', 'deleteMany'] as const;
    const { agent } = await serve(crudController(Paper, { unknownQuery: 'ignore', endpoints }));
    expect((await agent.get('/papers?dryrun=true')).status).to.equal(200);
    for (const [parameter, refused] of [
      ['dryrun', await agent.post('/papers?dryrun=true').send([{ title: 'x' }])],
      ['dryrun', await agent.patch('/papers?dryrun=true').send([{ id: 1, title: 'x' }])],
      ['max_afected', await agent.patch('/papers?q=rank==0&max_afected=1').send({ rank: 1 })],
      ['max_afected', await agent.delete('/papers?q=rank==0&max_afected=1')],
    ] as const) {
      const [{ parameter: told, code }] = refused.body.errors;
      expect([refused.status, told, code]).to.deep.equal([400, parameter, 'unknown']);
    }
    expect(await rows()).to.deep.equal(BEFORE);
    // A server may pass a preference over (RFC 7240), so that nothing depends on one.
    const preferred = agent.patch('/papers?q=rank==0').set('prefer', 'handling=strict, max-affected=1');
    expectJson(await preferred.send({ rank: 1 }), 200, { affected: 3 });
  });

  it('[M2 M19] are answered by a dry run as they are when they are written', async () => {
    for (const send of [
      (flag: string) => site.agent.post(`/labels?${flag}`).send([{ name: 'b' }, { name: 'a' }]),
      (flag: string) =>
        patch(`?${flag}`, [
          { id: 4, title: 'IV' },
          { id: 1, rank: 9, version: 0 },
        ]),
      (flag: string) =>
        patch(`?atomic=false&${flag}`, [
          { id: 4, version: 7 },
          { id: 2, title: 'II' },
        ]),
      (flag: string) => patch(`?q=rank==0&atomic=false&${flag}`, { rank: 1 }),
      (flag: string) => patch(`?q=rank==1&${flag}`, { rank: 0 }),
      (flag: string) => remove(`?q=rank==0&${flag}`),
    ]) {
      const before = [await rows(), await Label.count()];
      const dry = await send('dry_run=true');
      expect(dry.headers).not.to.have.any.keys('location', 'etag');
      expect([await rows(), await Label.count()]).to.deep.equal(before);
      const written = await send('dry_run=false');
      expect([await rows(), await Label.count()]).to.not.deep.equal(before);
      expect([dry.status, dry.text]).to.deep.equal([written.status, written.text]);
    }
  });

  it('[M25] are refused by what the commit checks: all of them, or each for itself', async () => {
    const constrain = (when: string) =>
      site.engine.sequelize.query(`ALTER TABLE papers DROP CONSTRAINT papers_code_key;
        ALTER TABLE papers ADD CONSTRAINT papers_code_key UNIQUE (code) ${when}`);
    const detail = TAKEN;
    await constrain('DEFERRABLE INITIALLY DEFERRED');
    try {
      const created = [{ title: 'x' }, { title: 'y', code: 'a' }];
      for (const query of ['', '?dry_run=true'])
        expectProblem(await post(query, created), 409, issue('', 'unique', detail));
      expectProblem(await patch('?q=rank==0', { code: 'n' }), 409, issue('/code', 'unique', detail));
      expect(await rows()).to.deep.equal(BEFORE);
      const each = await post('?atomic=false', created);
      expect(statusesOf(each)).to.deep.equal([201, 409]);
      expect(each.body.items[1].problem).to.deep.equal(issue('/1/code', 'unique', detail));
      const moved = [
        { id: 2, code: 'a' },
        { id: 1, code: 'b' },
        { id: 4, code: 'c' },
      ];
      expect(statusesOf(await patch('?atomic=false&dry_run=true', moved))).to.deep.equal([409, 200, 200]);
      expect(statusesOf(await patch('?atomic=false', moved.toReversed()))).to.deep.equal([200, 200, 200]);
      const back = [
        { id: 1, code: 'a' },
        { id: 2, code: 'b' },
      ];
      expect((await patch('', back)).status).to.equal(200);
    } finally {
      await constrain('');
    }
  });

  it('[M11 S2] are no routes where the resource does not name them', async () => {
    class Labels extends crudController(PlainLabel) {}
    const { agent } = await serve(Labels);
    await PlainLabel.create({});
    const noObject = issue('', 'isObject', 'The body must be a JSON object.');
    expectProblem(await agent.post('/plain-labels').send([{}]), 422, noObject);
    expect((await agent.patch('/plain-labels').send([{ id: 1 }])).status).to.equal(405);
    expect((await agent.delete('/plain-labels?q=id==1')).status).to.equal(405);
    expect((await agent.put('/plain-labels/1').send({})).status).to.equal(405);
    expect((await agent.post('/plain-labels/1/restore')).status).to.equal(404);
    expect((await agent.delete('/plain-labels/1/purge')).status).to.equal(404);
    expect(await PlainLabel.count()).to.equal(1);
  });

  describe('through code of the user', () => {
    it('[M8 M18 M30] are seen by hooks one by one, and undone where one refuses', async () => {
      const seen: string[] = [];
      using _save = addedHook(Paper, 'beforeSave', ({ title }: Paper) => {
        seen.push(title);
        if (title === 'no') throw new Error('Not this one.');
      });
      using _destroy = addedHook(Paper, 'beforeDestroy', ({ id }: Paper) => seen.push(`-${id}`));
      expect((await post('', [{ title: 'x' }, { title: 'y' }])).status).to.equal(201);
      expect((await patch('?q=title=in=(x,y)', { title: 'z' })).body).to.deep.equal({ affected: 2 });
      expect((await remove('?q=title==z')).body).to.deep.equal({ affected: 2 });
      const changes = ['v', 'no'].map((title, index) => ({ id: index + 1, title }));
      expect((await patch('', changes)).status).to.equal(500);
      // An error that no record has caused undoes all records, also those that are written one by one.
      expect((await post('?atomic=false', [{ title: 'w' }, { title: 'no' }])).status).to.equal(500);
      expect(seen).to.deep.equal(['x', 'y', 'z', 'z', '-5', '-6', 'v', 'no', 'w', 'no']);
      expect(await rows()).to.deep.equal(BEFORE);
    });

    it('[M19] leave no trace of a dry run: neither what the code writes nor what it calls after the commit', async () => {
      const told: string[] = [];
      class Papers extends crudController(Paper) {
        #note<T>(what: string, write: () => Promise<T>): Promise<T> {
          return unitOfWork(async (uow) => {
            uow.afterCommit(() => told.push(what));
            await uow.repository(Label).create({ name: what });
            return write();
          });
        }
        override create(values: CreateValues<Paper>, context: CrudContext<Paper>) {
          return this.#note('new', () => super.create(values, context));
        }
        override update(id: number, values: UpdateValues<Paper>, context: CrudContext<Paper>) {
          return this.#note(`+${id}`, () => super.update(id, values, context));
        }
        override remove(id: number, context: CrudContext<Paper>) {
          return this.#note(`-${id}`, () => super.remove(id, context));
        }
      }
      const { agent } = await serve(Papers);
      const send = async (flag: string) => [
        (await agent.post(`/papers?${flag}`).send([{ title: 'x' }])).status,
        (await agent.patch(`/papers?${flag}`).send([{ id: 2, title: 'II' }])).status,
        (await agent.patch(`/papers?q=title==four&${flag}`).send({ rank: 1 })).status,
        (await agent.delete(`/papers?q=title==one&${flag}`)).status,
      ];
      expect(await send('dry_run=true')).to.deep.equal([201, 200, 200, 200]);
      await callbacksUnderWay(site.engine.sequelize);
      expect([told, await Label.count(), await rows()]).to.deep.equal([[], 0, BEFORE]);
      expect(await send('dry_run=false')).to.deep.equal([201, 200, 200, 200]);
      await callbacksUnderWay(site.engine.sequelize);
      expect([told, await Label.count()]).to.deep.equal([['new', '+2', '+4', '-1'], 4]);
    });

    it('may each stand for itself where an override has savepoints', async () => {
      class Papers extends crudController(Paper) {
        override update(id: number, values: UpdateValues<Paper>, context: CrudContext<Paper>) {
          return unitOfWork((uow) => uow.savepoint(() => super.update(id, values, context)));
        }
      }
      const { agent } = await serve(Papers);
      const items = [
        { id: 1, title: 'I' },
        { id: 2, code: 'a' },
        { id: 4, title: 'IV' },
      ];
      const changed = await agent.patch('/papers?atomic=false').send(items);
      expect(changed.status).to.equal(207);
      expect(statusesOf(changed)).to.deep.equal([200, 409, 200]);
      expect((await rows()).map(([, title]) => title)).to.deep.equal(['I', 'two', 'foreign', 'IV']);
    });

    it('[M29] wait for each other, in whichever order they are sent, and none of them fails', async () => {
      const { agent } = await serve(passingController(crudController(Paper)));
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) => {
          const items = [1, 2, 4].map((id) => ({ id, rank: index + 1 }));
          return agent.patch('/papers').send(index % 2 ? items : items.toReversed());
        }),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(12).fill(200));
      const papers = await Paper.findAll({ where: { tenant: 1 } });
      expect(papers.map((paper) => paper.get('version'))).to.deep.equal([12, 12, 12]);
      expect(new Set(papers.map(({ rank }) => rank)).size).to.equal(1);
    });

    it('are not deleted where an override refuses one that is there', async () => {
      class Papers extends crudController(Paper) {
        override remove(id: number, context: CrudContext<Paper>) {
          if (id === 4) throw new NotFoundError('It is kept.');
          return super.remove(id, context);
        }
      }
      const { agent } = await serve(Papers);
      expect((await agent.delete('/papers?q=rank==0')).status).to.equal(404);
      expect(await rows()).to.deep.equal(BEFORE);
      const { body } = await agent.delete('/papers?q=rank==0&atomic=false');
      const statuses = body.items.map(({ key, status }: Record<string, number>) => [key, status]);
      expect(statuses.map(String)).to.deep.equal(['1,204', '2,204', '4,404']);
      expect((await rows()).map(([id]) => id)).to.deep.equal([3, 4]);
    });

    it('are not changed where an override finds none any more', async () => {
      class Papers extends crudController(Paper) {
        override async update(id: number, values: UpdateValues<Paper>, context: CrudContext<Paper>) {
          if (id !== 2) return super.update(id, values, context);
          await context.repository.delete(id);
          throw new NotFoundError('It is gone.');
        }
      }
      const { agent } = await serve(Papers);
      const refused = await agent.patch('/papers?q=title=in=(one,two)').send({ title: 'x' });
      expectProblem(refused, 404, { detail: 'It is gone.' });
      expect(await rows()).to.deep.equal(BEFORE);
    });

    it('leave alone what a middleware has made of the response', async () => {
      let ended = 0;
      const count = onEnd(() => {
        ended += 1;
      });
      const controllers = [passingController(crudController(Paper))];
      const { agent } = await buildApp({ models: [], controllers }, (app) => void app.use(count));
      const changed = await agent.patch('/papers').send([
        { id: 1, title: 'a' },
        { id: 2, title: 'b' },
      ]);
      expect([changed.status, ended]).to.deep.equal([200, 1]);
    });

    it('[M31] are seen by overrides as single ones are, which cannot answer by themselves', async () => {
      const seen: unknown[] = [];
      class Papers extends crudController(Paper) {
        override async update(id: number, values: UpdateValues<Paper>, context: CrudContext<Paper>) {
          seen.push(id);
          if (values.rank === 13) return context.response.json({ early: true }) as never;
          return super.update(id, { ...values, title: `${values.title}!` }, context);
        }
      }
      const { agent } = await serve(Papers);
      const changed = await agent.patch('/papers').send([
        { id: 2, title: 'b' },
        { id: 1, title: 'a', version: 0 },
      ]);
      expect(changed.body.items.map(({ title }: { title: string }) => title)).to.deep.equal(['b!', 'a!']);
      const stale = await agent.patch('/papers').send([
        { id: 2, title: 'c' },
        { id: 1, title: 'c', version: 0 },
      ]);
      expect([stale.status, stale.body.errors[0].pointer]).to.deep.equal([412, '/1']);
      const found = await agent.patch('/papers?q=title==four').send({ title: 'd' });
      expect(found.body).to.deep.equal({ affected: 1 });
      const early = await agent.patch('/papers').send([
        { id: 4, title: 'e' },
        { id: 2, rank: 13 },
      ]);
      expectProblem(early, 500, { detail: 'Internal Server Error' });
      expect(seen).to.deep.equal([2, 1, 2, 4, 4, 2]);
      expect((await rows()).map(([, title]) => title)).to.deep.equal(['a!', 'b!', 'foreign', 'd!']);
    });
  });

  it('[M33] are guarded as the methods of single ones', async () => {
    class Papers extends passingController(crudController(Paper)) {}
    Authorized()(Papers.prototype, 'create');
    const teapot = (_request: unknown, response: Response) => response.sendStatus(418);
    UseBefore(teapot)(Papers.prototype, 'update');
    Authorized('cleaner')(Papers.prototype, 'remove');
    const { agent, crud } = await serve(Papers, { routing: REFUSING });
    expect((await agent.post('/papers').send([{ title: 'x' }])).status).to.equal(401);
    expect((await agent.patch('/papers').send([{ id: 1, title: 'x' }])).status).to.equal(418);
    expect((await agent.delete('/papers?q=rank==0')).status).to.equal(403);
    expect(await rows()).to.deep.equal(BEFORE);
    expect(crud.openapi().paths['/papers']?.delete?.responses).to.have.property('403');
    const allowed = await agent.options('/papers');
    expect(allowed.headers['allow']).to.equal('GET, HEAD, POST, PATCH, DELETE, OPTIONS');
  });

  it('go through what is around the methods of single ones, the farther class first', async () => {
    const step = (name: string) => (_request: Request, response: Response, next: NextFunction) => {
      response.append('X-Steps', name);
      next();
    };
    class Base extends passingController(crudController(Paper)) {}
    UseBefore(step('base'))(Base.prototype, 'update');
    class Papers extends Base {
      @HttpCode(202)
      @UseBefore(step('nearer'))
      @UseInterceptor((_action: Action, { items }: { items: object[] }) => ({ changed: items.length }))
      override update(id: number, values: UpdateValues<Paper>, context: CrudContext<Paper>) {
        return super.update(id, values, context);
      }
    }
    const { agent } = await serve(Papers);
    const answer = await agent.patch('/papers').send([{ id: 1, title: 'x' }]);
    // @HttpCode is about the method for one.
    expectJson(answer, 200, { changed: 1 });
    expect(answer.headers['x-steps']).to.equal('base, nearer');
  });

  it('[M33] are not found by q where decorators guard the list', async () => {
    const guarded = (many: 'updateMany' | 'deleteMany') => {
      class Guarded extends passingController(crudController(Paper, { endpoints: ['list', many] })) {}
      Authorized()(Guarded.prototype, 'list');
      return serve(Guarded, { routing: REFUSING });
    };
    const { agent } = await guarded('updateMany');
    const refused = await agent.patch('/papers?q=rank==0&dry_run=true').send({ title: 'x' });
    const detail = 'This request may not find records of Paper by q; send an array of them.';
    expectProblem(refused, 403, { detail });
    expect((await agent.patch('/papers').send([{ id: 1, title: 'x' }])).status).to.equal(200);
    expect(await configError(() => guarded('deleteMany'))).to.include(
      "Guarded.list has decorators that guard it, and endpoints has 'deleteMany'",
    );
  });

  it('[M33] name their states where changes need a condition', async () => {
    const { agent } = await serve(crudController(Paper, { ifMatch: 'required', endpoints: ['updateMany'] }));
    const detail = 'A change of a Paper needs its version, which a read of it has given.';
    const changes = [{ id: 1, title: 'x', version: 0 }, { id: 2 }];
    const refused = await agent.patch('/papers').send(changes);
    expectProblem(refused, 428, issue('/1', 'conditionRequired', detail));
    expect((await agent.patch('/papers?q=rank==0').send({ title: 'x' })).status).to.equal(428);
    expect(await rows()).to.deep.equal(BEFORE);
    expect((await agent.patch('/papers').send([{ id: 1, title: 'x', version: 0 }])).status).to.equal(200);
  });

  it('[M33] are no endpoint where no answer shows the version, and are told where one request may not read it', async () => {
    class Sealed extends Model {
      declare id: number;
      declare version: number;
    }
    Column(DataType.INTEGER)(Sealed.prototype, 'id');
    PrimaryKey(Sealed.prototype, 'id');
    Exclude()(Sealed.prototype, 'version');
    Table({ tableName: 'sealed', version: true, timestamps: false })(Sealed);
    Crud({ ifMatch: 'required', endpoints: ['update', 'updateMany'] })(Sealed);
    new Sequelize({ dialect: 'postgres', models: [Sealed] });
    expect(await configError(() => buildApp({ models: [Sealed] }))).to.include(
      "Sealed: endpoints has 'updateMany', and ifMatch is 'required'; the records of a request name their states by a version, and no answer shows it.",
    );
    const fields = { version: { read: () => false } };
    const options = { ifMatch: 'required', endpoints: ['updateMany'], fields } as const;
    const { agent } = await serve(crudController(Paper, options));
    const detail =
      'A change of a Paper needs its version, which this request may not read; change one record at a time, with If-Match.';
    const refused = await agent.patch('/papers').send([{ id: 1, title: 'x' }]);
    expectProblem(refused, 428, issue('/0', 'conditionRequired', detail));
  });

  it('[M31] are no endpoints of methods with decorated parameters', async () => {
    class Papers extends crudController(Paper) {
      override remove(id: number, @Req() _request: unknown) {
        return super.remove(id, {} as never);
      }
    }
    expect(await configError(() => serve(Papers))).to.include(
      "Papers.remove has decorated parameters, which are read once for a request, and endpoints has 'deleteMany'",
    );
  });

  it('[M31] are no endpoints where they could not be kept', async () => {
    for (const [options, message] of [
      [{ endpoints: ['updateMany'], etag: 'xmin', ifMatch: 'required' }, 'PlainLabel: endpoints has'],
      [
        { endpoints: ['deleteMany'], filterAllow: ['id'], etag: 'xmin', ifMatch: 'required' },
        'PlainLabel: endpoints has',
      ],
      [{ bulk: { max: 5 } }, 'PlainLabel: bulk limits no endpoint'],
      [{ endpoints: ['createMany'], bulk: { max: 1001 } }, 'PlainLabel: bulk.max is 1001'],
      [{ endpoints: ['createMany'], bulk: { maximum: 5 } }, "PlainLabel: bulk has no option 'maximum'"],
      [
        { endpoints: ['deleteMany'] },
        "PlainLabel: endpoints has 'deleteMany', and filterAllow names nothing",
      ],
      [{ endpoints: ['createAll'] }, 'PlainLabel: endpoints has "createAll"'],
    ] as const) {
      const start = () => serve(crudController(PlainLabel, options as object));
      expect(await configError(start)).to.include(message);
    }
  });
});
