import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { pristineHydrator } from '../../../../src/execute/customization/hydrate-record.js';
import { defineModel, infoOf } from '../../../support/offline-models.js';

describe('a record that reads its row at the first look', () => {
  it('fails at every look where a value cannot be read', () => {
    const info = infoOf(defineModel('Row', { id: { type: DataTypes.STRING, primaryKey: true } }));
    const refuse = (text: string): never => {
      throw new RangeError(`${text} is no value`);
    };
    const attributes = [...info.attributes.values()];
    const record = pristineHydrator({ info, attributes, parsers: attributes.map(() => refuse) })(['x']);
    for (let look = 0; look < 2; look += 1)
      expect(() => record.get('id')).to.throw(RangeError, 'x is no value');
  });
});
