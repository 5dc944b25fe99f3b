/**
 * class-validator's executor of a validation, which it does not export, and its storage of decorators. Unchanged, it
 * searches the decorators of all classes for each object inside a body. And it keeps an error for each property until
 * the end, also where nothing is wrong. A client chooses the number of objects, and the start visits each property of
 * each model.
 */
import {
  getMetadataStorage,
  type ValidationError,
  ValidationTypes,
  Validator,
  type ValidatorOptions,
} from 'class-validator';
import {
  ValidationExecutor,
  type ValidationMetadata,
} from 'class-validator/cjs/validation/ValidationExecutor.js';
import type { Class } from '../declare/crud-options.js';
import { groupBy, keptIn } from '../util/memo.js';
import { missingFrom, withFields } from '../util/missing-internal.js';
import { isStructured } from './json-value.js';

const missing = missingFrom('class-validator', 'after 0.15');

withFields(
  ValidationExecutor.prototype,
  'ValidationExecutor',
  'execute performValidations nestedValidations stripEmptyErrors',
  missing,
);
withFields(
  new ValidationExecutor(new Validator(), {}),
  'ValidationExecutor',
  'awaitingPromises metadataStorage',
  missing,
);

type Storage = ValidationExecutor['metadataStorage'];
/** A decorator, as class-validator keeps it. */
export type Decorator = ReturnType<Storage['getTargetValidationMetadatas']>[number];

interface ClassDecorators {
  /** Number of decorators of the class and of those that it extends, repeated ones included: the storage only grows. */
  readonly count: number;
  readonly all: readonly Decorator[];
  readonly byProperty: ReadonlyMap<string, readonly Decorator[]>;
}

const decorators = new WeakMap<object, ClassDecorators>();

/** The decorators of a class, as class-validator finds them; read again where one of its classes has gained some. */
export function decoratorsOf(target: Class): ClassDecorators {
  const storage = getMetadataStorage();
  const { validationMetadatas: ofAll } = withFields(
    // A private field of the storage, so its type has to be said.
    storage as object as { readonly validationMetadatas: ReadonlyMap<unknown, readonly Decorator[]> },
    'MetadataStorage',
    'validationMetadatas',
    missing,
  );
  const own: [object, readonly Decorator[]][] = [];
  for (let each: object | null = target; each !== null; each = Object.getPrototypeOf(each)) {
    const found = ofAll.get(each);
    if (found) own.unshift([each, found]);
  }
  const count = own.reduce((sum, [, { length }]) => sum + length, 0);
  const known = decorators.get(target);
  if (known?.count === count) return known;
  // A storage of these classes alone: class-validator would read every class of the process.
  const narrow: typeof storage = Object.create(storage, { validationMetadatas: { value: new Map(own) } });
  const all = narrow.getTargetValidationMetadatas(target, '', true, false);
  const byProperty = groupBy(all, ({ propertyName }) => propertyName);
  const made = Object.freeze({ count, all, byProperty });
  decorators.set(target, made);
  return made;
}

/** Failures as of class-validator's own `validate`, with the same calls of validators, in the same order. */
export async function validate(instance: object, options: ValidatorOptions): Promise<ValidationError[]> {
  const executor = new BodyValidation(new Validator(), options);
  const errors: ValidationError[] = [];
  executor.execute(instance, undefined, errors);
  await Promise.all(executor.awaitingPromises);
  return executor.stripEmptyErrors(errors);
}

class BodyValidation extends ValidationExecutor {
  override metadataStorage: Storage = remembering(getMetadataStorage());
  /** True where the value under validation is an item of an array. */
  #isItem = false;

  override performValidations(
    ...[object, value, property, defined, others, errors]: Parameters<
      ValidationExecutor['performValidations']
    >
  ): void {
    const promised = this.awaitingPromises.length;
    this.#isItem = Array.isArray(object);
    super.performValidations(object, value, property, defined, others, errors);
    const { constraints = {}, children = [] } = errors.at(-1) ?? {};
    const isRight = children.length === 0 && Object.keys(constraints).length === 0;
    // A promised constraint is added to the error later.
    if (isRight && this.awaitingPromises.length === promised) errors.pop();
  }

  /** class-validator takes an array for an object, and an object for an array. */
  override nestedValidations(
    ...[value, metadatas, error]: Parameters<ValidationExecutor['nestedValidations']>
  ): void {
    const shape = this.#isItem ? 'object' : shapeOf(metadatas);
    const code = isStructured(value) && shape && !hasShape(value, shape) ? SHAPE_CODES[shape] : undefined;
    if (code === undefined) super.nestedValidations(value, metadatas, error);
    else
      error.constraints = {
        ...error.constraints,
        [code]: `${this.#isItem ? 'An item' : error.property} must be an ${shape}`,
      };
  }
}

type Shape = 'object' | 'array';

const SHAPE_CODES: Readonly<Record<Shape, string>> = { object: 'isObject', array: 'isArray' };

function hasShape(value: object, shape: Shape): boolean {
  const isList = Array.isArray(value) || value instanceof Set || value instanceof Map;
  return isList === (shape === 'array');
}

/** Types that may be of one nested object, or of several. */
const OPEN_TYPES: ReadonlySet<unknown> = new Set([Object, Map, Set, Promise]);

/** The shape that is declared of nested objects; undefined where it may be either. */
function shapeOf(metadatas: readonly ValidationMetadata[]): Shape | undefined {
  const [nested] = metadatas.filter(({ type }) => type === ValidationTypes.NESTED_VALIDATION);
  if (!nested) return undefined;
  const { each, propertyName } = nested;
  const target = declaringClass(nested);
  const declared: unknown =
    typeof target === 'function' && Reflect.getMetadata('design:type', target.prototype, propertyName);
  if (declared === Array || each) return isClass(declared) ? undefined : 'array';
  return isClass(declared) ? 'object' : undefined;
}

/** Classes that the validation of a property was copied from: only these have its type. */
const declaringClasses = new WeakMap<object, unknown>();

function declaringClass(metadata: ValidationMetadata): unknown {
  return declaringClasses.get(metadata) ?? metadata.target;
}

/** Says that a validation is a copy of another one. */
export function noteCopy(copy: object, original: ValidationMetadata): void {
  declaringClasses.set(copy, declaringClass(original));
}

function isClass(type: unknown): boolean {
  return typeof type === 'function' && !OPEN_TYPES.has(type) && !isArrayClass(type);
}

/** The storage, which finds each class once; decorators that come later are those of another validation. */
function remembering(storage: Storage): Storage {
  const found = new Map<unknown, ReturnType<Storage['getTargetValidationMetadatas']>>();
  return {
    hasValidationMetaData: storage.hasValidationMetaData,
    groupByPropertyName: (all) => storage.groupByPropertyName(all),
    getTargetValidatorConstraints: (target) => storage.getTargetValidatorConstraints(target),
    getTargetValidationMetadatas(target, schema, ...options) {
      // The name of a schema matters only where decorators were added for a text in place of a class.
      return keptIn(found, target, () => storage.getTargetValidationMetadatas(target, schema, ...options));
    },
  };
}

function isArrayClass(type: { readonly prototype?: unknown }): boolean {
  return type === Array || Reflect.apply(Object.prototype.isPrototypeOf, Array.prototype, [type.prototype]);
}
