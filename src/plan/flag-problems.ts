/** What is wrong with an option that is true or false. */
import { showValue } from '../util/show-value.js';

/** A text such as 'false' would be true. */
export function flagProblems(name: string, value: unknown): string[] {
  return typeof value === 'boolean' ? [] : [`${name} is ${showValue(value)}; use true or false.`];
}
