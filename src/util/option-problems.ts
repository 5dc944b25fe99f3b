/** Problems of options, as messages: types stop them, and plain JavaScript does not. */
import { inspect } from 'node:util';
import bytes from 'bytes';
import { closest, distance } from 'fastest-levenshtein';

const LONGEST = 80;

/** A value of a configuration in a few words. `JSON.stringify` throws for some, and shows `NaN` as null; it may be of any type, and as large as an application. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  const text = inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY, customInspect: false });
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** A size as a text. `bytes` reads any other one up to its first letter: `'10k'` as 10 bytes. */
const SIZE = /^\d+(?:\.\d+)? *(?:b|kb|mb|gb|tb|pb)?$/i;

/** Bytes of a number, or of a text such as `'100kb'`; null for a value that is no size from 1. */
export function parseSize(value: unknown): number | null {
  const size = typeof value === 'string' && SIZE.test(value) ? bytes.parse(value) : value;
  return typeof size === 'number' && Number.isSafeInteger(size) && size >= 1 ? size : null;
}

/** A sentence for each option that has none of the names. */
export function unknownOptions(owner: string, options: object, names: readonly string[]): string[] {
  return Object.keys(options)
    .filter((name) => !names.includes(name))
    .map(
      (name) =>
        `${owner} has no option '${name}'.${didYouMean(name, names)} The options are ${names.join(', ')}.`,
    );
}

/** A sentence for each name that a list has more than once. */
export function repeatedNames(option: string, list: readonly unknown[]): string[] {
  const twice = list.filter((each, index) => typeof each === 'string' && list.indexOf(each) < index);
  return [...new Set(twice)].map((name) => `${option} names '${name}' twice; name it once.`);
}

/** Problems of an option that is true or false: a text such as 'false' would be true. */
export function flagProblems(name: string, value: unknown): string[] {
  return typeof value === 'boolean' ? [] : [`${name} is ${showValue(value)}; use true or false.`];
}

/** Problems of an option that has to be a list. @param members plural of its items, such as `model classes` */
export function listProblems(name: string, value: unknown, members: string): string[] {
  return Array.isArray(value) ? [] : [`${name} is ${showValue(value)}; use an array of ${members}.`];
}

/** Problem of a path in a list of classes: other libraries load the files behind it. */
export function pathInListProblem(name: string, path: string): string {
  return `${name} has the text ${showValue(path)}; import the classes and list these, as no file is loaded.`;
}

/** Problems of an option that is an object of others, as in the example; `true` has none of them. */
export function objectProblems(name: string, value: unknown, example: string): string[] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject || value === true ? [] : [`${name} is ${showValue(value)}; use ${example}.`];
}

/** Problems of a value in the place of an application of Express. */
export function applicationProblems(caller: string, app: unknown): string[] {
  if (typeof (app as { readonly use?: unknown } | null | undefined)?.use === 'function') return [];
  return [`${caller} got ${showValue(app)} as its application; pass it what express() gives.`];
}

/** Segments of letters, digits and `-._~`: characters that need no encoding and mean nothing to a router (RFC 3986, 2.3). */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9\-._~]+)*$/;

/** Problems of an option that is a path, with a slash at its end or without, or empty. */
export function pathProblems(name: string, path: unknown, example: string): string[] {
  if (typeof path === 'string' && PLAIN_PATH.test(withoutSlash(path))) return [];
  return [`${name} ${showValue(path)} is not a plain path; use one such as '${example}'.`];
}

/** The path without the slash at its end; the root is empty. */
export function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}

const LONGEST_NAME = 64;
/** The share of a name's letters that may be wrong: two of five, so that a swapped pair is found. */
const NEARNESS = 0.4;

/** ` Did you mean 'name'?` when an allowed name is near enough, else an empty string. Only allowed names are named. */
export function didYouMean(name: string, allowed: readonly string[]): string {
  // The distance of a name of many kilobytes costs time, and is not near to anything.
  if (allowed.length === 0 || name.length > LONGEST_NAME) return '';
  const best = closest(
    name.toLowerCase(),
    allowed.map((candidate) => candidate.toLowerCase()),
  );
  const match = allowed.find((candidate) => candidate.toLowerCase() === best);
  const isNear =
    match !== undefined && distance(name.toLowerCase(), best) <= Math.round(name.length * NEARNESS);
  return isNear ? ` Did you mean '${match}'?` : '';
}
