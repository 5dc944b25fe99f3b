/** `POST /{id}/revert`: an update to the state after a change, by all that holds for updates. */
import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table, Unique } from 'sequelize-typescript';
import {
  BelongsToKey,
  Crud,
  type CrudContext,
  crudController,
  filter,
  type ModelClass,
  type UpdateValues,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectProblem, tagOf } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { untilLocked } from '../../support/until-locked.js';

const isStaff = (request: { get(name: string): string | undefined }) => request.get('Role') === 'staff';

@Crud({
  scope: { tenant: (request) => request.get('Tenant') },
  visible: (request) => (isStaff(request) ? filter`rank<=9` : filter`rank<=5`),
  can: {
    history: true,
    update: (request) => request.get('Role') !== 'reader',
    deleted: (request) => isStaff(request),
  },
  fields: { wage: { write: isStaff }, note: { read: isStaff } },
  history: { exclude: ['photo'] },
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'history', 'revert'],
})
@Table({ tableName: 'clerks', paranoid: true, createdAt: false, updatedAt: false, version: true })
class Clerk extends NumberedRow {
  @Column(DataType.TEXT) declare tenant: string;
  @Column(DataType.INTEGER) declare rank: number;
  @Unique @Column(DataType.TEXT) declare name: string | null;
  @Column(DataType.DECIMAL(12, 3)) declare wage: string | null;
  @Column(DataType.JSONB) declare tags: unknown;
  @Column(DataType.TEXT) declare note: string | null;
  @Column(DataType.TEXT) declare photo: string | null;
}

@Crud({ can: { history: true }, history: true, endpoints: ['read', 'update', 'revert'] })
@Table({ tableName: 'drafts', timestamps: false })
class Draft extends NumberedRow {
  @Column(DataType.TEXT) declare text: string;
}

@Crud({ visible: () => filter`no<=9` })
@Table({ tableName: 'desks', timestamps: false })
class Desk extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare room: number;
  @PrimaryKey @Column(DataType.INTEGER) declare no: number;
}

/** Of a key of several attributes. */
@Crud({ can: { history: true }, history: true, endpoints: ['read', 'create', 'update', 'revert'] })
@Table({ tableName: 'guests', timestamps: false })
class Guest extends NumberedRow {
  @Column(DataType.INTEGER) declare room: number | null;
  @Column(DataType.INTEGER) declare deskNo: number | null;
  @BelongsToKey(() => Desk, { room: 'room', deskNo: 'no' }) declare desk?: Desk;
}

const updates: unknown[] = [];

class DraftController extends crudController(Draft) {
  override async update(id: number, values: UpdateValues<Draft>, context: CrudContext<Draft>) {
    updates.push({ ...values });
    return super.update(id, { ...values, text: `${values.text}!` }, context);
  }
}

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('a revert', () => {
  const site = serveTestApp(() => ({
    models: [Clerk, Draft, Desk, Guest] as ModelClass[],
    bootstrap: { controllers: [DraftController], indexAdvice: false },
    minPool: 4,
  }));
  const sql = (text: string) => site.engine.sequelize.query(text);
  const headersOf = (headers: Record<string, string>) => ({ Tenant: 'a', ...headers });
  const revert = (to: unknown, headers: Record<string, string> = {}, path = '/clerks/1/revert') =>
    site.agent.post(path).set(headersOf(headers)).send({ to });
  const read = async () => (await site.agent.get('/clerks/1').set(headersOf({ Role: 'staff' }))).body;
  /** Of the changes, oldest first. */
  const ids = async (table = 'clerks'): Promise<string[]> => {
    const [rows] = await sql(`SELECT id FROM crud_changes WHERE source = '${table}' ORDER BY id`);
    return (rows as { id: string }[]).map(({ id }) => String(id));
  };

  beforeEach(async () => {
    await emptyTables(site, 'clerks', 'drafts', 'desks', 'guests', 'crud_changes');
    updates.length = 0;
    await sql(
      `INSERT INTO clerks (id, tenant, rank, name, wage, tags, note, photo, version) VALUES (1, 'a', 3, 'Ann', 10.5, '{"a": [1]}', 'n', 'p', 0)`,
    );
    await sql(`UPDATE clerks SET rank = 4, name = 'Bea', tags = NULL, photo = 'q', version = 1`);
  });

  it('updates the record to the state after the change', async () => {
    const [first] = await ids();
    const answer = await revert(first);
    expect(answer.body).to.deep.equal({
      ...{ id: 1, tenant: 'a', rank: 3, name: 'Ann', wage: '10.500', tags: { a: [1] } },
      ...{ photo: 'q', version: 2, deletedAt: null, skipped: ['photo'] },
    });
    expect(answer.status).to.equal(200);
    expect(tagOf(answer)).to.equal('"2"');
    expect(await read()).to.include({ name: 'Ann', version: 2, note: 'n' });
    const { body } = await site.agent.get('/clerks/1/history').set(headersOf({}));
    expect(body.items[0].changes['name']).to.deep.equal({ from: 'Bea', to: 'Ann' });
    expect(body.items[0]).to.include({ operation: 'Clerk.revert', of: first, request_id: 'same' });
  });

  it('names a foreign key of several attributes as a whole, where one of them differs', async () => {
    await sql('INSERT INTO desks (room, no) VALUES (1, 1), (1, 2)');
    await site.agent.post('/guests').send({ room: 1, deskNo: 1 });
    await site.agent.patch('/guests/1').send({ room: 1, deskNo: 2 });
    const [first] = await ids('guests');
    const { status, body } = await revert(first, {}, '/guests/1/revert');
    expect([status, body]).to.deep.equal([200, { id: 1, room: 1, deskNo: 1, skipped: [] }]);
  });

  it('changes nothing where the record is in the state', async () => {
    const [, last] = await ids();
    const { body, status } = await revert(last);
    expect(status).to.equal(200);
    expect(body).to.include({ version: 1, name: 'Bea' });
    expect(await ids()).to.have.length(2);
  });

  it('happens only in the state that If-Match names', async () => {
    const [first] = await ids();
    const stale = await revert(first, { 'If-Match': '"0"' });
    expect(stale.status).to.equal(412);
    expect(await read()).to.include({ name: 'Bea' });
    expect((await revert(first, { 'If-Match': '"1"' })).status).to.equal(200);
  });

  it('waits for another one: the record has one of both states then, and no mixture', async () => {
    await sql("UPDATE clerks SET rank = 3, name = 'Bea', wage = 10.5, version = 2");
    const [first, second] = await ids();
    const { sequelize } = site.engine;
    const reverts: Promise<{ status: number }>[] = [];
    await sequelize.transaction(async (transaction) => {
      await sequelize.query('SELECT FROM clerks FOR UPDATE', { transaction });
      for (const to of [first, second]) reverts.push(revert(to).then((answer) => answer));
      await untilLocked(sequelize, 2);
    });
    expect((await Promise.all(reverts)).map(({ status }) => status)).to.deep.equal([200, 200]);
    const { rank, name } = await read();
    expect(`${rank} ${name}`).to.be.oneOf(['3 Ann', '4 Bea']);
  });

  for (const [waited, change, role, status] of [
    ['moved out of sight', "UPDATE clerks SET tenant = 'b'", 'clerk', 404],
    ['deleted', 'UPDATE clerks SET "deletedAt" = now()', 'clerk', 404],
    ['deleted, for staff', 'UPDATE clerks SET "deletedAt" = now()', 'staff', 409],
    ['removed', 'DELETE FROM clerks', 'clerk', 404],
  ] as const) {
    it(`waits for a change, and is answered by what is there then: ${waited}`, async () => {
      const [first] = await ids();
      const { sequelize } = site.engine;
      const answer = await sequelize
        .transaction(async (transaction) => {
          await sequelize.query(change, { transaction });
          const answered = revert(first, { Role: role }).then((each) => each);
          await untilLocked(sequelize, 1);
          return { answered };
        })
        .then(({ answered }) => answered);
      expect(answer.status).to.equal(status);
      expect(JSON.stringify(answer.body)).to.not.contain('tenant');
    });
  }

  it('is refused where the request may not update', async () => {
    const [first] = await ids();
    expect((await revert(first, { Role: 'reader' })).status).to.equal(403);
    expect((await revert(first, { Tenant: 'b' })).status).to.equal(404);
  });

  it('names attributes that the request may not write, and leaves those alone that it may not read', async () => {
    const [first] = await ids();
    await sql(`UPDATE clerks SET wage = 11, note = 'other'`);
    expectIssue(await revert(first), 422, {
      pointer: '/wage',
      code: 'readOnly',
      detail: 'wage cannot be set.',
    });
    expect(await read()).to.include({ name: 'Bea', wage: '11.000' });
    expect((await revert(first, { Role: 'staff' })).status).to.equal(200);
    expect(await read()).to.include({ name: 'Ann', wage: '10.500', note: 'n' });
    await sql(`UPDATE clerks SET note = 'later', name = 'Cem'`);
    expect((await revert(first)).status).to.equal(200);
    expect(await read()).to.include({ name: 'Ann', note: 'later' });
  });

  it('is a conflict for a deleted record, and for a value that another one has', async () => {
    const [first] = await ids();
    await sql(`INSERT INTO clerks (id, tenant, rank, name) VALUES (2, 'a', 1, 'Ann')`);
    const taken = await revert(first);
    expect(taken.status).to.equal(409);
    expect(await read()).to.include({ name: 'Bea' });
    await sql(`UPDATE clerks SET "deletedAt" = now()`);
    expectProblem(await revert(first), 404, { detail: 'There is no Clerk with this id.' });
    expectProblem(await revert(first, { Role: 'staff' }), 409, {
      detail: 'This Clerk is deleted, and was not changed; restore it before.',
    });
    await sql('DELETE FROM clerks');
    expect((await revert(first, { Role: 'staff' })).status).to.equal(409);
    expect((await revert(first)).status).to.equal(404);
  });

  it('goes back to no state that the request did not see, and to none of another record', async () => {
    await sql(`UPDATE clerks SET rank = 8, name = 'hidden'`);
    await sql(`UPDATE clerks SET rank = 2`);
    await sql(`INSERT INTO clerks (id, tenant, rank, name) VALUES (2, 'a', 1, 'other')`);
    const [, , hidden, , other] = await ids();
    const unknown = {
      pointer: '/to',
      code: 'revert.unknown',
      detail:
        'to names no change of this Clerk that a revert can go back to; take the id of one in its history that is no delete.',
    };
    expectIssue(await revert(hidden), 422, unknown);
    expectIssue(await revert(other), 422, unknown);
    expectIssue(await revert('9223372036854775808'), 422, unknown);
    expectIssue(await revert('999'), 422, unknown);
    expect((await revert(hidden, { Role: 'staff' })).status).to.equal(200);
    const ofIn = async (headers: Record<string, string>) => {
      const { body } = await site.agent.get('/clerks/1/history').set(headersOf(headers));
      return body.items[0].of;
    };
    expect(await ofIn({ Role: 'staff' })).to.equal(hidden);
    expect(await ofIn({})).to.equal(null);
  });

  it('refuses other bodies', async () => {
    const wrong = {
      pointer: '/to',
      code: 'isString',
      detail: 'to must be the id of a change, as the history has it.',
    };
    for (const to of [undefined, null, 7, '', '0', '-1', 'x', '1e3', {}])
      expectIssue(await revert(to), 422, wrong);
    const others = await site.agent.post('/clerks/1/revert').set('Tenant', 'a').send({ to: '1', name: 'x' });
    expect(others.body.errors[0].pointer).to.equal('/name');
    expect((await site.agent.post('/clerks/1/revert').set('Tenant', 'a')).status).to.equal(400);
  });

  it('names values that are gone, and those that no longer fit', async () => {
    await sql('ALTER TABLE clerks ADD gone text');
    await sql(`UPDATE clerks SET gone = 'x', note = 'y'`);
    await sql(`ALTER TABLE clerks DROP gone; ALTER TABLE clerks ALTER note TYPE integer USING NULL`);
    await sql('UPDATE clerks SET rank = 1');
    const [, , change] = await ids();
    const { body } = await revert(change, { Role: 'staff' });
    expect(body.skipped).to.have.members(['gone', 'note', 'photo']);
    expect(body.rank).to.equal(4);
    await sql(`ALTER TABLE clerks ALTER note TYPE text`);
  });

  it('names JSON with numbers that no body has with all their digits', async () => {
    const set = (tags: string) => sql(`UPDATE clerks SET tags = '${tags}'`);
    const skippedOf = async (tags: string): Promise<string[]> => {
      await set(tags);
      const to = (await ids()).at(-1);
      await set('[]');
      const { body, status } = await revert(to);
      expect(status, tags).to.equal(200);
      expect(body.tags, tags).to.deep.equal(body.skipped.includes('tags') ? [] : JSON.parse(tags));
      return body.skipped;
    };
    for (const tags of [
      '{"n": 12345678901234567890}',
      '[1e400]',
      '[[1e-400]]',
      '0.12345678901234567890',
      '1e300',
    ])
      expect(await skippedOf(tags), tags).to.include('tags');
    for (const tags of [
      '{"n": [1.10, -0.5, 9007199254740991, 1e20, 1e-7]}',
      '["12345678901234567890\\\\\\" 1e400"]',
    ])
      expect(await skippedOf(tags), tags).to.not.include('tags');
  });

  it('goes through the method update of the controller', async () => {
    await sql(`INSERT INTO drafts VALUES (1, 'a'); UPDATE drafts SET text = 'b'`);
    const [first] = await ids('drafts');
    const { body } = await revert(first, {}, '/drafts/1/revert');
    expect(updates).to.deep.equal([{ text: 'a' }]);
    expect(body).to.deep.equal({ id: 1, text: 'a!', skipped: [] });
  });
});
