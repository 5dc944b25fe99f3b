/** Strong tags: `ETag` identifies the state of a record. `If-Match` makes it the condition of a write, also of one that has no tags; `If-None-Match` that of a read. */

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { IsString } from 'class-validator';
import {
  Authorized,
  Body,
  type InterceptorInterface,
  Param,
  Patch,
  UseInterceptor,
} from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type supertest from 'supertest';
import type { Response } from 'supertest';
import {
  Crud,
  type CrudContext,
  crudController,
  type Id,
  InjectUnitOfWork,
  type ReadQuery,
  type UnitOfWork,
} from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, onPath, SERVES_MANY, UNGUARDED } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'authors', timestamps: false })
class Author extends NamedRow {}

@Crud({
  include: { author: UNGUARDED },
  scope: { tenant: (request) => request.get('x-tenant') ?? 1 },
  fields: { secret: { read: (request) => request.get('x-tenant') === undefined } },
})
@Table({ tableName: 'notes', version: true, paranoid: true })
class Note extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare text: string;
  @Column(DataType.STRING(20)) declare secret: string | null;
  @ForeignKey(() => Author) @Column(DataType.INTEGER) declare authorId: number | null;
  @BelongsTo(() => Author) declare author?: Author;
}

/** Its version is in no answer. */
@Crud({ ifMatch: 'required' })
@Table({ tableName: 'locks', timestamps: false, version: 'revision' })
class Lock extends Model {
  @PrimaryKey @Column({ type: DataType.STRING(10) }) declare name: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare count: number;
  @Exclude() declare revision: number;
}

@Crud({ etag: 'xmin' })
@Table({ tableName: 'marks', timestamps: false })
class Mark extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare text: string;
}

/** Text that code of the user's adds to an answer. It is in no row. */
let ending = '';

/** Some requests may not see its version. */
@Crud({
  endpoints: [
    'read',
    'create',
    'update',
    'delete',
    'replace',
    ...(SERVES_MANY ? (['updateMany'] as const) : []),
  ],
  fields: { version: { read: (request) => request.get('role') === 'auditor' } },
})
@Table({ tableName: 'ledgers', timestamps: false, version: true })
class Ledger extends Model {
  @PrimaryKey @Column({ type: DataType.STRING(10) }) declare name: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare count: number;

  declare version: number;
}

/** With a getter. */
@Crud()
@Table({ tableName: 'calls', timestamps: false, version: true })
class Call extends NumberedRow {
  @Column({
    type: DataType.STRING(20),
    get(this: Call) {
      return `${this.getDataValue('text')}${ending}`;
    },
  })
  declare text: string;
}

/** The class of a body. */
class Words {
  @IsString() declare text: string;
}

/** Number of clients that change one record at the same time. */
const CLIENTS = 16 * Number(process.env['CRUD_TEST_TIMES'] ?? 1);

const CHANGED = { detail: 'The Note has been changed since; read it again, and repeat the change.' };

/** A tag without a number. */
const SEALED = /^"s[\w-]{22}(?:\.[\w-]+)?"$/;

/** The part of a tag before the dot: answers that code of the user's takes part in have more. */
function stateOf({ headers }: Response): string | undefined {
  return /^"(x?\d+)(?:\.[\w-]+)?"$/.exec(headers['etag'] ?? '')?.[1];
}

const tagOf = ({ headers }: Response): string => headers['etag'] ?? '';

describe('the tags of records', () => {
  const patch = (path: string, tag: string, body: object) =>
    site.agent.patch(path).set('if-match', tag).send(body);
  const remove = (path: string, tag: string) => site.agent.delete(path).set('if-match', tag);
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Author, Note, Lock, Ledger, Mark, Call],
    bootstrap: { cursorSecret: 'a secret of the tests alone, 32 long' },
    engine: { logging: sql.record },
    minPool: 2,
  }));

  beforeEach(async () => {
    ending = '';
    await emptyTables(site, 'notes', 'authors', 'locks', 'ledgers', 'marks', 'calls');
    await Author.create({ name: 'Ann' });
    await Note.create({ tenant: 1, text: 'one', authorId: 1 });
  });

  it('[T1 T4 T15] counts the changes of a row with a version', async () => {
    const created = await site.agent.post('/notes').send({ text: 'two' });
    expect([created.status, stateOf(created), created.body.version]).to.deep.equal([201, '0', 0]);
    const changed = await site.agent.patch('/notes/2').send({ text: 'zwei' });
    expect([changed.status, stateOf(changed), changed.body.version]).to.deep.equal([200, '1', 1]);
    expect(stateOf(await site.agent.get('/notes/2'))).to.equal('1');
    expect(stateOf(await site.agent.get('/notes/2?fields=text'))).to.equal('1');
    const same = await site.agent.patch('/notes/2').send({ text: 'zwei' });
    expect([same.status, stateOf(same)]).to.deep.equal([200, '1']);
    for (const body of [{ text: 'zwei' }, {}]) {
      const checked = await patch('/notes/2', '"1"', body);
      expect([checked.status, stateOf(checked), checked.body.version]).to.deep.equal([200, '1', 1]);
    }
    expect((await site.agent.get('/notes')).headers['etag']).to.match(/^W\//);
  });

  except({
    values: 'an interceptor sees the answer',
    session: 'overrides answer',
    records: 'overrides answer',
  }).it('[T9 T17 T19] has the version alone where the row alone is answered', async () => {
    expect((await site.agent.get('/notes/1')).headers['etag']).to.equal('"0"');
    expectNothing(await site.agent.get('/notes/1').set('if-none-match', '"0"'), 304);
    for (const tags of ['W/"0"', '"5", "0"', '*'])
      expectNothing(await site.agent.get('/notes/1').set('if-none-match', tags), 304);
    expect((await site.agent.get('/notes/1').set('if-none-match', '"1"')).status).to.equal(200);
    const head = await site.agent.head('/notes/1');
    expect(head.headers['etag']).to.equal('"0"');
    expect((await site.agent.get('/notes/1?fields=text')).headers['etag']).to.equal('"0"');
  });

  it('[E17 T10] tells answers about one state apart that have not the same bytes', async () => {
    const [whole, masked, included] = [
      await site.agent.get('/notes/1'),
      await site.agent.get('/notes/1').set('x-tenant', '1'),
      await site.agent.get('/notes/1?include=author'),
    ];
    expect([whole, masked, included].map(stateOf)).to.deep.equal(['0', '0', '0']);
    expect(new Set([whole, masked, included].map(({ headers }) => headers['etag'])).size).to.equal(3);
    await site.agent.patch('/authors/1').send({ name: 'Bea' });
    const again = await site.agent.get('/notes/1?include=author').set('if-none-match', tagOf(included));
    expect([again.status, again.body.author.name]).to.deep.equal([200, 'Bea']);
  });

  it('[T6] changes a record by the tag of whichever answer shows it', async () => {
    const tags = [
      await site.agent.get('/notes/1'),
      await site.agent.get('/notes/1?fields=text'),
      await site.agent.get('/notes/1?include=author'),
      await site.agent.get('/notes/1').set('x-tenant', '1'),
    ].map(tagOf);
    for (const tag of tags) {
      expect((await patch('/notes/1', tag, { text: 'one' })).status).to.equal(200);
    }
    const changed = await patch('/notes/1', tags[1] ?? '', { text: 'eins' });
    for (const tag of tags) expect((await remove('/notes/1', tag)).status).to.equal(412);
    expectNothing(await remove('/notes/1', tagOf(changed)), 204);
  });

  for (const tag of ['"0"', 'W/"0"', '*', '"5", "0"', '"0.abc"', '"foreign","0" ,']) {
    it(`[E17 T7 T12] changes and deletes a record in the state of If-Match: ${tag}`, async () => {
      const changed = await patch('/notes/1', tag, { text: 'eins' });
      expect([changed.status, changed.body.text, stateOf(changed)]).to.deep.equal([200, 'eins', '1']);
      await Note.create({ tenant: 1, text: 'two' });
      expectNothing(await remove('/notes/2', tag), 204);
      expect(await Note.count()).to.equal(1);
    });
  }

  for (const tag of ['"1"', '"7", "8"', '"foreign"', '"W/0"', '"00"', '"99999999999"', '"-1"', '"x0"']) {
    it(`[T1] refuses both in another state than If-Match: ${tag}, and tells the one it has`, async () => {
      for (const body of [{ text: 'eins' }, { text: 'one' }, {}]) {
        const refused = await patch('/notes/1', tag, body);
        expectProblem(refused, 412, CHANGED);
        expect(refused.headers['etag']).to.equal('"0"');
      }
      expectProblem(await remove('/notes/1', tag), 412, CHANGED);
      expect((await Note.findByPk(1))?.get()).to.include({ text: 'one', version: 0 });
    });
  }

  for (const tag of ['0', '"0', '""0"', '"0" "1"', 'W/0', '', '*, "0"', '"ü\n"']) {
    it(`[T12] refuses what is no list of tags: ${JSON.stringify(tag)}`, async () => {
      if (tag.includes('\n')) return;
      const refused = await patch('/notes/1', tag, { text: 'eins' });
      expectProblem(refused, 400, { detail: 'If-Match is no list of entity tags, such as "7", and no *.' });
    });
  }

  it('[T11] tells a record that is not there from one in another state', async () => {
    const missing = await patch('/notes/9', '"0"', { text: 'x' });
    expect(missing.status).to.equal(404);
    const foreign = site.agent.patch('/notes/1').set({ 'if-match': '"9"', 'x-tenant': '2' });
    const other = await foreign.send({ text: 'x' });
    expectProblem(other, 404, missing.body);
    expect(other.headers).to.not.have.property('etag');
    await site.agent.delete('/notes/1');
    expectProblem(await remove('/notes/1', '"0"'), 404, missing.body);
  });

  it('[T20] refuses a create under a condition: there is no state yet', async () => {
    const refused = await site.agent.post('/notes').set('if-match', '"0"').send({ text: 'x' });
    expectProblem(refused, 412, {
      detail: 'A new Note has no state that If-Match could name, and nothing was done; leave it out.',
    });
  });

  it('[T13] asks for a condition where it is required', async () => {
    await site.agent.post('/locks').send({ name: 'a', count: 1 });
    for (const refused of [
      await site.agent.patch('/locks/a').send({ count: 2 }),
      await site.agent.delete('/locks/a'),
    ]) {
      expectProblem(refused, 428, {
        detail: 'A change of a Lock needs the header If-Match, with the ETag that a read of it has given.',
      });
    }
    const read = await site.agent.get('/locks/a');
    expect(read.headers['etag']).to.match(SEALED);
    expectJson(read, 200, { name: 'a', count: 1 });
    const changed = await patch('/locks/a', tagOf(read), { count: 2 });
    expect([changed.status, changed.body.count]).to.deep.equal([200, 2]);
    expect(changed.headers['etag']).to.match(SEALED).and.not.equal(read.headers['etag']);
    expectNothing(await remove('/locks/a', '*'), 204);
  });

  describe('of a version that the request may not read', () => {
    const AUDITOR = { role: 'auditor' };
    const GONE = { detail: 'The Ledger has been changed since; read it again, and repeat the change.' };
    const change = (tag: string, count: number, name = 'A') =>
      site.agent.patch(`/ledgers/${name}`).set('if-match', tag).send({ count });

    beforeEach(async () => {
      for (const name of ['A', 'b']) await site.agent.post('/ledgers').send({ name, count: 1 });
    });

    it('hide it, and are conditions as others are', async () => {
      const read = await site.agent.get('/ledgers/A');
      expectJson(read, 200, { name: 'A', count: 1 });
      expect(read.headers['etag']).to.match(SEALED);
      const cached = await site.agent.get('/ledgers/A').set('if-none-match', tagOf(read));
      expect(cached.status).to.equal(onPath({ fast: 304, values: 200 }));
      const changed = await change(tagOf(read), 2);
      expectJson(changed, 200, { name: 'A', count: 2 });
      expect(changed.headers['etag']).to.match(SEALED).and.not.equal(read.headers['etag']);
      const stale = await change(tagOf(read), 3);
      expectProblem(stale, 412, GONE);
      expect(stale.headers).to.not.have.property('etag');
      expect((await change(`W/${changed.headers['etag']}`, 3)).status).to.equal(200);
      expect((await change('*', 4)).status).to.equal(200);
      const known = await site.agent.get('/ledgers/A').set(AUDITOR);
      expectJson(known, 200, { name: 'A', count: 4, version: 3 });
      expect(stateOf(known)).to.equal('3');
    });

    it('are good for one record, and say nothing of others in its state', async () => {
      const tags = [];
      for (const name of ['A', 'b'])
        tags.push((await site.agent.get(`/ledgers/${name}`)).headers['etag'] ?? '');
      expect(tags[0]?.split('.')[0]).to.not.equal(tags[1]?.split('.')[0]);
      expectProblem(await change(tags[1] ?? '', 2), 412, GONE);
    });

    it('cannot be guessed by their numbers, nor by those in an array', async () => {
      for (const tag of ['"0"', '"1"', '"s"', '"s0"']) expectProblem(await change(tag, 2), 412, GONE);
      if (!SERVES_MANY) return;
      for (const version of [0, 1]) {
        const refused = await site.agent.patch('/ledgers').send([{ name: 'A', count: 2, version }]);
        expectProblem(refused, 422, {
          detail: 'version cannot be set.',
          errors: [{ pointer: '/0/version', code: 'readOnly', detail: 'version cannot be set.' }],
        });
      }
      const known = await site.agent
        .patch('/ledgers')
        .set(AUDITOR)
        .send([{ name: 'A', count: 2, version: 0 }]);
      expectJson(known, 200, { items: [{ name: 'A', count: 2, version: 1 }] });
    });

    it('are read by other processes with the same secret, and a start without one says so', async () => {
      const tag = (await site.agent.get('/ledgers/A')).headers['etag'] ?? '';
      const logger = new CapturedLog();
      const cursorSecret = ['another secret of the tests, 32 long', 'a secret of the tests alone, 32 long'];
      const other = await buildApp({ models: [Ledger], cursorSecret, logger });
      const send = ({ agent }: typeof other) => agent.patch('/ledgers/A').set('if-match', tag);
      expect((await send(other).send({ count: 2 })).status).to.equal(200);
      const own = await buildApp({ models: [Ledger], logger });
      expect((await send(own).send({ count: 2 })).status).to.equal(412);
      expect(logger.lines.map(({ message }) => message)).to.deep.equal([
        'Tags of Ledger hide a version that requests may not read, with a secret of this process alone; set cursorSecret in ' +
          'bootstrap, so that other processes read them, too.',
      ]);
    });
  });

  it('[T3] passes If-Unmodified-Since over, which is no condition where one is required', async () => {
    const long = { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' };
    expect((await site.agent.patch('/notes/1').set(long).send({ text: 'eins' })).status).to.equal(200);
    expectNothing(await site.agent.delete('/notes/1').set(long), 204);
    await site.agent.post('/locks').send({ name: 'a', count: 1 });
    expect((await site.agent.patch('/locks/a').set(long).send({ count: 2 })).status).to.equal(428);
  });

  it('[T8] has no tags, or those of the transaction, where the option says so for a model with a version', async () => {
    const serve = async (etag: false | 'xmin') => {
      class Notes extends crudController(Note, { etag }) {}
      return (await buildApp({ models: [Author], controllers: [Notes] })).agent;
    };
    const none = await serve(false);
    expect((await none.get('/notes/1')).headers['etag']).to.match(/^W\//);
    expect((await none.patch('/notes/1').set('if-match', '"0"').send({ text: 'x' })).status).to.equal(412);
    expect((await none.patch('/notes/1').send({ text: 'x' })).body).to.include({ text: 'x', version: 1 });
    const byTransaction = await serve('xmin');
    const read = await byTransaction.get('/notes/1');
    expect(stateOf(read)).to.match(/^x\d+$/);
    const send = (tag: string) => byTransaction.patch('/notes/1').set('if-match', tag).send({ text: 'y' });
    expect((await send('"1"')).status).to.equal(412);
    expect((await send(tagOf(read))).body).to.include({ text: 'y', version: 2 });
  });

  it('[T17] changes nothing under If-None-Match, also where If-Match is required', async () => {
    await site.agent.post('/locks').send({ name: 'a', count: 1 });
    for (const path of ['/locks/a', '/notes/1', '/marks/1', '/authors/1']) {
      for (const method of ['patch', 'delete'] as const) {
        const send = (condition: string) =>
          site.agent[method](path).set('if-none-match', condition).send({ count: 2 });
        expect([path, method, (await send('*')).status]).to.deep.equal([path, method, 412]);
        expect([path, method, (await send('"x"')).status]).to.deep.equal([path, method, 400]);
      }
    }
    expectJson(await site.agent.get('/locks/a'), 200, { name: 'a', count: 1 });
    expect((await site.agent.get('/authors/1')).status).to.equal(200);
  });

  it('[T9] takes the transaction that wrote a row, where the model has no version', async () => {
    const created = await site.agent.post('/marks').send({ text: 'one' });
    expect(stateOf(created)).to.match(/^x\d+$/);
    const read = await site.agent.get('/marks/1');
    expect(stateOf(read)).to.equal(stateOf(created));
    expect((await site.agent.get('/marks').expect(200)).body.items).to.have.length(1);
    const changed = await patch('/marks/1', tagOf(read), { text: 'eins' });
    expect(changed.status).to.equal(200);
    expect(stateOf(changed)).to.not.equal(stateOf(read));
    const refused = await remove('/marks/1', tagOf(read));
    expect([refused.status, stateOf(refused)]).to.deep.equal([412, stateOf(changed)]);
    expect((await remove('/marks/1', '"0"')).status).to.equal(412);
    expectNothing(await remove('/marks/1', tagOf(changed)), 204);
  });

  const lock = 'the record is locked before it is written';
  except({ general: lock, session: lock, records: lock }).it(
    '[T5 T18] has the condition, and counts the version, in the statement of the write',
    async () => {
      await Mark.create({ text: 'one' });
      const mark = (await site.agent.get('/marks/1')).headers['etag'] ?? '';
      for (const [table, send, written] of [
        ['notes', () => site.agent.patch('/notes/1').send({ text: 'I' }), /^UPDATE "notes".* \+ 1/],
        ['notes', () => patch('/notes/1', '"1"', { text: 'eins' }), /^UPDATE "notes".* WHERE .*"version" = /],
        ['notes', () => remove('/notes/1', '"5", "2"'), /^UPDATE "notes".* WHERE .*"version" = ANY/],
        ['marks', () => remove('/marks/1', mark), /^DELETE FROM "marks".* WHERE .*xmin/],
      ] as const) {
        const { result, statements } = await sql.duringRequest(send);
        expect(result.status).to.be.oneOf([200, 204]);
        const [statement, ...others] = statements.filter((text) => text.includes(`"${table}"`));
        expect(statement).to.match(written);
        expect(others).to.deep.equal([]);
      }
    },
  );

  it('[E3 T5] lets no change of many clients be lost, who read, change, and try again on 412', async () => {
    await Lock.create({ name: 'n', count: 0 });
    const increment = async (): Promise<void> => {
      const read = await site.agent.get('/locks/n');
      const changed = await patch('/locks/n', tagOf(read), { count: read.body.count + 1 });
      if (changed.status === 412) return increment();
      expect(changed.status).to.equal(200);
    };
    await Promise.all(Array.from({ length: CLIENTS }, increment));
    expect((await Lock.findByPk('n'))?.get()).to.include({ count: CLIENTS, revision: CLIENTS });
  });

  /** Calls of overrides. */
  const called: string[] = [];
  class Overridden extends crudController(Note) {
    override async update(id: number, values: object, context: CrudContext<Note>) {
      called.push(`${id} ${JSON.stringify(values)}`);
      await context.repository.create({ text: 'log' } as never);
      return super.update(id, values, context);
    }

    override remove(id: number, context: CrudContext<Note>) {
      called.push(`${id}`);
      return super.remove(id, context);
    }
  }
  class Decorated extends Overridden {
    override update(@Param('id') id: number, @Body() { text }: Words, context: CrudContext<Note>) {
      return super.update(id, { text }, context);
    }

    override remove(@Param('id') id: number, context: CrudContext<Note>) {
      return super.remove(id, context);
    }
  }

  for (const controller of [Overridden, Decorated]) {
    it(`[T21] checks the condition of an override, and locks the record until it has ended: ${controller.name}`, async () => {
      called.length = 0;
      const { agent } = await buildApp({ models: [Author, Note], controllers: [controller] });
      const change = (tag: string) => agent.patch('/notes/1').set('if-match', tag).send({ text: 'x' });
      expectProblem(await change('"3"'), 412, CHANGED);
      expectProblem(await agent.delete('/notes/1').set('if-match', '"3"'), 412, CHANGED);
      expect([called, (await Note.findByPk(1))?.text]).to.deep.equal([[], 'one']);
      const changed = await change('"0"');
      expect([changed.status, stateOf(changed), await Note.count()]).to.deep.equal([200, '1', 2]);
      expect((await agent.delete('/notes/1').set('if-match', '"1"')).status).to.equal(204);
      expect(called).to.deep.equal(['1 {"text":"x"}', '1']);
    });
  }

  it('[T10] never gives the same tag to answers that an interceptor may change', async () => {
    class Shout implements InterceptorInterface {
      intercept(_action: unknown, content: object) {
        return { ...content, at: Math.random() };
      }
    }
    @UseInterceptor(Shout)
    class Loud extends crudController(Note) {}
    const { agent } = await buildApp({ models: [Author, Note], controllers: [Loud] });
    const [first, second] = [await agent.get('/notes/1'), await agent.get('/notes/1')];
    expect([first, second].map(stateOf)).to.deep.equal(['0', '0']);
    expect(first.headers['etag']).to.not.equal(second.headers['etag']);
    const again = await agent.get('/notes/1').set('if-none-match', tagOf(first));
    expect(again.status).to.equal(200);
    const changed = await agent.patch('/notes/1').set('if-match', tagOf(first)).send({ text: 'x' });
    expect(changed.status).to.equal(200);
  });

  it('tells answers apart that an override or a getter makes of one state', async () => {
    class Loud extends crudController(Note) {
      override async read(id: Id, query: ReadQuery, context: CrudContext<Note>) {
        const note = await super.read(id, query, context);
        return note.set('text', `${note.text}${ending}`);
      }
    }
    const { agent } = await buildApp({ models: [Author, Note], controllers: [Loud] });
    await Call.create({ text: 'one' });
    for (const get of [() => agent.get('/notes/1'), () => site.agent.get('/calls/1')]) {
      ending = '';
      const first = await get();
      ending = '!';
      const second = await get().set('if-none-match', tagOf(first));
      expect([second.status, second.body.text]).to.deep.equal([200, 'one!']);
      expect([first, second].map(stateOf)).to.deep.equal(['0', '0']);
      expect(first.headers['etag']).to.not.equal(second.headers['etag']);
    }
  });

  except({ values: 'an interceptor may change each answer' }).it(
    'knows an answer of an override again',
    async () => {
      class Plain extends crudController(Note) {
        override read(id: Id, query: ReadQuery, context: CrudContext<Note>) {
          return super.read(id, query, context);
        }
      }
      const { agent } = await buildApp({ models: [Author, Note], controllers: [Plain] });
      const { headers } = await agent.get('/notes/1').expect(200);
      await agent
        .get('/notes/1')
        .set('if-none-match', headers['etag'] ?? '')
        .expect(304);
    },
  );

  it('tells answers apart whose bytes a response.json of the user makes', async () => {
    const { agent } = await buildApp({ models: [Author, Note] }, (app) =>
      app.use((_request, response, next) => {
        const { json } = response;
        response.json = (body: object) => json.call(response, { ...body, ending });
        next();
      }),
    );
    ending = '';
    const first = await agent.get('/notes/1');
    ending = '!';
    const second = await agent.get('/notes/1').set('if-none-match', tagOf(first));
    expect([second.status, second.body.ending, stateOf(second)]).to.deep.equal([200, '!', '0']);
  });

  it('is read of a row whose method has decorators of its own, and of none where the method has answered', async () => {
    class Decorated extends crudController(Mark) {
      override read(@Param('id') id: number, query: ReadQuery, context: CrudContext<Mark>) {
        if (context.request.get('x-own') === undefined) return super.read(id, query, context);
        context.response.status(418).json({ own: true });
        return undefined as never;
      }
    }
    const logger = new CapturedLog();
    const { agent } = await buildApp({ models: [Mark], controllers: [Decorated], logger });
    await Mark.create({ text: 'one' });
    expect(stateOf(await agent.get('/marks/1'))).to.match(/^x/);
    const own = await agent.get('/marks/1').set('x-own', '1');
    expect([own.status, own.body, logger.lines]).to.deep.equal([418, { own: true }, []]);
  });

  it('[T22] describes both headers in the document', async () => {
    const { paths } = site.crud.openapi();
    const item = paths['/locks/{id}'] ?? {};
    expect(JSON.stringify(item.get?.responses['200'])).to.include('"ETag"');
    const names = item.patch?.parameters?.map((each) => ('name' in each ? each.name : ''));
    expect(names).to.include('If-Match');
    expect(Object.keys(item.patch?.responses ?? {})).to.include.members(['412', '428']);
    expect(Object.keys(paths['/marks/{id}']?.patch?.responses ?? {})).to.not.include('428');
  });
});

@Crud({
  dependencies: [
    (request, response, next) => void (request.get('x-guest') ? response.status(401).end() : next()),
  ],
})
@Table({ tableName: 'flags', timestamps: false })
class Flag extends NamedRow {}

class OwnFlags extends crudController(Flag) {
  override async update(id: number, values: object, context: CrudContext) {
    return super.update(id, values, context);
  }

  override async remove(id: number, context: CrudContext) {
    return super.remove(id, context);
  }
}

/** routing-controllers resolves decorated parameters, and begins the unit of work, before the method. */
class DecoratedFlags extends crudController(Flag) {
  override async update(
    @Param('id') id: number,
    @Body() values: object,
    context: CrudContext,
    @InjectUnitOfWork() _uow?: UnitOfWork,
  ) {
    return super.update(id, values, context);
  }

  @Authorized()
  override async remove(@Param('id') id: number, context: CrudContext) {
    return super.remove(id, context);
  }
}

const NO_TAGS = {
  detail: 'Flag has no entity tags, so If-Match cannot be checked, and nothing was done; leave it out.',
};

describe('sending If-Match to a resource without entity tags', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Flag],
    bootstrap: { models: [] },
    engine: { logging: sql.record },
  }));

  beforeEach(async () => {
    await emptyTables(site, 'flags');
    await Flag.create({ name: 'red' });
  });

  for (const [what, controllers] of [
    ['generated routes', []],
    ['overrides', [OwnFlags]],
    ['overrides with decorated parameters', [DecoratedFlags]],
  ] as const) {
    describe(`on ${what}`, () => {
      let agent: ReturnType<typeof supertest>;

      before(async () => {
        const routing = { authorizationChecker: () => true };
        ({ agent } = await buildApp({ models: [Flag], controllers: [...controllers], routing }));
      });

      for (const tag of ['"1"', 'W/"1"', '"1", "2"', '*', '']) {
        it(`[T14] refuses every write with If-Match: ${tag}, before the body is read and before any query`, async () => {
          const body = '{"name":';
          const { result, statements } = await sql.duringRequest(async () => [
            await agent.patch('/flags/1').set('if-match', tag).type('json').send(body),
            await agent.delete('/flags/1').set('if-match', tag),
            await agent.post('/flags').set('if-match', tag).type('json').send(body),
          ]);
          for (const answer of result) expectProblem(answer, 412, NO_TAGS);
          expect(statements).to.deep.equal([]);
          expect(await Flag.findAll({ raw: true })).to.deep.equal([{ id: 1, name: 'red' }]);
        });
      }

      it('asks dependencies first, and goes on without the header', async () => {
        expectNothing(await agent.patch('/flags/1').set({ 'if-match': '"1"', 'x-guest': '1' }).send({}), 401);
        expect((await agent.patch('/flags/1').send({ name: 'blue' })).status).to.equal(200);
        expectNothing(await agent.delete('/flags/1'), 204);
      });

      it('reads as without it: a read changes nothing, and its weak tag is none to match', async () => {
        expect((await agent.get('/flags/1').set('if-match', '"1"')).status).to.equal(200);
        expect((await agent.get('/flags').set('if-match', '"1"')).status).to.equal(200);
      });
    });
  }

  it('leaves it to the routes that a subclass adds', async () => {
    class Added extends crudController(Flag) {
      @Patch('/:id/name')
      rename(@Param('id') id: string): object {
        return { id };
      }
    }
    const { agent } = await buildApp({ models: [Flag], controllers: [Added] });
    expect((await agent.patch('/flags/1/name').set('if-match', '"1"')).status).to.equal(200);
  });
});
