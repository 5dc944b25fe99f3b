/**
 * Values through the user's class-transformer decorators: `@Expose`, `@Exclude`, `@Transform`, `@Type`. class-transformer
 * would walk a record field by field, so wherever one turns up, a view takes its place. Values without a class are not
 * walked where that changes nothing: JSON is as large as a client likes.
 */
import type { ClassTransformOptions, TypeOptions } from 'class-transformer';
import type { Class } from '../declare/crud-options.js';
import { enter, isModel, isRecord } from '../describe/record.js';
import { isTornRecord } from '../describe/sequelize-internals.js';
import { classProperties, isDerived } from './class-properties.js';
import {
  DIRECTIONS,
  defaultOptions,
  refuseDecorated,
  TransformOperationExecutor,
  transformerStorage,
} from './class-transformer-internals.js';
import { isStructured } from './json-value.js';
import { shapesValue } from './model-decorators.js';

/** Views that class-transformer receives of a record. */
export interface RecordViews {
  /** Values of the record's own answers. The model decides the schema of a plain object. */
  show(record: object, model?: object): object;
  /** The values that the record's read schema makes its answers of, for a class that extends that schema. */
  valuesFor(record: object, target: Class): object | null;
}

const OPTIONS: ClassTransformOptions = Object.freeze({ ...defaultOptions, exposeUnsetFields: false });

/**
 * An instance of the class with the values of a body, as class-transformer's `plainToInstance` makes it.
 *
 * @param isTransformed true where functions of the user's change values
 */
export function fillClass(schema: Class, values: object, isTransformed = true): object {
  const Executor = isTransformed ? BodyExecutor : UntransformedExecutor;
  return new Executor(DIRECTIONS.write, OPTIONS).transform(undefined, values, schema) as object;
}

/** class-transformer's `plainToInstance`, for the body of a route of the user's, whose options may reach into any object. */
export function bodyToInstance(
  schema: Class,
  body: object,
  options: ClassTransformOptions | undefined,
): unknown {
  refuseDecorated(schema);
  const Executor = options ? LinearExecutor : BodyExecutor;
  return new Executor(DIRECTIONS.write, { ...defaultOptions, ...options }).transform(undefined, body, schema);
}

/**
 * The values as the class shows them.
 *
 * @param asIs objects of the values that are as they leave
 */
export function readThroughClass(
  schema: Class,
  values: object,
  views: RecordViews,
  asIs: readonly object[] = [],
): object {
  const options = OPTIONS;
  const shown = new WeakSet<object>(asIs);
  const instance = new RecordExecutor(DIRECTIONS.write, options, views, shown).transform(
    undefined,
    values,
    schema,
  );
  return new RecordExecutor(DIRECTIONS.read, options, views, shown).transform(undefined, instance) as object;
}

/** class-transformer's `instanceToPlain` for results that may hold records. */
export function resultToPlain(
  result: object,
  options: ClassTransformOptions | undefined,
  views: RecordViews,
): unknown {
  const whole = { ...defaultOptions, ...options };
  try {
    return new RecordExecutor(DIRECTIONS.read, whole, views, new WeakSet()).transform(undefined, result);
  } catch (error) {
    throw error instanceof RangeError ? endlessResult(result, error) : error;
  }
}

/** The error of a result that class-transformer has not walked to its end. */
function endlessResult(result: object, cause: RangeError): Error {
  const path = circleIn(result);
  const found = path === null ? 'is nested too deeply' : `leads back to itself at '${path}'`;
  const message = `An answer ${found}, so that JSON has no form for it; leave that out by @Exclude(), or return a copy without it.`;
  return new TypeError(message, { cause });
}

/** The first path of properties that leads to a value which it has come from; null where there is none. Iterative, as the values are deep. */
function circleIn(root: object): string | null {
  const frameOf = (name: string, value: object) => ({ name, value, parts: Object.entries(value).values() });
  const frames = [frameOf('', root)];
  /** True for the values of frames, false for those without a circle. */
  const known = new Map<unknown, boolean>([[root, true]]);
  for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
    const [name, part] = frame.parts.next().value ?? [null, null];
    if (name === null) known.set(frames.pop()?.value, false);
    else if (known.get(part)) return [...frames.slice(1).map((each) => each.name), name].join('.');
    else if (isStructured(part) && !known.has(part)) {
      known.set(part, true);
      frames.push(frameOf(name, part));
    }
  }
  return null;
}

/**
 * The names of the properties of a read class in answers, by property. The result is null where code of the user's, or
 * class-transformer, may do more than rename a property. Else each property is transformed alone.
 *
 * @param attributes those of a record, all of which class-transformer would see
 */
export function plainNames(
  target: Class,
  attributes: ReadonlySet<string>,
): ReadonlyMap<string, string> | null {
  const properties = [...classProperties(target, 'read')];
  const isShaped = [...properties, ...attributes].some(
    (name) => name in target.prototype || shapesValue(target, name),
  );
  // A property that is exposed on the way in only may take the value of another.
  const exposed = Object.values(DIRECTIONS).flatMap((direction) =>
    transformerStorage.getExposedProperties(target, direction),
  );
  if (isShaped || !isPlainClass(target) || exposed.some((name) => !properties.includes(name))) return null;
  const shown = new Map<string, string>();
  for (const property of properties) {
    const name = plainName(target, property, attributes);
    if (name === null) return null;
    shown.set(property, name);
  }
  const names = new Set(shown.values());
  // An object has whole numbers before all other properties.
  const areOrdered = [...names].every((name) => !/^\d+$/.test(name));
  return names.size === properties.length && areOrdered ? shown : null;
}

/** The name that a property leaves under; null where it does not pass in both directions, into the class and out of it. */
function plainName(target: Class, property: string, attributes: ReadonlySet<string>): string | null {
  const exposure = transformerStorage.findExposeMetadata(target, property);
  const { name = property, ...others } = exposure?.options ?? {};
  const isStrict = transformerStorage.getStrategy(target) === 'excludeAll';
  const isChosen = exposure !== undefined || !isStrict;
  // With another name, class-transformer would read the property by it on the way into the class, too.
  const isFree = name === property || !(isStrict || attributes.has(name) || name in Object.prototype);
  const isHidden = transformerStorage.findExcludeMetadata(target, property) !== undefined;
  return isChosen && isFree && !isHidden && Object.keys(others).length === 0 ? name : null;
}

/** True where no code of the user's makes an instance, and it has no values. `constructor(` in a comment counts, too. */
function isPlainClass(target: Class): boolean {
  for (let each: object = target; each !== Function.prototype; each = Object.getPrototypeOf(each)) {
    if (isDerived(each)) continue;
    const text = typeof each === 'function' ? Function.prototype.toString.call(each) : '';
    if (!text.startsWith('class') || /\bconstructor\b|\[native code\]/.test(text)) return false;
  }
  try {
    const instance = Reflect.construct(target as unknown as new () => object, []);
    const isOwn = Object.getPrototypeOf(instance) === target.prototype;
    return isOwn && Object.values(instance).every((value) => value === undefined);
  } catch {
    return false;
  }
}

/** The classes of a `@Type` whose values choose one; null for any other. */
function chosenClasses(target: unknown): readonly unknown[] | null {
  const { options } = (isStructured(target) ? target : {}) as { options?: TypeOptions };
  return options?.discriminator?.subTypes.map(({ value }) => value) ?? null;
}

/** Keys that are transformed at once; class-transformer compares each of an object's keys with all others. */
const KEYS_AT_ONCE = 64;

/** Executor whose cost grows with the keys of an object, and not with their square. */
class LinearExecutor extends TransformOperationExecutor {
  constructor(
    protected readonly direction: number,
    options: ClassTransformOptions,
  ) {
    super(direction, options);
  }

  /** Where items choose their class, class-transformer fails for those that have none. */
  override transform(
    ...[source, value, target, ...others]: Parameters<TransformOperationExecutor['transform']>
  ): unknown {
    const classes = Array.isArray(value) ? chosenClasses(target) : null;
    if (!classes) return super.transform(source, value, target, ...others);
    const isOne = (item: unknown): boolean =>
      isStructured(item) &&
      (this.direction === DIRECTIONS.write ? !Array.isArray(item) : classes.includes(item.constructor));
    return (value as readonly unknown[]).map((item) =>
      isOne(item)
        ? (super.transform(undefined, [item], target) as [unknown])[0]
        : this.transform(undefined, item),
    );
  }

  override getKeys(target: unknown, value: object, isMap: boolean): string[] {
    const get = (part: object) => super.getKeys(target, part, isMap);
    const keys = isMap || value instanceof Map ? [] : Object.keys(value);
    if (keys.length <= KEYS_AT_ONCE) return get(value);
    // Keys that the class exposes, whatever the value has. They come last, unless there are no others.
    const exposed = get({});
    const passing = new Set(get({ '': null }).includes('') ? [] : exposed);
    for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
      const part = keys.slice(start, start + KEYS_AT_ONCE);
      const passed = new Set(get(Object.fromEntries(part.map((key) => [key, null]))));
      for (const key of part) if (passed.has(key)) passing.add(key);
    }
    for (const key of exposed) passing.add(key);
    return [...passing];
  }
}

/** Executor of a body. It walks only properties with `@Type`; a client's objects are never made numbers or texts. */
class BodyExecutor extends LinearExecutor {
  override transform(
    ...[source, value, target, ...others]: Parameters<TransformOperationExecutor['transform']>
  ): unknown {
    const isPassed = isStructured(value) && (target === undefined || isPrimitive(target, value));
    return isPassed ? value : super.transform(source, value, target, ...others);
  }
}

class UntransformedExecutor extends BodyExecutor {
  override applyCustomTransformations(value: unknown): unknown {
    return value;
  }
}

/** `@Type(() => Number)` calls methods that an object of a client's may have replaced; arrays have their items converted. */
function isPrimitive(target: unknown, value: object): boolean {
  return !Array.isArray(value) && [String, Number, Boolean, Date].some((each) => each === target);
}

class RecordExecutor extends LinearExecutor {
  constructor(
    direction: number,
    options: ClassTransformOptions,
    private readonly views: RecordViews,
    /** Values that are already as they leave, so no class may change them. */
    private readonly shown: WeakSet<object>,
  ) {
    super(direction, options);
  }

  override transform(
    ...[source, value, target, ...others]: Parameters<TransformOperationExecutor['transform']>
  ): unknown {
    const goOn = (next: unknown): unknown => super.transform(source, next, target, ...others);
    if (typeof value !== 'object' || value === null) return goOn(value);
    if (this.shown.has(value)) return value;
    refuseDecorated(value.constructor);
    if (isRecord(value) || isTornRecord(value)) return enter(value, () => this.#record(value, target, goOn));
    // A model is no class to make of plain values: its instance would be a record that was never read.
    if (this.direction === DIRECTIONS.write && isModel(target) && !Array.isArray(value)) {
      return this.#final(this.views.show(value, target));
    }
    const isData = this.direction === DIRECTIONS.read && Object.hasOwn(value, 'constructor');
    return isData && !Array.isArray(value) ? this.#data(value) : goOn(value);
  }

  /** JSON of the user's, in which class-transformer would take a property named `constructor` for the class. */
  #data(value: object): object {
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, this.transform(undefined, part)]),
    );
  }

  #record(record: object, target: unknown, goOn: (values: object) => unknown): unknown {
    if (typeof target !== 'function' || target === Object || isModel(target)) {
      return this.#final(this.views.show(record));
    }
    const isIntoClass = this.direction === DIRECTIONS.write;
    const values = isIntoClass ? this.views.valuesFor(record, target as Class) : null;
    return goOn(values ?? this.views.show(record));
  }

  #final(shown: object): object {
    this.shown.add(shown);
    return shown;
  }
}
