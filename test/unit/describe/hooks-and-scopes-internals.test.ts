import { createRequire } from 'node:module';
import { expect } from 'chai';
import { DataTypes, Sequelize } from 'sequelize';
import { HOOK_CLASSES, hasQueryHooks, queryHooks } from '../../../src/describe/hooks-and-scopes-internals.js';

const { hooks: ofSequelize } = createRequire(__filename)('sequelize/lib/hooks') as { hooks: object };

function define() {
  const sequelize = new Sequelize({ dialect: 'postgres', logging: false });
  const model = sequelize.define('Pet', { name: DataTypes.STRING });
  return { sequelize, model };
}

/** Functions that detect a hook of this name. The test puts it into Sequelize's options, because Sequelize adds no hook of an unknown name. */
function seen(owner: 'model' | 'sequelize', name: string) {
  const { model, sequelize } = define();
  const { options } = { model, sequelize }[owner] as object as {
    options: { hooks: Record<string, unknown> };
  };
  options.hooks[name] = [() => {}];
  return {
    read: hasQueryHooks(model, 'read'),
    write: hasQueryHooks(model, 'write'),
    find: hasQueryHooks(model, 'find'),
  };
}

describe('the classes of hooks', () => {
  it("have each of Sequelize's hooks once, and no other", () => {
    const names = Object.values(HOOK_CLASSES).flatMap((names) => names.split(' '));
    expect([...names].sort()).to.deep.equal(Object.keys(ofSequelize).sort());
  });

  for (const [kind, seenBy] of Object.entries({
    find: { read: true, write: true, find: true },
    query: { read: true, write: true, find: false },
    write: { read: false, write: true, find: false },
    none: { read: false, write: false, find: false },
  })) {
    it(`tell what sees a hook of the class ${kind}, of the model or of its instance`, () => {
      for (const name of HOOK_CLASSES[kind as keyof typeof HOOK_CLASSES].split(' ')) {
        for (const owner of ['model', 'sequelize'] as const)
          expect(seen(owner, name), name).to.deep.equal(seenBy);
      }
    });
  }

  it('have a hook that is in none seen by everything', () => {
    const everything = { read: true, write: true, find: true };
    for (const owner of ['model', 'sequelize'] as const)
      expect(seen(owner, 'beforeLunch')).to.deep.equal(everything);
  });

  it('take no hook for one that was removed', () => {
    const { model } = define();
    model.addHook('beforeFind', 'audit', () => {});
    expect(queryHooks(model, 'read')).to.deep.equal(['the model has a hook beforeFind']);
    model.removeHook('beforeFind', 'audit');
    expect(queryHooks(model, 'read')).to.deep.equal([]);
    expect(hasQueryHooks(model, 'read')).to.equal(false);
  });
});
