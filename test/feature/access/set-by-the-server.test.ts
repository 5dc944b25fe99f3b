/** Values that the server sets: in every form of a write, by each executor, and never by a body. */
// @runs fast
import { expect } from 'chai';
import { Allow, Length } from 'class-validator';
import { Body } from 'routing-controllers';
import { Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  type CrudController,
  crudController,
  filter,
  type ModelClass,
  type SetRule,
} from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths, type WholeRequest } from '../../support/two-paths.js';
import { withHook } from '../../support/with-hook.js';

@Crud({ visible: () => filter`id<${100}` })
@Table({ tableName: 'writers', timestamps: false })
class Writer extends KeyedRow {}

type User = { user?: unknown };
const user = (request: object): unknown => (request as User).user;

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'replace', 'createMany', 'updateMany'],
  filterAllow: ['id'],
  set: {
    authorId: user,
    editorId: { on: 'update', value: async (request: object) => user(request) },
    touched: { on: 'both', value: (request: object) => `by ${user(request) ?? 'nobody'}` },
  } as Record<string, SetRule>,
})
@Table({ tableName: 'articles', createdAt: false, updatedAt: false, version: true })
class Article extends KeyedRow {
  @Column(DataType.TEXT) declare title: string | null;
  @ForeignKey(() => Writer) @Column({ type: DataType.INTEGER, allowNull: false }) declare authorId: number;
  @ForeignKey(() => Writer) @Column(DataType.INTEGER) declare editorId: number | null;
  @Length(2, 9) @Column(DataType.TEXT) declare touched: string | null;
}

/** A setter writes the value that the server sets. */
@Crud({
  endpoints: ['create', 'update', 'replace', 'createMany', 'updateMany'],
  filterAllow: ['id'],
  set: { author: { on: 'both', value: () => 'server' } },
} as object)
@Table({ tableName: 'letters', timestamps: false })
class Letter extends KeyedRow {
  @Column(DataType.TEXT) declare author: string | null;
  @Column({
    type: DataType.TEXT,
    set(this: Letter, value: string) {
      this.setDataValue('text', value);
      this.setDataValue('author', value);
    },
  })
  declare text: string | null;
}

const OLD = { id: 1, title: 'old', authorId: 1, editorId: null, touched: null, version: 0 };
const MADE = { title: 'new', authorId: 2, editorId: null, touched: 'by 2', version: 0 };
const CHANGED = { ...OLD, title: 'new', editorId: 2, touched: 'by 2', version: 1 };
const title = 'new';

/** Each form of a write, and the rows after it. */
const FORMS: Readonly<Record<string, readonly [request: WholeRequest, rows: readonly object[]]>> = {
  POST: [{ method: 'POST', path: '/articles', body: { id: 2, title } }, [OLD, { id: 2, ...MADE }]],
  'POST of an array': [
    { method: 'POST', path: '/articles', body: [{ id: 2, title }, { id: 3 }] },
    [OLD, { id: 2, ...MADE }, { id: 3, ...MADE, title: null }],
  ],
  PATCH: [{ method: 'PATCH', path: '/articles/1', body: { title } }, [CHANGED]],
  'PATCH of a value that the row has': [
    { method: 'PATCH', path: '/articles/1', body: { title: 'old' } },
    [{ ...CHANGED, title: 'old' }],
  ],
  'PATCH without a value': [{ method: 'PATCH', path: '/articles/1', body: {} }, [OLD]],
  'PATCH of an array': [{ method: 'PATCH', path: '/articles', body: [{ id: 1, title }] }, [CHANGED]],
  'PATCH of an array without a value': [{ method: 'PATCH', path: '/articles', body: [{ id: 1 }] }, [OLD]],
  'PATCH by q': [{ method: 'PATCH', path: '/articles?q=id==1', body: { title } }, [CHANGED]],
  'PUT of a new record': [{ method: 'PUT', path: '/articles/2', body: { title } }, [OLD, { id: 2, ...MADE }]],
  'PUT of a record': [{ method: 'PUT', path: '/articles/1', body: { title } }, [CHANGED]],
  'PUT with If-Match': [
    { method: 'PUT', path: '/articles/1', body: { title }, headers: { 'If-Match': '*' } },
    [CHANGED],
  ],
  'PUT with If-None-Match': [
    { method: 'PUT', path: '/articles/2', body: { title }, headers: { 'If-None-Match': '*' } },
    [OLD, { id: 2, ...MADE }],
  ],
};

/** The user as his authentication has him: keys may be texts, and there may be none. */
const USERS: Readonly<Record<string, unknown>> = {
  two: 2,
  text: '2',
  big: 2n,
  wrong: 'x',
  rounded: 2.5,
  null: null,
  unseen: 100,
};

class Form {
  @Allow() declare id: number;
  @Allow() declare title: string;
  @Allow() declare authorId?: number;
}

const models = [Article, Letter, Writer] as ModelClass[];

except(OF_MANY).describe('values that the server sets', function () {
  this.timeout(60_000);
  const log = new CapturedLog();
  const prepare: NonNullable<Parameters<typeof TwoPaths.start>[0]['prepare']> = (app) => {
    app.use((request, _response, next) => {
      Object.assign(request, { user: USERS[request.get('user') ?? ''] });
      next();
    });
  };
  const paths = forSuite(() => TwoPaths.start({ models, prepare, bootstrap: { logger: log } }));

  before(() => Writer.bulkCreate([{ id: 1 }, { id: 2 }, { id: 100 }] as never[]));
  beforeEach(reset);

  async function reset(): Promise<void> {
    await Article.destroy({ where: {} });
    await Article.create(OLD);
  }
  const rows = () => Article.findAll({ order: ['id'], raw: true });
  const same = (request: WholeRequest, as = 'two') =>
    paths.same({ ...request, headers: { user: as, ...request.headers } }, reset);

  for (const [form, [request, expected]] of Object.entries(FORMS)) {
    it(`are those of ${form}`, async () => {
      const answer = await same(request);
      expect(answer.status, answer.body).to.be.oneOf([200, 201]);
      for (const { agent } of [await building(true), await building(false)]) {
        await reset();
        const { method = '', path, body, headers = {} } = request;
        const sent = agent[method.toLowerCase() as 'post'](path).set({ user: 'two', ...headers });
        await sent.send(body as object);
        expect(await rows()).to.deep.equal(expected);
      }
    });

    it(`are no part of the body of ${form}`, async () => {
      const sent = { authorId: 1, editorId: 1, touched: 'x' };
      const { body } = request;
      const answer = await same({
        ...request,
        body: Array.isArray(body)
          ? body.map((each) => ({ ...each, ...sent }))
          : { ...(body as object), ...sent },
      });
      const { errors } = JSON.parse(answer.body);
      expect(answer.status).to.equal(422);
      expect(new Set(errors.map(({ code }: { code: string }) => code))).to.deep.equal(new Set(['readOnly']));
      expect(await rows()).to.deep.equal([OLD]);
    });
  }

  const building = (fastPath: boolean, others: object = {}) =>
    buildApp({ models, logger: new CapturedLog(), indexAdvice: false, fastPath, ...others }, prepare);

  it('may be keys in other forms, name rows that are seen, and refuse a request without one', async () => {
    const post = { method: 'POST', path: '/articles', body: { id: 2, title } };
    for (const as of ['text', 'big']) {
      expect((await same(post, as)).status, as).to.equal(201);
      await reset();
    }
    for (const as of ['null', 'none']) {
      const wrong = { ...post, body: 'no body at all' };
      const answer = await same(wrong, as);
      const body = '{"detail":"This request has no access to Article."}';
      expect([answer.status, answer.body], as).to.deep.equal([403, body]);
    }
    const unseen = await same(post, 'unseen');
    expect([unseen.status, JSON.parse(unseen.body).errors[0].pointer]).to.deep.equal([409, '/authorId']);
    expect((await same({ method: 'PATCH', path: '/articles/1', body: { title } }, 'null')).status).to.equal(
      200,
    );
  });

  it('are what a body could have, or a mistake of the server that the log names', async () => {
    for (const [as, path] of [
      ['wrong', 'authorId must be an integer'],
      ['rounded', 'authorId must be an integer'],
    ] as const) {
      log.clear();
      const answer = await same({ method: 'POST', path: '/articles', body: { id: 2 } }, as);
      expect([answer.status, answer.body]).to.deep.equal([500, '{"detail":"Internal Server Error"}']);
      expect(log.text).to.include(`set of Article gave a value that no body could have: ${path}`);
    }
  });

  it('are seen by hooks, and by overrides, which may write others', async () => {
    const seen: unknown[] = [];
    class Overriding extends crudController(Article) {
      override create(
        ...[values, context]: Parameters<CrudController<Article>['create']>
      ): ReturnType<CrudController<Article>['create']> {
        seen.push(values.authorId);
        return super.create(values.title === 'own' ? { ...values, authorId: 1 } : values, context);
      }
    }
    class Decorated extends crudController(Article, { endpoints: ['create'] }) {
      override create(@Body() values: Form, context: CrudContext<Article>) {
        return super.create({ id: values.id, title: values.title }, context);
      }
    }
    const hook = (article: Article) => void seen.push(article.authorId);
    await withHook(Article, 'beforeValidate', hook, async () => {
      const { agent } = await building(true, { controllers: [Overriding] });
      const answers = [
        await agent.post('/articles').set('user', 'two').send({ id: 2, title }),
        await agent.post('/articles').set('user', 'two').send({ id: 3, title: 'own' }),
      ];
      expect(answers.map(({ body }) => body.authorId)).to.deep.equal([2, 1]);
    });
    expect(seen).to.deep.equal([2, 2, 2, 1]);
    const { agent } = await building(true, { controllers: [Decorated] });
    const own = await agent.post('/articles').set('user', 'two').send({ id: 4, title });
    expect(own.body).to.deep.equal({ id: 4, ...MADE });
    const refused = await agent.post('/articles').set('user', 'two').send({ id: 5, authorId: 1 });
    expect([refused.status, refused.body.errors[0].code]).to.deep.equal([422, 'readOnly']);
  });

  it('stay where a setter of another attribute writes them, too', async () => {
    const text = 'client';
    for (const request of [
      { method: 'POST', path: '/letters', body: { id: 1, text } },
      { method: 'POST', path: '/letters', body: [{ id: 1, text }] },
      { method: 'PUT', path: '/letters/1', body: { text } },
      { method: 'PATCH', path: '/letters/1', body: { text } },
      { method: 'PATCH', path: '/letters', body: [{ id: 1, text }] },
      { method: 'PATCH', path: '/letters?q=id==1', body: { text } },
    ]) {
      const undo = async () => {
        await Letter.destroy({ where: {} });
        if (request.method !== 'POST') await Letter.create({ id: 1, text: 'old' });
      };
      await undo();
      await paths.same(request, undo);
      expect(await Letter.findAll({ raw: true })).to.deep.equal([{ id: 1, author: 'server', text }]);
    }
  });

  it('are no part of the bodies of the document, which has a 403', () => {
    const { components, paths: described } = JSON.parse(JSON.stringify(paths.site.crud.openapi()));
    for (const name of ['ArticleCreate', 'ArticleUpdate', 'ArticleReplace'])
      expect(Object.keys(components.schemas[name].properties), name).to.not.include.members(['authorId']);
    expect(Object.keys(described['/articles/{id}'].patch.responses)).to.include('403');
    expect(Object.keys(described['/articles'].post.responses)).to.include('403');
    expect(Object.keys(described['/articles/{id}'].get.responses)).to.not.include('403');
  });

  it('are options that fit the model', async () => {
    const value = () => 1;
    for (const [options, problem] of [
      [{ set: { writerId: value } }, /^Article: set names 'writerId', which is not an attribute/],
      [
        { set: { authorId: 'me' } },
        /^Article: set.authorId is "me"; use a function of the request, or \{ value, on \}\.$/,
      ],
      [
        { set: { authorId: { value, on: 'delete' } } },
        /^Article: set.authorId.on is "delete"; use 'create', /,
      ],
      [{ set: { authorId: { value, on: 'both', when: 1 } } }, /^Article: set.authorId has no 'when'/],
      [{ set: { id: value } }, /^Article: set names 'id', which no request writes/],
      [
        { set: { authorId: value }, scope: { authorId: value } },
        /^Article: set names 'authorId', whose value scope/,
      ],
      [
        { set: { authorId: value }, fields: { authorId: { write: false } } },
        /and fields has a rule for writing it/,
      ],
      [{ set: undefined }, /^Article: set is undefined; give it a value, or leave it out/],
    ] as const) {
      const build = () =>
        building(true, { controllers: [class extends crudController(Article, options as object) {}] });
      expect((await configProblems(build)).join()).to.match(problem);
    }
  });
});
