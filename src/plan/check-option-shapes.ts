/** Options that are not even lists or objects where they have to be: types stop them, and plain JavaScript does not. */
import type { CrudOptions } from '../metadata/crud-options.js';
import { showValue } from '../util/show-value.js';

interface Shape {
  readonly fits: (value: unknown) => boolean;
  /** The end of a sentence that begins with "use". */
  readonly text: string;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const isIterable = (value: unknown): boolean => isObject(value) && Symbol.iterator in (value as object);

const SHAPES: Readonly<Partial<Record<keyof CrudOptions, Shape>>> = {
  description: { fits: (value) => typeof value === 'string', text: 'a text' },
  tags: { fits: Array.isArray, text: 'a list of names' },
  endpoints: { fits: isIterable, text: 'a list of operations' },
  pageSize: { fits: isObject, text: 'an object such as { default: 20, max: 100 }' },
  filterAllow: { fits: isObject, text: 'a list of attributes, or an object of attributes and operators' },
  sortAllow: { fits: Array.isArray, text: 'a list of attributes' },
  dependencies: { fits: Array.isArray, text: 'a list of Express handlers and middleware classes' },
};

/** The options without those of a wrong shape, each of which is reported. */
export function checkOptionShapes(
  modelName: string,
  options: CrudOptions,
  report: (problem: string) => void,
): CrudOptions {
  const entries = Object.entries(options).filter(([name, value]) => {
    const shape = Object.hasOwn(SHAPES, name) ? SHAPES[name as keyof CrudOptions] : undefined;
    if (!shape || value === undefined || value === null || shape.fits(value)) return true;
    report(`${modelName}: ${name} is ${showValue(value)}; use ${shape.text}.`);
    return false;
  });
  return Object.fromEntries(entries);
}
