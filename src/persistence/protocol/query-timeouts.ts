/**
 * Gives up queries that are not answered in time: one clock for all of them. pg starts a timer for each query, which costs
 * more than the rest of its work, because timers outlive what they are for.
 */

/** Milliseconds between two looks at what is under way; a query is given up at most two of them late. */
const PRECISION = 100;

/** What can be given up. */
export interface TimedQuery {
  giveUp(): void;
}

/** Queries under way. */
export class QueryWatch {
  /** How many more looks each may see. */
  readonly #looks = new Map<TimedQuery, number>();
  #clock: NodeJS.Timeout | undefined;

  /** Gives the query up when it is not ended within the limit, in milliseconds. */
  begin(limit: number, query: TimedQuery): void {
    // The next look may come at once.
    this.#looks.set(query, Math.ceil(limit / PRECISION) + 1);
    this.#clock ??= setInterval(() => this.#look(), PRECISION).unref();
  }

  /** To be called for each query, unless it was given up. */
  end(query: TimedQuery): void {
    this.#looks.delete(query);
  }

  #look(): void {
    if (this.#looks.size === 0) {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
    for (const [query, looks] of this.#looks) {
      if (looks > 1) this.#looks.set(query, looks - 1);
      else {
        this.#looks.delete(query);
        query.giveUp();
      }
    }
  }
}

/** The one clock. */
export const queryTimeouts = new QueryWatch();
