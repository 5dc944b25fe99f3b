import 'reflect-metadata';
import { expect } from 'chai';
import { plainToInstance, Type } from 'class-transformer';
import {
  validate as asItIs,
  getMetadataStorage,
  IsInt,
  IsOptional,
  IsString,
  MaxLength,
  Validate,
  ValidateIf,
  ValidateNested,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import fc from 'fast-check';
import { decoratorsOf, validate } from '../../../src/schema/class-validator-internals.js';

const STRICT = { forbidUnknownValues: true, whitelist: true, forbidNonWhitelisted: true };

@ValidatorConstraint({ async: true })
class IsFree implements ValidatorConstraintInterface {
  async validate(value: unknown): Promise<boolean> {
    await null;
    return value !== 'taken';
  }
}

class Base {
  @IsOptional() @IsInt({ context: { told: 1 } }) declare count?: number;
}

class Part extends Base {
  @IsString() @MaxLength(3) @Validate(IsFree) declare name: string;

  @ValidateIf((part: Part) => part.name !== 'a')
  @ValidateNested({ each: true })
  @Type(() => Part)
  declare parts?: Part[];

  @IsOptional() @IsInt({ each: true }) declare numbers?: number[];
}

const { part } = fc.letrec<{ part: object; value: unknown }>((tie) => ({
  value: fc.oneof(
    fc.constantFrom<unknown>(null, undefined, 'a', 'taken', 'taken too', 7, 1.5, [], [1, 'a'], {}),
    tie('part'),
    fc.array(tie('part'), { maxLength: 3 }),
  ),
  part: fc
    .tuple(
      fc.dictionary(fc.constantFrom('name', 'count', 'numbers', 'unknown', 'toString'), tie('value'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
      // Other shapes: an object in the place of several, and several in the place of one.
      fc.option(
        fc.oneof(fc.constantFrom<unknown>(null, 7), fc.array(fc.oneof(tie('part'), fc.constant('a')))),
      ),
    )
    .map(([values, parts]) => (parts === null ? values : { ...values, parts })),
}));

describe('validation of a body', () => {
  it("gives the errors of class-validator's own", () =>
    fc.assert(
      fc.asyncProperty(part, async (values) => {
        const given = () => plainToInstance(Part, structuredClone(values));
        expect(await validate(given(), STRICT)).to.deep.equal(await asItIs(given(), STRICT));
      }),
    ));
});

describe('the decorators of a class', () => {
  class Parent extends Base {
    @MaxLength(9) declare name: string;
  }
  class Child extends Parent {
    @MaxLength(5) override name = '';
    @IsInt({ groups: ['others'] }) grouped = 1;
  }
  const found = () =>
    getMetadataStorage().getTargetValidationMetadatas(Child, '', true, false) as readonly unknown[];

  it('are those that class-validator finds, also of what the class extends', () => {
    const { all, byProperty } = decoratorsOf(Child);
    expect(all).to.have.members(found()).and.have.length(found().length);
    expect([...byProperty].map(([name, { length }]) => [name, length])).to.deep.equal([
      ['name', 1],
      ['grouped', 1],
      ['count', 2],
    ]);
  });

  it('are the same as long as none of its classes has gained one', () => {
    const before = decoratorsOf(Child);
    expect(decoratorsOf(Child)).to.equal(before);
    IsString()(class Other {}.prototype, 'name');
    expect(decoratorsOf(Child)).to.equal(before);
    IsString()(Base.prototype, 'late');
    expect(decoratorsOf(Child).all)
      .to.have.members(found())
      .and.have.length(before.all.length + 1);
    expect(decoratorsOf(Child).byProperty.get('late')).to.have.length(1);
  });
});
