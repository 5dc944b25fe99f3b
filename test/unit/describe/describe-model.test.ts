import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { describeModel } from '../../../src/describe/describe-model.js';
import { ConfigError } from '../../../src/util/config-error.js';
import { defineModel } from '../../support/offline-models.js';

const define = (name = 'Article') =>
  defineModel(name, { title: { type: DataTypes.STRING }, note: { type: DataTypes.TEXT } });
const namesOf = (model: Parameters<typeof describeModel>[0]) => [...describeModel(model).attributes.keys()];

describe('describeModel', () => {
  it('looks at a model once', () => {
    const model = define();
    expect(describeModel(model)).to.equal(describeModel(model));
  });

  it('looks again at one that has lost an attribute, and at one that was given another', () => {
    const model = define();
    const author = define('Author');
    expect(namesOf(model)).to.deep.equal(['id', 'title', 'note']);
    model.removeAttribute('note');
    expect(namesOf(model)).to.deep.equal(['id', 'title']);
    model.belongsTo(author, { foreignKey: 'authorId' });
    expect(namesOf(model)).to.deep.equal(['id', 'title', 'authorId']);
  });

  it('looks again at one that another engine has taken', () => {
    const model = define();
    const first = describeModel(model);
    model.init(
      { other: { type: DataTypes.TEXT } },
      { sequelize: model.sequelize as never, timestamps: false },
    );
    expect(describeModel(model)).not.to.equal(first);
    expect(namesOf(model)).to.deep.equal(['id', 'other']);
  });

  it('does not take a scoped model for the model', () => {
    const model = define();
    model.addScope('titled', { where: { title: 'a' } });
    const scoped = model.scope('titled') as typeof model;
    expect(describeModel(model).model).to.equal(model);
    expect(describeModel(scoped).model).to.equal(scoped);
  });

  it('refuses one that it cannot describe, each time', () => {
    const model = defineModel('Keyless', { title: { type: DataTypes.STRING } });
    model.removeAttribute('id');
    for (let time = 0; time < 2; time += 1) {
      expect(() => describeModel(model)).to.throw(ConfigError, 'Keyless has no primary key');
    }
  });
});
