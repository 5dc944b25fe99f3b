/** A write whose answer cannot be made: the row is not written either. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Exclude, Expose, Transform } from 'class-transformer';
import type { Response } from 'express';
import {
  type Action,
  Body,
  HttpError,
  Interceptor,
  type InterceptorInterface,
  JsonController,
  OnNull,
  OnUndefined,
  Param,
  Post,
  Res,
  UseInterceptor,
} from 'routing-controllers';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  InjectListQuery,
  InjectUnitOfWork,
  type ListQuery,
  type UnitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp, type TestApp } from '../../support/test-app.js';

/** A value that no answer can show. */
const SECRET = 'unspeakable';

function speak(value: unknown): unknown {
  if (value === SECRET) throw new RangeError('This cannot be said.');
  return value;
}

/** The application's replacer: of one model, so that the others are refused for reasons of their own. */
function replace(this: object, name: string, value: unknown): unknown {
  return name === 'text' && Object.hasOwn(this, 'extra') ? speak(value) : value;
}

class Text extends NumberedRow {
  @Column(DataType.STRING(40)) declare text: string;
}

@Crud()
@Table({ tableName: 'gotten', timestamps: false })
class Gotten extends NumberedRow {
  @Column(DataType.STRING(40))
  get text(): string {
    return speak(this.getDataValue('text')) as string;
  }
}

@Crud()
@Table({ tableName: 'seemings', timestamps: false })
class Seeming extends Text {
  @Column(DataType.VIRTUAL)
  get seen(): unknown {
    const ring: Record<string, unknown> = {};
    if (this.getDataValue('text') === SECRET) ring['ring'] = ring;
    return ring;
  }
}

@Crud()
@Table({ tableName: 'transformed', timestamps: false })
class Transformed extends NumberedRow {
  @Transform(({ value }) => speak(value), { toPlainOnly: true })
  @Column(DataType.STRING(40))
  declare text: string;
}

class SchemedRead {
  @Expose() id!: number;
  @Expose() @Transform(({ value }) => speak(value), { toPlainOnly: true }) text!: string;
}

@Crud({ readSchema: SchemedRead })
@Table({ tableName: 'schemed', timestamps: false })
class Schemed extends Text {}

/** A model whose key is in the address of a record only. */
@Crud()
@Table({ tableName: 'addressed', timestamps: false })
class Addressed extends Model {
  @Exclude({ toPlainOnly: true })
  @PrimaryKey
  @Column({
    type: DataType.STRING(40),
    get(this: Addressed) {
      return speak(this.getDataValue('text'));
    },
  })
  declare text: string;
}

/** A model without code of the user's; the application's own replacer sees its answers. */
@Crud()
@Table({ tableName: 'replaced', timestamps: false })
class Replaced extends Text {
  @Column(DataType.JSONB) declare extra: object;
}

/** A model whose controller answers by itself. */
@Crud()
@Table({ tableName: 'answered', timestamps: false })
class Answered extends Text {}

class AnsweredController extends crudController(Answered) {
  override async create(values: CreateValues<Answered>, context: CrudContext<Answered>): Promise<Answered> {
    await super.create(values, context);
    context.response.status(201).json({});
    // The type promises a record; code in JavaScript returns nothing.
    return undefined as unknown as Answered;
  }
}

const MODELS = [Gotten, Seeming, Transformed, Schemed, Addressed, Replaced, Answered] as const;

@Exclude()
class Report {
  @Expose() @Transform(({ value }) => speak(value), { toPlainOnly: true }) readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Results of the user's routes; none of them can be sent with the secret text. */
const RESULTS: Readonly<Record<string, (text: string, record: Gotten) => unknown>> = {
  record: (_text, record) => record,
  report: (text) => new Report(text),
  big: (text) => ({ text, number: text === SECRET ? 1n : 1 }),
  own: (text) => ({ toJSON: () => speak(text) }),
};

async function write(uow: UnitOfWork, kind: string, { text }: { text: string }): Promise<unknown> {
  const record = await uow.repository(Gotten).create({ text });
  return RESULTS[kind]?.(text, record);
}

class GottenController extends crudController(Gotten) {
  @Post('/added/:kind')
  added(@Param('kind') kind: string, @Body() body: { text: string }, @InjectUnitOfWork() uow: UnitOfWork) {
    return write(uow, kind, body);
  }
}

class SeemingController extends crudController(Seeming) {
  @Post('/page')
  async paged(
    @Body() { text }: { text: string },
    @InjectListQuery() query: ListQuery,
    @InjectUnitOfWork() uow: UnitOfWork,
  ) {
    const seemings = uow.repository(Seeming);
    await seemings.create({ text });
    return seemings.page(query as never);
  }
}

class Missing extends HttpError {
  constructor() {
    super(410, 'Gone');
  }
}

@JsonController('/by-hand')
class HandController {
  @Post('/nothing')
  async makeNothing(@Body() body: { text: string }, @InjectUnitOfWork() uow: UnitOfWork): Promise<void> {
    await write(uow, 'record', body);
  }

  @OnUndefined(Missing)
  @Post('/missing')
  makeMissing(@Body() body: { text: string }, @InjectUnitOfWork() uow: UnitOfWork): Promise<void> {
    return this.makeNothing(body, uow);
  }

  @OnNull(Missing)
  @Post('/null')
  async makeNull(@Body() body: { text: string }, @InjectUnitOfWork() uow: UnitOfWork): Promise<null> {
    await write(uow, 'record', body);
    return null;
  }

  @OnUndefined(204)
  @Post('/empty')
  makeEmpty(@Body() body: { text: string }, @InjectUnitOfWork() uow: UnitOfWork): Promise<void> {
    return this.makeNothing(body, uow);
  }

  @Post('/answered')
  async makeAnswered(
    @Body() body: { text: string },
    @InjectUnitOfWork() uow: UnitOfWork,
    @Res() response: Response,
  ): Promise<void> {
    await write(uow, 'record', body);
    response.json({});
  }

  @UseInterceptor(() => ({ made: true }))
  @Post('/intercepted-nothing')
  makeForInterceptor(@Body() body: { text: string }, @InjectUnitOfWork() uow: UnitOfWork): Promise<void> {
    return this.makeNothing(body, uow);
  }

  @Post('/:kind')
  make(@Param('kind') kind: string, @Body() body: { text: string }, @InjectUnitOfWork() uow: UnitOfWork) {
    return write(uow, kind, body);
  }

  @UseInterceptor(async (_action: Action, result: unknown) => ({ result, count: await Gotten.count() }))
  @Post('/intercepted/:kind')
  intercept(
    @Param('kind') kind: string,
    @Body() body: { text: string },
    @InjectUnitOfWork() uow: UnitOfWork,
  ) {
    return write(uow, kind, body);
  }
}

/** An interceptor of the application: it adds a record to the object that a method has returned, or returns it alone. */
@Interceptor()
class GiveAlong implements InterceptorInterface {
  intercept(_action: Action, result: unknown): unknown {
    return Object.assign((result ?? {}) as object, { beside: Addressed.build({ text: 'hidden' }) });
  }
}

const exceptHeld = except({
  unit: 'its middleware holds answers back until the commit, so nothing tells that the method has answered',
});
const exceptIntercepted = except({
  values:
    'its interceptor runs after the commit, and could make a result of nothing, so that nothing is no error before',
});

describe('a write whose answer cannot be shaped', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: MODELS,
    bootstrap: {
      controllers: [GottenController, SeemingController, AnsweredController, HandController],
      logger,
    },
    engine: { pool: { max: 1 } },
    prepare: (app) => app.set('json replacer', replace),
  }));

  const refuse = async (method: 'post' | 'patch', path: string, { agent }: Pick<TestApp, 'agent'> = site) => {
    const response = await agent[method](path).send({ text: SECRET });
    expectProblem(response, 500, { detail: 'Internal Server Error' });
    expect(response.headers).not.to.have.property('location');
  };
  const texts = async () => {
    const [rows] = await site.engine.sequelize.query(
      MODELS.map(({ tableName }) => `SELECT text FROM ${tableName}`).join(' UNION ALL '),
    );
    return rows.map((row) => (row as { text: string }).text);
  };

  beforeEach(() => emptyTables(site, ...MODELS.map(({ tableName }) => tableName)));

  const OF_MODELS = [
    ['a getter', '/gottens'],
    ['a virtual attribute', '/seemings'],
    ['a @Transform', '/transformeds'],
    ['a read schema', '/schemeds'],
  ] as const;

  /** Expects a create and a change to write nothing. */
  async function expectUnwritten(path: string, app: Pick<TestApp, 'agent'> = site): Promise<void> {
    await refuse('post', path, app);
    expect(await texts()).to.deep.equal([]);
    const { body, headers } = await app.agent.post(path).send({ text: 'kept' });
    expect(headers['location']).to.equal(`${path}/${body.id}`);
    await refuse('patch', `${path}/${body.id}`, app);
    expect(await texts()).to.deep.equal(['kept']);
  }

  for (const [what, path] of OF_MODELS) {
    it(`writes no row because of ${what}`, () => expectUnwritten(path));

    it(`writes no row because of ${what}, where the application has no replacer`, async () =>
      expectUnwritten(path, await buildApp({ models: MODELS, logger })));
  }

  it("writes no row because of the application's replacer", () => expectUnwritten('/replaceds'));

  it('creates no row because of a getter of a hidden key', async () => {
    await refuse('post', '/addresseds');
    expect(await texts()).to.deep.equal([]);
  });

  exceptHeld.it('commits an override that has answered by itself and returns nothing', async () => {
    expect((await site.agent.post('/answereds').send({ text: 'kept' })).status).to.equal(201);
    while (!(await texts()).length) await sleep(2);
    expect(await texts()).to.deep.equal(['kept']);
  });

  for (const [path, status, detail] of [
    ['nothing', 404, 'Not Found'],
    ['missing', 410, 'Gone'],
    ['null', 410, 'Gone'],
  ] as const) {
    exceptIntercepted.it(
      `commits nothing of a route whose result is an error of routing-controllers: ${path}`,
      async () => {
        expectProblem(await site.agent.post(`/by-hand/${path}`).send({ text: 'lost' }), status, { detail });
        expect(await texts()).to.deep.equal([]);
      },
    );
  }

  for (const [path, status] of [
    ['empty', 204],
    ['intercepted-nothing', 200],
    ['answered', 200],
  ] as const) {
    const exceptAnswered = path === 'answered' ? exceptHeld.it : it;
    exceptAnswered(`commits a route without a result that is no error: ${path}`, async () => {
      expect((await site.agent.post(`/by-hand/${path}`).send({ text: 'kept' })).status).to.equal(status);
      // One that answers by itself does so before the commit.
      while (!(await texts()).length) await sleep(2);
      expect(await texts()).to.deep.equal(['kept']);
    });
  }

  for (const [whose, path] of [
    ['an added route', '/gottens/added'],
    ['a hand-written controller', '/by-hand'],
    ['a route with an interceptor', '/by-hand/intercepted'],
  ] as const) {
    for (const kind of Object.keys(RESULTS)) {
      it(`commits nothing of ${whose} that returns: ${kind}`, async () => {
        await refuse('post', `${path}/${kind}`);
        expect(await texts()).to.deep.equal([]);
        expect((await site.agent.post(`${path}/${kind}`).send({ text: 'kept' })).status).to.equal(200);
        expect(await texts()).to.deep.equal(['kept']);
      });
    }
  }

  it('commits nothing of an added route that returns a page', async () => {
    await Seeming.destroy({ where: {} });
    await refuse('post', '/seemings/page');
    expect(await Seeming.count()).to.equal(0);
    expect((await site.agent.post('/seemings/page').send({ text: 'kept' })).status).to.equal(200);
    expect(await Seeming.count()).to.equal(1);
  });

  it('creates no row where a hook has given the record what JSON does not have', async () => {
    const { agent } = await buildApp({ models: [Replaced], logger });
    const spoil = (record: Replaced) => record.setDataValue('extra', { number: 1n });
    using _hook = addedHook(Replaced, ['afterCreate', 'afterFind'], spoil);
    const response = await agent.post('/replaceds').send({ text: 'lost' });
    expectProblem(response, 500, { detail: 'Internal Server Error' });
    expect(await texts()).to.deep.equal([]);
  });

  it('sends what was shaped', async () => {
    const { body } = await site.agent.post('/by-hand/report').send({ text: 'kept' });
    expect(body).to.deep.equal({ text: 'kept' });
  });

  it('runs interceptors after the commit: they see what is written', async () => {
    const { body } = await site.agent.post('/by-hand/intercepted/report').send({ text: 'kept' });
    expect(body).to.deep.equal({ result: { text: 'kept' }, count: 1 });
  });

  it('leaves the result to interceptors of the application, and shows what they add as everywhere', async () => {
    const { agent } = await buildApp({
      models: MODELS,
      controllers: [HandController],
      routing: { interceptors: [GiveAlong] },
    });
    const send = (path: string) => agent.post(`/by-hand/${path}`).send({ text: 'kept' });
    expectJson(await send('big'), 200, { text: 'kept', number: 1, beside: {} });
    expectJson(await send('nothing'), 200, { beside: {} });
    expect(await texts()).to.deep.equal(['kept', 'kept']);
  });
});
