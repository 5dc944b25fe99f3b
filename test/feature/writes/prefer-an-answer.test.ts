/** `Prefer` (RFC 7240): answers of writes without their record, and of deletes with it. */

import { expect } from 'chai';
import type { Request } from 'express';
import { type Action, Authorized, UseInterceptor } from 'routing-controllers';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { wantedReturn } from '../../../src/features/preference/parse-preference.js';
import { Crud, crudController, Repository } from '../../../src/index.js';
import { EVERY_ENDPOINT } from '../../models/endpoints.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

abstract class Titled extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;
}

@Crud({
  endpoints: EVERY_ENDPOINT,
  can: { deleted: ({ headers }: Request) => headers['x-bin'] === 'yes' },
  filterAllow: ['title'],
} as object)
@Table({ tableName: 'errands', paranoid: true, createdAt: false, updatedAt: false, version: true })
class Errand extends Titled {}

@Crud({ endpoints: ['read', 'replace', 'delete'], etag: 'xmin' })
@Table({ tableName: 'switches', timestamps: false })
class Switch extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare id: string;
  @Column(DataType.BOOLEAN) declare isOn: boolean | null;
}

@Crud({
  scope: { owner: ({ headers }: Request) => headers['x-owner'] },
  can: { read: ({ headers }: Request) => headers['x-reader'] !== 'no' },
  fields: { secret: { read: ({ headers }: Request) => headers['x-owner'] === 'ann' } },
} as object)
@Table({ tableName: 'diaries', timestamps: false })
class Diary extends Titled {
  @Column(DataType.TEXT) declare owner: string;
  @Column(DataType.TEXT) declare secret: string | null;
}

/** Models whose controllers or repositories are the user's. */
const own = (name: string, options: object = {}) => {
  @Crud({ prefix: `/${name}`, ...options } as object)
  @Table({ tableName: name, modelName: name, timestamps: false })
  class Own extends Titled {}
  return Own;
};
const Kept = own('kept');
class KeptRepository extends Repository<InstanceType<typeof Kept>> {
  static override model = Kept as never;
  override async get(id: never) {
    return Object.assign(await super.get(id), { title: 'of the repository' });
  }
}
class KeptController extends crudController(KeptRepository as never) {
  override remove() {
    // It is archived elsewhere.
    return Promise.resolve();
  }
  override async update(id: never, values: never, context: never) {
    return Object.assign(await super.update(id, values, context), { title: 'of the method' });
  }
}
const Seen = own('seen');
class SeenController extends crudController(Seen) {
  override async read() {
    return Promise.resolve({ id: 1, title: 'masked' } as never);
  }
}
const Guarded = own('guarded');
class GuardedController extends crudController(Guarded) {
  @Authorized() override read(id: never, query: never, context: never) {
    return super.read(id, query, context);
  }
}
const Wrapped = own('wrapped');
@UseInterceptor((_action: Action, data: unknown) => ({ data }))
class WrappedController extends crudController(Wrapped) {}
const Unread = own('unread', { endpoints: ['list', 'create', 'delete'] });

const MINIMAL = 'return=minimal';
const WHOLE = 'return=representation';

const REASON = 'a preference is not followed past code of the user’s that takes part in answers';

except({ values: REASON, session: REASON, records: REASON }).describe(
  'an answer that a client prefers',
  () => {
    const models = [Errand, Switch, Diary, Kept, Seen, Guarded, Wrapped, Unread];
    const site = serveTestApp(() => ({
      models,
      bootstrap: {
        controllers: [KeptController, SeenController, GuardedController, WrappedController],
        logger: new CapturedLog(),
        idempotency: { principal: () => 'ann' },
        routing: { authorizationChecker: () => false },
      },
    }));

    beforeEach(() =>
      emptyTables(site, ...models.map((model) => model.getTableName() as string), 'crud_idempotency'),
    );

    const send = (
      verb: 'post' | 'patch' | 'put' | 'delete',
      path: string,
      prefer: string,
      body?: object,
      more = {},
    ) =>
      site.agent[verb](path)
        .set({ Prefer: prefer, ...more })
        .send(body);
    const applied = ({ headers }: { readonly headers: Record<string, string> }) =>
      headers['preference-applied'];

    it('has no body where it is to be minimal, and keeps status, address and tag', async () => {
      const made = await send('post', '/errands', MINIMAL, { title: 'a' });
      expectNothing(made, 201);
      expect(made.headers).to.include({ location: '/errands/1', etag: '"0"', 'preference-applied': MINIMAL });
      const changed = await send('patch', '/errands/1', MINIMAL, { title: 'b' }, { 'If-Match': '"0"' });
      expectNothing(changed, 204);
      expect(changed.headers).to.include({ etag: '"1"', 'preference-applied': MINIMAL });
      expectJson(await site.agent.get('/errands/1'), 200, { id: 1, title: 'b', deletedAt: null, version: 1 });
      const removed = await send('delete', '/errands/1', MINIMAL);
      expectNothing(removed, 204);
      expect(applied(removed)).to.equal(MINIMAL);
      expectNothing(await send('post', '/errands/1/restore', MINIMAL, undefined, { 'X-Bin': 'yes' }), 204);
      const put = await send('put', '/switches/lamp', MINIMAL, { isOn: true });
      expectNothing(put, 201);
      expect(put.headers).to.include({ location: '/switches/lamp' });
      expectNothing(await send('put', '/switches/lamp', MINIMAL, { isOn: false }), 204);
      expectJson(await site.agent.get('/switches/lamp'), 200, { id: 'lamp', isOn: false });
    });

    it('has the record as it was where a delete is to show it, and no tag', async () => {
      await Errand.create({ title: 'a' });
      const removed = await send('delete', '/errands/1', WHOLE);
      const record = { id: 1, title: 'a', deletedAt: null, version: 0 };
      expectJson(removed, 200, record);
      expect(applied(removed)).to.equal(WHOLE);
      expect(removed.headers).to.not.have.property('etag');
      expectProblem(await site.agent.get('/errands/1'), 404, { detail: 'There is no Errand with this id.' });
      expectProblem(await send('delete', '/errands/1', WHOLE), 404, {
        detail: 'There is no Errand with this id.',
      });
      const purged = await send('delete', '/errands/1/purge', WHOLE, undefined, { 'X-Bin': 'yes' });
      const { deletedAt, ...rest } = purged.body;
      expect([purged.status, rest, typeof deletedAt]).to.deep.equal([
        200,
        { id: 1, title: 'a', version: 0 },
        'string',
      ]);
      expect(await Errand.count({ paranoid: false })).to.equal(0);
      await site.agent.put('/switches/lamp').send({ isOn: true });
      const stale = await send('delete', '/switches/lamp', WHOLE, undefined, { 'If-Match': '"x1"' });
      expect([stale.status, applied(stale)]).to.deep.equal([412, undefined]);
      expectJson(await send('delete', '/switches/lamp', WHOLE), 200, { id: 'lamp', isOn: true });
    });

    it('is the usual one for the others, and says that it is', async () => {
      const made = await send('post', '/errands', WHOLE, { title: 'a' });
      expectJson(made, 201, { id: 1, title: 'a', deletedAt: null, version: 0 });
      expect(made.headers).to.include({ etag: '"0"', 'preference-applied': WHOLE });
      const read = await site.agent.get('/errands/1').set('Prefer', MINIMAL);
      expect([read.status, applied(read)]).to.deep.equal([200, undefined]);
      for (const prefer of ['respond-async', 'return', 'return=more', ';;', '"return=minimal"', '']) {
        const changed = await send('patch', '/errands/1', prefer, { title: 'a' });
        expect([changed.status, applied(changed), changed.body.title], prefer).to.deep.equal([
          200,
          undefined,
          'a',
        ]);
      }
      const refused = await send('post', '/errands', MINIMAL, {});
      expect([refused.status, applied(refused), refused.body.errors[0].code]).to.deep.equal([
        422,
        undefined,
        'isDefined',
      ]);
    });

    it('shows what the request may read', async () => {
      const row = { title: 'a', secret: 's' };
      await Diary.bulkCreate(
        [...'1234'].map((_, index) => ({ ...row, owner: index < 3 ? 'ann' : 'bob' })) as never[],
      );
      const remove = (id: number, headers: object) =>
        send('delete', `/diaries/${id}`, WHOLE, undefined, headers);
      expectProblem(await remove(4, { 'X-Owner': 'ann' }), 404, {
        detail: 'There is no Diary with this id.',
      });
      expectJson(await remove(1, { 'X-Owner': 'ann' }), 200, {
        id: 1,
        title: 'a',
        owner: 'ann',
        secret: 's',
      });
      const unread = await remove(2, { 'X-Owner': 'ann', 'X-Reader': 'no' });
      expectNothing(unread, 204);
      expect(applied(unread)).to.equal(undefined);
      expectJson(await remove(4, { 'X-Owner': 'bob' }), 200, { id: 4, title: 'a', owner: 'bob' });
      expect(await Diary.count()).to.equal(1);
    });

    it('is that of the user’s own code, and left alone where that shapes reads or answers', async () => {
      for (const model of [Kept, Seen, Guarded, Wrapped, Unread]) await model.create({ title: 'a' });
      expectJson(await send('patch', '/kept/1', WHOLE, { title: 'b' }), 200, {
        id: 1,
        title: 'of the method',
      });
      expectNothing(await send('patch', '/kept/1', MINIMAL, { title: 'b' }), 204);
      expectJson(await send('delete', '/kept/1', WHOLE), 200, { id: 1, title: 'of the repository' });
      expect(await Kept.count()).to.equal(1);
      for (const path of ['/seen/1', '/guarded/1', '/unread/1']) {
        const removed = await send('delete', path, WHOLE);
        expectNothing(removed, 204);
        expect(applied(removed), path).to.equal(undefined);
      }
      const wrapped = await send('post', '/wrapped', MINIMAL, { title: 'b' });
      expectJson(wrapped, 201, { data: { id: 2, title: 'b' } });
      expect(applied(wrapped)).to.equal(undefined);
    });

    it('holds for many records, and not for results of each', async () => {
      const made = await send('post', '/errands', MINIMAL, [{ title: 'a' }, { title: 'b' }]);
      expectNothing(made, 201);
      expect([applied(made), made.headers['location']]).to.deep.equal([MINIMAL, undefined]);
      expectNothing(await send('patch', '/errands', MINIMAL, [{ id: 1, title: 'c' }]), 204);
      const each = await send('post', '/errands?atomic=false', MINIMAL, [{ title: 'd' }, {}]);
      expect([each.status, applied(each), each.body.items.length]).to.deep.equal([207, undefined, 2]);
      const tried = await send('post', '/errands?dry_run=true', MINIMAL, [{ title: 'd' }]);
      expect([tried.status, applied(tried), tried.body.items.length]).to.deep.equal([201, undefined, 1]);
      expectJson(await send('patch', '/errands?q=title==c', WHOLE, { title: 'c' }), 200, { affected: 1 });
      expectNothing(await send('patch', '/errands?q=title==c', MINIMAL, { title: 'c' }), 204);
      expectJson(await send('delete', '/errands?q=title==c', WHOLE), 200, { affected: 1 });
    });

    it('is the first one where the request is repeated under its key', async () => {
      const keyed = (key: string) => ({ 'Idempotency-Key': key });
      for (const [key, verb, path, body] of [
        ['a', 'post', '/errands', { title: 'a' }],
        ['b', 'patch', '/errands/1', { title: 'b' }],
        ['c', 'post', '/errands', [{ title: 'c' }]],
      ] as const) {
        const first = await send(verb, path, MINIMAL, body, keyed(key));
        expect([first.text, applied(first)], key).to.deep.equal(['', MINIMAL]);
        for (const prefer of [MINIMAL, WHOLE]) {
          const again = await send(verb, path, prefer, body, keyed(key));
          expectNothing(again, first.status);
          expect(again.headers['idempotent-replayed']).to.equal('true');
          expect(again.headers['location']).to.equal(first.headers['location']);
          expect(again.headers['etag']).to.equal(first.headers['etag']);
        }
      }
      const plain = await site.agent.patch('/errands/1').set(keyed('d')).send({ title: 'd' });
      expectJson(await send('patch', '/errands/1', MINIMAL, { title: 'd' }, keyed('d')), 200, plain.body);
      const removed = await send('delete', '/errands/1', WHOLE, undefined, keyed('e'));
      expectJson(removed, 200, plain.body);
      const again = await send('delete', '/errands/1', WHOLE, undefined, keyed('e'));
      expectJson(again, 200, plain.body);
      expect(again.headers).to.not.have.property('etag');
      await Diary.create({ title: 'a', owner: 'bob' });
      const shown = (reader: string) =>
        send('delete', '/diaries/1', WHOLE, undefined, {
          ...keyed('f'),
          'X-Owner': 'bob',
          'X-Reader': reader,
        });
      expectJson(await shown('yes'), 200, { id: 1, title: 'a', owner: 'bob' });
      expectJson(await shown('yes'), 200, { id: 1, title: 'a', owner: 'bob' });
      expectProblem(await shown('no'), 409, {
        detail:
          'The request with this Idempotency-Key was done, and its answer cannot be repeated; read what it has written.',
      });
    });

    it('is described', async () => {
      const { paths } = (await site.agent.get('/openapi.json')).body;
      const shown = (path: string, verb: string) => {
        const { parameters, responses } = paths[path][verb];
        const prefer = parameters?.find(({ name }: { name: string }) => name === 'Prefer')?.description;
        const success = Object.keys(responses).filter((status) => status < '300');
        return [prefer, success, Object.keys(responses[success[0] as string].headers ?? {}).sort()];
      };
      const minimal = 'With `return=minimal` the answer has no body: 201 with `Location`, or 204.';
      const whole = 'With `return=representation` the answer is 200 with the record as it was.';
      const key = 'Idempotent-Replayed';
      expect(shown('/errands/{id}', 'patch')).to.deep.equal([
        minimal,
        ['200'],
        ['ETag', key, 'Preference-Applied'],
      ]);
      expect(shown('/errands/{id}', 'delete')).to.deep.equal([
        whole,
        ['200', '204'],
        [key, 'Preference-Applied'],
      ]);
      expect(shown('/switches/{id}', 'put')).to.deep.equal([
        minimal,
        ['200', '201'],
        ['ETag', key, 'Location', 'Preference-Applied'],
      ]);
      expect(shown('/unread/{id}', 'delete')).to.deep.equal([undefined, ['204'], [key]]);
      expect(shown('/errands/{id}', 'get')[0]).to.equal(undefined);
    });

    it('is read as RFC 7240 says', () => {
      for (const [header, expected] of [
        ['return=minimal', 'minimal'],
        ['RETURN = "Minimal"', 'minimal'],
        ['respond-async, wait=100, handling=lenient, return=representation', 'representation'],
        ['foo; bar="a, return=minimal"; baz, return=minimal;x=y', 'minimal'],
        ['foo="a\\", b", return=minimal', 'minimal'],
        ['return=minimal, return=representation', 'minimal'],
        ['return=other, return=minimal', undefined],
        ['return=""', undefined],
        ['preturn=minimal', undefined],
        ['foo="return=minimal', undefined],
        ['return=minimal representation', undefined],
        [',, return=minimal', 'minimal'],
        [`${';'.repeat(8000)}"`, undefined],
        [`a${';"'.repeat(4001)}`, undefined],
        [' '.repeat(16_000), undefined],
      ] as const)
        expect(wantedReturn(header), header.slice(0, 60)).to.equal(expected);
    });
  },
);
