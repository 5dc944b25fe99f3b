/** Options of `@Crud`, with the shape of each: TypeScript checks lists and objects, and plain JavaScript does not. */
import type { CrudOptions } from '../declare/crud-options.js';
import { showValue, unknownOptions } from '../util/option-problems.js';

interface Shape {
  readonly fits: (value: unknown) => boolean;
  /** The end of a sentence that begins with "use". */
  readonly text: string;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const isIterable = (value: unknown): boolean => isObject(value) && Symbol.iterator in (value as object);
/** A list or a map would be read as an object without a member, which is no rule. */
/** An object of names, and no list or map of them. */
export const isPlain = (value: unknown): boolean => isObject(value) && !isIterable(value);

/** All options but those of features; null is one whose values are checked where it is compiled. */
const OPTIONS: Readonly<Partial<Record<keyof CrudOptions, Shape | null>>> = {
  prefix: null,
  tags: { fits: Array.isArray, text: 'a list of names' },
  description: { fits: (value) => typeof value === 'string', text: 'a text' },
  endpoints: { fits: isIterable, text: 'a list of operations' },
  bulk: { fits: isPlain, text: 'an object such as { max: 500 }' },
  pagination: null,
  pageSize: { fits: isObject, text: 'an object such as { default: 20, max: 100 }' },
  count: null,
  filterAllow: { fits: isObject, text: 'a list of attributes, or an object of attributes and operators' },
  sortAllow: { fits: Array.isArray, text: 'a list of attributes' },
  defaultSort: null,
  readSchema: null,
  createSchema: null,
  updateSchema: null,
  dependencies: { fits: Array.isArray, text: 'a list of Express handlers and middleware classes' },
  idType: null,
  unknownQuery: null,
  etag: null,
  ifMatch: null,
  include: { fits: isPlain, text: 'an object of relations, such as { reviews: true }' },
  subresources: {
    fits: isObject,
    text: 'a list of relations, or an object of them such as { reviews: true }',
  },
  scope: { fits: isPlain, text: 'an object of attributes and functions of the request' },
  visible: null,
  can: { fits: isPlain, text: 'an object of operations and functions of the request' },
  fields: { fits: isPlain, text: 'an object of attributes and rules such as { read: isStaff }' },
};

/**
 * The options without those of a wrong shape, each of which is reported; unknown ones are reported, too.
 *
 * @param others names of options that features compile
 */
export function checkOptionShapes(
  modelName: string,
  options: CrudOptions,
  others: readonly string[],
  report: (problem: string) => void,
): CrudOptions {
  const entries = Object.entries(options).filter(([name, value]) => {
    const shape = Object.hasOwn(OPTIONS, name) ? OPTIONS[name as keyof CrudOptions] : null;
    if (!shape || value === undefined || value === null || shape.fits(value)) return true;
    report(`${modelName}: ${name} is ${showValue(value)}; use ${shape.text}.`);
    return false;
  });
  unknownOptions(`${modelName}: @Crud`, options, [...Object.keys(OPTIONS), ...others]).forEach(report);
  return Object.fromEntries(entries);
}
