/** Every documented operation against the running application: nothing undocumented, nothing documented in vain. */
// @runs fast
import { expect } from 'chai';
import type { Response } from 'supertest';
import type { JsonSchema } from '../../../src/schema/json-schema.js';
import { ApiContract, type ContractOperation } from '../../support/api-contract.js';
import { onPath } from '../../support/combination.js';
import {
  DESCRIBED_OPTIONS,
  DESCRIBED_TABLES,
  Gadget,
  Maker,
  Material,
  Member,
  Note,
  Part,
} from '../../support/described-models.js';
import { forSuite } from '../../support/for-suite.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { serveTestApp } from '../../support/test-app.js';

const MAKER = '0b6b1a52-5f0e-4c39-9d35-6a4bdf4c7f11';
const OBSERVED = ['Maker', 'Gadget', 'Note', 'Member'] as const;
type Name = (typeof OBSERVED)[number];
const TABLES = OBSERVED.map((name) => `${name.toLowerCase()}s`);

/** For each resource: right bodies, one with a taken value, and the ids of a record, of none, and of one that others refer to. */
const FIXTURES: Readonly<
  Record<
    Name,
    { fresh: object; taken: object; patch: object; id: string; missing: string; free?: string; used?: string }
  >
> = {
  Maker: {
    fresh: { name: 'New', secret: 'x' },
    taken: { name: 'Bolt', secret: 'x' },
    patch: { secret: 'y' },
    id: MAKER,
    missing: '00000000-0000-4000-8000-000000000000',
    free: 'aaaaaaaa-0000-4000-8000-000000000000',
    used: MAKER,
  },
  Gadget: {
    fresh: {
      code: 'new',
      small: -5,
      big: '9223372036854775807',
      price: '12.50',
      ratio: 0.25,
      on: true,
      moment: '2026-01-31T08:00:00+02:00',
      day: '2026-01-31',
      time: '08:00',
      key: MAKER.toUpperCase(),
      colour: "o'clock",
      data: [1, { a: null }],
      settings: { theme: 'dark' },
      words: ['a', 'b'],
      bytes: 'aGVsbG8=',
      makerId: MAKER,
    },
    taken: { code: 'first' },
    patch: { small: null, colour: 'red' },
    id: '1',
    missing: '999',
    free: '3',
    used: '2',
  },
  Note: {
    fresh: { name: 'new', text: 'new', stars: 3 },
    taken: { name: 'other', text: 'Hello' },
    patch: { stars: 5 },
    id: 'one',
    missing: 'nothing',
    free: 'free',
    used: 'two',
  },
  Member: {
    fresh: { name: 'Eve', email: 'eve@example.com' },
    taken: { name: 'Ann' },
    patch: { email: null },
    id: '2',
    missing: '999',
  },
};
/** Bodies with which an update collides with another row. */
const COLLISIONS: Readonly<Record<Name, object>> = {
  Maker: { name: 'Nut' },
  Gadget: { code: 'second' },
  Note: { text: 'World' },
  Member: { email: 'ann@example.com' },
};

/** A record that is deleted is in no answer where an override of `read` may hide it, which the controller of gadgets does not have. */
const SHOWS_REMOVED = onPath({ fast: true, session: false, records: false });

describe('the running application and its document', () => {
  const database = forSuite(() => freshDatabase('conformance'));
  const proxy = forSuite(() => TcpProxy.before(database.url));
  const app = serveTestApp(() => ({
    models: DESCRIBED_TABLES,
    database: { url: proxy.url(database.url) },
    // All requests while the tables are locked wait at the same time.
    engine: { pool: { max: 20 }, dialectOptions: { statement_timeout: 2_000, lock_timeout: 4_000 } },
    minPool: 20,
    bootstrap: DESCRIBED_OPTIONS,
  }));
  const control = forSuite(() => connectTo(database.url));
  let contract: ApiContract;

  before(async () => {
    contract = new ApiContract(app.crud.openapi());
    await fill();
  });

  for (const name of OBSERVED) {
    describe(`of ${name}`, () => {
      const { fresh, taken, patch, id, missing, free, used } = FIXTURES[name];
      const [list, read, create, update, remove] = operationIds(name);
      let made = '';

      it('lists', async () => {
        for (const query of queriesOf(list)) await expectStatus(list, 200, { query });
        await expectStatus(list, 400, { query: 'size=0&sort=nothing&q=nothing==1&limit=3' });
        await expectStatus(list, 500, { fail: true });
        await expectStatus(list, 405, { method: 'put' });
      });

      it('reads', async () => {
        await expectStatus(read, 200, { id });
        for (const field of enumOf(read, 'fields'))
          await expectStatus(read, 200, { id, query: `fields=${field}` });
        await expectStatus(read, 400, { id, query: 'fields=nothing' });
        await expectStatus(read, 404, { id: missing });
        await expectStatus(read, 405, { id, method: 'post' });
        await expectStatus(read, 500, { id, fail: true });
      });

      it('creates', async () => {
        const { headers } = await expectStatus(create, 201, { body: fresh });
        made = decodeURIComponent((headers['location'] as string).replace(/.*\//, ''));
        await expectStatus(create, 409, { body: taken });
        await expectBodyRefusals(create);
        await expectStatus(create, 422, { body: { ...fresh, nothing: 1 } });
        await expectStatus(create, 500, { body: fresh, fail: true });
        await expectStatus(create, 405, { method: 'delete' });
      });

      it('updates', async () => {
        await expectStatus(update, 200, { id, body: patch });
        const type = 'application/merge-patch+json';
        await expectStatus(update, mediaTypesOf(update).includes(type) ? 200 : 415, { id, body: {}, type });
        await expectStatus(update, 404, { id: missing, body: patch });
        await expectStatus(update, 409, { id, body: COLLISIONS[name] });
        await expectBodyRefusals(update, id);
        await expectStatus(update, 422, { id, body: { nothing: 1 } });
        await expectStatus(update, 500, { id, body: patch, fail: true });
        await expectStatus(update, 405, { id, method: 'put' });
      });

      if (free === undefined || used === undefined) return;
      it('deletes', async () => {
        await expectStatus(remove, 409, { id: used });
        await expectStatus(remove, 412, { id: free, headers: { 'if-match': '"1"' } });
        const shown = SHOWS_REMOVED || name === 'Gadget' ? 200 : 204;
        await expectStatus(remove, shown, {
          id: made,
          headers: { prefer: 'return=representation' },
        });
        await expectStatus(remove, 204, { id: free });
        await expectStatus(remove, 404, { id: free });
        await expectStatus(remove, 400, { id: missing, query: 'force=1' });
        await expectStatus(remove, 500, { id: missing, fail: true });
        await expectStatus(remove, 405, { id: missing, method: 'post' });
      });
    });
  }

  describe('in whole', () => {
    it('goes through pages by cursor', async () => {
      for (const query of ['size=1', 'size=1&sort=-text&fields=text']) {
        const first = await expectStatus('listNotes', 200, { query });
        const after = encodeURIComponent(first.body.next_cursor);
        const second = await expectStatus('listNotes', 200, { query: `${query}&after=${after}` });
        const before = encodeURIComponent(second.body.prev_cursor);
        await expectStatus('listNotes', 200, { query: `${query}&before=${before}` });
        await expectStatus('listNotes', 400, { query: `${query}&after=${after}x` });
      }
    });

    it('answers with relations, and refuses those that a rule refuses', async () => {
      const paths = enumOf('readGadget', 'include');
      for (const path of [...paths, paths.join()]) {
        const query = `fields=id,code&include=${path}`;
        const { body } = await expectStatus('listGadgets', 200, { query });
        const read = await expectStatus('readGadget', 200, { id: '1', query });
        expect(read.body).to.deep.equal(body.items.find(({ id }: { id: number }) => id === 1));
      }
      for (const [name, schema] of relationParameters('readGadget')) {
        const values = [...(schema.items?.enum ?? []), ...(schema.examples ?? [])];
        const [path] = name.split(/\.\w+$/);
        for (const value of values)
          await expectStatus('readGadget', 200, {
            id: '1',
            query: `include=${path}&${name}=${encodeURIComponent(String(value))}`,
          });
        await expectStatus('readGadget', 400, { id: '1', query: `include=${path}&${name}=nothing==` });
        await expectStatus('listGadgets', 400, { query: `${name}=1` });
      }
      const refused = { query: 'include=parts.material', headers: { 'x-stranger': '1' } };
      await expectStatus('listGadgets', 403, refused);
      await expectStatus('pickGadget', 403, refused);
      await expectStatus('readGadget', 403, { id: '1', ...refused });
      await expectStatus('listGadgets', 200, { query: 'include=maker', headers: refused.headers });
    });

    it('answers the routes of a subclass', async () => {
      await expectStatus('renameGadget', 202, { id: '1', body: { code: 'x' } });
      await expectStatus('renameGadget', 422, { id: '1', body: { code: 'x', other: 1 } });
      await expectStatus('renameGadget', 500, { id: '1', body: { code: 'x' }, fail: true });
      await expectStatus('renameGadget', 405, { id: '1', method: 'put' });
      await expectStatus('countGadget', 200, { query: 'under=5' });
      await expectStatus('countGadget', 400, { query: 'under=many' });
      // This path is also one of a single gadget.
      contract.check('countGadget', await app.agent.put('/api/gadgets/count'));
      for (const query of ['', 'on=true', 'size=1&page=2', 'fields=code,small', 'q=code==first&on=false'])
        await expectStatus('pickGadget', 203, { query });
      await expectStatus('pickGadget', 400, { query: 'size=0&off=true' });
      // This path is also one of a single gadget.
      contract.check('pickGadget', await app.agent.put('/api/gadgets/picked'));
      await expectStatus('wordsGadget', 200, { id: '1' });
      await expectStatus('wordsGadget', 400, { id: 'x' });
      await expectStatus('wordsGadget', 404, { id: '999' });
      await expectStatus('wordsGadget', 405, { id: '1', method: 'put' });
      await expectStatus('resetGadget', 401, {});
      await expectStatus('resetGadget', 204, { headers: { authorization: 'yes' } });
      contract.check('resetGadget', await app.agent.put('/api/gadgets/reset'));
    });

    it('answers the health routes', async () => {
      await expectStatus('checkReadiness', 200, {});
      await expectStatus('checkLiveness', 200, {});
      await expectStatus('checkReadiness', 405, { method: 'post' });
      await expectStatus('checkLiveness', 405, { method: 'post' });
    });

    it('answers when a rule of the database refuses a write', async () => {
      for (const [code, status] of [
        ['insufficient_privilege', 403],
        ['raise_exception', 422],
      ] as const) {
        await control.query(`
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`);
        for (const name of OBSERVED) await control.query(refusingTrigger(name));
        try {
          await Promise.all(OBSERVED.flatMap((name) => expectOfWrites(name, status)));
        } finally {
          await control.query('DROP FUNCTION refuse CASCADE');
        }
      }
    });

    it('answers when the database takes too long', async () => {
      await control.query('BEGIN; LOCK TABLE makers, gadgets, notes, members IN ACCESS EXCLUSIVE MODE');
      try {
        await Promise.all(OBSERVED.flatMap((name) => expectOfWrites(name, 504)));
      } finally {
        await control.query('ROLLBACK');
      }
      // A read that waits for a lock is 503; a slow one is 504.
      for (const table of TABLES)
        await control.query(
          `ALTER TABLE ${table} RENAME TO quick_${table}; CREATE VIEW ${table} AS SELECT * FROM quick_${table} WHERE pg_sleep(3) IS NOT NULL`,
        );
      try {
        await Promise.all(OBSERVED.flatMap((name) => expectOfReads(name, 504)));
      } finally {
        for (const table of TABLES)
          await control.query(`DROP VIEW ${table}; ALTER TABLE quick_${table} RENAME TO ${table}`);
      }
    });

    it('answers when the database is away', async () => {
      await proxy.down();
      try {
        await expectOfAll(503);
        await expectStatus('checkReadiness', 503, {});
      } finally {
        await proxy.up();
      }
    });

    it('keeps every promise of its document', () => {
      const own = ['rename', 'count', 'words', 'pick', 'reset'].map((method) => `${method}Gadget`);
      const unseen = SHOWS_REMOVED ? [] : ['deleteMaker 200', 'deleteNote 200'];
      expect(contract.unseen(own)).to.deep.equal(unseen);
    });
  });

  function mediaTypesOf(operationId: string): string[] {
    const { requestBody } = (contract.operations.get(operationId) as ContractOperation).operation;
    return Object.keys((requestBody as { content?: object } | undefined)?.content ?? {});
  }

  interface Sending {
    readonly method?: 'put' | 'post' | 'delete';
    readonly id?: string;
    readonly query?: string;
    readonly body?: object | string;
    readonly type?: string;
    readonly fail?: boolean;
    readonly headers?: Record<string, string>;
  }

  /** Sends a request for an operation, and holds its answer against the document. */
  async function expectStatus(operationId: string, status: number, sending: Sending): Promise<Response> {
    const { method, path } = contract.operations.get(operationId) as ContractOperation;
    const { id = '', query = '', body, type = 'application/json', fail = false, headers = {} } = sending;
    const url = `${path.replace(/\{\w+\}/, encodeURIComponent(id))}${query && `?${query}`}`;
    const request = app.agent[sending.method ?? method](url).set(
      fail ? { 'x-fail': '1', ...headers } : headers,
    );
    const answer = await (body === undefined
      ? request
      : request.set('content-type', type).send(typeof body === 'string' ? body : JSON.stringify(body)));
    expect(answer.status, `${operationId} ${url} ${answer.text}`).to.equal(status);
    contract.check(operationId, answer);
    return answer;
  }

  async function expectBodyRefusals(operationId: string, id?: string): Promise<void> {
    const target = id === undefined ? {} : { id };
    await expectStatus(operationId, 400, { ...target, body: '{' });
    await expectStatus(operationId, 412, { ...target, body: '{}', headers: { 'if-match': '"99"' } });
    await expectStatus(operationId, 413, { ...target, body: { name: 'x'.repeat(3_000) } });
    await expectStatus(operationId, 415, { ...target, body: 'name', type: 'text/plain' });
  }

  /** Every write of a resource ends the same way, whatever is written. */
  function expectOfWrites(name: Name, status: number): Promise<Response>[] {
    const { fresh, id } = FIXTURES[name];
    const [, , create, update, remove] = operationIds(name);
    return [
      expectStatus(create, status, { body: fresh }),
      expectStatus(update, status, { id, body: COLLISIONS[name] }),
      ...(contract.operations.has(remove) ? [expectStatus(remove, status, { id })] : []),
    ];
  }

  function expectOfReads(name: Name, status: number): Promise<Response>[] {
    const [list, read] = operationIds(name);
    return [expectStatus(list, status, {}), expectStatus(read, status, { id: FIXTURES[name].id })];
  }

  function refusingTrigger(name: Name): string {
    return `
      CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON ${name.toLowerCase()}s
      FOR EACH STATEMENT EXECUTE FUNCTION refuse()`;
  }

  /** Every generated operation ends the same way. */
  async function expectOfAll(status: number): Promise<void> {
    await Promise.all(
      OBSERVED.flatMap((name) => {
        const { fresh, patch, id } = FIXTURES[name];
        const [, , create, update, remove] = operationIds(name);
        return [
          ...expectOfReads(name, status),
          expectStatus(create, status, { body: fresh }),
          expectStatus(update, status, { id, body: patch }),
          ...(contract.operations.has(remove) ? [expectStatus(remove, status, { id })] : []),
        ];
      }),
    );
  }

  /** The examples and bounds of each parameter. */
  function queriesOf(operationId: string): string[] {
    const { operation } = contract.operations.get(operationId) as ContractOperation;
    const queries = (operation.parameters ?? []).flatMap(({ name, schema }) => {
      const values = [
        ...(schema.examples ?? []),
        ...(schema.items?.enum ?? []),
        ...[schema.minimum, schema.maximum, schema.default].filter((bound) => bound !== undefined),
      ];
      // A parameter of a relation needs `include` beside it.
      const [, path] = /^(.+)\.\w+$/.exec(name) ?? [];
      const before = path === undefined ? '' : `include=${path}&`;
      return values.map((value) => `${before}${name}=${encodeURIComponent(String(value))}`);
    });
    return ['', ...queries];
  }

  /** The parameters of a relation, by name. */
  function relationParameters(operationId: string): [name: string, schema: JsonSchema][] {
    const { operation } = contract.operations.get(operationId) as ContractOperation;
    return (operation.parameters ?? [])
      .filter(({ name }) => name.includes('.'))
      .map(({ name, schema }) => [name, schema]);
  }

  function enumOf(operationId: string, parameter: string): unknown[] {
    const { operation } = contract.operations.get(operationId) as ContractOperation;
    return [...(operation.parameters?.find(({ name }) => name === parameter)?.schema.items?.enum ?? [])];
  }

  function operationIds(name: Name): [string, string, string, string, string] {
    return [`list${name}s`, `read${name}`, `create${name}`, `update${name}`, `delete${name}`];
  }

  async function fill(): Promise<void> {
    await Maker.bulkCreate([
      { id: MAKER, name: 'Bolt', secret: 'x' },
      { name: 'Nut', secret: 'x' },
      { id: FIXTURES.Maker.free, name: 'Free', secret: 'x' },
    ]);
    await Gadget.bulkCreate([
      { code: 'first', makerId: MAKER, small: 1 },
      { code: 'second' },
      { code: 'third' },
    ]);
    await Note.bulkCreate([
      { name: 'one', text: 'Hi' },
      { name: 'two', text: 'Hello' },
      { name: 'three', text: 'World' },
      { name: 'free', text: 'free' },
    ]);
    await Material.create({ symbol: 'Fe', density: 7.87 });
    await Part.bulkCreate([
      { name: 'screw', length: '1.50', gadgetId: 1, materialSymbol: 'Fe', supplier: 'x' },
      { name: 'nut', gadgetId: 1 },
      { name: 'lid', length: '12.00', gadgetId: 1 },
      { name: 'lid', gadgetId: 3 },
    ]);
    await Member.bulkCreate([{ name: 'Ann', email: 'ann@example.com' }, { name: 'Bob' }]);
    // Others refer to gadgets, and keep notes that are marked as deleted.
    await control.query(`
      CREATE TABLE boxes (gadget int REFERENCES gadgets);
      INSERT INTO boxes VALUES (2);
      CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF OLD.name = 'two' AND NEW."deletedAt" IS NOT NULL THEN
          RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER keep BEFORE UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION keep()`);
  }
});
