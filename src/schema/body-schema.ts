/** A body that came over the wire -> values, or everything that is wrong with it. */

import { type ValidationError, ValidationTypes, type ValidatorOptions } from 'class-validator';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { Class } from '../declare/crud-options.js';
import { describeModel } from '../describe/describe-model.js';
import { idSegment } from '../describe/id-text.js';
import { isFilled, isGenerated, type RowKey } from '../describe/model-info.js';
import { keyText } from '../describe/row-key.js';
import { keptIn } from '../util/memo.js';
import { didYouMean } from '../util/option-problems.js';
import type { Maybe } from '../util/promises.js';
import { quotesValue } from '../util/quoted-value.js';
import {
  type BodyValues,
  contentIssues,
  modelValues,
  storageIssues,
  typeIssues,
  type ValueSchema,
} from './body-values.js';
import type { SchemaClass } from './class-properties.js';
import { classProperties, hasValidators, validatorsOf } from './class-properties.js';
import { validate } from './class-validator-internals.js';
import { ADDRESSABLE, isTextKey } from './column-rules.js';
import { type BodyReader, compileBodyReader, readNothing } from './compile-body-reader.js';
import { type BodyKind, deriveBodyClass, type RuleContext, writableAttributes } from './derive-class.js';
import { MemberBudget } from './json-value.js';
import { hasType } from './model-decorators.js';
import { createSchema, updateSchema } from './model-schemas.js';
import { fillClass } from './read-through-class.js';
import {
  bodyPointer,
  InvalidBodyError,
  MAX_ISSUES,
  notAnObject,
  type RequestIssue,
  readOnlyIssue,
} from './request-issue.js';
import { SEGMENT_LENGTH } from './wire-value.js';

/** Schema that a body is checked against. */
export interface BodySchema extends ValueSchema {
  /** class-validator refuses a class that is not in its storage: without properties, or with `@Expose()` only. */
  readonly hasRules: boolean;
  /** The only properties a body may have. */
  readonly properties: ReadonlySet<string>;
  /** Members that a body may have beside them, and that others parse. */
  readonly members?: readonly string[];
  /** Properties that a client could see or set, but not this one; naming them is a mistake of its own kind. */
  readonly readOnly: ReadonlySet<string>;
  /** Properties of the class that this client cannot set; their rules are not evaluated. */
  readonly closed: ReadonlySet<string>;
  /** The key of a new record, where a class of the user's decides about it; else null. */
  readonly givenKey: string | null;
  /** The key of several attributes that a new record has, where texts may make its id too long for a path; else null. */
  readonly longKey: RowKey | null;
  /** Reads a body that is right at first sight. */
  readonly read: BodyReader;
}

const NONE: ReadonlySet<string> = new Set();

/** Unknown properties of a body for which a similar name is searched, at most: the search costs more than the rest of a body. */
export const MAX_GUESSES = 20;

/** class-validator's name of a property that its class does not have; only objects inside a body can have one. */
const UNDECLARED = 'whitelistValidation';
const STRICT = Object.freeze({ forbidUnknownValues: true, whitelist: true, forbidNonWhitelisted: true });

/** Steps by which values become an instance of a class, and are validated. */
export interface ClassReading {
  fill(target: Class, values: object): object;
  readonly options: ValidatorOptions;
}

const USUAL: ClassReading = Object.freeze({ fill: fillClass, options: STRICT });

/** Parts of a plan that decide about bodies. */
export type BodyPlan = Pick<ResourcePlan, 'model' | 'info' | 'exposure' | 'explicitSchemas'>;

/**
 * The schema of a resource's create or update body: the user's class where there is one, else the derived one.
 *
 * @param refused attributes that the request may not send
 */
export function bodySchema(plan: BodyPlan, kind: BodyKind, refused: ReadonlySet<string> = NONE): BodySchema {
  const explicit = plan.explicitSchemas[kind];
  const { address } = plan.info;
  // The user's class may have been made before the table was read.
  const closed = explicit ? new Set([...refused, ...generatedNames(plan)]) : refused;
  const writable = writableAttributes(plan.info, plan.exposure, kind);
  const attributes = writable.filter(({ name }) => !closed.has(name));
  const offered = explicit ? classProperties(explicit, 'write') : new Set(writable.map(({ name }) => name));
  const properties = new Set([...offered].filter((name) => !closed.has(name)));
  const known = [...plan.info.attributes.keys()].filter(
    (name) => offered.has(name) || !plan.exposure.unreadable.has(name),
  );
  const names = {
    properties,
    readOnly: new Set(known.filter((name) => !properties.has(name))),
    closed,
    givenKey: explicit ? givenText(address, kind) : null,
    longKey: kind === 'create' && address.length > 1 && address.some(isTextKey) ? address : null,
  };
  const target = explicit ?? derivedClass(plan, kind, closed);
  return Object.freeze({
    class: target,
    isExplicit: explicit !== null,
    types: new Map([...plan.info.attributes.values()].map(({ name, type }) => [name, type])),
    nested: new Set([...properties].filter((name) => isNested(target, name))),
    hasRules: hasValidators(target),
    ...names,
    read: explicit ? readNothing : compileBodyReader(plan.info, target as SchemaClass, attributes, kind),
  });
}

function generatedNames({ info }: BodyPlan): readonly string[] {
  return [...info.attributes.values()].filter(isGenerated).map(({ name }) => name);
}

/** The attribute of a text that alone addresses records, where such a body may hold it. Of several, no id is empty. */
function givenText([address, ...more]: RowKey, kind: BodyKind): string | null {
  if (!address || more.length > 0 || !isTextKey(address)) return null;
  return address.isAddress === true || (kind === 'create' && !isFilled(address)) ? address.name : null;
}

/** The problem of an id that is too long for a path, at the first of its texts. Parts that others set are short. */
function longIdIssues(key: RowKey, values: BodyValues): readonly RequestIssue[] {
  const given = Object.fromEntries(key.map(({ name }) => [name, values[name] ?? '']));
  const texts = key.filter(isTextKey).map(({ name }) => name);
  const isText = texts.every((name) => typeof given[name] !== 'string' || given[name].isWellFormed());
  if (!isText || (idSegment(key, given) ?? '').length <= SEGMENT_LENGTH) return [];
  const detail = `${keyText(key)} must be able to stand in a path together: they cannot have over ${SEGMENT_LENGTH} characters when percent-encoded.`;
  return [{ pointer: bodyPointer(texts[0] as string), code: 'isAddressable', detail }];
}

/** True for a property whose values class-transformer makes instances, or class-validator validates from the inside. */
export function isNested(target: Class, name: string): boolean {
  const isValidated = validatorsOf(target, name).some(
    ({ type }) => type === ValidationTypes.NESTED_VALIDATION,
  );
  return isValidated || hasType(target, name);
}

function derivedClass(
  { model, info, exposure }: BodyPlan,
  kind: BodyKind,
  closed: ReadonlySet<string>,
): SchemaClass {
  if (closed.size === 0 && info === describeModel(model))
    return (kind === 'create' ? createSchema : updateSchema)(model);
  const unwritable = new Set([...exposure.unwritable, ...closed]);
  return deriveBodyClass(info, { ...exposure, unwritable }, kind);
}

/**
 * Checks a body and converts its values to those of the model.
 *
 * @param budget that of the request, where it has more than one record
 * @throws InvalidBodyError with all problems at once
 */
export function parseBody(schema: BodySchema, body: unknown, budget = new MemberBudget()): Maybe<BodyValues> {
  const read = schema.read(body);
  const isRead = read && (!schema.longKey || longIdIssues(schema.longKey, read).length === 0);
  return isRead ? read : readThroughSchema(schema, body, budget).then(({ values }) => values);
}

/**
 * Reads a body through its class: an instance and its values, or all problems with them.
 *
 * @throws InvalidBodyError
 */
export async function readThroughSchema(
  schema: BodySchema,
  body: unknown,
  budget: MemberBudget,
  reading = USUAL,
): Promise<{ readonly instance: object; readonly values: BodyValues }> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw notAnObject();
  }
  const isStrict = reading.options.whitelist === true && reading.options.forbidNonWhitelisted === true;
  const known: BodyValues = {};
  const refused = new Map<string, readonly RequestIssue[]>();
  const issues: RequestIssue[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (isStrict && !schema.properties.has(name)) {
      const { length } = issues;
      if (length <= MAX_ISSUES)
        issues.push(
          schema.readOnly.has(name)
            ? readOnlyIssue(name)
            : unknownProperty(bodyPointer(name), name, namesOf(schema), length < MAX_GUESSES),
        );
      continue;
    }
    const own = contentIssues(schema, name, value, budget);
    if (own.length > 0) refused.set(name, own);
    else known[name] = value;
  }
  issues.push(...[...refused.values()].flat());
  const { instance, failures } = await validateByClass(schema, known, reading);
  const told = failures.filter(
    ({ property, constraints }) =>
      // A property that is undeclared at the top is refused already, or was set by the user's class itself.
      !refused.has(property) && !schema.closed.has(property) && constraints?.[UNDECLARED] === undefined,
  );
  issues.push(...failureIssues(told, known));
  const given = Object.entries(instance).filter(
    ([name, value]) => value !== undefined && schema.properties.has(name),
  );
  const values = modelValues(schema, Object.fromEntries(given));
  const { givenKey } = schema;
  if (givenKey !== null && !ADDRESSABLE.check(values[givenKey])) {
    const detail = `${givenKey} ${ADDRESSABLE.text}.`;
    issues.push({ pointer: bodyPointer(givenKey), code: ADDRESSABLE.name, detail });
  }
  if (issues.length === 0 && schema.longKey) issues.push(...longIdIssues(schema.longKey, values));
  if (issues.length === 0) issues.push(...storageIssues(schema, values));
  if (issues.length > 0) throw new InvalidBodyError(issues);
  return { instance, values };
}

function namesOf({ properties, members = [] }: BodySchema): readonly string[] {
  return [...properties, ...members];
}

async function validateByClass(schema: BodySchema, values: BodyValues, reading: ClassReading) {
  const { fill, options } = reading;
  try {
    const instance = fill(schema.class, values);
    return { instance, failures: schema.hasRules ? await validate(instance, options) : [] };
  } catch (error) {
    // Most such code takes a right value for granted.
    if (isHttpError(error)) throw error;
    const wrong = typeIssues(schema, values);
    const issues = wrong.length > 0 ? wrong : await ruleIssues(schema, values, options);
    throw issues.length > 0 ? new InvalidBodyError(issues) : error;
  }
}

/** Issues of the values as they came, by the rules of the class. */
async function ruleIssues(
  schema: BodySchema,
  values: BodyValues,
  options: ValidatorOptions,
): Promise<readonly RequestIssue[]> {
  try {
    const failures = await validate(fillClass(schema.class, values, false), options);
    return failureIssues(
      failures.filter(({ property }) => !schema.closed.has(property)),
      values,
    );
  } catch {
    return [];
  }
}

/** True for an error that routing-controllers answers with; thrown on purpose. */
function isHttpError(error: unknown): boolean {
  return typeof (error as { httpCode?: unknown } | null | undefined)?.httpCode === 'number';
}

/** Issue of a property that its object does not have. */
export function unknownProperty(
  pointer: string,
  name: string,
  allowed: readonly string[],
  isGuessed = true,
): RequestIssue {
  const choices = allowed.length > 0 ? `The properties are ${allowed.join(', ')}.` : 'The body has none.';
  const detail = `There is no such property.${isGuessed ? didYouMean(name, allowed) : ''} ${choices}`;
  return { pointer, code: 'unknownProperty', detail };
}

/** Issues as far as they are worth reading: one per broken rule. */
function failureIssues(failures: readonly ValidationError[], body: BodyValues): readonly RequestIssue[] {
  const issues: RequestIssue[] = [];
  const isDeclared = declarations();
  const read = (failure: ValidationError, parents: readonly string[]): void => {
    if (issues.length >= MAX_ISSUES) return;
    // A value without rules of class-validator has no property of its own.
    const path = failure.property === undefined ? parents : [...parents, failure.property];
    const broken = Object.entries(failure.constraints ?? {}).filter(
      ([code]) => code !== UNDECLARED || (isSent(body, path) && !isDeclared(failure)),
    );
    // A value that is absent, null or of another type breaks every other rule too, which is not worth reporting.
    const told = broken.filter(
      ([name, message]) => name === 'isDefined' || isOtherType(failure, name, message),
    );
    for (const rule of told.length > 0 ? told : broken) issues.push(failureIssue(failure, path, rule));
    for (const child of failure.children ?? []) read(child, path);
  };
  for (const failure of failures) read(failure, []);
  return issues;
}

function failureIssue(
  failure: ValidationError,
  path: readonly string[],
  [code, message]: readonly [code: string, message: string],
): RequestIssue {
  const pointer = bodyPointer(...path);
  if (code === UNDECLARED) {
    const inner = failure.target?.constructor as Class | undefined;
    return unknownProperty(pointer, failure.property, inner ? [...classProperties(inner, 'write')] : []);
  }
  const { property, value } = failure;
  // A validator of the user's may quote the value (`$value` in its message); the sent value does not come back.
  const isQuoting = !columnRuleOf(failure, code, message) && quotesValue(message, value);
  const text = isQuoting ? `${property} is not valid` : message;
  // class-validator's messages have no full stop.
  return { pointer, code, detail: /[.!?]$/.test(text) ? text : `${text}.` };
}

/** True for a property of the body. A class can set properties that it does not declare, which are no mistake of the client. */
function isSent(body: BodyValues, path: readonly string[]): boolean {
  let value: unknown = body;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
    value = (value as BodyValues)[name];
  }
  return true;
}

/** class-validator stores only properties with validators; `@Expose()` declares one too. A class is examined once. */
function declarations(): (failure: ValidationError) => boolean {
  const known = new Map<unknown, ReadonlySet<string>>();
  return ({ target, property }) => {
    if (target === undefined) return false;
    const type = target.constructor as Class;
    return keptIn(known, type, () => classProperties(type, 'write')).has(property);
  };
}

/** The rule of a column that this is the message of. Such rules never quote, though an example can happen to be the sent value. */
function columnRuleOf(
  { contexts, property }: ValidationError,
  code: string,
  message: string,
): Partial<RuleContext> | null {
  const context: Partial<RuleContext> | undefined = contexts?.[code];
  return message === `${property} ${context?.columnRule}` ? (context ?? null) : null;
}

/** True where the column has values of another type of JSON: `"5"` for a number. */
function isOtherType(failure: ValidationError, code: string, message: string): boolean {
  const { jsonType } = columnRuleOf(failure, code, message) ?? {};
  if (jsonType === undefined) return false;
  if (jsonType === 'array') return !Array.isArray(failure.value);
  // Where there are several types, as for a float, the first is the usual one.
  const [type] = [jsonType].flat();
  return typeof failure.value !== (type === 'integer' ? 'number' : type);
}
