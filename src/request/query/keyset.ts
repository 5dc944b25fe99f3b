/** A place in an ordered list: between two rows, told by the key values of the row it is next to. */
import { hash } from 'node:crypto';

/** The values that a row is sorted by, as database text: a JavaScript date would lose microseconds. Null is NULL. */
export type KeyValues = readonly (string | null)[];

/** A place in a list. */
export interface Keyset {
  /** One value for each column of the order. */
  readonly values: KeyValues;
  /** True where the page begins with the row of these values itself. */
  readonly isInclusive: boolean;
  /**
   * In a query, where the values were too long for a cursor: a digest of them. `values` has the primary key's only then, and null
   * for the others. A repository reads them from the row with the key.
   */
  readonly digest?: string;
}

const DIGEST_LENGTH = 24;

/** The digest of a keyset with these values. */
export function digestOfValues(values: KeyValues): string {
  return hash('sha256', JSON.stringify(values), 'base64url').slice(0, DIGEST_LENGTH);
}
