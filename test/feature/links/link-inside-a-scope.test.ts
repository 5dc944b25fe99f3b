/** Join models with a `scope`, on one of their keys or beside them, of one value, several values, or `EVERYTHING`. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { QueryTypes } from 'sequelize';
import {
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Index,
  Model,
  Table,
} from 'sequelize-typescript';
import { Crud, EVERYTHING } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';
import { OVERRIDDEN } from './people.js';

/** The values of a header: one, several, or all. */
const named = (header: string) => (request: Request) => {
  const text = request.get(header) ?? '1';
  return text === 'all' ? EVERYTHING : text.includes(',') ? text.split(',') : text;
};

@Crud({ links: { groups: true, rooms: true, tasks: true } })
@Table({ tableName: 'users', timestamps: false })
class User extends NumberedRow {
  @BelongsToMany(
    () => Group,
    () => Membership,
  )
  declare groups?: Group[];
  @BelongsToMany(
    () => Group,
    () => Booking,
  )
  declare rooms?: Group[];
  @HasMany(() => Task, 'userId') declare tasks?: Task[];
}

@Crud({ links: { members: true } })
@Table({ tableName: 'groups', timestamps: false })
class Group extends NumberedRow {
  @BelongsToMany(
    () => User,
    () => Membership,
  )
  declare members?: User[];
}

@Crud()
@Table({ tableName: 'memberships', timestamps: false })
class Membership extends Model {
  @ForeignKey(() => User) @Column({ type: DataType.INTEGER, primaryKey: true }) declare userId: number;
  @ForeignKey(() => Group) @Column({ type: DataType.INTEGER, primaryKey: true }) declare groupId: number;
  @Column({ type: DataType.TEXT, allowNull: false, defaultValue: 'member' }) declare role: string;
}

/** Rows of a tenant, kept when a link is removed. */
@Crud({ scope: { tenant: named('tenant') } })
@Table({ tableName: 'bookings', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
class Booking extends NumberedRow {
  @Index({ name: 'one_booking', unique: true })
  @ForeignKey(() => User)
  @Column(DataType.INTEGER)
  declare guestId: number;
  @Index({ name: 'one_booking', unique: true })
  @ForeignKey(() => Group)
  @Column(DataType.INTEGER)
  declare roomId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
  @Column(DataType.TEXT) declare note: string | null;
}

@Crud()
@Table({ tableName: 'tasks', timestamps: false })
class Task extends NumberedRow {
  @ForeignKey(() => User) @Column(DataType.INTEGER) declare userId: number | null;
}

const REFUSED = { detail: 'This request may not write Membership with this userId.' };
const NO_LINK = { detail: 'There is no such link of this Group.' };

for (const way of ['statements', 'records'] as const)
  except(OVERRIDDEN).describe(`links inside the scope of their join model, by ${way}`, () => {
    const site = serveTestApp(() => ({
      models: [User, Group, Membership, Booking, Task],
      bootstrap: {
        models: [User, Group, Membership, Booking, Task],
        scope: { userId: named('user') },
      },
    }));
    const rows = (text: string) => site.engine.sequelize.query(text, { type: QueryTypes.SELECT });
    const run = (text: string) => site.engine.sequelize.query(text);
    const pairs = async () =>
      (await rows('SELECT concat("userId", \'-\', "groupId", \' \', role) AS pair FROM memberships')).map(
        (each) => (each as { pair: string }).pair,
      );
    const bookings = () =>
      rows('SELECT "roomId" AS room, tenant, note, "deletedAt" IS NOT NULL AS gone FROM bookings ORDER BY 1');
    const send = (verb: 'put' | 'post' | 'delete', path: string, body?: object, user = '1') => {
      const request = site.agent[verb](path).set('user', user);
      return body ? request.send(body) : request;
    };
    const book = (verb: 'put' | 'post' | 'delete', path: string, tenant: string, body?: object) => {
      const request = site.agent[verb](path).set('tenant', tenant);
      return body ? request.send(body) : request;
    };
    const its = (title: string, work: () => Promise<void>) =>
      it(title, () =>
        way === 'statements'
          ? work()
          : withHook(
              Membership,
              'beforeBulkCreate',
              () => {},
              () => withHook(Booking, 'beforeBulkCreate', () => {}, work),
            ),
      );

    beforeEach(() =>
      run(`
        TRUNCATE users, groups, memberships, bookings, tasks;
        INSERT INTO users (id) VALUES (1), (2), (3);
        INSERT INTO groups (id) VALUES (7), (8), (9)`),
    );

    its('have the keys that the scope allows', async () => {
      expectJson(await send('put', '/groups/7/members/1'), 201, { id: '1', role: 'member' });
      expectJson(await send('put', '/users/1/groups/7', { role: 'owner' }), 200, { id: '7', role: 'owner' });
      expectJson(await send('post', '/users/1/groups', [{ id: 7 }, { id: 8 }]), 200, {
        items: [
          { id: '7', role: 'owner' },
          { id: '8', role: 'member' },
        ],
        added: 1,
      });
      expectJson(await send('put', '/groups/8/members', []), 200, { items: [], added: 0, removed: 1 });
      expect(await pairs()).to.deep.equal(['1-7 owner']);
      expectNothing(await send('delete', '/groups/7/members/1'), 204);
      expect(await pairs()).to.deep.equal([]);
    });

    its('are refused with other keys, from both sides', async () => {
      for (const answer of [
        await send('put', '/groups/7/members/2'),
        await send('post', '/groups/7/members', [{ id: 1 }, { id: 2 }]),
        await send('put', '/groups/7/members', [{ id: 1 }, { id: 2 }]),
        await send('put', '/users/2/groups/7'),
        await send('post', '/users/2/groups', [{ id: 7 }]),
        await send('put', '/users/2/groups', [{ id: 7 }, { id: 8 }]),
        await send('put', '/groups/7/members/2?dry_run=true'),
        await send('put', '/groups/7/members/3', undefined, '1,2'),
      ])
        expectProblem(answer, 403, REFUSED);
      expect(await pairs()).to.deep.equal([]);
    });

    its('say the same of a link of another user, there or not', async () => {
      await run(`INSERT INTO memberships VALUES (2, 7, 'member')`);
      for (const id of [2, 3]) {
        expectProblem(await send('put', `/groups/7/members/${id}`, { role: 'owner' }), 403, REFUSED);
        expectProblem(await send('delete', `/groups/7/members/${id}`), 404, NO_LINK);
      }
      expectJson(await send('put', '/groups/7/members', []), 200, { items: [], added: 0, removed: 0 });
      expect(await pairs()).to.deep.equal(['2-7 member']);
    });

    for (const user of ['2,3', 'all'])
      its(`are set, changed and removed for several keys: ${user}`, async () => {
        expectJson(await send('put', '/groups/7/members/2', undefined, user), 201, {
          id: '2',
          role: 'member',
        });
        expectJson(await send('put', '/groups/7/members/2', { role: 'owner' }, user), 200, {
          id: '2',
          role: 'owner',
        });
        expectJson(await send('put', '/users/3/groups', [{ id: 7 }, { id: 8 }], user), 200, {
          items: [
            { id: '7', role: 'member' },
            { id: '8', role: 'member' },
          ],
          added: 2,
          removed: 0,
        });
        expectNothing(await send('delete', '/groups/7/members/2', undefined, user), 204);
        expectJson(await send('put', '/users/3/groups', [], user), 200, { items: [], added: 0, removed: 2 });
        expect(await pairs()).to.deep.equal([]);
      });

    for (const tenant of ['1,2', 'all'])
      its(`are changed and removed where a new one has no one value: ${tenant}`, async () => {
        await run(`INSERT INTO bookings ("guestId", "roomId", tenant) VALUES (1, 7, '1'), (1, 8, '2')`);
        expectJson(await book('put', '/users/1/rooms/7', tenant, { note: 'x' }), 200, { id: '7', note: 'x' });
        expectJson(await book('put', '/users/1/rooms/8', tenant), 200, { id: '8', note: null });
        expectJson(await book('post', '/users/1/rooms', tenant, [{ id: 8 }]), 200, {
          items: [{ id: '8', note: null }],
          added: 0,
        });
        expectNothing(await book('delete', '/users/1/rooms/7', tenant), 204);
        expectJson(await book('put', '/users/1/rooms', tenant, []), 200, {
          items: [],
          added: 0,
          removed: 1,
        });
        expect(await bookings()).to.deep.equal([
          { room: 7, tenant: '1', note: 'x', gone: true },
          { room: 8, tenant: '2', note: null, gone: true },
        ]);
        // A row that is brought back stays in its scope.
        expectJson(await book('put', '/users/1/rooms/7', tenant, { note: 'y' }), 201, { id: '7', note: 'y' });
        expectIssue(await book('put', '/users/1/rooms', tenant, [{ id: 8 }, { id: 9 }]), 422, {
          pointer: '/tenant',
          code: 'scope',
          detail: 'This request acts for several values of tenant, and a link has one.',
        });
        expect(await bookings()).to.deep.equal([
          { room: 7, tenant: '1', note: 'y', gone: false },
          { room: 8, tenant: '2', note: null, gone: true },
        ]);
      });

    for (const user of ['1', '1,2', 'all'])
      its(`are refused for children whose foreign key is in their scope: ${user}`, async () => {
        await run('INSERT INTO tasks (id, "userId") VALUES (1, 1)');
        const refused = { detail: 'This request may not change tasks of User.' };
        for (const path of ['/users/1/tasks/1', '/users/2/tasks/1'])
          expectProblem(await send('put', path, undefined, user), 403, refused);
        expectProblem(await send('delete', '/users/1/tasks/1', undefined, user), 403, refused);
        expectProblem(await send('put', '/users/1/tasks', [], user), 403, refused);
      });
  });
