import { expect } from 'chai';
import type { Model } from 'sequelize';
import { Repository, resolveSource } from '../../../../src/execute/records/repository.js';
import { ConfigError } from '../../../../src/util/config-error.js';
import { defineModel } from '../../../support/offline-models.js';

const City = defineModel('City');

class CityRepository extends Repository<Model> {
  static override model = City;
}

describe('resolveSource', () => {
  it('takes a repository as it is', () => {
    const repository = new Repository(City);
    expect(resolveSource(repository)).to.equal(repository);
  });

  it('makes one of a subclass', () => {
    const repository = resolveSource(CityRepository);
    expect(repository).to.be.instanceOf(CityRepository);
    expect(repository.model).to.equal(City);
  });

  it('makes a plain one of a model', () => {
    const repository = resolveSource(City);
    expect(Object.getPrototypeOf(repository)).to.equal(Repository.prototype);
    expect(repository.model).to.equal(City);
  });

  for (const [source, found] of [
    [class Stranger {}, 'the class Stranger'],
    [undefined, 'undefined, which a class is as long as a circular import loads it'],
    ['City', 'City'],
    [null, 'null'],
  ] as const) {
    it(`refuses ${found}`, () => {
      expect(() => resolveSource(source as never)).to.throw(
        ConfigError,
        `Expected a model class, a Repository or a subclass of Repository; got ${found}.`,
      );
    });
  }

  it('refuses a subclass that has no model', () => {
    class Empty extends Repository<Model> {}
    expect(() => resolveSource(Empty)).to.throw(
      ConfigError,
      'Empty has no model; pass one, or write `static override model = …` in it.',
    );
  });

  it('refuses Repository itself, which has no model', () => {
    expect(() => new Repository()).to.throw(
      ConfigError,
      'Repository has no model; pass one, or write `static override model = …` in it.',
    );
  });
});
