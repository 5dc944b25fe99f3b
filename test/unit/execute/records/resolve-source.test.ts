import { expect } from 'chai';
import type { Model } from 'sequelize';
import { Repository } from '../../../../src/execute/records/repository.js';
import { resolveSource } from '../../../../src/execute/records/repository-source.js';
import { ConfigError } from '../../../../src/util/config-error.js';

describe('resolveSource', () => {
  for (const [source, found] of [
    [class Stranger {}, 'the class Stranger'],
    [undefined, 'undefined, which a class is as long as a circular import loads it'],
    ['City', 'City'],
    [null, 'null'],
  ] as const) {
    it(`refuses ${found}`, () =>
      expect(() => resolveSource(source as never)).to.throw(
        ConfigError,
        `Expected a model class, a Repository or a subclass of Repository; got ${found}.`,
      ));
  }

  it('refuses a subclass that has no model', () => {
    class Empty extends Repository<Model> {}
    expect(() => resolveSource(Empty)).to.throw(
      ConfigError,
      'Empty has no model; pass one, or write `static override model = …` in it.',
    );
  });

  it('refuses Repository itself, which has no model', () =>
    expect(() => new Repository()).to.throw(
      ConfigError,
      'Repository has no model; pass one, or write `static override model = …` in it.',
    ));
});
