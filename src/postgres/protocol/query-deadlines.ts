/**
 * Ends queries of one connection that are not answered in time. One timer serves all of them: a timer for each costs as much as the
 * text of its query.
 */

/** A query that may be abandoned. */
export interface TimedQuery {
  giveUp(): void;
}

interface Open {
  readonly query: TimedQuery;
  /** Moment in the time of `performance.now()`. */
  readonly deadline: number;
}

/** The queries of a connection that are not answered, oldest first. */
export class QueryDeadlines {
  readonly #open: Open[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** The moment at which the timer ends. */
  #end = 0;

  /** @param limit milliseconds from now */
  begin(query: TimedQuery, limit: number): void {
    const deadline = performance.now() + limit;
    this.#open.push({ query, deadline });
    if (this.#timer !== null && this.#end <= deadline) return;
    this.#await(deadline, limit);
  }

  end(query: TimedQuery): void {
    const index = this.#open.findIndex((each) => each.query === query);
    if (index >= 0) this.#open.splice(index, 1);
  }

  #await(deadline: number, limit: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#end = deadline;
    this.#timer = setTimeout(() => this.#check(), limit).unref();
  }

  #check(): void {
    this.#timer = null;
    const now = performance.now();
    for (const { query } of this.#open.filter(({ deadline }) => deadline <= now)) query.giveUp();
    if (this.#open.length === 0) return;
    const next = Math.min(...this.#open.map(({ deadline }) => deadline));
    if (this.#timer === null) this.#await(next, Math.max(1, next - now));
  }
}
