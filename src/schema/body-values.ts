/** Checks single values of a body, beside the rules of its class. */
import type { Class } from '../declare/crud-options.js';
import type { ColumnType } from '../describe/column-type.js';
import { STORABLE_TEXT } from './column-rule.js';
import { columnRules, JSON_NUMBERS, STORABLE_JSON } from './column-rules.js';
import {
  holdsInheritedKey,
  holdsUnsafeKey,
  isJsonNumber,
  isStorableJson,
  isStructured,
  type MemberBudget,
  pointersToNumbers,
} from './json-value.js';
import { hasType } from './model-decorators.js';
import { bodyPointer, MAX_ISSUES, type RequestIssue } from './request-issue.js';
import { parseColumnValue, parseOwnValue } from './wire-value.js';

/** The values of a checked body, by attribute. */
export type BodyValues = Record<string, unknown>;

/** Types that values are checked against, beside the rules of their class. */
export interface ValueSchema {
  readonly class: Class;
  /** True where the class is the user's, which has no rules of the columns. */
  readonly isExplicit: boolean;
  /** Types of the columns, by attribute. */
  readonly types: ReadonlyMap<string, ColumnType>;
  /** Properties whose values class-transformer and class-validator read inside. */
  readonly nested: ReadonlySet<string>;
}

interface Wording {
  readonly name: string;
  readonly text: string;
}

const FINITE: Wording = { name: 'isFinite', text: 'must hold only numbers that fit into a double' };
const INHERITED: Wording = {
  name: 'isPlainObject',
  text: 'must not hold keys that every object inherits, such as hasOwnProperty',
};

function issueOf(name: string, { name: code, text }: Wording, inside = ''): RequestIssue {
  return { pointer: bodyPointer(name) + inside, code, detail: `${name} ${text}.` };
}

/**
 * Issues of values that no class may receive: a body is I-JSON (RFC 7493). Where a class is derived, the rules of the
 * columns cover most of it.
 */
export function contentIssues(
  { types, isExplicit, nested }: ValueSchema,
  name: string,
  value: unknown,
  budget: MemberBudget,
): readonly RequestIssue[] {
  const type = types.get(name);
  const isJson = type !== undefined && holdsJson(type);
  // class-transformer takes an own `constructor` for the class of a value, and calls it.
  if (holdsUnsafeKey(value) || (isExplicit && !isStorableJson(value))) {
    return [issueOf(name, isStructured(value) || isJson ? STORABLE_JSON : STORABLE_TEXT)];
  }
  if (isJson || isExplicit) {
    const pointers = pointersToNumbers(value, isJson ? isJsonNumber : Number.isFinite, MAX_ISSUES);
    if (pointers.length > 0) {
      return pointers.map((inside) => issueOf(name, isJson ? JSON_NUMBERS : FINITE, inside));
    }
  }
  if (!nested.has(name) || budget.take(value)) return [];
  const text = `must hold fewer items and properties; such values of one request may have ${budget.total} in all`;
  return [issueOf(name, { name: 'maxMembers', text })];
}

function holdsJson(type: ColumnType): boolean {
  return type.kind === 'array' ? holdsJson(type.element) : ['json', 'other', 'virtual'].includes(type.kind);
}

/** Issues of values that the user's class accepts, and neither Sequelize nor the database can store. */
export function storageIssues(
  { types, isExplicit }: ValueSchema,
  values: BodyValues,
): readonly RequestIssue[] {
  if (!isExplicit) return [];
  return Object.entries(values).flatMap(([name, value]) => {
    const type = types.get(name);
    const broken = type && isOwnType(type) && value !== null ? brokenRule(type, value) : undefined;
    return broken ? [issueOf(name, broken)] : [];
  });
}

/** Values as the model holds them, of types that neither Sequelize nor classes convert. */
export function modelValues({ types, isExplicit }: ValueSchema, values: BodyValues): BodyValues {
  if (!isExplicit) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const type = types.get(name);
      return [name, type && isOwnType(type) ? parseOwnValue(type, value) : value];
    }),
  );
}

function isOwnType({ kind }: ColumnType): boolean {
  return ['range', 'multirange', 'network', 'interval', 'money', 'bit', 'named', 'hstore', 'other'].includes(
    kind,
  );
}

function brokenRule(type: ColumnType, value: unknown): Wording | undefined {
  return columnRules(type).find(({ check }) => !check(value));
}

/** Rule of a type that TypeScript declares. */
export interface DeclaredType extends Wording {
  holds(value: unknown): boolean;
}

/** Rules of the types that TypeScript declares. */
export const DECLARED: ReadonlyMap<unknown, DeclaredType> = new Map<unknown, DeclaredType>([
  [String, { name: 'isString', text: 'must be a string', holds: (value) => typeof value === 'string' }],
  [Number, { name: 'isNumber', text: 'must be a number', holds: (value) => typeof value === 'number' }],
  [
    Boolean,
    { name: 'isBoolean', text: 'must be true or false', holds: (value) => typeof value === 'boolean' },
  ],
  [Array, { name: 'isArray', text: 'must be an array', holds: Array.isArray }],
]);

/** Values of another type than their class or column declares, because of which code of the user's may have failed. */
export function typeIssues(
  { types, class: target }: ValueSchema,
  values: BodyValues,
): readonly RequestIssue[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const declared = DECLARED.get(Reflect.getMetadata('design:type', target.prototype, name));
    const isConverted = hasType(target, name) && !isStructured(value);
    const type = types.get(name);
    let wrong: Wording | undefined;
    if (declared) wrong = isConverted || declared.holds(value) ? undefined : declared;
    else if (type && value !== null) wrong = brokenRule(type, parseColumnValue(type, value));
    if (!wrong && holdsInheritedKey(value)) wrong = INHERITED;
    return wrong ? [issueOf(name, wrong)] : [];
  });
}
