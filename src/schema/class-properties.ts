/** Reads the properties of a class, and the class-validator and class-transformer decorators that shape them. */
import type { Class } from '../declare/crud-options.js';
import { refuseCopy } from './class-transformer-copies.js';
import { DIRECTIONS, transformerStorage } from './class-transformer-internals.js';
import { decoratorsOf } from './class-validator-internals.js';
import type { JsonProperty } from './json-schema.js';
import { finishClass } from './synthesize-class.js';

/** Describes the properties of a derived class by their names. */
type DescribeProperties = () => ReadonlyMap<string, JsonProperty>;

const DESCRIPTIONS = new WeakMap<object, DescribeProperties>();

/**
 * The properties that may pass in this direction: those with a class-validator decorator or `@Expose()`, without
 * those with `@Exclude()`. Empty for a class without decorators, which would let everything pass (CVE-2019-18413).
 *
 * @throws ConfigError when it extends a class that is derived from a model without a Sequelize instance, or another copy of
 * class-transformer has decorated it
 */
export function classProperties(target: Class, direction: keyof typeof DIRECTIONS): ReadonlySet<string> {
  finishClass(target);
  refuseCopy(target);
  const validated = validatorsOf(target).map(({ propertyName }) => propertyName);
  const exposed = transformerStorage.getExposedProperties(target, DIRECTIONS[direction]);
  const excluded = transformerStorage.getExcludedProperties(target, DIRECTIONS[direction]);
  const properties = new Set([...validated, ...exposed].filter((name) => name !== undefined));
  for (const name of excluded) properties.delete(name);
  return properties;
}

/** The name under which a property of the class leaves: its own, or that of `@Expose({ name })`. */
export function shownName(target: Class, property: string): string {
  return transformerStorage.findExposeMetadata(target, property)?.options?.name ?? property;
}

/** True where any property of the class has a class-validator decorator. */
export function hasValidators(target: Class): boolean {
  return validatorsOf(target).length > 0;
}

/** The class-validator decorators of the class, or of one of its properties. */
export function validatorsOf(target: Class, property?: string) {
  const { all, byProperty } = decoratorsOf(target);
  return property === undefined ? all : (byProperty.get(property) ?? []);
}

/** True where `@Expose()` or `@Exclude()` choose the properties of a body that get into the class. */
export function choosesProperties(target: Class): boolean {
  return (
    transformerStorage.getStrategy(target) !== 'none' ||
    transformerStorage.getExposedProperties(target, DIRECTIONS.write).length > 0 ||
    transformerStorage.getExcludedProperties(target, DIRECTIONS.write).length > 0
  );
}

/** Remembers how the properties of a derived class are described. */
export function rememberProperties(derived: object, describe: DescribeProperties): void {
  DESCRIPTIONS.set(derived, describe);
}

/** Undefined where no derived class has the property, and where a decorator of the user's is on it. */
export function inheritedProperty(target: Class, name: string): JsonProperty | undefined {
  const derived = nearestDerived(target);
  if (derived === undefined) return undefined;
  const type = transformerStorage.findTypeMetadata(target, name);
  const decorators = [
    ...validatorsOf(target, name),
    ...transformerStorage.findTransformMetadatas(target, name, DIRECTIONS.write),
    ...(type ? [type] : []),
  ];
  const isUntouched = decorators.every((decorator) => decorator.target === derived);
  return isUntouched ? DESCRIPTIONS.get(derived)?.().get(name) : undefined;
}

function nearestDerived(target: object): object | undefined {
  for (let each: object | null = target; each !== null; each = Object.getPrototypeOf(each))
    if (DESCRIPTIONS.has(each)) return each;
  return undefined;
}
