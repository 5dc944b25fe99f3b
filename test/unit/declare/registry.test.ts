import { expect } from 'chai';
import { Crud, crudRecords } from '../../../src/declare/crud.js';
import type { CrudOptions } from '../../../src/declare/crud-options.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { defineModel } from '../../support/offline-models.js';

describe('registry', () => {
  useEmptyRegistry();

  it('keeps what was recorded when the options object is changed afterwards', () => {
    const options: CrudOptions = { prefix: '/before' };
    Crud(options)(defineModel('Changed'));
    options.prefix = '/after';
    expect(crudRecords()[0]?.options).to.deep.equal({ prefix: '/before' });
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
      expect(crudRecords().map((record) => record.model)).to.deep.equal([model]);
    } finally {
      require.cache[path] = original;
    }
  });
});
