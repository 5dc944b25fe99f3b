/**
 * Gives up queries that are not answered in time: one clock for all of them. pg starts a timer for each query, which costs
 * more than the rest of its work, because timers outlive what they are for.
 */

/** Milliseconds between two looks at what is under way: how late a query may be given up. */
const PRECISION = 250;

/** Room for one query under way; used again and again. */
export interface WatchSlot {
  deadline: number;
  giveUp: (() => void) | null;
}

/** Queries under way. */
export class QueryWatch {
  /** As many as there have ever been at the same time. */
  readonly #slots: WatchSlot[] = [];
  readonly #free: WatchSlot[] = [];
  #clock: NodeJS.Timeout | null = null;

  /** Calls `giveUp` when the query is not ended within the limit, in milliseconds. */
  begin(limit: number, giveUp: () => void): WatchSlot {
    const slot = this.#free.pop() ?? this.#addSlot();
    slot.deadline = performance.now() + limit;
    slot.giveUp = giveUp;
    this.#clock ??= setInterval(() => this.#look(), PRECISION).unref();
    return slot;
  }

  /** Must be called once for each query, unless it was given up. */
  end(slot: WatchSlot): void {
    slot.giveUp = null;
    this.#free.push(slot);
  }

  #addSlot(): WatchSlot {
    const slot: WatchSlot = { deadline: 0, giveUp: null };
    this.#slots.push(slot);
    return slot;
  }

  #look(): void {
    if (this.#free.length === this.#slots.length) this.#stop();
    const now = performance.now();
    for (const slot of this.#slots) {
      const { giveUp } = slot;
      if (giveUp === null || now < slot.deadline) continue;
      this.end(slot);
      giveUp();
    }
  }

  #stop(): void {
    if (this.#clock) clearInterval(this.#clock);
    this.#clock = null;
  }
}
