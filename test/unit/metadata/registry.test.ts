import { expect } from 'chai';
import { crudRecords, recordCrud } from '../../../src/metadata/registry.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { defineModel } from '../../support/offline-models.js';

describe('registry', () => {
  useEmptyRegistry();

  it('lists records in the order of their declaration, twice the same model included', () => {
    const [first, second] = [defineModel('First'), defineModel('Second')];
    recordCrud({ model: first, options: { prefix: '/a' } });
    recordCrud({ model: second, options: {} });
    recordCrud({ model: first, options: { prefix: '/b' } });
    expect(crudRecords()).to.deep.equal([
      { model: first, options: { prefix: '/a' } },
      { model: second, options: {} },
      { model: first, options: { prefix: '/b' } },
    ]);
  });

  it('gives a list of its own to every reader, which later records do not change', () => {
    const before = crudRecords();
    const model = defineModel('Later');
    recordCrud({ model, options: {} });
    expect(before).to.deep.equal([]);
    expect(crudRecords()).to.deep.equal([{ model, options: {} }]);
  });

  it('is shared with a second copy of the package in the process', () => {
    const path = require.resolve('../../../src/metadata/registry.js');
    const original = require.cache[path];
    delete require.cache[path];
    try {
      const copy: typeof import('../../../src/metadata/registry.js') = require(path);
      const model = defineModel('Shared');
      copy.recordCrud({ model, options: {} });
      expect(copy.crudRecords).not.to.equal(crudRecords);
      expect(crudRecords()).to.deep.equal([{ model, options: {} }]);
    } finally {
      require.cache[path] = original;
    }
  });
});
