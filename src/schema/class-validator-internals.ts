/**
 * What carries out a validation in class-validator, which does not export it. As it is, it looks through the decorators of
 * all classes for each object inside a body, and keeps an error for each property until the end, also where nothing is wrong.
 * A client chooses how many objects there are.
 */
import { getMetadataStorage, type ValidationError, Validator, type ValidatorOptions } from 'class-validator';
import { ValidationExecutor } from 'class-validator/cjs/validation/ValidationExecutor.js';
import { missingFrom, withFields } from '../util/missing-internal.js';

const missing = missingFrom('class-validator', 'after 0.15');

withFields(
  ValidationExecutor.prototype,
  'ValidationExecutor',
  'execute performValidations stripEmptyErrors',
  missing,
);
withFields(
  new ValidationExecutor(new Validator(), {}),
  'ValidationExecutor',
  'awaitingPromises metadataStorage',
  missing,
);

type Storage = ValidationExecutor['metadataStorage'];

/** What class-validator's own `validate` gives, with the same calls of validators, in the same order. */
export async function validate(instance: object, options: ValidatorOptions): Promise<ValidationError[]> {
  const executor = new BodyValidation(new Validator(), options);
  const errors: ValidationError[] = [];
  executor.execute(instance, undefined, errors);
  await Promise.all(executor.awaitingPromises);
  return executor.stripEmptyErrors(errors);
}

class BodyValidation extends ValidationExecutor {
  override metadataStorage: Storage = remembering(getMetadataStorage());

  override performValidations(
    ...[object, value, property, defined, others, errors]: Parameters<
      ValidationExecutor['performValidations']
    >
  ): void {
    const promised = this.awaitingPromises.length;
    super.performValidations(object, value, property, defined, others, errors);
    const { constraints = {}, children = [] } = errors.at(-1) ?? {};
    const isRight = children.length === 0 && Object.keys(constraints).length === 0;
    // What is promised comes to the error later.
    if (isRight && this.awaitingPromises.length === promised) errors.pop();
  }
}

/** The storage, which looks up each class once; decorators that come later are those of another validation. */
function remembering(storage: Storage): Storage {
  const found = new Map<unknown, ReturnType<Storage['getTargetValidationMetadatas']>>();
  return {
    hasValidationMetaData: storage.hasValidationMetaData,
    groupByPropertyName: (all) => storage.groupByPropertyName(all),
    getTargetValidatorConstraints: (target) => storage.getTargetValidatorConstraints(target),
    getTargetValidationMetadatas(target, schema, ...options) {
      // The name of a schema matters only where decorators were added for a text in place of a class.
      const known = found.get(target) ?? storage.getTargetValidationMetadatas(target, schema, ...options);
      found.set(target, known);
      return known;
    },
  };
}
