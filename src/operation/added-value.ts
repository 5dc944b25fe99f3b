/** Values that a change adds to those of a row. */

/** A number that a change adds to the value of its column. */
export class AddedValue {
  /**
   * @param amount in the text form of the column
   * @param isJudged whether code judges the sum: it is computed behind a lock then, and written as any other value
   */
  constructor(
    readonly amount: string,
    readonly isJudged: boolean,
  ) {}
}
