import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import { IsOptional, IsString, ValidateNested } from 'class-validator';
import { classProperties, hasValidators, shownName } from '../../../src/schema/class-properties.js';

class Base {
  @IsString() inherited = '';
}

class Article extends Base {
  @IsString() validated = '';
  @IsOptional() optional = '';
  @ValidateNested() nested = {};
  @Expose() exposed = '';
  @Expose({ toPlainOnly: true }) shown = '';
  @Expose({ toClassOnly: true }) given = '';
  @Exclude() @IsString() never = '';
  @Exclude({ toPlainOnly: true }) @IsString() secret = '';
  @Exclude({ toClassOnly: true }) @IsString() computed = '';
  undecorated = '';
}

describe('classProperties', () => {
  it('lists what may be written', () => {
    expect([...classProperties(Article, 'write')].sort()).to.deep.equal(
      ['exposed', 'given', 'inherited', 'nested', 'optional', 'secret', 'validated'].sort(),
    );
  });

  it('lists what may be read', () => {
    expect([...classProperties(Article, 'read')].sort()).to.deep.equal(
      ['computed', 'exposed', 'inherited', 'nested', 'optional', 'shown', 'validated'].sort(),
    );
  });

  it('lists nothing of a class without decorators', () => {
    class Plain {
      title = '';
    }
    expect(classProperties(Plain, 'read')).to.deep.equal(new Set());
    expect(classProperties(Plain, 'write')).to.deep.equal(new Set());
  });

  it('lists nothing for a decorator of the class itself', () => {
    @Expose()
    class Whole {
      title = '';
    }
    expect(classProperties(Whole, 'read')).to.deep.equal(new Set());
  });
});

describe('hasValidators', () => {
  it('tells a class with class-validator decorators, inherited ones included', () => {
    class Derived extends Base {}
    class Shown {
      @Expose() title = '';
    }
    expect([Article, Derived, Shown].map(hasValidators)).to.deep.equal([true, true, false]);
  });
});

describe('shownName', () => {
  it('is the name of @Expose({ name }), or that of the property', () => {
    class Renamed {
      @Expose({ name: 'headline' }) title = '';
      @Expose() body = '';
    }
    const names = ['title', 'body', 'stranger'].map((property) => shownName(Renamed, property));
    expect(names).to.deep.equal(['headline', 'body', 'stranger']);
  });
});
