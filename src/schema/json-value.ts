/** Checks JSON inside a body. */
import { compareExact, exactNumber } from '../util/exact-number.js';
import { BodyError, bodyPointer } from './request-issue.js';
import { isStorableText } from './wire-value.js';

/** Keys that would change an object's prototype in a careless merge (OWASP ASVS 15.3.6). */
const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** True where such a key is anywhere inside a JSON value. */
export function holdsUnsafeKey(root: unknown): boolean {
  return holds(root, (_value, key) => UNSAFE_KEYS.has(key));
}

/**
 * Refuses a body that nothing validates and that has such a key. class-transformer takes an own `constructor` for the class of a value, and
 * calls it. A copy by `Object.assign` takes an own `__proto__` for the prototype, with values that no check of names has seen.
 *
 * @throws BodyError 400
 */
export function refuseUnsafeKeys(body: unknown): void {
  if (holdsUnsafeKey(body)) throw new BodyError(400, 'unsafeKey', UNSAFE_BODY);
}

const UNSAFE_BODY = 'The body must not hold keys named __proto__, constructor or prototype.';

/** A copy of a JSON value without such keys. */
export function withoutUnsafeKeys(root: unknown): unknown {
  return JSON.parse(JSON.stringify(root), (key, value) => (UNSAFE_KEYS.has(key) ? undefined : value));
}

/** True where an object inside has a key of its own for an inherited member that code calls, like `hasOwnProperty`. */
export function holdsInheritedKey(root: unknown): boolean {
  return holds(root, (_value, key) => key in Object.prototype);
}

/** True where every key and text inside a JSON value is storable and safe to merge. */
export function isStorableJson(root: unknown): boolean {
  return !holds(
    root,
    (value, key) =>
      (typeof value === 'string' && !isStorableText(value)) || UNSAFE_KEYS.has(key) || !isStorableText(key),
  );
}

/** `jsonb` has no exponents: PostgreSQL writes a number beyond these with many more digits than it was sent with. */
const SMALLEST = 1e-40;
const LARGEST = 1e40;

/** True for a number that a JSON column can hold. */
export function isJsonNumber(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= SMALLEST && size <= LARGEST);
}

/** True where a JSON column can hold all numbers inside a JSON value. */
export function holdsJsonNumbers(root: unknown): boolean {
  return !holds(root, (value) => typeof value === 'number' && !isJsonNumber(value));
}

/** True where a number inside may be shown in the place of one with more digits, or a text in the place of one beyond a double. */
export function holdsRounded(root: unknown): boolean {
  return holds(root, (value) => {
    if (typeof value === 'number')
      return value !== Number(value.toPrecision(15)) || Math.abs(value) > Number.MAX_SAFE_INTEGER;
    return typeof value === 'string' && isFarNumber(value);
  });
}

/** True for the text of a number that is infinite as a double, or zero though it is not. */
export function isFarNumber(text: string): boolean {
  const [, digits] = FAR.exec(text) ?? [];
  if (digits === undefined) return false;
  const number = Number(text);
  return !Number.isFinite(number) || (number === 0 && /[1-9]/.test(digits));
}

/** A text or a number of JSON. */
export const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** True for JSON with a number that is another one once it is parsed, or that no body may have. */
export function losesDigits(json: string): boolean {
  return (json.match(JSON_TOKEN) ?? []).some((token) => !token.startsWith('"') && isRounded(token));
}

function isRounded(text: string): boolean {
  const number = Number(text);
  const [stored, parsed] = [exactNumber(text), exactNumber(number)];
  return !isJsonNumber(number) || !stored || !parsed || compareExact(stored, parsed) !== 0;
}

const FAR = /^-?(\d+(?:\.\d+)?)(?:[eE][+-]?\d+)?$/;

/** JSON pointers to the first numbers inside a value that are not right. */
export function pointersToNumbers(
  root: unknown,
  isRight: (value: number) => boolean,
  limit: number,
): readonly string[] {
  const isWrong = (value: unknown): boolean => typeof value === 'number' && !isRight(value);
  if (!holds(root, isWrong)) return [];
  const found: string[] = [];
  const places: (readonly [value: unknown, pointer: string])[] = [[root, '']];
  for (const [value, pointer] of places) {
    if (found.length === limit) break;
    if (!isStructured(value)) found.push(pointer);
    else
      for (const [key, member] of Object.entries(value)) {
        if (isStructured(member) || isWrong(member)) places.push([member, pointer + bodyPointer(key)]);
      }
  }
  return found;
}

/** Items and properties. Each takes class-transformer and class-validator five microseconds or more. */
const MIN = 5_000;
/** A property has a name, a value, quotes, a colon and a comma. */
const CHARACTERS = 12;

/** The items and properties that class-transformer and class-validator see of one request, with the values that hold them. */
export class MemberBudget {
  readonly total: number;
  #left: number;

  /** @param length characters of the body, where it has many records */
  constructor(length = 0) {
    this.total = Math.max(MIN, Math.floor(length / CHARACTERS));
    this.#left = this.total;
  }

  /** Takes those of a value; false where there are fewer left, which then stay for others. */
  take(value: unknown): boolean {
    const count = countMembers(value, this.#left);
    if (count > this.#left) return false;
    this.#left -= count;
    return true;
  }
}

/** Number of items and properties inside a JSON value at any depth, and itself. It stops at one above the limit. */
function countMembers(root: unknown, limit: number): number {
  let count = 0;
  holds(root, () => {
    count += 1;
    return count > limit;
  });
  return count;
}

/** True where the value, or anything inside it with its key, is found. Iterative: depth costs no stack. */
function holds(root: unknown, isFound: (value: unknown, key: string) => boolean): boolean {
  if (isFound(root, '')) return true;
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (!isStructured(value)) continue;
    // Keys and not entries, each of which would be an array: a client chooses their number.
    const keys = Array.isArray(value) ? null : Object.keys(value);
    const members = keys ? null : (value as readonly unknown[]);
    const { length } = keys ?? (value as readonly unknown[]);
    for (let index = 0; index < length; index += 1) {
      const key = keys ? (keys[index] as string) : '';
      const member = keys ? (value as Record<string, unknown>)[key] : members?.[index];
      if (isFound(member, key)) return true;
      if (isStructured(member)) pending.push(member);
    }
  }
  return false;
}

/** True for an object or an array. */
export function isStructured(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** True for an object as `JSON.parse` makes it. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return isStructured(value) && Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * True where `JSON.parse` could have made the value. A parser of the application's may have made another, and
 * class-transformer then calls constructors.
 */
export function isPlainJson(root: unknown): boolean {
  return isStructured(root) ? !holds(root, (value) => !isPlain(value)) : isPlainScalar(root);
}

/** The same without a key that would change a prototype, in one pass. */
export function isSafePlainJson(root: unknown): boolean {
  return !holds(root, (value, key) => UNSAFE_KEYS.has(key) || !isPlain(value));
}

function isPlain(value: unknown): boolean {
  return isStructured(value) ? isPlainObject(value) || isPlainArray(value) : isPlainScalar(value);
}

function isPlainScalar(value: unknown): boolean {
  return (
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  );
}

/**
 * A hole is found inside, as `undefined`. Keys of its own are no part of an array in JSON. They are not searched, which would cost as
 * much as all else; but `map` and others call an own `constructor`.
 */
function isPlainArray(value: unknown): value is readonly unknown[] {
  return (
    Array.isArray(value) &&
    Object.getPrototypeOf(value) === Array.prototype &&
    !Object.hasOwn(value, 'constructor')
  );
}
