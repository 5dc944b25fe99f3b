import { expect } from 'chai';
import { DataTypes, type Options, QueryTypes, Sequelize } from 'sequelize';
import type { Endpoint } from '../../../../src/declare/crud-options.js';
import {
  modelFastPathBlockers,
  needsRecords,
} from '../../../../src/execute/customization/model-fast-path-blockers.js';
import { defineModel, infoOf } from '../../../support/offline-models.js';

/** The reasons of a model with a name, on an instance with these options. */
function reasonsWith(options: Options, operation: Endpoint = 'read', Instance = Sequelize): string[] {
  const sequelize = new Instance({ dialect: 'postgres', logging: false, ...options });
  const info = infoOf(sequelize.define('Pet', { name: DataTypes.STRING }, { timestamps: false }));
  return modelFastPathBlockers(info, operation, false);
}

const OPTIONS: readonly (readonly [option: string, options: Options])[] = [
  ['query', { query: { raw: true } }],
  ['retry', { retry: { match: [/deadlock/], max: 3 } }],
  ['omitNull', { omitNull: true }],
  ['quoteIdentifiers', { quoteIdentifiers: false }],
  ['searchPath', { searchPath: 'other' } as Options],
  ['benchmark', { benchmark: true }],
  ['logQueryParameters', { logQueryParameters: true }],
  ['dialectOptions.binary', { dialectOptions: { binary: true } }],
];

describe('generalPathReasons', () => {
  it('has none for a plain model', () => {
    for (const operation of ['list', 'read', 'create', 'update', 'delete'] as const) {
      expect(reasonsWith({ logging: () => {}, timezone: '+02:00' }, operation)).to.deep.equal([]);
    }
  });

  for (const [option, options] of OPTIONS) {
    it(`names the option ${option} of Sequelize`, () =>
      expect(reasonsWith(options)).to.deep.equal([`Sequelize's option ${option} is set`]));
  }

  it('names typeValidation where something is written', () => {
    expect(reasonsWith({ typeValidation: true })).to.deep.equal([]);
    expect(reasonsWith({ typeValidation: true }, 'create')).to.deep.equal([
      "Sequelize's option typeValidation is set",
    ]);
  });

  it('names useCLS', () => {
    class Local extends Sequelize {}
    Object.assign(Local, { _cls: {} });
    expect(reasonsWith({}, 'read', Local)).to.deep.equal(["Sequelize's option useCLS is set"]);
  });

  it("names a query of the user's", () => {
    class Traced extends Sequelize {
      override query(sql: string): Promise<never> {
        return super.query(sql, { type: QueryTypes.SELECT }) as Promise<never>;
      }
    }
    expect(reasonsWith({}, 'read', Traced)).to.deep.equal(["Sequelize's query is overridden"]);
  });

  it('names what can be written to an array of JSON, and to a type nobody knows', () => {
    const info = infoOf(
      defineModel('Pet', { tags: DataTypes.ARRAY(DataTypes.JSONB), place: DataTypes.GEOMETRY }),
    );
    expect(modelFastPathBlockers(info, 'create', false)).to.deep.equal([
      'tags is of a type that only Sequelize writes',
      'place is of a type that only Sequelize writes',
    ]);
  });

  it('needs a record for a getter only where the attribute is seen', () => {
    const get = () => 'secret';
    const info = infoOf(defineModel('Pet', { secret: { type: DataTypes.STRING, get } }));
    const all = [...info.attributes.values()];
    expect(needsRecords(info, all)).to.equal(true);
    expect(
      needsRecords(
        info,
        all.filter(({ name }) => name !== 'secret'),
      ),
    ).to.equal(false);
    expect(modelFastPathBlockers(info, 'read', true)).to.deep.equal([]);
  });
});
