/**
 * Parameters of the user's routes that are asked as a class or a list: checked for their shape, made instances, and validated.
 * routing-controllers lets arrays and single values pass as they came.
 */
import type { ValidationError } from 'class-validator';
import { BadRequestError, type ExpressDriver, type ParamMetadata } from 'routing-controllers';
import type { Class } from '../../declare/crud-options.js';
import { refuseDepth } from '../../request/read-body.js';
import { failureOf, validate } from '../../schema/class-validator-internals.js';
import { holdsUnsafeKey, isStructured } from '../../schema/json-value.js';
import { bodyToInstance } from '../../schema/read-through-class.js';
import {
  BodyError,
  bodyPointer,
  InvalidBodyError,
  InvalidQueryError,
  type RequestIssue,
} from '../../schema/request-issue.js';
import { type ParameterType, parameterType } from '../resources/untyped-parameters.js';

/** class-transformer takes an own `constructor` for the class of a value, and calls it. */
const UNSAFE_BODY = 'The body must not hold keys named __proto__, constructor or prototype.';

/** Options of a driver by which a parameter is read. */
type ParameterDriver = Pick<
  ExpressDriver,
  'useClassTransformer' | 'enableValidation' | 'validationOptions' | 'plainToClassTransformOptions'
>;

/** Sources whose values are JSON. Of the others routing-controllers makes objects. */
const JSON_SOURCES: ReadonlySet<string> = new Set(['body', 'body-param', 'query', 'header', 'cookie']);

/** The reader of a parameter; null where routing-controllers reads it by itself. */
export function ownParameter(param: ParamMetadata, driver: ParameterDriver): OwnParameter | null {
  const { type, targetType, actionMetadata } = param;
  const isMade = driver.useClassTransformer && actionMetadata.options.transformRequest !== false;
  const asked = parameterType(targetType, declaredType(param), param.isArray);
  if (!JSON_SOURCES.has(type) || !isMade || !asked) return null;
  const isTaken = asked.target !== null || isOfBody(type);
  return isTaken ? new OwnParameter(param, asked, driver) : null;
}

/** Type that TypeScript emitted, whatever type the decorator has. */
function declaredType({ target, method, index }: ParamMetadata): unknown {
  const { prototype } = target as Class;
  const types: readonly unknown[] = Reflect.getMetadata('design:paramtypes', prototype, method) ?? [];
  return types[index];
}

/** Reads a parameter of a route. */
export class OwnParameter {
  readonly #param: ParamMetadata;
  readonly #target: Class | null;
  readonly #isList: boolean;
  readonly #driver: ParameterDriver;
  readonly #isValidated: boolean;
  /** True where the parameter is the entire body. */
  readonly #isWhole: boolean;

  constructor(param: ParamMetadata, { target, isList }: ParameterType, driver: ParameterDriver) {
    this.#param = param;
    this.#target = target;
    this.#isList = isList;
    this.#isWhole = param.type === 'body';
    this.#driver = driver;
    this.#isValidated = param.validate instanceof Object || (param.validate ?? driver.enableValidation);
    if (target === null) return;
    // routing-controllers passes it on then as it is read here.
    param.isTargetObject = false;
    param.parse = false;
  }

  /** @param sent what routing-controllers has found in the request */
  read(sent: unknown): unknown {
    // A body that is null was sent.
    if (sent === undefined || (sent === null && !this.#isWhole)) return sent;
    if (this.#target !== null) return this.#readInto(this.#target, sent);
    // Items without a class are converted by routing-controllers.
    const isRight = !this.#isValidated || Array.isArray(sent);
    return isRight ? sent : Promise.reject(this.#refusal([this.#noArray()]));
  }

  async #readInto(target: Class, sent: unknown): Promise<unknown> {
    const value = typeof sent === 'string' ? this.#parse(sent) : sent;
    if (value === null && !this.#isWhole) return value;
    refuseDepth(value);
    if (holdsUnsafeKey(value)) throw new BodyError(400, 'unsafeKey', UNSAFE_BODY);
    if (!this.#isValidated) return isObject(value) ? this.#instance(target, value) : value;
    return this.#isList ? this.#instances(target, this.#list(value)) : this.#one(target, value);
  }

  async #one(target: Class, value: unknown): Promise<object> {
    if (!isObject(value)) throw this.#refusal([this.#noObject()]);
    const instance = this.#instance(target, value);
    this.#refuse(await this.#failures(instance));
    return instance;
  }

  async #instances(target: Class, values: readonly unknown[]): Promise<object[]> {
    const objects = values.filter(isObject);
    if (objects.length < values.length) {
      const others = values.flatMap((value, index) => (isObject(value) ? [] : [index]));
      throw this.#refusal(others.map((index) => this.#noObject(index)));
    }
    const instances = objects.map((value) => this.#instance(target, value));
    const found = await Promise.all(instances.map((each) => this.#failures(each)));
    this.#refuse(
      found.flatMap((children, index) => (children.length > 0 ? [failureOf(index, children)] : [])),
    );
    return instances;
  }

  /** A query string repeats a name for each item, and has a single one alone. */
  #list(value: unknown): readonly unknown[] {
    const { type } = this.#param;
    if (Array.isArray(value)) return value;
    if (!isOfBody(type)) return [value];
    throw this.#refusal([this.#noArray()]);
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      if (this.#isWhole && this.#param.actionMetadata.isJsonTyped) return text;
      throw new BadRequestError(
        `Given parameter ${this.#param.name} is invalid. It cannot be parsed into JSON.`,
      );
    }
  }

  #instance(target: Class, value: object): object {
    if (value instanceof target) return value;
    const options = this.#param.classTransform ?? this.#driver.plainToClassTransformOptions;
    return bodyToInstance(target, value, options) as object;
  }

  #failures(instance: object): Promise<ValidationError[]> {
    const { validate: own } = this.#param;
    const options = { forbidUnknownValues: false, ...this.#driver.validationOptions };
    return validate(instance, own instanceof Object ? { ...options, ...own } : options);
  }

  /** As routing-controllers words it, and is understood where errors are answered. */
  #refuse(failures: readonly ValidationError[]): void {
    if (failures.length === 0) return;
    const { type, name } = this.#param;
    const error = new BadRequestError(`Invalid ${type}, check 'errors' property for more info.`);
    throw Object.assign(error, { errors: failures, paramName: name });
  }

  #noObject(...item: readonly number[]): RequestIssue {
    const { type, name } = this.#param;
    if (!isOfBody(type))
      return { parameter: name, code: 'isObject', detail: `${name} must be a JSON object.` };
    const subject = item.length > 0 ? 'An item' : this.#subject;
    return { pointer: this.#pointer(...item), code: 'isObject', detail: `${subject} must be a JSON object.` };
  }

  #noArray(): RequestIssue {
    return { pointer: this.#pointer(), code: 'isArray', detail: `${this.#subject} must be a JSON array.` };
  }

  get #subject(): string {
    return this.#isWhole ? 'The body' : this.#param.name;
  }

  #pointer(...item: readonly number[]): string {
    return bodyPointer(...(this.#isWhole ? [] : [this.#param.name]), ...item);
  }

  #refusal(issues: readonly RequestIssue[]): Error {
    return isOfBody(this.#param.type) ? new InvalidBodyError(issues) : new InvalidQueryError(issues);
  }
}

function isOfBody(type: ParamMetadata['type']): boolean {
  return type === 'body' || type === 'body-param';
}

function isObject(value: unknown): value is object {
  return isStructured(value) && !Array.isArray(value);
}
