/**
 * One parameter of a route of the user's: checked for its shape, converted, made an instance, and validated, in the words of
 * generated routes. routing-controllers lets arrays and single values pass as they came.
 */
import type { ValidatorOptions } from 'class-validator';
import type { ExpressDriver, ParamMetadata } from 'routing-controllers';
import type { Class } from '../../declare/crud-options.js';
import { repeatedIssue, unknownParameter } from '../../request/query/query-string.js';
import { hasBody, missingBody, refuseDepth } from '../../request/read-body.js';
import { type ClassReading, readThroughSchema } from '../../schema/body-schema.js';
import { classSchema } from '../../schema/class-schema.js';
import { isStructured, MemberBudget, refuseUnsafeKeys } from '../../schema/json-value.js';
import { bodyToInstance } from '../../schema/read-through-class.js';
import {
  bodyPointer,
  InvalidBodyError,
  InvalidQueryError,
  type RequestIssue,
} from '../../schema/request-issue.js';
import { lazy } from '../../util/memo.js';
import { isOfClient, type ParameterType, parameterType } from '../resources/untyped-parameters.js';
import { absentParameter, type ValueType, valueType, wrongText } from './own-value.js';

/** Options of a driver by which a parameter is read. */
export type ParameterDriver = Pick<
  ExpressDriver,
  'useClassTransformer' | 'enableValidation' | 'validationOptions' | 'plainToClassTransformOptions'
>;

/** Sources that are several values by name, which are one object. */
const GROUPS: ReadonlySet<string> = new Set(['queries', 'params', 'headers', 'cookies']);

/** The reader of a parameter; null where routing-controllers reads it by itself. */
export function ownParameter(param: ParamMetadata, driver: ParameterDriver): OwnParameter | null {
  const { type, targetType, actionMetadata, isArray } = param;
  if (!isOfClient(type)) return null;
  const value = valueType(param);
  const asked = parameterType(targetType, declaredType(param), isArray) ?? { target: null, isList: false };
  const isMade = driver.useClassTransformer && actionMetadata.options.transformRequest !== false;
  const isClass = asked.target !== null && isMade && type !== 'param';
  // A whole body that is no JSON is a text.
  const isValue = value !== null && (type !== 'body' || actionMetadata.isJsonTyped) && !param.parse;
  const isPlainList = asked.isList && asked.target === null && isOfBody(type) && isMade;
  if (!isClass && !isValue && !isPlainList && !(param.required && asked.target === null)) return null;
  return new OwnParameter(
    param,
    isClass ? asked : { ...asked, target: null },
    isValue ? value : null,
    driver,
  );
}

/** Type that TypeScript emitted, also where the decorator has one. */
function declaredType({ target, method, index }: ParamMetadata): unknown {
  const { prototype } = target as Class;
  const types: readonly unknown[] = Reflect.getMetadata('design:paramtypes', prototype, method) ?? [];
  return types[index];
}

type ReadRequest = Parameters<typeof hasBody>[0];

/** Reads a parameter of a route. */
export class OwnParameter {
  readonly #param: ParamMetadata;
  readonly #target: Class | null;
  readonly #isList: boolean;
  readonly #value: ValueType | null;
  readonly #isRequired: boolean;
  readonly #isValidated: boolean;
  /** True where the parameter is the entire body. */
  readonly #isWhole: boolean;
  readonly #schema = lazy(() => classSchema(this.#target as Class));
  readonly #reading: ClassReading;

  constructor(
    param: ParamMetadata,
    { target, isList }: ParameterType,
    value: ValueType | null,
    driver: ParameterDriver,
  ) {
    const { validate: own, required, classTransform } = param;
    this.#param = param;
    this.#target = target;
    this.#isList = isList;
    this.#value = value;
    this.#isWhole = param.type === 'body';
    this.#isValidated = own instanceof Object || (own ?? driver.enableValidation);
    this.#isRequired =
      required === true || (this.#isWhole && required !== false && target !== null && this.#isValidated);
    const transform = classTransform ?? driver.plainToClassTransformOptions;
    const options: ValidatorOptions = {
      forbidUnknownValues: false,
      ...driver.validationOptions,
      ...(own instanceof Object ? own : {}),
      // The words of issues need both.
      validationError: { target: true, value: true },
    };
    this.#reading = {
      fill: (type, values) => bodyToInstance(type, values, transform) as object,
      options,
    };
    // routing-controllers passes values on then as they are read here.
    Object.assign(param, { isTargetObject: false, parse: false, required: false });
    if (target !== null || value !== null) param.targetName = '';
  }

  /**
   * @param sent the value that routing-controllers has found in the request
   * @throws InvalidQueryError @throws InvalidBodyError @throws BodyError
   */
  async read(sent: unknown, request: ReadRequest): Promise<unknown> {
    if (this.#isWhole && sent !== null && !isThere(sent, request)) {
      if (this.#isRequired) throw missingBody();
      return undefined;
    }
    // A body that is null was sent.
    if (!this.#isWhole && (sent === undefined || sent === null || (sent === '' && this.#isRequired))) {
      if (this.#isRequired) throw this.#refusal([this.#absent(sent)]);
      return sent;
    }
    if (this.#value !== null) return this.#readValues(this.#value, sent, request);
    if (this.#target !== null) return this.#readInto(this.#target, sent);
    // Items without a class are converted by routing-controllers.
    const isWrong = this.#isList && isOfBody(this.#param.type) && this.#isValidated && !Array.isArray(sent);
    if (isWrong) throw this.#refusal([this.#noArray()]);
    return sent;
  }

  #absent(sent: unknown): RequestIssue {
    if (!isOfBody(this.#param.type)) return absentParameter(this.#param);
    return this.#issue({ code: 'isDefined', text: sent === null ? 'must not be null' : 'is required' });
  }

  #readValues(type: ValueType, sent: unknown, request: ReadRequest): unknown {
    const isOfText = !isOfBody(this.#param.type) || !isJson(request);
    const issues: RequestIssue[] = [];
    const readOne = (value: unknown, ...item: readonly number[]): unknown => {
      const isText = isOfText && typeof value === 'string';
      const read = isText ? type.read(value) : type.take(value);
      if (read === undefined) issues.push(this.#wrong(type, value, ...item));
      return read;
    };
    const isSeveral = Array.isArray(sent);
    let read: unknown;
    if (!this.#isList) read = readOne(sent);
    else if (isSeveral) read = sent.map((each, index) => readOne(each, index));
    else if (isOfText && !this.#isWhole) read = [readOne(sent)];
    else issues.push(this.#noArray());
    if (issues.length > 0) throw this.#refusal(issues);
    return read;
  }

  #wrong(type: ValueType, value: unknown, ...item: readonly number[]): RequestIssue {
    if (isOfBody(this.#param.type)) return this.#issue({ code: type.name, text: type.text }, ...item);
    return typeof value === 'string' ? wrongText(this.#param, type, value) : repeatedIssue(this.#param.name);
  }

  async #readInto(target: Class, sent: unknown): Promise<unknown> {
    const value = typeof sent === 'string' ? this.#parse(sent) : sent;
    if (value === null && !this.#isWhole) return value;
    refuseDepth(value);
    if (!this.#isValidated) {
      refuseUnsafeKeys(value);
      return isObject(value) ? this.#reading.fill(target, value) : value;
    }
    const budget = new MemberBudget();
    if (!this.#isList) return this.#one(value, budget);
    const values = this.#list(value);
    const read = await Promise.allSettled(values.map((each, index) => this.#one(each, budget, index)));
    const issues = read.flatMap((each) => (each.status === 'rejected' ? issuesOf(each.reason) : []));
    if (issues.length > 0) throw this.#refusal(issues);
    return read.map((each) => (each.status === 'fulfilled' ? each.value : undefined));
  }

  async #one(value: unknown, budget: MemberBudget, ...item: readonly number[]): Promise<object> {
    if (!isObject(value))
      throw this.#refusal([this.#issue({ code: 'isObject', text: 'must be a JSON object' }, ...item)]);
    const target = this.#target as Class;
    if (value instanceof target) return value;
    try {
      const values = GROUPS.has(this.#param.type) ? convertedTexts(target, value) : value;
      return (await readThroughSchema(this.#schema(), values, budget, this.#reading)).instance;
    } catch (error) {
      if (!(error instanceof InvalidBodyError)) throw error;
      throw this.#refusal(error.errors.map((issue) => this.#placed(issue, item)));
    }
  }

  #placed(issue: RequestIssue, item: readonly number[]): RequestIssue {
    if (!('pointer' in issue)) return issue;
    const { type, name } = this.#param;
    const { pointer, ...rest } = issue;
    if (isOfBody(type)) return { ...issue, pointer: this.#pointer(...item) + pointer };
    if (!GROUPS.has(type)) return { parameter: name, ...rest };
    const [, parameter = ''] = pointer.split('/');
    const isUnknown = issue.code === 'unknownProperty' && type === 'queries';
    return isUnknown ? unknownParameter(parameter, [...this.#schema().properties]) : { parameter, ...rest };
  }

  /** A query string repeats a name for each item, and has a single one alone. */
  #list(value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value;
    if (!isOfBody(this.#param.type)) return [value];
    throw this.#refusal([this.#noArray()]);
  }

  #parse(text: string): unknown {
    const { type, actionMetadata } = this.#param;
    try {
      return JSON.parse(text);
    } catch {
      if (isOfBody(type) && actionMetadata.isJsonTyped) return text;
      throw this.#refusal([this.#issue({ code: 'malformed', text: 'must be JSON' })]);
    }
  }

  #noArray(): RequestIssue {
    return this.#issue({ code: 'isArray', text: 'must be a JSON array' });
  }

  /** @param text the end of a sentence about the parameter, or about an item of it */
  #issue({ code, text }: { code: string; text: string }, ...item: readonly number[]): RequestIssue {
    const { type, name } = this.#param;
    if (!isOfBody(type)) return { parameter: name, code, detail: `${name} ${text}.` };
    const subject = item.length > 0 ? 'An item' : this.#isWhole ? 'The body' : name;
    return { pointer: this.#pointer(...item), code, detail: `${subject} ${text}.` };
  }

  #pointer(...item: readonly number[]): string {
    return bodyPointer(...(this.#isWhole ? [] : [this.#param.name]), ...item);
  }

  #refusal(issues: readonly RequestIssue[]): InvalidBodyError | InvalidQueryError {
    return isOfBody(this.#param.type) ? new InvalidBodyError(issues) : new InvalidQueryError(issues);
  }
}

function isOfBody(type: ParamMetadata['type']): boolean {
  return type === 'body' || type === 'body-param';
}

/** True for an object that is no array. */
export function isObject(value: unknown): value is object {
  return isStructured(value) && !Array.isArray(value);
}

/** Express 4 has an empty object for a request without a body. */
function isThere(sent: unknown, request: ReadRequest): boolean {
  return sent !== undefined && hasBody(request);
}

/** True for a body whose values have types; those of a form are texts. */
export function isJson({ headers }: ReadRequest): boolean {
  return /json/i.test(headers['content-type'] ?? '');
}

/** The issues of an error; any other error is thrown. */
function issuesOf(error: unknown): readonly RequestIssue[] {
  if (error instanceof InvalidBodyError || error instanceof InvalidQueryError) return error.errors;
  throw error;
}

/** Texts of a query string, as the types of the properties have them. Properties of another type are left to the class. */
function convertedTexts(target: Class, values: object): object {
  const entries = Object.entries(values).map(([name, value]) => {
    const targetType: unknown = Reflect.getMetadata('design:type', target.prototype, name);
    const targetName = typeof targetType === 'function' ? targetType.name.toLowerCase() : '';
    const type = valueType({ targetType, targetName } as ParamMetadata);
    return [name, typeof value === 'string' && type ? (type.read(value) ?? value) : value];
  });
  return Object.fromEntries(entries);
}
