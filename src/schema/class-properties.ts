/** Classes that get their shape late, and the properties of any class, by the decorators that shape them. */
import type { Class } from '../declare/crud-options.js';
import { DIRECTIONS, refuseCopy, transformerStorage } from './class-transformer-internals.js';
import { decoratorsOf } from './class-validator-internals.js';
import type { JsonProperty } from './json-schema.js';

/** A derived class: ordinary, constructed without arguments. `T` is the type of its instances. */
export type SchemaClass<T extends object = object> = new () => T;

/** Sets the base of a class, and returns the maker of the values that its instances begin with. */
export type ShapeClass = (target: SchemaClass) => () => Readonly<Record<string, unknown>>;

const DERIVED = new WeakSet<object>();

const UNFINISHED = new WeakMap<object, () => void>();

/** An empty class of that name. */
export function namedClass(name: string): SchemaClass {
  return { [name]: class {} }[name] as SchemaClass;
}

/**
 * A class of that name that gets its shape at its first use: when it is finished, or has an instance. So a class of the user's
 * can extend it before the model is attached, which happens after all modules are loaded.
 */
export function lazyClass(name: string, shape: ShapeClass): SchemaClass {
  let initialValues = (): Readonly<Record<string, unknown>> => ({});
  const holder = {
    [name]: class {
      constructor() {
        finishClass(made);
        Object.assign(this, initialValues());
      }
    },
  };
  const made = holder[name] as SchemaClass;
  DERIVED.add(made);
  UNFINISHED.set(made, () => {
    initialValues = shape(made);
  });
  return made;
}

/** True for such a class, whose constructor runs no code of the user's. */
export function isDerived(target: object): boolean {
  return DERIVED.has(target);
}

/** A class of that name and shape. */
export function derivedClass(name: string, shape: ShapeClass): SchemaClass {
  const made = lazyClass(name, shape);
  finishClass(made);
  return made;
}

/**
 * Adds to a class, and to those that it extends, the properties that they still lack.
 *
 * @throws ConfigError when the model of one of them is not attached to a Sequelize instance
 */
export function finishClass(target: object): void {
  for (const each of classChain(target)) {
    UNFINISHED.get(each)?.();
    UNFINISHED.delete(each);
  }
}

/** A class, and those that it extends. */
export function classChain(target: object): readonly object[] {
  const chain: object[] = [];
  for (let each: object | null = target; each !== null; each = Object.getPrototypeOf(each)) chain.push(each);
  return chain;
}

type DescribeProperties = () => ReadonlyMap<string, JsonProperty>;

const DESCRIPTIONS = {
  write: new WeakMap<object, DescribeProperties>(),
  read: new WeakMap<object, DescribeProperties>(),
};

/**
 * The properties that may pass in this direction: those with a class-validator decorator or `@Expose()`, without
 * those with `@Exclude()`. Empty for a class without decorators, which would let everything pass (CVE-2019-18413).
 *
 * @throws ConfigError when it extends a class that is derived from a model without a Sequelize instance, or another copy of
 * class-transformer has decorated it
 */
export function classProperties(target: Class, direction: 'write' | 'read'): ReadonlySet<string> {
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
export function rememberProperties(
  derived: object,
  direction: keyof typeof DESCRIPTIONS,
  describe: DescribeProperties,
): void {
  DESCRIPTIONS[direction].set(derived, describe);
}

/** Undefined where no derived class has the property, and where a decorator of the user's is on it. */
export function inheritedProperty(
  target: Class,
  name: string,
  direction: keyof typeof DESCRIPTIONS,
): JsonProperty | undefined {
  const descriptions = DESCRIPTIONS[direction];
  const derived = classChain(target).find((each) => descriptions.has(each));
  if (!derived) return undefined;
  const type = transformerStorage.findTypeMetadata(target, name);
  const decorators = [
    ...validatorsOf(target, name),
    ...transformerStorage.findTransformMetadatas(target, name, DIRECTIONS[direction]),
    ...(type ? [type] : []),
  ];
  const isUntouched = decorators.every((decorator) => decorator.target === derived);
  return isUntouched ? descriptions.get(derived)?.().get(name) : undefined;
}
