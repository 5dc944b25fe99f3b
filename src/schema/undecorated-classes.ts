/** Classes that class-validator knows nothing of, and therefore refuses every object of. */
import { ValidationTypes } from 'class-validator';
import type { Class } from '../metadata/crud-options.js';
import { classProperties, hasValidators, validatorsOf } from './class-properties.js';
import { isTransformed, nestedTypes } from './model-decorators.js';

/** Types without properties of their own: another rule says what their values have to be. */
const PLAIN: ReadonlySet<unknown> = new Set([String, Number, Boolean, Date, Array]);

/** What is wrong with a class that objects are validated by, and with those of its nested properties. */
export function undecoratedProblems(target: Class): string[] {
  classProperties(target, 'write');
  if (!hasValidators(target)) return [`no property of ${target.name} has a class-validator decorator`];
  return nestedProblems(target, new Set());
}

/** What is wrong with the classes of nested properties alone. */
export function nestedProblems(target: Class, seen: Set<Class> = new Set()): string[] {
  if (seen.has(target)) return [];
  seen.add(target);
  const nested = validatorsOf(target).filter(({ type }) => type === ValidationTypes.NESTED_VALIDATION);
  return [...new Set(nested.map(({ propertyName }) => propertyName))].flatMap((name) =>
    propertyProblems(target, name, seen),
  );
}

function propertyProblems(target: Class, name: string, seen: Set<Class>): string[] {
  // Code of the user's may make an instance.
  if (isTransformed(target, name, 'write')) return [];
  const property = `${target.name}.${name}`;
  const types = nestedTypes(target, name);
  if (types === null)
    return [
      `${property} has @ValidateNested(), and no @Type(() => …) that says which class its objects are of`,
    ];
  return types
    .filter((type) => !PLAIN.has(type))
    .flatMap((type) => {
      classProperties(type, 'write');
      if (hasValidators(type)) return nestedProblems(type, seen);
      return [`no property of ${type.name}, the @Type of ${property}, has a class-validator decorator`];
    });
}
