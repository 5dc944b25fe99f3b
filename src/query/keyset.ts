/** A place in an ordered list: between two rows, told by the key values of the row it is next to. */

/** The values that a row is sorted by, as database text: a JavaScript date would lose microseconds. Null is NULL. */
export type KeyValues = readonly (string | null)[];

/** A place in a list. */
export interface Keyset {
  /** One value for each column of the order. */
  readonly values: KeyValues;
  /** Whether the row with these values itself is on the far side of the place, and so part of what follows. */
  readonly isInclusive: boolean;
}
