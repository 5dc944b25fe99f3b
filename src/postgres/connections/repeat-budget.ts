/**
 * Number of reads that may be executed once more: a small share of the executed reads, so that a database that stalls
 * does not get twice the load just then (a token bucket).
 */

/** Share of all reads, as a part of 1. */
const SHARE = 0.1;
/** At once; more than usually share a connection that ends. */
const BURST = 100;

/** The budget of all reads of one Sequelize instance. */
export class RepeatBudget {
  #tokens = BURST;

  /** Counts a read. */
  earn(): void {
    if (this.#tokens < BURST) this.#tokens += SHARE;
  }

  /** True where one more read may be repeated; the call counts it. */
  spend(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
