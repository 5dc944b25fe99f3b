import { expect } from 'chai';
import type { Request } from 'express';
import { DataTypes } from 'sequelize';
import { compileRequestAccess } from '../../../src/access/evaluate-rules.js';
import { filter } from '../../../src/index.js';
import { caughtError } from '../../support/caught-error.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const Task = defineModel('Task', {
  team: DataTypes.INTEGER,
  teamId: DataTypes.INTEGER,
  ownerId: DataTypes.INTEGER,
});

/** Counts the calls of a rule. */
function counting<T>(answer: T) {
  const rule = (): T => {
    rule.asked += 1;
    return answer;
  };
  rule.asked = 0;
  return rule;
}

describe('the access of a request', () => {
  it('is asked once for an operation, and its rows once for all of them', async () => {
    for (const value of [1, Promise.resolve(1)]) {
      const team = counting(value);
      const list = counting(true);
      const access = compileRequestAccess(planOf(Task, { scope: { team }, can: { list } }));
      const request = {} as Request;
      const first = await access(request, 'list');
      for (const endpoint of ['list', null, undefined] as const) {
        expect(await access(request, endpoint)).to.equal(first);
      }
      expect(await access(request, 'read')).to.equal(first);
      expect([team.asked, list.asked]).to.deep.equal([1, 1]);
      await access(request, 'create');
      expect([team.asked, list.asked]).to.deep.equal([2, 1]);
      expect(await access({} as Request, 'list')).not.to.equal(first);
    }
  });

  it('is asked once by operations that come at the same time, and refused to each by its own rule', async () => {
    const team = counting(Promise.resolve(1));
    const can = { list: () => Promise.resolve(false), read: () => Promise.resolve(true) };
    const open = compileRequestAccess(planOf(Task, { scope: { team } }));
    const request = {} as Request;
    const [first, second] = await Promise.all([open(request, 'list'), open(request, 'read')]);
    expect([second === first, team.asked]).to.deep.equal([true, 1]);
    const closed = compileRequestAccess(planOf(Task, { scope: { team }, can }));
    const [list, read] = await Promise.allSettled([closed(request, 'list'), closed(request, 'read')]);
    expect([list.status, read.status]).to.deep.equal(['rejected', 'fulfilled']);
  });

  it('has the rows of a write in code that runs for it, and those of no other operation', async () => {
    const update = () => filter`ownerId==${7}`;
    for (const later of [false, true]) {
      const can = { list: () => (later ? Promise.resolve(true) : true), update };
      const access = compileRequestAccess(planOf(Task, { scope: { team: () => 1 }, can }));
      const request = {} as Request;
      await access(request);
      const { allowed } = await access(request, 'update');
      expect(allowed).to.deep.include({ attribute: 'ownerId', values: ['7'] });
      await access(request, 'list');
      expect((await access(request)).allowed).to.equal(allowed);
      expect((await access(request, 'restore')).allowed).to.deep.equal(allowed);
      expect((await access(request, 'delete')).allowed).to.equal(null);
    }
  });

  it('is asked once for what may not be read', async () => {
    const read = counting(false);
    const access = compileRequestAccess(planOf(Task, { fields: { team: { read } } }));
    const request = {} as Request;
    expect(await access.unreadable(request)).to.deep.equal(['team']);
    expect([...(await access(request, 'list')).form.unreadable]).to.deep.equal(['team']);
    expect(read.asked).to.equal(1);
  });

  it('for no operation has not asked whether the request may do it', async () => {
    const access = compileRequestAccess(planOf(Task, { can: { list: () => false } }));
    const request = {} as Request;
    expect((await access(request)).where).to.equal(null);
    expect(await caughtError(() => access(request, 'list'))).to.have.property('status', 403);
  });

  it('allows what a rule says, and nothing that has none', async () => {
    for (const [deleted, isAllowed] of [
      [true, true],
      [Promise.resolve(true), true],
      [false, false],
      [1, false],
    ] as const) {
      const access = compileRequestAccess(planOf(Task, { can: { deleted: () => deleted } }));
      expect(await access.allows({} as Request, 'deleted')).to.equal(isAllowed);
      expect(await access.allows({} as Request, 'read')).to.equal(false);
    }
  });
});
