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

/** Room for one query under way; used again and again. */
export class TimeoutSlot {
  /** How many more looks it may see. */
  looks = 0;
  query: TimedQuery | null = null;
  readonly #free: TimeoutSlot[];

  /** @param free where it goes when its query is over */
  constructor(free: TimeoutSlot[]) {
    this.#free = free;
  }

  /** Must be called once for each query, unless it was given up. */
  end(): void {
    this.query = null;
    this.#free.push(this);
  }
}

/** Queries under way. */
export class QueryWatch {
  /** As many as there have ever been at the same time. */
  readonly #slots: TimeoutSlot[] = [];
  readonly #free: TimeoutSlot[] = [];
  #clock: NodeJS.Timeout | null = null;

  /** Gives the query up when it is not ended within the limit, in milliseconds. */
  begin(limit: number, query: TimedQuery): TimeoutSlot {
    const slot = this.#free.pop() ?? this.#addSlot();
    // The next look may come at once.
    slot.looks = Math.ceil(limit / PRECISION) + 1;
    slot.query = query;
    this.#clock ??= setInterval(() => this.#look(), PRECISION).unref();
    return slot;
  }

  #addSlot(): TimeoutSlot {
    const slot = new TimeoutSlot(this.#free);
    this.#slots.push(slot);
    return slot;
  }

  #look(): void {
    if (this.#free.length === this.#slots.length) this.#stop();
    for (const slot of this.#slots) {
      const { query } = slot;
      slot.looks -= 1;
      if (query === null || slot.looks > 0) continue;
      slot.end();
      query.giveUp();
    }
  }

  #stop(): void {
    if (this.#clock) clearInterval(this.#clock);
    this.#clock = null;
  }
}

/** The one clock. */
export const queryTimeouts = new QueryWatch();
