import { expect } from 'chai';
import { Exclude, Expose, type ExposeOptions } from 'class-transformer';
import { IsString } from 'class-validator';
import fc from 'fast-check';
import type { Class } from '../../../src/declare/crud-options.js';
import { classProperties, shownName } from '../../../src/schema/class-properties.js';
import { plainNames, readThroughClass } from '../../../src/schema/read-through-class.js';

const ATTRIBUTES = ['id', 'name', 'note', 'label'];
const VALUES = { id: 1, name: 'n', note: null, label: 'l' };
const VIEWS = { show: () => expect.fail('no record'), valuesFor: () => null };

const plainOf = (target: Class) => {
  const properties = plainNames(target, new Set(ATTRIBUTES));
  return properties && Object.fromEntries(properties);
};

/** Values that the class shows, under their names in answers. */
function shownBy(target: Class): object {
  const shown = readThroughClass(target, { ...VALUES }, VIEWS) as Record<string, unknown>;
  const names = [...classProperties(target, 'read')].map((name) => shownName(target, name));
  return Object.fromEntries(names.filter((name) => name in shown).map((name) => [name, shown[name]]));
}

describe('plainNames', () => {
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
      watchesUpdates: flag,
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
