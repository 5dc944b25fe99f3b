/**
 * Reads that take long, or may. They leave one connection of the pool to all others, where there are two: clients choose filters,
 * and those of a few would else be all that the database does.
 */

/** Slow reads of one pool. */
export class SlowReads {
  readonly #limit: number;
  #underway = 0;

  /** @param connections for reads that there may be; one alone cannot be left to others */
  constructor(connections: number) {
    this.#limit = connections > 1 ? connections - 1 : Number.POSITIVE_INFINITY;
  }

  /** True where no other slow read may begin. */
  get areTooMany(): boolean {
    return this.#underway >= this.#limit;
  }

  begin(): void {
    this.#underway += 1;
  }

  end(): void {
    this.#underway -= 1;
  }
}
