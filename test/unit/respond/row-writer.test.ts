import { expect } from 'chai';
import fc from 'fast-check';
import { DataTypes } from 'sequelize';
import { compileRowWriters } from '../../../src/respond/row-view.js';
import { defineModel, infoOf } from '../../support/offline-models.js';

const asText = (text: string): unknown => text;
const NAMES = ['id', 'b', 'a \\ and \n name', '2', 'é'];
const info = infoOf(
  defineModel('Row', {
    id: { type: DataTypes.STRING, primaryKey: true },
    ...Object.fromEntries(NAMES.slice(1).map((name) => [name, DataTypes.TEXT])),
  }),
);
const attributes = [...info.attributes.values()];
const writers = compileRowWriters(attributes.map((attribute) => ({ name: attribute.name, attribute })));
const parsers = attributes.map(() => asText);

describe('compileRowWriters', () => {
  it('writes what JSON.stringify would', () => {
    const rows = fc.array(fc.option(fc.string({ unit: 'grapheme' })), {
      minLength: NAMES.length,
      maxLength: NAMES.length,
    });
    fc.assert(
      fc.property(rows, fc.subarray(NAMES), fc.boolean(), (row, fields, isWhole) => {
        const shown = attributes
          .map(({ name }, index) => [name, row[index]] as const)
          .filter(([name]) => isWhole || fields.includes(name));
        const values = shown.map(([, value]) => value as string | null);
        expect(writers(parsers, isWhole ? null : fields)(values)).to.equal(
          JSON.stringify(Object.fromEntries(shown)),
        );
      }),
    );
  });

  it('ignores what follows the columns of the attributes', () => {
    const row = [...NAMES, 'a key', 't'];
    expect(Object.keys(JSON.parse(writers(parsers)(row)) as object)).to.have.members(NAMES);
  });

  it('learns of other types of the columns', () => {
    const numbers = attributes.map(() => Number);
    expect(writers(parsers, ['b'])(attributes.map(() => '5'))).to.equal('{"b":"5"}');
    expect(writers(numbers, ['b'])(attributes.map(() => '5'))).to.equal('{"b":5}');
    expect(writers(numbers)(attributes.map(() => null))).to.equal(
      writers(parsers)(attributes.map(() => null)),
    );
  });
});
