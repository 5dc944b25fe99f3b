import { expect } from 'chai';
import { Crud, crudRecords } from '../../../src/declare/crud.js';
import type { CrudOptions } from '../../../src/declare/crud-options.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { defineModel } from '../../support/offline-models.js';

describe('Crud', () => {
  useEmptyRegistry();

  it('records the model and its options', () => {
    const model = defineModel('Recorded');
    Crud({ prefix: '/recorded', endpoints: ['list'] })(model);
    expect(crudRecords()).to.deep.equal([{ model, options: { prefix: '/recorded', endpoints: ['list'] } }]);
  });

  it('records no options where none are given', () => {
    const model = defineModel('Bare');
    Crud()(model);
    expect(crudRecords()).to.deep.equal([{ model, options: {} }]);
  });

  it('returns nothing, so that the decorated class stays the same', () => {
    expect(Crud()(defineModel('Same'))).to.equal(undefined);
  });

  it('keeps what was recorded when the options object is changed afterwards', () => {
    const options: CrudOptions = { prefix: '/before' };
    Crud(options)(defineModel('Changed'));
    options.prefix = '/after';
    expect(crudRecords()[0]?.options).to.deep.equal({ prefix: '/before' });
  });

  it('freezes the record and its options', () => {
    Crud({ prefix: '/frozen' })(defineModel('Frozen'));
    const [record] = crudRecords();
    expect([Object.isFrozen(record), Object.isFrozen(record?.options)]).to.deep.equal([true, true]);
  });

  it('checks nothing, not even that the model is attached or that an option exists', () => {
    class Unattached {}
    const options = { endpoint: 'list', pageSize: { max: -1 } };
    const decorate = Crud(options as CrudOptions) as (model: unknown) => void;
    expect(() => decorate(Unattached)).not.to.throw();
    expect(crudRecords()).to.deep.equal([{ model: Unattached, options }]);
  });
});
