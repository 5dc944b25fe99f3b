/** Options that there are not: types stop them, and plain JavaScript does not. */
import { didYouMean } from '../util/did-you-mean.js';

/** A sentence for each option that has none of the names. */
export function unknownOptions(owner: string, options: object, names: readonly string[]): string[] {
  return Object.keys(options)
    .filter((name) => !names.includes(name))
    .map(
      (name) =>
        `${owner} has no option '${name}'.${didYouMean(name, names)} The options are ${names.join(', ')}.`,
    );
}
