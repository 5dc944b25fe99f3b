/** The parts of frameworks that are used here, under paths for which they ship no types, or private ones. */

/** The part of class-transformer's metadata storage that is read here. */
declare module 'class-transformer/cjs/storage.js' {
  import type {
    ExcludeOptions,
    ExposeOptions,
    TransformFnParams,
    TransformOptions,
    TypeHelpOptions,
    TypeOptions,
  } from 'class-transformer';

  export const defaultMetadataStorage: {
    addExcludeMetadata(metadata: {
      readonly target: object;
      readonly propertyName: string | undefined;
      readonly options?: ExcludeOptions;
    }): void;
    getStrategy(target: unknown): 'excludeAll' | 'exposeAll' | 'none';
    /** Finds a decorator. Without a property it is that of the class itself. */
    findExcludeMetadata(
      target: unknown,
      property: string | undefined,
    ): { readonly options?: ExcludeOptions } | undefined;
    findExposeMetadata(target: unknown, property: string): { readonly options?: ExposeOptions } | undefined;
    findTypeMetadata(
      target: unknown,
      property: string,
    ):
      | {
          readonly target: object;
          readonly typeFunction: (type?: TypeHelpOptions) => unknown;
          readonly options?: TypeOptions;
        }
      | undefined;
    findTransformMetadatas(
      target: unknown,
      property: string,
      direction: number,
    ): readonly {
      readonly target: object;
      readonly transformFn: (params: TransformFnParams) => unknown;
      readonly options?: TransformOptions;
    }[];
    getExposedProperties(target: unknown, direction: number): readonly string[];
    getExcludedProperties(target: unknown, direction: number): readonly string[];
  };
}

/** Executor of a transformation; every value goes through `transform`, which calls itself. */
declare module 'class-transformer/cjs/TransformOperationExecutor.js' {
  import type { ClassTransformOptions } from 'class-transformer';

  export class TransformOperationExecutor {
    constructor(direction: number, options: ClassTransformOptions);
    transform(
      source: unknown,
      value: unknown,
      target?: unknown,
      arrayType?: unknown,
      isMap?: boolean,
      level?: number,
    ): unknown;
    /** The keys that are transformed, of an object or a map. */
    getKeys(target: unknown, value: object, isMap: boolean): string[];
    /** Applies the `@Transform`s of a property to a value. */
    applyCustomTransformations(value: unknown, ...context: readonly unknown[]): unknown;
  }
}

declare module 'class-transformer/cjs/constants/default-options.constant.js' {
  import type { ClassTransformOptions } from 'class-transformer';

  export const defaultOptions: ClassTransformOptions;
}

/** Executor of a validation. Every property of every object goes through `performValidations`. */
declare module 'class-validator/cjs/validation/ValidationExecutor.js' {
  import type { getMetadataStorage, ValidationError, Validator, ValidatorOptions } from 'class-validator';

  export class ValidationExecutor {
    constructor(validator: Validator, options: ValidatorOptions);
    /** Promises of validators, which the errors wait for. */
    awaitingPromises: Promise<unknown>[];
    metadataStorage: Pick<
      ReturnType<typeof getMetadataStorage>,
      | 'hasValidationMetaData'
      | 'getTargetValidationMetadatas'
      | 'groupByPropertyName'
      | 'getTargetValidatorConstraints'
    >;
    execute(object: object, schema: string | undefined, errors: ValidationError[]): void;
    /** Adds one error for the property, with no constraints and no children where nothing is wrong. */
    performValidations(
      object: unknown,
      value: unknown,
      property: string,
      defined: readonly unknown[],
      others: readonly unknown[],
      errors: ValidationError[],
    ): void;
    /** Validates the inside of a property, or of an item of it, that is to be validated. */
    nestedValidations(value: unknown, metadatas: readonly ValidationMetadata[], error: ValidationError): void;
    stripEmptyErrors(errors: ValidationError[]): ValidationError[];
  }

  export interface ValidationMetadata {
    readonly type: string;
    readonly each: boolean;
    readonly propertyName: string;
    /** A text where a schema was registered in place of a class. */
    readonly target: unknown;
  }
}
