/** `@Crud({ id: 'slug' })`: another unique attribute addresses a record, and rows are still joined and ordered by the primary key. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import express from 'express';
import { Get, Post } from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Model, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  Crud,
  type CrudContext,
  crudController,
  crudRouter,
  type Id,
  InjectId,
  InjectRecord,
  InjectRepository,
  InjectUnitOfWork,
  type ReadQuery,
  Repository,
  readId,
  type UnitOfWork,
} from '../../../src/index.js';
import { EVERY_ENDPOINT } from '../../models/endpoints.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY, UNGUARDED } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

/** Its serial key is hidden from clients. */
@Crud({
  id: 'slug',
  endpoints: EVERY_ENDPOINT,
  pagination: 'cursor',
  filterAllow: ['title', 'slug'],
  sortAllow: ['title'],
  include: { comments: UNGUARDED },
  subresources: { comments: UNGUARDED },
  scope: { tenant: (request) => Number(request.get('x-tenant') ?? 1) },
  can: { deleted: true },
})
@Table({ tableName: 'articles', createdAt: false, updatedAt: false, paranoid: true, version: true })
class Article extends Model {
  @Exclude() @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column({ type: DataType.STRING(40), allowNull: false, unique: true }) declare slug: string;
  @Column({ type: DataType.STRING(40), allowNull: false, defaultValue: 'None' }) declare title: string;
  @Exclude() @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Exclude() @Column(DataType.DATE) declare deletedAt: Date | null;
  @HasMany(() => Comment) declare comments: Comment[];
}

@Crud({ filterAllow: ['article.slug'], include: { article: UNGUARDED } })
@Table({ tableName: 'comments', timestamps: false })
class Comment extends NumberedRow {
  @ForeignKey(() => Article)
  @Exclude({ toPlainOnly: true })
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare articleId: number;

  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;
  @BelongsTo(() => Article) declare article: Article;
}

/** Only its controller has the option `id`. */
@Table({ tableName: 'drafts', timestamps: false })
class Draft extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false, unique: true }) declare code: string;
  @Column({ type: DataType.STRING(40), allowNull: false }) declare title: string;
}

/** Extensions of the user's: each way from an id to a record. */
class DraftController extends crudController(Draft, { id: 'code', prefix: '/drafts' }) {
  override async read(id: Id, query: ReadQuery, context: CrudContext<Draft>) {
    const { title } = await context.repository.get(id);
    return Object.assign(await super.read(id, query, context), { title: `${title}!` });
  }

  override update(id: Id, values: object, context: CrudContext<Draft>) {
    return super.update(id, { title: 'Changed', ...values }, context);
  }

  @Get('/:id/ways')
  async ways(
    @InjectId() id: string,
    @InjectRecord() record: Draft,
    @InjectRepository(Draft) drafts: Repository<Draft>,
  ) {
    return [id, record.title, (await drafts.get(id)).title, (await drafts.one({ id: record.id })).title];
  }

  @Post('/:id/publish')
  async publish(@InjectId() id: string, @InjectRecord() record: Draft, @InjectUnitOfWork() uow: UnitOfWork) {
    await record.update({ title: `${record.title} 1` });
    const drafts = uow.repository(Draft);
    const { title } = await drafts.get(id);
    return drafts.update(id, { title: `${title} 2` });
  }
}

const MISSING = { detail: 'There is no Article with this slug.' };

except(OF_MANY).describe('a record that another key addresses', () => {
  const log = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Article, Comment, Draft],
    bootstrap: {
      models: [Article, Comment],
      controllers: [DraftController],
      idempotency: { principal: () => 'all' },
      logger: log,
    },
    minPool: 2,
  }));

  beforeEach(async () => {
    await emptyTables(site, 'articles', 'comments', 'drafts');
    // The slug of one is the key of another.
    await Article.bulkCreate([
      { slug: '2', title: 'One', tenant: 1 },
      { slug: 'two', title: 'Two', tenant: 1 },
      { slug: 'three', title: 'Three', tenant: 2 },
    ]);
    await Comment.bulkCreate([
      { articleId: 1, text: 'a' },
      { articleId: 2, text: 'b' },
      { articleId: 3, text: 'c' },
    ]);
    await Draft.bulkCreate([
      { code: '2', title: 'One' },
      { code: 'two', title: 'Two' },
    ]);
  });

  const titles = async () =>
    (await Article.findAll({ paranoid: false, order: ['id'] })).map(({ slug, title }) => `${slug}: ${title}`);

  it('is read, changed, deleted and restored by it, within its scope', async () => {
    const { agent } = site;
    expectJson(await agent.get('/articles/2'), 200, { slug: '2', title: 'One', version: 0 });
    for (const foreign of ['1', 'three']) {
      expectProblem(await agent.get(`/articles/${foreign}`), 404, MISSING);
      expectProblem(await agent.patch(`/articles/${foreign}`).send({ title: 'x' }), 404, MISSING);
      expectProblem(await agent.delete(`/articles/${foreign}`), 404, MISSING);
      expectProblem(await agent.post(`/articles/${foreign}/restore`), 404, MISSING);
      expectProblem(await agent.delete(`/articles/${foreign}/purge`), 404, MISSING);
    }
    const change = () => agent.patch('/articles/2').set('If-Match', '"0"').send({ title: 'Uno' });
    expectJson(await change(), 200, { slug: '2', title: 'Uno', version: 1 });
    expect((await change()).status).to.equal(412);
    const renamed = { slug: 'uno', title: 'Uno', version: 2 };
    expectJson(await agent.patch('/articles/2').send({ slug: 'uno' }), 200, renamed);
    expectProblem(await agent.get('/articles/2'), 404, MISSING);
    expectJson(await agent.get('/articles/uno'), 200, renamed);
    expectNothing(await agent.delete('/articles/uno'), 204);
    expectProblem(await agent.get('/articles/uno'), 404, MISSING);
    expect((await agent.get('/articles/uno?deleted=only')).body.slug).to.equal('uno');
    expect((await agent.post('/articles/uno/restore')).body.slug).to.equal('uno');
    expectNothing(await agent.delete('/articles/uno'), 204);
    expectNothing(await agent.delete('/articles/uno/purge'), 204);
    expect(await titles()).to.deep.equal(['two: Two', 'three: Three']);
  });

  it('is created under it, and replaced', async () => {
    const { agent } = site;
    const made = await agent.post('/articles').send({ slug: 'a b', title: 'New' });
    expectJson(made, 201, { slug: 'a b', title: 'New', version: 0 });
    expect(made.headers['location']).to.equal('/articles/a%20b');
    const put = await agent.put('/articles/put').send({ title: 'Put' });
    expectJson(put, 201, { slug: 'put', title: 'Put', version: 0 });
    expect(put.headers['location']).to.equal('/articles/put');
    const again = { slug: 'put', title: 'None', version: 1 };
    expectJson(await agent.put('/articles/put').send({ slug: 'put' }), 200, again);
    const other = await agent.put('/articles/put').send({ slug: 'other' });
    const detail = 'slug is that of the path; leave it out, or send the same.';
    expectIssue(other, 422, { pointer: '/slug', code: 'key', detail });
    expect((await agent.put('/articles/put').send({ id: 1 })).status).to.equal(422);
    expect((await agent.put('/articles/three').send({ title: 'Mine' })).status).to.equal(409);
    expect((await agent.put('/articles/put').set('If-None-Match', '*').send({})).status).to.equal(412);
    for (const slug of ['', '.', '..'])
      for (const request of [agent.post('/articles'), agent.patch('/articles/put')])
        expect((await request.send({ slug })).body.errors[0].code).to.equal('isAddressable');
    expect(await titles()).to.deep.equal(['2: One', 'two: Two', 'three: Three', 'a b: New', 'put: None']);
  });

  it('is one of many', async () => {
    const { agent } = site;
    const many = (path: string, body: object) => agent.patch(`/articles${path}`).send(body);
    const sent = [
      { slug: 'two', title: 'B' },
      { slug: '2', title: 'A', version: 0 },
    ];
    const written = sent.map((each) => ({ ...each, version: 1 }));
    expectJson(await many('', sent), 200, { items: written });
    const foreign = [
      { slug: 'two', title: 'C' },
      { slug: 'three', title: 'C' },
    ];
    const missing = { pointer: '/1', code: 'notFound', ...MISSING };
    expectProblem(await many('', foreign), 404, { ...MISSING, errors: [missing] });
    expectJson(await many('?atomic=false', foreign), 207, {
      items: [
        { status: 200, item: { slug: 'two', title: 'C', version: 2 } },
        { status: 404, problem: { ...MISSING, errors: [missing] } },
      ],
    });
    const found = { status: 200, key: '2', item: { slug: '2', title: 'Z', version: 2 } };
    expectJson(await many('?q=title==A&atomic=false', { title: 'Z' }), 207, { items: [found] });
    expectJson(await many('?q=title==Z', { slug: 'zed' }), 200, { affected: 1 });
    const wrong = await many('', [{ id: 1, title: 'D' }, { slug: 2 }, { slug: 'zed' }, { slug: 'zed' }]);
    const told = wrong.body.errors.map(
      (each: Record<string, string>) => `${each['pointer']} ${each['code']}`,
    );
    expect(told).to.deep.equal([
      '/0/slug isDefined',
      '/0/id unknownProperty',
      '/1/slug id',
      '/2/slug repeated',
      '/3/slug repeated',
    ]);
    const created = await agent.post('/articles').send([{ slug: 'n1' }, { slug: 'n2' }]);
    expect(created.body.items.map(({ slug }: Article) => slug)).to.deep.equal(['n1', 'n2']);
    expectJson(await agent.delete('/articles?q=slug=in=(n1,n2,three)'), 200, { affected: 2 });
    expect(await titles()).to.deep.equal(['zed: Z', 'two: C', 'three: Three', 'n1: None', 'n2: None']);
  });

  it('has its relations, fields, replays and pages by the primary key, which nothing tells', async () => {
    const { agent } = site;
    const comments = [{ id: 1, text: 'a' }];
    const { body } = await agent.get('/articles/2/comments');
    expect(body.items).to.deep.equal(comments);
    expectProblem(await agent.get('/articles/three/comments'), 404, MISSING);
    const whole = { slug: '2', title: 'One', version: 0, comments: { items: comments, has_next: false } };
    expectJson(await agent.get('/articles/2?include=comments'), 200, whole);
    expectJson(await agent.get('/articles/2?fields=title'), 200, { title: 'One' });
    const [about] = (await agent.get('/comments?q=article.slug==two&include=article')).body.items;
    expect(about).to.deep.equal({ id: 2, text: 'b', article: { slug: 'two', title: 'Two', version: 0 } });
    const first = (await agent.get('/articles?size=1')).body;
    const second = (await agent.get(`/articles?size=1&after=${first.next_cursor}`)).body;
    expect([...first.items, ...second.items].map(({ slug }) => slug)).to.deep.equal(['2', 'two']);
    const back = (await agent.get(`/articles?size=1&before=${second.prev_cursor}`)).body;
    expect(back.items).to.deep.equal(first.items);
    expect(Buffer.from(first.next_cursor, 'base64url').toString('latin1')).to.not.include('[1,');
    const forged = Buffer.from('[1,"x",0,"1"]').toString('base64url');
    expect((await agent.get(`/articles?after=${forged}.x`)).body.errors[0].code).to.equal('cursor.malformed');
    const messages = log.lines.map(({ message }) => message);
    expect(messages.filter((text) => text.includes('cursorSecret'))).to.deep.equal([
      'Cursors of Article hide values that no answer has, with a secret of this process alone; set cursorSecret in bootstrap, so ' +
        'that other processes read them, too.',
    ]);
    // The unique index of the slug serves a filter by it within any scope.
    const advice = messages.find((text) => text.includes('are missing')) ?? '';
    const missing = [...advice.matchAll(/(Article): no index serves (.*) within/g)].map(([, , what]) => what);
    expect(missing).to.deep.equal(["the order 'title' (sortAllow)", "the order 'id' (defaultSort)"]);
    for (const send of [
      () => agent.patch('/articles/two').set('Idempotency-Key', 'k1').send({ slug: 'zwei' }),
      () => agent.post('/articles').set('Idempotency-Key', 'k2').send({ slug: 'made' }),
    ]) {
      const [once, replayed] = [await send(), await send()];
      expect(replayed.body).to.deep.equal(once.body);
      expect(replayed.headers['location']).to.equal(once.headers['location']);
      expect(replayed.headers['idempotent-replayed']).to.equal('true');
    }
  });

  it('is the record of overrides, routes and repositories', async () => {
    const { agent } = site;
    expectJson(await agent.get('/drafts/2'), 200, { id: 1, code: '2', title: 'One!' });
    expectJson(await agent.patch('/drafts/2').send({}), 200, { id: 1, code: '2', title: 'Changed' });
    expectJson(await agent.get('/drafts/two/ways'), 200, ['two', 'Two', 'Two', 'Two']);
    expectJson(await agent.post('/drafts/2/publish'), 200, { id: 1, code: '2', title: 'Changed 1 2' });
    expect((await agent.post('/drafts').send({ code: '', title: 'x' })).status).to.equal(422);
    expect((await new Repository(Draft).get(2)).code).to.equal('two');
    const articles = new Repository(Article);
    expect((await articles.get('2')).title).to.equal('One');
    expect((await articles.get(readId(Article, 'two'))).title).to.equal('Two');
    expect((await articles.update('2', { title: 'Uno' })).id).to.equal(1);
    await articles.delete('2');
    expect((await articles.restore('2')).id).to.equal(1);
    const update = () => articles.update(2, { title: 'x' });
    for (const use of [() => articles.get(2), update, () => articles.delete(2), () => articles.purge(2)])
      expect(String(await caughtError(use))).to.equal(
        'TypeError: Article is addressed by its slug, which is a text, and not by 2; find a record by another key with one({ id: … }).',
      );
    // Sequelize would find the first row.
    using _hook = addedHook(Article, 'afterFind');
    const nothing = undefined as unknown as Id;
    for (const use of [() => articles.get(nothing), () => articles.update(nothing, { title: 'x' })])
      expect(String(await caughtError(use))).to.equal(
        'TypeError: An id of Article is undefined; give the slug of a record.',
      );
    const router = crudRouter(Article, { id: 'id', endpoints: ['read'], subresources: [] });
    const admin = express().use('/admin', router);
    expect((await supertest(admin).get('/admin/2')).body.slug).to.equal('two');
  });

  it('is described by it', async () => {
    const { paths, components } = (await site.agent.get('/openapi.json')).body;
    const [path = '', ...others] = Object.keys(paths).filter((each) => each.startsWith('/articles/'));
    expect(path).to.equal('/articles/{slug}');
    const below = ['restore', 'purge', 'comments'].map((name) => `${path}/${name}`);
    expect(others).to.deep.equal([...below, '/articles/many']);
    expect(paths[path].get.parameters[0]).to.deep.equal({
      name: 'slug',
      in: 'path',
      required: true,
      description: 'The slug.',
      schema: { type: 'string', minLength: 1, maxLength: 40 },
    });
    expect(paths).to.include.keys('/drafts/{code}', '/drafts/{code}/ways', '/drafts/{code}/publish');
    expect(components.schemas.ArticleChange.required).to.deep.equal(['slug']);
    const shown = Object.keys(components.schemas.ArticleRead.properties);
    expect(shown).to.deep.equal(['slug', 'title', 'version', 'comments']);
  });
});
