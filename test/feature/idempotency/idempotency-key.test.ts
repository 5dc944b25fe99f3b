/** `Idempotency-Key`: a write that is sent again is done once, and answered with the same bytes. */
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import express, { type Express, type Request } from 'express';
import { Interceptor, type InterceptorInterface, Req, UploadedFile } from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import supertest, { type Response, type Test } from 'supertest';
import {
  type BootstrapOptions,
  ConfigError,
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  EVERYTHING,
  filter,
  type IdempotencyOptions,
  InjectUnitOfWork,
  type UnitOfWork,
  type UpdateValues,
} from '../../../src/index.js';
import { callbacksUnderWay } from '../../../src/postgres/session/commit-callbacks.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { type BuiltApp, buildApp, buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectProblem } from '../../support/expect-answer.js';
import { expectReplay, OTHER, UNANSWERED, UNDER_WAY, UNREAD } from '../../support/expect-replay.js';
import { runInUnit } from '../../support/run-in-unit.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'restore', 'purge'],
  scope: {
    tenant: (request) =>
      request.get('x-tenants')?.split(',').map(Number) ?? Number(request.get('x-tenant') ?? 1),
  },
  visible: (request) => {
    const paid = request.get('x-paid');
    return paid === undefined ? EVERYTHING : filter`paid==${paid === 'true'}`;
  },
  can: {
    create: (request) => request.get('x-guest') === undefined,
    update: true,
    delete: true,
    list: true,
    read: true,
  },
  fields: { amount: { read: (request) => request.get('x-clerk') === undefined } },
})
@Table({ tableName: 'payments', paranoid: true, version: true, indexes: [{ fields: ['tenant', 'id'] }] })
class Payment extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column({ type: DataType.STRING(200), allowNull: false, unique: true }) declare name: string;
  @Column({ type: DataType.DECIMAL(10, 2), allowNull: true }) declare amount: string | null;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare paid: boolean;
  @Column({ type: DataType.JSONB, allowNull: true }) declare extra: unknown;
}

@Crud()
@Table({ tableName: 'tickets', timestamps: false })
class Ticket extends NumberedRow {}

/** Everything that the text of a row has to quote. */
const BODY = {
  name: 'a "quoted", \\ (odd)\n\u00fc\u{1f600}',
  amount: '10.50',
  paid: true,
  extra: { a: [1, null, '"'] },
};
const IDEMPOTENCY: IdempotencyOptions = { principal: (request) => request.get('x-user') ?? 'ann' };
const KEY = '8e03978e-40d5-43dd-bc93-6894a57f9324';
const FORBIDDEN = { detail: 'This request has no access.' };

describe('an Idempotency-Key', () => {
  const site = serveTestApp(() => ({
    models: [Payment],
    bootstrap: { models: [Payment], idempotency: IDEMPOTENCY },
    minPool: 3,
    engine: { dialectOptions: { lock_timeout: 1_000 } },
  }));

  beforeEach(() => emptyTables(site, 'payments', 'crud_idempotency'));

  const serve = (options: BootstrapOptions = {}, prepare?: (app: Express) => void) =>
    buildApp({ models: [Payment], idempotency: IDEMPOTENCY, ...options }, prepare);
  const post = ({ agent }: Pick<BuiltApp, 'agent'>, key = KEY, body: object = BODY): Test =>
    agent.post('/payments').set('idempotency-key', key).send(body);
  const create = (key?: string, body?: object): Test => post(site, key, body);
  const rows = () => Payment.count({ paranoid: false });
  const keys = () =>
    site.engine.sequelize.query<Record<string, unknown>>('SELECT * FROM crud_idempotency', {
      type: QueryTypes.SELECT,
    });

  /** Waits until a statement of this database waits for another transaction, or the request is over. */
  const waiting = async (isOver: () => boolean) => {
    const asked =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    const count = async () => (await site.engine.sequelize.query(asked, { type: QueryTypes.SELECT })).length;
    while (!isOver() && (await count()) === 0) await sleep(2);
  };

  describe('of each write', () => {
    it('[E16 K2 K16 K17 K22] has a create done once', async () => {
      const first = await create();
      expect([first.status, first.headers['location']]).to.deep.equal([201, '/payments/1']);
      expect(first.headers['etag']).to.match(/^"0[".]/);
      expectReplay(first, await create());
      expectReplay(first, await create());
      expect(await rows()).to.equal(1);
    });

    it('[K22] has an update done once, also one that changes nothing', async () => {
      await create();
      const send = (key: string) =>
        site.agent.patch('/payments/1').set('idempotency-key', key).send({ name: 'b', paid: false });
      for (const key of ['one', 'two']) {
        const first = await send(key);
        expect(first.status).to.equal(200);
        expect(first.headers['etag']).to.match(/^"1[".]/);
        expectReplay(first, await send(key));
      }
      const nothing = () => site.agent.patch('/payments/1').set('idempotency-key', 'three').send({});
      expectReplay(await nothing(), await nothing());
    });

    it('is of the state before, where the record has changed since', async () => {
      await create();
      const send = () => site.agent.patch('/payments/1').set('idempotency-key', 'one').send({ name: 'b' });
      const first = await send();
      await site.agent.patch('/payments/1').send({ name: 'c' });
      expectReplay(first, await send());
      expect((await Payment.findByPk(1))?.name).to.equal('c');
    });

    it('[K17] comes before a condition that no longer holds', async () => {
      await create();
      const headers = { 'idempotency-key': 'one', 'if-match': '"0"' };
      const send = () => site.agent.patch('/payments/1').set(headers).send({ name: 'b' });
      expectReplay(await send(), await send());
    });

    it('[K22] has a delete, a restore and a purge done once', async () => {
      await create();
      const sends = [
        () => site.agent.delete('/payments/1').set('idempotency-key', 'delete'),
        () => site.agent.post('/payments/1/restore').set('idempotency-key', 'restore'),
        () => site.agent.delete('/payments/1').set('idempotency-key', 'again'),
        () => site.agent.delete('/payments/1/purge').set('idempotency-key', 'purge'),
      ];
      const statuses = [204, 200, 204, 204];
      for (const [index, send] of sends.entries()) {
        const first = await send();
        expect(first.status).to.equal(statuses[index]);
        expectReplay(first, await send());
      }
      expect(await rows()).to.equal(0);
    });

    it('is ignored by reads', async () => {
      for (const path of ['/payments', '/payments?size=1']) {
        expect((await site.agent.get(path).set('idempotency-key', '"')).status).to.equal(200);
      }
      expect(await keys()).to.deep.equal([]);
    });
  });

  describe('is refused', () => {
    it('[K21] where it is malformed, and nothing is done', async () => {
      const malformed = ['', 'a b', '"a", "b"', 'x'.repeat(256), ':YQ==:, a'];
      for (const key of [...malformed, ...'" "a a"b "a"b" "" "a";p=1 "ü"'.split(' ')]) {
        const refused = await create(key);
        expect([key, refused.status]).to.deep.equal([key, 400]);
        expect(refused.body.detail).to.match(/^Idempotency-Key is no text of 1 to 255 ASCII characters/);
      }
      expect([await rows(), (await keys()).length]).to.deep.equal([0, 0]);
    });

    it('[K21] as little as any text of 255 characters, quoted or bare', async () => {
      expectReplay(await create(`"${'x'.repeat(255)}"`), await create('x'.repeat(255)));
      const quoted = await create('"a \\"b\\" \\\\"', { name: 'second' });
      expectReplay(quoted, await create('"a \\"b\\" \\\\"', { name: 'second' }));
      expect((await keys()).map(({ key }) => key)).to.include.members(['x'.repeat(255), 'a "b" \\']);
    });

    it('[E16 K1 K12] with 422 for another request', async () => {
      await create();
      expectProblem(await create(KEY, { ...BODY, name: 'other' }), 422, OTHER);
      await site.agent.patch('/payments/1').set('idempotency-key', KEY).send({ paid: false });
      const other = await site.agent.patch('/payments/2').set('idempotency-key', KEY).send({ paid: false });
      expectProblem(other, 422, OTHER);
      expect(await rows()).to.equal(1);
    });

    it('[K4 K12] with 422 for a body of other bytes, though it says the same', async () => {
      const send = (text: string) =>
        site.agent.post('/payments').set('idempotency-key', KEY).type('json').send(text);
      const text = '{"name":"a","paid":true}';
      expectReplay(await send(text), await send(text));
      for (const other of [
        '{"name": "a","paid":true}',
        '{"paid":true,"name":"a"}',
        text.replace('a"', '\\u0061"'),
      ])
        expectProblem(await send(other), 422, OTHER);
      expect(await rows()).to.equal(1);
    });

    it('[K12] with 422 for the same request within another scope', async () => {
      await create();
      expectProblem(await create().set('x-tenant', '2'), 422, OTHER);
    });

    it('[K1 K9] with 400 where it is missing and required', async () => {
      const built = await serve({ idempotency: { ...IDEMPOTENCY, required: true } });
      const { agent } = built;
      const detail =
        'A write needs the header Idempotency-Key: a text for this request alone, such as a random UUID.';
      expectProblem(await agent.post('/payments').send(BODY), 400, { detail });
      expectProblem(await agent.delete('/payments/1'), 400, { detail });
      expect((await agent.get('/payments')).status).to.equal(200);
      expect((await post(built)).status).to.equal(201);
    });

    it('[K25] where the application does not keep any, and nothing is done', async () => {
      const built = await buildApp({ models: [Payment] });
      const refused = await post(built);
      expect([refused.status, refused.body.detail]).to.deep.equal([
        400,
        'Idempotency-Key is not kept here, so that the request would be done again, and nothing was done; leave it out, or ' +
          'have the server set the option idempotency.',
      ]);
      expect(await rows()).to.equal(0);
      expect((await built.agent.get('/payments').set('idempotency-key', KEY)).status).to.equal(200);
    });
  });

  describe('keeps only what has succeeded', () => {
    it('[K13] so that a request may be sent again after 404, 409, 412 and 422', async () => {
      await Payment.create({ tenant: 1, name: 'taken' });
      const change = (id: number) => site.agent.patch(`/payments/${id}`).set('idempotency-key', 'change');
      expect((await create(KEY, { name: 'taken' })).status).to.equal(409);
      expect((await create(KEY, { name: '', paid: 7 })).status).to.equal(422);
      expect((await change(1).set('if-match', '"7"').send({ name: 'b' })).status).to.equal(412);
      expect((await change(9).send({ name: 'b' })).status).to.equal(404);
      expect(await keys()).to.deep.equal([]);
      expectReplay(await create(), await create());
    });

    it('[K3 K8] also where a hook has failed', async () => {
      {
        using _failing = addedHook(Payment, 'afterCreate', () => Promise.reject(new Error('after')));
        expect((await create()).status).to.equal(500);
        expect([await rows(), (await keys()).length]).to.deep.equal([0, 0]);
      }
      expect((await create()).status).to.equal(201);
    });

    it('where the answer cannot be kept, and nothing is done', async () => {
      const { sequelize } = site.engine;
      await sequelize.query(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
          IF NEW.answer IS NOT NULL THEN RAISE 'full' USING ERRCODE = '53100'; END IF;
          RETURN NEW;
        END $f$;
        CREATE TRIGGER refusing BEFORE INSERT OR UPDATE ON crud_idempotency FOR EACH ROW EXECUTE FUNCTION refuse();`);
      try {
        expect((await create()).status).to.be.oneOf([500, 503]);
        expect([await rows(), (await keys()).length]).to.deep.equal([0, 0]);
      } finally {
        await sequelize.query('DROP TRIGGER refusing ON crud_idempotency; DROP FUNCTION refuse()');
      }
      expect((await create()).status).to.equal(201);
    });
  });

  describe('belongs to', () => {
    it('[K9 K11] a principal: two never share one', async () => {
      const [ann, bob] = [await create(), await create(KEY, { name: 'b' }).set('x-user', 'bob')];
      expect([ann.status, bob.status]).to.deep.equal([201, 201]);
      expectReplay(bob, await create(KEY, { name: 'b' }).set('x-user', 'bob'));
    });

    it('[K7] nothing where there is no principal', async () => {
      for (const principal of [() => null, () => undefined, () => '', async () => undefined]) {
        const built = await serve({ idempotency: { principal } });
        expectProblem(await post(built), 403, FORBIDDEN);
        expect((await built.agent.get('/payments')).status).to.equal(200);
      }
      const principal = (() => 7) as unknown as IdempotencyOptions['principal'];
      const wrong = await serve({ idempotency: { principal }, logger: new CapturedLog() });
      expect((await post(wrong)).status).to.equal(500);
      expect(await rows()).to.equal(0);
    });

    it('[K19] the attributes that the request may read: an answer with others is not repeated, and nothing is written', async () => {
      const first = await create();
      expect(first.body).to.have.property('amount');
      expectProblem(await create().set('x-clerk', '1'), 409, UNANSWERED);
      expectReplay(first, await create());
      const other = await create('of-clerk', { name: 'b' }).set('x-clerk', '1');
      expect([other.status, 'amount' in other.body]).to.deep.equal([201, false]);
      expect(await rows()).to.equal(2);
    });

    it('[K19] the rows that the request may see: an answer about other rows is not repeated', async () => {
      await create();
      const patch = (name: string, sees: Record<string, string>) =>
        site.agent.patch('/payments/1').set('idempotency-key', name).set(sees).send({ paid: false });
      for (const [name, before, after] of [
        ['x-tenants', '1,2', '2,3'],
        ['x-paid', 'false', 'true'],
      ] as const) {
        const first = await patch(name, { [name]: before });
        expect(first.status).to.equal(200);
        expectReplay(first, await patch(name, { [name]: before }));
        expectProblem(await patch(name, { [name]: after }), 409, UNANSWERED);
      }
    });

    it('[K5 K11] a method and a route', async () => {
      const statuses: number[] = [];
      for (const send of [
        () => create(),
        () => site.agent.patch('/payments/1').send({ name: 'b' }),
        () => site.agent.delete('/payments/1'),
        () => site.agent.post('/payments/1/restore'),
        () => site.agent.delete('/payments/1').set('idempotency-key', 'again'),
        () => site.agent.delete('/payments/1/purge'),
      ]) {
        const request = send();
        const answer = await (request.get('idempotency-key') ? request : request.set('idempotency-key', KEY));
        expect(answer.headers).not.to.have.property('idempotent-replayed');
        statuses.push(answer.status);
      }
      expect(statuses).to.deep.equal([201, 200, 204, 200, 204, 204]);
    });

    it('a resource: one at another path has its own', async () => {
      class Bills extends crudController(Payment, { prefix: '/bills' }) {}
      const { agent } = await serve({ models: [], controllers: [Bills] });
      expect((await create()).status).to.equal(201);
      const bill = await agent.post('/bills').set('idempotency-key', KEY).send({ name: 'b' });
      expect([bill.status, bill.headers['location']]).to.deep.equal([201, '/bills/2']);
    });

    it('a place: an application that is mounted elsewhere has its own', async () => {
      const { app } = await serve();
      const agent = supertest(express().use('/one', app).use('/other', app));
      const send = (place: string) =>
        agent.post(`/${place}/payments`).set('idempotency-key', KEY).send({ name: place });
      const [one, other] = [await send('one'), await send('other')];
      expect([one.status, other.status]).to.deep.equal([201, 201]);
      expectReplay(one, await send('one'));
      expectReplay(other, await send('other'));
    });

    it('[K18] who may do it now: a replay comes behind dependencies and can', async () => {
      class Payments extends crudController(Payment, {
        dependencies: [
          (request, response, next) => void (request.get('x-stranger') ? response.status(401).end() : next()),
        ],
      }) {}
      const built = await serve({ models: [], controllers: [Payments] });
      const send = () => post(built);
      expect((await send()).status).to.equal(201);
      expect((await send().set('x-stranger', '1')).status).to.equal(401);
      expect((await send().set('x-guest', '1')).status).to.equal(403);
      expect((await send()).headers['idempotent-replayed']).to.equal('true');
    });
  });

  describe('of requests at the same time', () => {
    it('[E16 K1 K6] has one of them done, and the others answered with the same or with 409', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => create()));
      const done = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
      expect(done.filter(({ status }) => status === 201)).to.have.length(1);
      for (const answer of answers.filter((each) => each.status !== 201))
        expectProblem(answer, 409, UNDER_WAY);
      expect(await rows()).to.equal(1);
    });

    it('waits for the first one, and is answered as that', async () => {
      const ended = deferred();
      using _waiting = addedHook(Payment, 'beforeCreate', () => ended.promise);
      let isOver = false;
      const sent = [create(), create()].map(async (each) => {
        const answer = await each;
        isOver = true;
        return answer;
      });
      await waiting(() => isOver);
      ended.resolve();
      const answers = await Promise.all(sent);
      const isReplay = ({ headers }: Response) => 'idempotent-replayed' in headers;
      expect(answers.filter(isReplay)).to.have.length(1);
      expectReplay(answers.find((each) => !isReplay(each)) as Response, answers.find(isReplay) as Response);
      expect(await rows()).to.equal(1);
    });

    it('[K6 K20] waits for the first one up to the lock timeout, then is 409 with Retry-After', async () => {
      const [begun, ended] = [deferred(), deferred()];
      using _waiting = addedHook(Payment, 'beforeCreate', () => {
        begun.resolve();
        return ended.promise;
      });
      const first = create().then((answer) => answer);
      await begun.promise;
      const refused = await create();
      expectProblem(refused, 409, UNDER_WAY);
      expect(refused.headers['retry-after']).to.equal('1');
      ended.resolve();
      expectReplay(await first, await create());
    });
  });

  describe('holds', () => {
    it('[K26] for overrides, units of work of their parameters, and what they set', async () => {
      let calls = 0;
      class Payments extends crudController(Payment) {
        override async create(
          values: CreateValues<Payment>,
          context: CrudContext<Payment>,
          @InjectUnitOfWork() _unit?: UnitOfWork,
        ) {
          calls += 1;
          const payment = await super.create(values, context);
          context.response.status(202).location('/elsewhere');
          // An override may answer any object.
          return { id: payment.id, name: `call ${calls}` } as Payment;
        }
      }
      const built = await serve({ controllers: [Payments] });
      const send = () => post(built);
      const first = await send();
      expect([first.body, calls]).to.deep.equal([{ id: 1, name: 'call 1' }, 1]);
      expectReplay(first, await send());
      expect([calls, await rows()]).to.deep.equal([1, 1]);
    });

    it('for files of an override: another one is another request', async () => {
      class Payments extends crudController(Payment) {
        override async create(@UploadedFile('photo') photo: never, @Req() request: never) {
          const { originalname } = photo as { readonly originalname: string };
          const { name } = (request as Request).body;
          return Payment.create({ name, tenant: 1, extra: originalname });
        }
      }
      const { agent } = await serve({ controllers: [Payments] });
      const send = (bytes: string, photo = 'a.png') =>
        agent
          .post('/payments')
          .set('idempotency-key', KEY)
          .field('name', 'with a photo')
          .attach('photo', Buffer.from(bytes), photo);
      const first = await send('one');
      expect([first.status, first.body.extra]).to.deep.equal([201, 'a.png']);
      expectReplay(first, await send('one'));
      expectProblem(await send('two'), 422, OTHER);
      expectProblem(await send('one', 'b.png'), 422, OTHER);
    });

    it('for no body that an override reads by itself: nothing shows that it is another one', async () => {
      let calls = 0;
      class Payments extends crudController(Payment) {
        override async create(@Req() request: never) {
          calls += 1;
          return Payment.create({ name: String(await text(request)), tenant: 1 });
        }
      }
      const { agent } = await serve({ controllers: [Payments] });
      const refused = await agent.post('/payments').type('text').set('idempotency-key', KEY).send('one');
      expectProblem(refused, 400, UNREAD);
      expect(calls).to.equal(0);
    });

    it('for overrides that answer by themselves: they are not called again', async () => {
      class Payments extends crudController(Payment) {
        override async create(values: CreateValues<Payment>, context: CrudContext<Payment>) {
          await super.create(values, context);
          const status = Number(context.request.get('x-status'));
          // The types of methods do not say that they may give the response.
          return context.response.status(status).json({ by: 'itself' }) as never;
        }
      }
      const { agent } = await serve({ controllers: [Payments] });
      const send = (name: string, status: string) =>
        agent.post('/payments').set('idempotency-key', name).set('x-status', status).send({ name });
      expect((await send('a', '201')).status).to.equal(201);
      expectProblem(await send('a', '201'), 409, UNANSWERED);
      expect((await send('b', '404')).status).to.equal(404);
      expect((await keys()).map(({ key }) => key)).to.deep.equal(['a']);
    });

    it('for a status that a middleware sets: a replay has that of the first answer', async () => {
      const { agent } = await serve({}, (app) =>
        app.use((request, response, next) => {
          response.status(Number(request.get('x-status') ?? 200));
          next();
        }),
      );
      // A create has a status of its own.
      const create = () => post({ agent }, 'a', { name: 'a' }).set('x-status', '404');
      const created = await create();
      expect(created.status).to.equal(201);
      expectReplay(created, await create());
      const send = (key: string, status: string) =>
        agent.patch('/payments/1').set({ 'idempotency-key': key, 'x-status': status }).send({ name: key });
      for (const [key, first, second] of [
        ['b', '202', '200'],
        ['c', '200', '202'],
      ] as const) {
        const answer = await send(key, first);
        expect(answer.status).to.equal(Number(first));
        expectReplay(answer, await send(key, second));
      }
      // An answer that is no success is not kept, so that the client may send the request again.
      for (const status of ['303', '404']) {
        expect((await send('d', status)).status).to.equal(Number(status));
        expect((await send('d', '200')).headers['idempotent-replayed']).to.equal(undefined);
        await emptyTables(site, 'crud_idempotency');
      }
    });

    it('for an update with parameters of its own, and a header, where the request may not create', async () => {
      class Payments extends crudController(Payment) {
        override update(
          id: number,
          values: UpdateValues<Payment>,
          context: CrudContext<Payment>,
          @InjectUnitOfWork() _unit?: UnitOfWork,
        ) {
          context.response.location('/elsewhere');
          return super.update(id, values, context);
        }
      }
      const { agent } = await serve({ controllers: [Payments] });
      await Payment.create({ id: 1, tenant: 1, name: 'a' });
      const send = () =>
        agent.patch('/payments/1').set({ 'idempotency-key': KEY, 'x-guest': '1' }).send({ name: 'b' });
      const first = await send();
      expect([first.status, first.headers['location']]).to.deep.equal([200, '/elsewhere']);
      expectReplay(first, await send());
    });

    it('for units of work that a middleware has begun', async () => {
      const built = await serve({}, (app) => app.use(runInUnit(() => site.engine.sequelize)));
      expectReplay(await post(built), await post(built));
      expect(await rows()).to.equal(1);
    });

    it('[K26] for hooks, which run once', async () => {
      let calls = 0;
      using _counting = addedHook(Payment, 'afterSave', () => {
        calls += 1;
      });
      expectReplay(await create(), await create());
      expect(calls).to.equal(1);
    });

    it('[K26] for interceptors, which are given the same once more', async () => {
      @Interceptor()
      class Wrap implements InterceptorInterface {
        intercept(_action: unknown, content: unknown): unknown {
          return { wrapped: content };
        }
      }
      const built = await serve({ routing: { interceptors: [Wrap] } });
      const first = await post(built);
      expect(first.body.wrapped.name).to.equal(BODY.name);
      expectReplay(first, await post(built));
    });

    it('[K26] for bodies that a middleware has parsed', async () => {
      const built = await serve({}, (app) => app.use(express.json()));
      expectReplay(await post(built), await post(built));
      expectProblem(await post(built, KEY, { name: 'other' }), 422, OTHER);
    });

    it('[K15] on either path for what the other one has kept', async () => {
      const [ours, theirs] = await buildBoth({ models: [Payment], idempotency: IDEMPOTENCY });
      const body = (name: string) => ({ ...BODY, name });
      expectReplay(await post(ours, 'a', body('a')), await post(theirs, 'a', body('a')));
      expectReplay(await post(theirs, 'b', body('b')), await post(ours, 'b', body('b')));
    });
  });

  describe('is kept', () => {
    it('[K3] for 24 hours: an older one counts as new', async () => {
      const age = (hours: number) =>
        site.engine.sequelize.query(
          `UPDATE crud_idempotency SET created_at = now() - interval '${hours} hours'`,
        );
      const first = await create();
      await age(23);
      expectReplay(first, await create());
      await age(25);
      const second = await create(KEY, { name: 'second' });
      expect([second.status, second.headers['idempotent-replayed']]).to.deep.equal([201, undefined]);
      expectReplay(second, await create(KEY, { name: 'second' }));
    });

    it('[K9 K24] for as long as the option says, and then removed in batches', async () => {
      await using other = await startTestApp({
        models: [Ticket],
        bootstrap: { models: [Ticket], idempotency: { ...IDEMPOTENCY, retention: 1 } },
      });
      const { sequelize } = other.engine;
      await sequelize.query(
        `INSERT INTO crud_idempotency (scope, key, fingerprint, created_at)
         SELECT 's', n, 'f', now() - CASE WHEN n > 250 THEN interval '59 min' ELSE interval '61 min' END FROM generate_series(1, 251) n`,
      );
      expect((await other.agent.post('/tickets').set('idempotency-key', KEY).send({})).status).to.equal(201);
      await callbacksUnderWay(sequelize);
      const left = await sequelize.query('SELECT key FROM crud_idempotency ORDER BY key', {
        type: QueryTypes.SELECT,
      });
      expect(left).to.deep.equal([{ key: '251' }, { key: KEY }]);
    });
  });

  describe('as an option', () => {
    it('[K9] is told to be wrong at the start', async () => {
      const wrong = { principal: 'ann', required: 'yes', retention: 0, ttl: 1 };
      const options = { models: [Payment], idempotency: wrong as unknown as IdempotencyOptions };
      const failure = await caughtError(() => buildApp(options));
      expect(failure).to.be.instanceOf(ConfigError);
      expect((failure as ConfigError).problems).to.deep.equal([
        "idempotency has no option 'ttl'. The options are principal, required, retention.",
        'idempotency.principal is "ann"; use a function of the request that gives a text of who asks.',
        'idempotency.required is "yes"; use true or false.',
        'idempotency.retention is 0; use a number of hours from 1/60 to 720.',
      ]);
      const none = { models: [Payment], idempotency: undefined as unknown as IdempotencyOptions };
      expect(String(await caughtError(() => buildApp(none)))).to.include(
        'idempotency is undefined; use { principal',
      );
    });

    it('[K10] needs a table, whose SQL the start tells where it is missing', async () => {
      const log = new CapturedLog();
      await using other = await startTestApp({
        models: [Ticket],
        minPool: 2,
        engine: { createAll: false },
        bootstrap: { models: [Ticket], idempotency: IDEMPOTENCY, logger: log },
      });
      const [line] = log.lines.filter(({ message }) => message.startsWith('idempotency'));
      expect(line?.level).to.equal('error');
      const [, sql = ''] = /engineLifespan: (.*)$/s.exec(line?.message ?? '') ?? [];
      await other.engine.sequelize.query(sql);
      await Ticket.sync();
      expect((await other.agent.post('/tickets').set('idempotency-key', KEY).send({})).status).to.equal(201);
    });

    it('is in the document', () => {
      const document = site.crud.openapi();
      const { post, get } = document.paths['/payments'] ?? {};
      const header = (name: string) => ({ in: 'header', name });
      const named = (operation: typeof post) => operation?.parameters?.map((each) => header(each.name));
      expect(named(post)).to.deep.include(header('Idempotency-Key'));
      expect(named(get)).to.not.deep.include(header('Idempotency-Key'));
      expect(post?.responses['201']).to.have.nested.property('headers.Idempotent-Replayed');
      expect(document.components?.responses?.['Conflict']).to.have.nested.property('headers.Retry-After');
    });
  });
});
