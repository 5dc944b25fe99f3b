/** "Did you mean …?" for a name that is not one of the allowed ones. */
import { closest, distance } from 'fastest-levenshtein';

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
