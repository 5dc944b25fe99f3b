import { expect } from 'chai';
import { Crud, crudRecords } from '../../../src/declare/crud.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { defineModel } from '../../support/offline-models.js';

describe('registry', () => {
  useEmptyRegistry();

  it('lists records in the order of their declaration, twice the same model included', () => {
    const [first, second] = [defineModel('First'), defineModel('Second')];
    Crud({ prefix: '/a' })(first);
    Crud({})(second);
    Crud({ prefix: '/b' })(first);
    expect(crudRecords()).to.deep.equal([
      { model: first, options: { prefix: '/a' } },
      { model: second, options: {} },
      { model: first, options: { prefix: '/b' } },
    ]);
  });

  it('gives a list of its own to every reader, which later records do not change', () => {
    const before = crudRecords();
    const model = defineModel('Later');
    Crud({})(model);
    expect(before).to.deep.equal([]);
    expect(crudRecords()).to.deep.equal([{ model, options: {} }]);
  });

  it('is shared with a second copy of the package in the process', () => {
    const path = require.resolve('../../../src/declare/crud.js');
    const original = require.cache[path];
    delete require.cache[path];
    try {
      const copy: typeof import('../../../src/declare/crud.js') = require(path);
      const model = defineModel('Shared');
      copy.Crud({})(model);
      expect(copy.crudRecords).not.to.equal(crudRecords);
      expect(crudRecords()).to.deep.equal([{ model, options: {} }]);
    } finally {
      require.cache[path] = original;
    }
  });
});
