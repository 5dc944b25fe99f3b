/**
 * Gives up queries that are not answered in time: one clock for all of them. pg starts a timer for each query, which costs
 * more than the rest of its work, because timers outlive what they are for.
 */

/** Milliseconds between two looks at what is under way; a query is given up at most two of them late. */
const PRECISION = 100;

/** A query that can be given up. */
export interface TimedQuery {
  /** Where the watch has it. */
  place?: number;
  giveUp(): void;
}

/**
 * Queries under way, in places that are used again. Not a map: it is made anew after a few deletions, and each one that was there
 * before holds what it had until the next large collection, with the rows of these queries.
 */
export class QueryWatch {
  readonly #queries: (TimedQuery | null)[] = [];
  /** Number of checks until each query is given up. */
  readonly #looks: number[] = [];
  readonly #free: number[] = [];
  #clock: NodeJS.Timeout | undefined;

  /** Gives the query up when it is not ended within the limit, in milliseconds. */
  begin(limit: number, query: TimedQuery): void {
    const place = this.#free.pop() ?? this.#queries.length;
    query.place = place;
    this.#queries[place] = query;
    // The next look may come at once.
    this.#looks[place] = Math.ceil(limit / PRECISION) + 1;
    this.#clock ??= setInterval(() => this.#look(), PRECISION).unref();
  }

  /** To be called for each query, unless it was given up. */
  end(query: TimedQuery): void {
    const { place } = query;
    if (place === undefined || this.#queries[place] !== query) return;
    this.#queries[place] = null;
    this.#free.push(place);
  }

  #look(): void {
    if (this.#free.length === this.#queries.length) {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
    for (const [place, query] of this.#queries.entries()) {
      if (query === null) continue;
      const looks = (this.#looks[place] as number) - 1;
      this.#looks[place] = looks;
      if (looks > 0) continue;
      this.end(query);
      query.giveUp();
    }
  }
}

/** The one clock. */
export const queryTimeouts = new QueryWatch();
