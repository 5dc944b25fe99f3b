/** A body that came over the wire -> values, or everything that is wrong with it. */
import { plainToInstance } from 'class-transformer';
import { type ValidationError, validate } from 'class-validator';
import type { Class } from '../metadata/crud-options.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import { didYouMean } from '../util/did-you-mean.js';
import type { Maybe } from '../util/maybe.js';
import { quotesValue } from '../util/quoted-value.js';
import { classProperties, hasValidators } from './class-properties.js';
import { ADDRESSABLE, isTextKey, STORABLE_JSON } from './column-rules.js';
import { type BodyReader, compileBodyReader, readNothing } from './compile-body-reader.js';
import { type BodyKind, deriveBodyClass, writableAttributes } from './derive-body-class.js';
import { createSchema, updateSchema } from './model-schemas.js';
import {
  bodyPointer,
  InvalidBodyError,
  MAX_ISSUES,
  type RequestIssue,
  readOnlyIssue,
} from './request-issue.js';
import type { RuleContext, SchemaClass } from './synthesize-class.js';
import { holdsUnsafeKey } from './wire-value.js';

/** What a body is checked against. */
export interface BodySchema {
  readonly class: Class;
  /** class-validator refuses what it knows nothing about: a class without properties, or with `@Expose()` only. */
  readonly hasRules: boolean;
  /** The only properties a body may have. */
  readonly properties: ReadonlySet<string>;
  /** Properties that a client could see or set, but not this one; naming them is a mistake of its own kind. */
  readonly readOnly: ReadonlySet<string>;
  /** Properties of the class that this client cannot set; what it asks of them is not asked. */
  readonly closed: ReadonlySet<string>;
  /** The key of a new record, where a class of the user's decides what it may be; else null. */
  readonly givenKey: string | null;
  /** Reads what is right at first sight. */
  readonly read: BodyReader;
}

/** The values of a checked body, by attribute. */
export type BodyValues = Record<string, unknown>;

const NONE: ReadonlySet<string> = new Set();

/** Unknown properties of a body for which a similar name is looked for: the search costs more than the rest of a body. */
const MAX_GUESSES = 20;

/** What class-validator calls a property that its class does not have; only objects inside a body can have one. */
const UNDECLARED = 'whitelistValidation';
const STRICT = Object.freeze({ forbidUnknownValues: true, whitelist: true, forbidNonWhitelisted: true });

/**
 * The schema of a resource's create or update body: the user's class where he gave one, else the derived one.
 *
 * @param closed attributes that the request may not send
 */
export function bodySchema(
  plan: ResourcePlan,
  kind: BodyKind,
  closed: ReadonlySet<string> = NONE,
): BodySchema {
  const explicit = plan.explicitSchemas[kind];
  const attributes = writableAttributes(plan.info, plan.exposure, kind).filter(
    ({ name }) => !closed.has(name),
  );
  const offered = explicit ? classProperties(explicit, 'write') : writableNames(plan, kind);
  const properties = new Set([...offered].filter((name) => !closed.has(name)));
  const known = [...plan.info.attributes.keys()].filter(
    (name) => offered.has(name) || !plan.exposure.unreadable.has(name),
  );
  const names = {
    properties,
    readOnly: new Set(known.filter((name) => !properties.has(name))),
    closed,
    givenKey:
      explicit && kind === 'create' && isTextKey(plan.info.primaryKey) ? plan.info.primaryKey.name : null,
  };
  if (explicit)
    return Object.freeze({ class: explicit, hasRules: hasValidators(explicit), ...names, read: readNothing });
  const derived = derivedClass(plan, kind, closed);
  const read = compileBodyReader(derived, attributes, kind);
  return Object.freeze({ class: derived, hasRules: hasValidators(derived), ...names, read });
}

function writableNames({ info, exposure }: ResourcePlan, kind: BodyKind): ReadonlySet<string> {
  return new Set(writableAttributes(info, exposure, kind).map(({ name }) => name));
}

function derivedClass(
  { model, info, exposure }: ResourcePlan,
  kind: BodyKind,
  closed: ReadonlySet<string>,
): SchemaClass {
  if (closed.size === 0) return (kind === 'create' ? createSchema : updateSchema)(model);
  const unwritable = new Set([...exposure.unwritable, ...closed]);
  return deriveBodyClass(info, { ...exposure, unwritable }, kind);
}

/**
 * Checks a body and converts its values to what the model holds.
 *
 * @throws InvalidBodyError with all problems at once
 */
export function parseBody(schema: BodySchema, body: unknown): Maybe<BodyValues> {
  return schema.read(body) ?? parseThroughClass(schema, body);
}

/** What the class says of the body: its values, or all that is wrong with it. */
async function parseThroughClass(schema: BodySchema, body: unknown): Promise<BodyValues> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidBodyError([
      { pointer: '', code: 'isObject', detail: 'The body must be a JSON object.' },
    ]);
  }
  const known: BodyValues = {};
  const unsafe = new Set<string>();
  const issues: RequestIssue[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (!schema.properties.has(name)) {
      if (issues.length <= MAX_ISSUES) issues.push(refuseProperty(schema, name, issues.length < MAX_GUESSES));
      // class-transformer takes an own `constructor` for the class of a value, and calls it.
    } else if (holdsUnsafeKey(value)) unsafe.add(name);
    else known[name] = value;
  }
  for (const name of unsafe) {
    const detail = `${name} ${STORABLE_JSON.text}.`;
    issues.push({ pointer: bodyPointer(name), code: STORABLE_JSON.name, detail });
  }
  const instance = plainToInstance(schema.class as new () => object, known, { exposeUnsetFields: false });
  const failures = schema.hasRules ? await validate(instance, STRICT) : [];
  const told = failures.filter(
    ({ property, constraints }) =>
      // What is undeclared at the top is refused already, or was set by the user's class itself.
      !unsafe.has(property) && !schema.closed.has(property) && constraints?.[UNDECLARED] === undefined,
  );
  issues.push(...told.flatMap((failure) => failureIssues(failure, known)));
  const values = givenValues(instance, schema);
  const { givenKey } = schema;
  if (givenKey !== null && !ADDRESSABLE.check(values[givenKey])) {
    const detail = `${givenKey} ${ADDRESSABLE.text}.`;
    issues.push({ pointer: bodyPointer(givenKey), code: ADDRESSABLE.name, detail });
  }
  if (issues.length > 0) throw new InvalidBodyError(issues);
  return values;
}

function refuseProperty(
  { properties, readOnly }: BodySchema,
  name: string,
  isGuessed: boolean,
): RequestIssue {
  const pointer = bodyPointer(name);
  if (readOnly.has(name)) return readOnlyIssue(name);
  const allowed = [...properties];
  const choices = allowed.length > 0 ? `The properties are ${allowed.join(', ')}.` : 'The body has none.';
  const detail = `There is no such property.${isGuessed ? didYouMean(name, allowed) : ''} ${choices}`;
  return { pointer, code: 'unknownProperty', detail };
}

/** One issue per broken rule. What is absent or null breaks every other rule too, which is not worth saying. */
function failureIssues(
  failure: ValidationError,
  body: BodyValues,
  parents: readonly string[] = [],
): RequestIssue[] {
  // What class-validator knows no rules for has no property of its own.
  const path = failure.property === undefined ? parents : [...parents, failure.property];
  const broken = Object.entries(failure.constraints ?? {}).filter(
    ([code]) => code !== UNDECLARED || (isSent(body, path) && !isDeclared(failure)),
  );
  const told = broken.filter(([name]) => name === 'isDefined');
  const own = (told.length > 0 ? told : broken).map(([code, message]) =>
    code === UNDECLARED
      ? { pointer: bodyPointer(...path), code: 'unknownProperty', detail: 'There is no such property.' }
      : {
          pointer: bodyPointer(...path),
          code,
          detail: sentence(isOwnMessage(failure, code, message) ? message : withoutValue(message, failure)),
        },
  );
  return [...own, ...(failure.children ?? []).flatMap((child) => failureIssues(child, body, path))];
}

/** A class can give itself properties that it does not declare; those are no mistake of the client. */
function isSent(body: BodyValues, path: readonly string[]): boolean {
  let value: unknown = body;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
    value = (value as BodyValues)[name];
  }
  return true;
}

/** class-validator knows only properties with validators; `@Expose()` declares one too. */
function isDeclared({ target, property }: ValidationError): boolean {
  return target !== undefined && classProperties(target.constructor as Class, 'write').has(property);
}

/** The rules of the columns never quote, though an example in one can happen to be what was sent. */
function isOwnMessage({ contexts, property }: ValidationError, code: string, message: string): boolean {
  const context: unknown = contexts?.[code];
  return message === `${property} ${(context as Partial<RuleContext> | undefined)?.columnRule}`;
}

/** A validator of the user's may quote the value (`$value` in its message); what was sent does not come back. */
function withoutValue(message: string, { value, property }: ValidationError): string {
  return quotesValue(message, value) ? `${property} is not valid` : message;
}

/** class-validator's messages have no full stop. */
function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

function givenValues(instance: object, { properties }: BodySchema): BodyValues {
  return Object.fromEntries(
    Object.entries(instance).filter(([name, value]) => value !== undefined && properties.has(name)),
  );
}
