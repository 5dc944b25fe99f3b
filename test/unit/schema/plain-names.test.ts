import { expect } from 'chai';
import { Exclude, Expose, type ExposeOptions, Transform, Type } from 'class-transformer';
import { IsInt, IsString } from 'class-validator';
import fc from 'fast-check';
import type { Class } from '../../../src/declare/crud-options.js';
import { classProperties, namedClass, shownName } from '../../../src/schema/class-properties.js';
import { plainNames, readThroughClass } from '../../../src/schema/read-through-class.js';

const ATTRIBUTES = ['id', 'name', 'note', 'label'];
const VALUES = { id: 1, name: 'n', note: null, label: 'l' };
const VIEWS = { show: () => expect.fail('no record'), valuesFor: () => null };

const plainOf = (target: Class) => {
  const properties = plainNames(target, new Set(ATTRIBUTES));
  return properties && Object.fromEntries(properties);
};

/** What the class shows of the values, under the names that leave. */
function shownBy(target: Class): object {
  const shown = readThroughClass(target, { ...VALUES }, VIEWS) as Record<string, unknown>;
  const names = [...classProperties(target, 'read')].map((name) => shownName(target, name));
  return Object.fromEntries(names.filter((name) => name in shown).map((name) => [name, shown[name]]));
}

class Chosen {
  @Expose() id!: number;
  @IsString() name!: string;
}
class Extended extends Chosen {
  @Expose({ name: 'remark' }) declare note: string | null;
}
class Derived extends (namedClass('Derived') as new () => object) {
  @Expose() declare id: number;
}
@Exclude()
class Strict {
  @Expose() id!: number;
}

class WithTransform extends Chosen {
  @Transform(({ value }) => `${value}!`) declare name: string;
}
class WithHiddenTransform extends Chosen {
  @Transform(() => expect.fail('never')) declare label: string;
}
class WithType extends Chosen {
  @Type(() => String) declare id: number;
}
class WithGetter extends Chosen {
  @Expose() get twice(): number {
    return this.id * 2;
  }
}
class WithSetter extends Chosen {
  set label(value: string) {
    this.name = value;
  }
}
class WithMethod extends Chosen {
  @Expose() note(): string {
    return `note of ${this.name}`;
  }
}
class WithConstructor extends Chosen {
  constructor() {
    super();
    Object.assign(this, { name: 'made' });
  }
}
class WithValue extends Chosen {
  @Expose() override id = 7;
}
class WithThrow extends Chosen {
  @Expose() override id: number = [].reduce((first) => first);
}
class WithGroups extends Chosen {
  @Expose({ groups: ['admin'] }) declare id: number;
}
class WithDirection extends Chosen {
  @Exclude({ toClassOnly: true }) declare id: number;
}
class WithTakenName extends Chosen {
  @Expose({ name: 'label' }) declare id: number;
}
class WithOneName extends Chosen {
  @Expose({ name: 'same' }) declare id: number;
  @Expose({ name: 'same' }) declare name: string;
}
class WithWholeNumber extends Chosen {
  @Expose({ name: '7' }) declare id: number;
}
@Exclude()
class StrictWithoutExpose extends Chosen {
  @IsInt() declare id: number;
}
@Exclude()
class StrictRenamed {
  @Expose({ name: 'key' }) id!: number;
}
function Old(this: object): void {
  Object.assign(this, { id: 3 });
}

describe('plainNames', () => {
  for (const [target, expected] of [
    [Chosen, { id: 'id', name: 'name' }],
    [Extended, { id: 'id', name: 'name', note: 'remark' }],
    [Derived, { id: 'id' }],
    [Strict, { id: 'id' }],
  ] as const) {
    it(`gives the names of ${target.name}, under which class-transformer shows the values`, () => {
      expect(plainOf(target)).to.deep.equal(expected);
      const projected = Object.entries(expected).map(([property, name]) => [
        name,
        VALUES[property as keyof typeof VALUES],
      ]);
      expect(shownBy(target)).to.deep.equal(Object.fromEntries(projected));
    });
  }

  for (const target of [
    WithTransform,
    WithHiddenTransform,
    WithType,
    WithGetter,
    WithSetter,
    WithMethod,
    WithConstructor,
    WithValue,
    WithThrow,
    WithGroups,
    WithDirection,
    WithTakenName,
    WithOneName,
    WithWholeNumber,
    StrictWithoutExpose,
    StrictRenamed,
    Old as unknown as Class,
  ]) {
    it(`gives none of ${target.name}`, () => {
      expect(plainOf(target)).to.equal(null);
    });
  }

  it('agrees with class-transformer on classes with any decorators', () => {
    const flag = fc.boolean();
    const name = fc.option(fc.constantFrom(...ATTRIBUTES, 'other', 'toString', '1'), {
      freq: 2,
      nil: undefined,
    });
    const sides = { toPlainOnly: flag, toClassOnly: flag };
    const rarely = <T>(common: T, other: fc.Arbitrary<object>) =>
      fc.oneof({ weight: 6, arbitrary: fc.constant<T | object>(common) }, { weight: 1, arbitrary: other });
    const property = fc.record({
      expose: fc.oneof(
        { weight: 2, arbitrary: rarely({}, fc.record({ name, ...sides }, { requiredKeys: [] })) },
        { weight: 1, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: name.map((shown) => ({ name: shown })) },
      ),
      exclude: rarely(null, fc.record(sides, { requiredKeys: [] })),
      isValidated: flag,
      isInherited: flag,
    });
    let plain = 0;
    fc.assert(
      fc.property(fc.array(property, { minLength: 1, maxLength: 4 }), flag, (properties, isStrict) => {
        class Base {}
        class Target extends Base {}
        if (isStrict) Exclude()(Target);
        for (const [index, { expose, exclude, isValidated, isInherited }] of properties.entries()) {
          const { prototype } = isInherited ? Base : Target;
          const key = ATTRIBUTES[index] as string;
          if (expose) Expose(expose as ExposeOptions)(prototype, key);
          if (exclude) Exclude(exclude)(prototype, key);
          if (isValidated) IsString()(prototype, key);
        }
        const given = plainOf(Target);
        if (!given) return;
        plain += 1;
        const projected = Object.entries(given).map(([key, shown]) => [
          shown,
          VALUES[key as keyof typeof VALUES],
        ]);
        expect(shownBy(Target)).to.deep.equal(Object.fromEntries(projected));
      }),
      { numRuns: 1_000 },
    );
    expect(plain).to.be.above(100);
  });
});
