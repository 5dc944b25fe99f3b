/**
 * class-validator's decorators on attributes and on classes of bodies: the values that they see, and those that no value could meet.
 * `@Min(0)` on DECIMAL, whose values are texts, and `@IsDateString()` on DATE see the value that they are about.
 */
import {
  getMetadataStorage,
  ValidateBy,
  type ValidationArguments,
  type ValidationOptions,
  ValidationTypes,
} from 'class-validator';
import type { Class } from '../declare/crud-options.js';
import type { ColumnType } from '../describe/column-type.js';
import { infiniteOf, isMoment } from '../describe/exact-time.js';
import type { ModelInfo } from '../describe/model-info.js';
import { compareExact, exactNumber, fractionDigits, isMultiple } from '../util/exact-number.js';
import { classProperties, hasValidators, validatorsOf } from './class-properties.js';
import { type Decorator, decoratorsOf, noteCopy } from './class-validator-internals.js';
import { holdsColumnRules } from './column-rules.js';
import { describeExposure, hasType, isTransformed, nestedTypes } from './model-decorators.js';
import { parseColumnValue, parseIdText } from './wire-value.js';

/** Type of a value of a body at the time that decorators validate it. */
type ValueType = 'text' | 'number' | 'boolean' | 'date' | 'bytes' | 'list';

const NOUNS: Readonly<Record<ValueType, string>> = {
  text: 'texts',
  number: 'numbers',
  boolean: 'booleans',
  date: 'dates',
  bytes: 'bytes',
  list: 'arrays',
};

/** Null where a value may be of any type. */
function valueType({ kind }: ColumnType): ValueType | null {
  switch (kind) {
    case 'integer':
    case 'float':
      return 'number';
    case 'boolean':
    case 'date':
      return kind;
    case 'blob':
      return 'bytes';
    case 'array':
      return 'list';
    case 'json':
    case 'virtual':
    case 'range':
    case 'multirange':
    case 'hstore':
    case 'other':
      return null;
    default:
      return 'text';
  }
}

const TEXT_RULES =
  'contains isAlpha isAlphanumeric isAscii isBIC isBase32 isBase58 isBase64 isBooleanString isBtcAddress isByteLength isCreditCard ' +
  'isCurrency isDataURI isDateString isDecimal isEAN isEmail isEthereumAddress isFqdn IsFirebasePushId isFullWidth isHSL ' +
  'isHalfWidth isHash isHexColor isHexadecimal isIBAN isIp isIsbn isIsin isISO31661Alpha2 isISO31661Alpha3 isIso8601 isISRC ' +
  'isISSN isIdentityCard isJson isJwt isLocale isLowercase isMacAddress isMagnetURI isMilitaryTime isMimeType isMobilePhone ' +
  'isMongoId isMultibyte isNumberString isOctal isPassportNumber isPhoneNumber isPort isPostalCode isRFC3339 isRgbColor isSemVer ' +
  'isStrongPassword isSurrogatePair isTimeZone isUuid isUppercase isUrl isVariableWidth isLength matches maxLength minLength ' +
  'notContains isISO4217CurrencyCode isTaxId isString isLatLong';
const NUMBER_RULES = 'isInt isNumber min max isPositive isNegative isDivisibleBy';
const LIST_RULES =
  'isArray arrayContains arrayMaxSize arrayMinSize arrayNotContains arrayNotEmpty arrayUnique';

/** The types that a decorator takes, by class-validator's name of it. One that is not here takes any. */
const TAKEN: ReadonlyMap<string, readonly ValueType[]> = new Map<string, readonly ValueType[]>([
  ...TEXT_RULES.split(' ').map((name) => [name, ['text']] as const),
  ...NUMBER_RULES.split(' ').map((name) => [name, ['number']] as const),
  ...LIST_RULES.split(' ').map((name) => [name, ['list']] as const),
  ...(['isLatitude', 'isLongitude'] as const).map((name) => [name, ['text', 'number']] as const),
  ...(['isDate', 'minDate', 'maxDate'] as const).map((name) => [name, ['date']] as const),
  ['isBoolean', ['boolean']],
  ['isObject', ['date', 'bytes']],
  ['isNotEmptyObject', []],
]);

/** Forms of texts that those of a column never have. */
const FOREIGN_FORMS: Readonly<Partial<Record<ColumnType['kind'], readonly string[]>>> = {
  dateonly: ['isRFC3339'],
  time: ['isRFC3339', 'isDateString', 'isIso8601'],
};

/** Result of a decorator for a value, in the place of the decorator's own. */
type View = (value: unknown, decorator: Decorator, ask: (seen: unknown) => boolean) => boolean;

const asIsoText: View = (value, _decorator, ask) => ask(isMoment(value) ? value.toISOString() : value);
const asDate: View = (value, _decorator, ask) => ask(typeof value === 'string' ? new Date(value) : value);
/** Infinite ones are before and after all others. */
const asLimit: View = (value, decorator, ask) =>
  asDate(value, decorator, (date) => {
    const end = infiniteOf(value) ?? (typeof value === 'number' ? value : undefined);
    return ask(end === undefined ? date : new Date(end < 0 ? -MAX_TIME : MAX_TIME));
  });
/** https://tc39.es/ecma262/#sec-time-values-and-time-range */
const MAX_TIME = 8.64e15;

const asNumber: View = (value, { name, constraints }, ask) => {
  if (typeof value !== 'string') return ask(value);
  const number = exactNumber(value);
  // The rule of the column refuses a text that holds no number.
  if (!number) return /^(?:NaN|-?Infinity)$/.test(value) ? ask(Number(value)) : true;
  return NUMBER_VIEWS[name ?? '']?.({ text: value, number }, constraints ?? []) ?? ask(value);
};

const VIEWS: Readonly<Partial<Record<ColumnType['kind'], Readonly<Record<string, View>>>>> = {
  date: {
    isDateString: asIsoText,
    isIso8601: asIsoText,
    isRFC3339: asIsoText,
    minDate: asLimit,
    maxDate: asLimit,
  },
  dateonly: { isDate: asDate, minDate: asLimit, maxDate: asLimit },
  float: { isNumber: asNumber, min: asNumber, max: asNumber, isPositive: asNumber, isNegative: asNumber },
  blob: {
    isBase64: (value, _decorator, ask) => ask(Buffer.isBuffer(value) ? value.toString('base64') : value),
  },
  json: { isJson: (value, _decorator, ask) => ask(JSON.stringify(value)) },
};

/** Checks of texts that hold numbers. */
const NUMBER_VIEWS: Readonly<
  Record<string, (text: Exact, constraints: readonly unknown[]) => boolean | undefined>
> = {
  isInt: ({ number }) => fractionDigits(number) === 0,
  isNumber: ({ number }, [options]) => {
    const { maxDecimalPlaces } = (options ?? {}) as { readonly maxDecimalPlaces?: number };
    return maxDecimalPlaces === undefined || fractionDigits(number) <= maxDecimalPlaces;
  },
  min: ({ number }, [limit]) => compared(number, limit, (order) => order >= 0),
  max: ({ number }, [limit]) => compared(number, limit, (order) => order <= 0),
  isPositive: ({ number }) => number.units > 0n,
  isNegative: ({ number }) => number.units < 0n,
  isDivisibleBy: ({ number }, [divisor]) => {
    const other = typeof divisor === 'number' ? exactNumber(divisor) : undefined;
    return other && isMultiple(number, other);
  },
  isIn: (text, [values]) => isAmong(text, values),
  isNotIn: (text, [values]) => !isAmong(text, values),
  isEnum: (text, [entity]) => isAmong(text, Object.values((entity ?? {}) as object)),
  equals: (text, [value]) => isAmong(text, [value]),
  notEquals: (text, [value]) => !isAmong(text, [value]),
};

interface Exact {
  readonly text: string;
  readonly number: NonNullable<ReturnType<typeof exactNumber>>;
}

function compared(
  number: Exact['number'],
  limit: unknown,
  holds: (order: number) => boolean,
): boolean | undefined {
  const other = typeof limit === 'number' ? exactNumber(limit) : undefined;
  return other && holds(compareExact(number, other));
}

/** A column shows a decimal with all its digits, so that texts are compared as the numbers that they hold, too. */
function isAmong({ text, number }: Exact, values: unknown): boolean {
  return (
    Array.isArray(values) &&
    values.some((each: unknown) => {
      const other = exactNumber(String(each));
      return other ? compareExact(number, other) === 0 : each === text;
    })
  );
}

function viewOf(type: ColumnType, decorator: Decorator): View | undefined {
  const { name = '', each } = decorator;
  if (type.kind === 'array')
    return each && type.element.kind !== 'array'
      ? viewOf(type.element, { ...decorator, each: false })
      : undefined;
  if (type.kind === 'bigint' || type.kind === 'decimal')
    return Object.hasOwn(NUMBER_VIEWS, name) ? asNumber : undefined;
  return VIEWS[type.kind]?.[name];
}

/** True where a decorator of an attribute validates another value than the body has. */
export function isViewed(type: ColumnType, decorator: Decorator): boolean {
  return viewOf(type, decorator) !== undefined;
}

/** Adds to a derived class a decorator of the model that sees the value that it is about; false for one that need not. */
function copyViewed(type: ColumnType, decorator: Decorator, target: new () => object): boolean {
  const view = viewOf(type, decorator);
  const { name = '', propertyName, constraintCls, constraints } = decorator;
  const [own] = view ? getMetadataStorage().getTargetValidatorConstraints(constraintCls) : [];
  if (!view || !own) return false;
  const { instance } = own;
  ValidateBy(
    {
      name,
      constraints,
      validator: {
        validate: (value, args) =>
          view(value, decorator, (seen) => instance.validate(seen, args as ValidationArguments) === true),
        defaultMessage: (args) => instance.defaultMessage?.(args) ?? '',
      },
    },
    // It has the options, too.
    decorator as ValidationOptions,
  )(target.prototype, propertyName);
  return true;
}

/** Problems of decorators that no value of a body would ever meet. */
export function decoratorProblems(info: ModelInfo, attributes: ReadonlySet<string>): string[] {
  return decoratorsOf(info.model).all.flatMap((decorator) => {
    const { propertyName } = decorator;
    const type = info.attributes.get(propertyName)?.type;
    // Code of the user's may make a value of any type.
    const isOpen = hasType(info.model, propertyName) || isTransformed(info.model, propertyName, 'write');
    if (!type || isOpen || !attributes.has(propertyName)) return [];
    const problem = mismatch(type, decorator);
    return problem === null ? [] : [`${info.name}.${propertyName}: ${problem}`];
  });
}

function mismatch(type: ColumnType, decorator: Decorator): string | null {
  const { name = '', each } = decorator;
  const seen = type.kind === 'array' && each ? type.element : type;
  const found = valueType(seen);
  const taken = TAKEN.get(name);
  if (found === null || isViewed(type, decorator)) return null;
  const shown = `@${name.charAt(0).toUpperCase()}${name.slice(1)}()`;
  const end = 'so every value would be refused; ';
  if (FOREIGN_FORMS[seen.kind]?.includes(name))
    return `${shown} takes texts of another form than those of the column, ${end}take the decorator away.`;
  if (taken && !taken.includes(found)) {
    const isOfItems = type.kind === 'array' && !each && mismatch(type, { ...decorator, each: true }) === null;
    const mend = isOfItems ? 'write { each: true } in its options' : 'take the decorator away, or replace it';
    return `${shown} takes ${takenNouns(taken)}, and the values of the attribute are ${NOUNS[found]}, ${end}${mend}.`;
  }
  return isNeverOne(seen, decorator)
    ? `${shown} names no value that the column takes, ${end}name values of its type.`
    : null;
}

function takenNouns(taken: readonly ValueType[]): string {
  return taken.length === 0 ? 'objects' : taken.map((each) => NOUNS[each]).join(' and ');
}

/** True where a decorator lists values, and none is of the column's type. */
function isNeverOne(type: ColumnType, { name, constraints }: Decorator): boolean {
  const [listed] = (constraints ?? []) as readonly unknown[];
  const values =
    name === 'isIn' && Array.isArray(listed)
      ? listed
      : name === 'isEnum'
        ? Object.values((listed ?? {}) as object)
        : name === 'equals'
          ? [listed]
          : null;
  if (values === null || type.kind === 'array') return false;
  // Two dates are never the same object, nor are two buffers.
  const isObject = type.kind === 'date' || type.kind === 'blob';
  return isObject || !values.some((value) => holdsColumnRules(type, parseColumnValue(type, value)));
}

/**
 * Adds to a derived class the class-validator decorators of the model's attributes. `@IsOptional` is left out: it skips
 * null as well as undefined, while the column decides about null.
 */
export function copyValidators(
  info: ModelInfo,
  attributes: ReadonlySet<string>,
  target: new () => object,
): void {
  const storage = getMetadataStorage();
  for (const metadata of decoratorsOf(info.model).all) {
    const { propertyName, name } = metadata;
    const type = info.attributes.get(propertyName)?.type;
    if (!attributes.has(propertyName) || name === 'isOptional') continue;
    if (type && copyViewed(type, metadata, target)) continue;
    const copy = Object.assign(Object.create(Object.getPrototypeOf(metadata)), metadata, { target });
    noteCopy(copy, metadata);
    storage.addValidationMetadata(copy);
  }
}

/** The readers of decorators that compile plans. */
export const DECORATORS = Object.freeze({
  describeExposure,
  classProperties,
  isTransformed,
  nestedProblems,
  decoratorProblems,
  readText: parseIdText,
});

/** Types without properties of their own: another rule decides about their values. */
const PLAIN_TYPES: ReadonlySet<unknown> = new Set([String, Number, Boolean, Date, Array]);

/** Problems of a class that objects are validated by, and of the classes of its nested properties. */
export function undecoratedProblems(target: Class): string[] {
  classProperties(target, 'write');
  if (!hasValidators(target)) return [`no property of ${target.name} has a class-validator decorator`];
  return nestedProblems(target, new Set());
}

/** Problems of the classes of nested properties alone. */
export function nestedProblems(target: Class, seen: Set<Class> = new Set()): string[] {
  if (seen.has(target)) return [];
  seen.add(target);
  const nested = validatorsOf(target).filter(({ type }) => type === ValidationTypes.NESTED_VALIDATION);
  return [...new Set(nested.map(({ propertyName }) => propertyName))].flatMap((name) =>
    propertyProblems(target, name, seen),
  );
}

function propertyProblems(target: Class, name: string, seen: Set<Class>): string[] {
  // Code of the user's may make an instance.
  if (isTransformed(target, name, 'write')) return [];
  const property = `${target.name}.${name}`;
  const types = nestedTypes(target, name);
  if (types === null)
    return [
      `${property} has @ValidateNested(), and no @Type(() => …) that says which class its objects are of`,
    ];
  return types
    .filter((type) => !PLAIN_TYPES.has(type))
    .flatMap((type) => {
      classProperties(type, 'write');
      if (hasValidators(type)) return nestedProblems(type, seen);
      return [`no property of ${type.name}, the @Type of ${property}, has a class-validator decorator`];
    });
}
