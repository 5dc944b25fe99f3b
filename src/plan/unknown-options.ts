/** Options that there are not, and flags that are none: types stop them, and plain JavaScript does not. */
import { didYouMean } from '../util/did-you-mean.js';
import { showValue } from '../util/show-value.js';

/** A sentence for each option that has none of the names. */
export function unknownOptions(owner: string, options: object, names: readonly string[]): string[] {
  return Object.keys(options)
    .filter((name) => !names.includes(name))
    .map(
      (name) =>
        `${owner} has no option '${name}'.${didYouMean(name, names)} The options are ${names.join(', ')}.`,
    );
}

/** What is wrong with an option that is true or false: a text such as 'false' would be true. */
export function flagProblems(name: string, value: unknown): string[] {
  return typeof value === 'boolean' ? [] : [`${name} is ${showValue(value)}; use true or false.`];
}
