import { expect } from 'chai';
import { resourceNames } from '../../../src/openapi/resource-schemas.js';
import { defineModel, planOf } from '../../support/offline-models.js';

describe('resourceNames', () => {
  const namesOf = (...models: readonly string[]) =>
    resourceNames(models.map((name) => planOf(defineModel(name))));

  it('numbers models of the same name', () => {
    const names = namesOf('Item', 'Item', 'Item');
    expect(names.map(({ one }) => one)).to.deep.equal(['Item', 'Item2', 'Item3']);
    expect(names.map(({ many }) => many)).to.deep.equal(['Items', 'Items2', 'Items3']);
  });

  it('leaves out numbers with which another model has the name', () => {
    const ones = (...models: readonly string[]) => namesOf(...models).map(({ one }) => one);
    expect(ones('Item', 'Item2', 'Item')).to.deep.equal(['Item', 'Item2', 'Item3']);
    expect(ones('Item', 'Item', 'Item2')).to.deep.equal(['Item', 'Item2', 'Item22']);
  });

  it('gives no name of a schema twice', () => {
    const item = planOf(defineModel('Item'), { pagination: 'cursor' });
    const [first, second] = resourceNames([item, planOf(defineModel('ItemCursor'))]);
    expect(first?.schemas.page).to.equal('ItemCursorPage');
    expect(second?.schemas.page).to.equal('ItemCursor2Page');
  });
});
