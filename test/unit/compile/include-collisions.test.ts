import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { DataTypes, Sequelize } from 'sequelize';
import { compilePlan } from '../../../src/compile/compile-plan.js';
import type { CrudOptions, ModelClass } from '../../../src/declare/crud-options.js';
import { ConfigError } from '../../../src/util/config-error.js';
import { caughtError } from '../../support/caught-error.js';
import { decoratorReader } from '../../support/offline-models.js';

/** A house has rooms, and each of them a lamp; what is wrong is in the lamp. */
function define(lamp: object = {}, options: object = {}) {
  const sequelize = new Sequelize({ dialect: 'postgres', logging: false });
  const plain = { timestamps: false };
  const house = sequelize.define('House', {}, plain);
  const room = sequelize.define('Room', { lampId: DataTypes.INTEGER }, plain);
  const light = sequelize.define('Lamp', { ...lamp }, { ...plain, ...options });
  house.hasMany(room, { as: 'rooms' });
  room.belongsTo(light, { as: 'lamp', foreignKey: 'lampId' });
  return { house, room };
}

async function problemsOf(model: ModelClass, include: object, others: readonly [ModelClass, object][] = []) {
  const error = await caughtError(() =>
    compilePlan(
      [[model, { include }] as const, ...others].map(([each, options]) => ({
        model: each,
        options: options as CrudOptions,
      })),
      decoratorReader,
    ),
  );
  expect(error).to.be.instanceOf(ConfigError);
  return (error as ConfigError).problems;
}

describe('compiling include of models behind others', () => {
  it('refuses relations with the name of a property of answers, at any depth', async () => {
    class ReadRoom {
      @Expose() lamp!: string;
    }
    const { house, room } = define();
    const problems = await problemsOf(house, { rooms: true, 'rooms.lamp': true }, [
      [room, { readSchema: ReadRoom }],
    ]);
    expect(problems).to.deep.equal([
      'House: include.rooms.lamp has the name of a property of Room; give one of them another name.',
    ]);
  });

  it('refuses a model whose rows are deleted by another rule than that there is a moment of it', async () => {
    const { room } = define(
      { gone: { type: DataTypes.DATE, defaultValue: new Date(0) } },
      { timestamps: true, paranoid: true, deletedAt: 'gone' },
    );
    expect(await problemsOf(room, { lamp: true })).to.deep.equal([
      'Room: include.lamp leads to Lamp, whose gone has a default; rows that are not deleted must have NULL there.',
    ]);
  });
});
