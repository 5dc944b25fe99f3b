/** Watchers of tables, for as long as their applications are used. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { Sequelize } from 'sequelize';
import { reportChangedTable, watchTables } from '../../../../src/postgres/session/table-triggers.js';

describe('the watchers of tables', () => {
  it('are called for their own instance, and are not kept for it', async () => {
    const [mine, other] = [1, 2].map(() => new Sequelize({ dialect: 'postgres', logging: false }));
    const called: string[] = [];
    const watcherOf = (name: string) => ({ readChanges: () => called.push(name) });
    const used = watcherOf('used');
    const watch = (name: string): WeakRef<object> => {
      const watcher = watcherOf(name);
      watchTables(mine as Sequelize, watcher);
      return new WeakRef(watcher);
    };
    const dropped = watch('dropped');
    watchTables(mine as Sequelize, used);
    reportChangedTable(other as Sequelize);
    reportChangedTable(mine as Sequelize);
    expect(called).to.deep.equal(['dropped', 'used']);
    // A reference that was followed holds until the turn ends.
    await nextTurn();
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    expect(dropped.deref()).to.equal(undefined);
    reportChangedTable(mine as Sequelize);
    expect(called).to.deep.equal(['dropped', 'used', 'used']);
  });
});
