/** A page of a feed that waits for its first event. */
import type { Audience, Batch, Feed, FeedPage, Subscriber } from './feed.js';
import type { Place } from './place.js';

/** Pages without an event that are read at once. */
const MOST_EMPTY = 20;

/** Bounds of a page. */
interface Wanted {
  readonly size: number;
  /** Milliseconds in which the first event may come. */
  readonly wait: number;
  /** True where nobody waits any more. */
  isOver(): boolean;
}

/** Reads the events behind a place, or waits for some. Of many pages without any, the place behind them is returned. */
export async function readPage(
  feed: Feed,
  audience: Audience,
  from: Place,
  wanted: Wanted,
): Promise<FeedPage> {
  const { size, wait, isOver } = wanted;
  const until = performance.now() + wait;
  let place = from;
  for (let empty = 0; ; empty += 1) {
    const page = await feed.read(audience, place, size);
    const isDone = page.isLast ? performance.now() >= until || isOver() : empty >= MOST_EMPTY;
    if (page.events.length > 0 || isDone) return page;
    place = page.place;
    if (!page.isLast) continue;
    const come = await nextEvents(feed, audience, place, { until, isOver });
    if (come && come.events.length > 0 && come.events.length <= size) return { ...come, isLast: true };
  }
}

/** Waits. @throws RefusedRequestError 503 where too many do @returns null where the events are to be read, or the time is over */
async function nextEvents(
  feed: Feed,
  audience: Audience,
  place: Place,
  { until, isOver }: { readonly until: number; isOver(): boolean },
): Promise<Batch | null> {
  feed.check(audience);
  let waiter: Waiter | undefined;
  try {
    return await new Promise<Batch | null>((resolve) => {
      waiter = new Waiter(audience, place, resolve, (now) => now >= until || isOver());
      feed.join(waiter);
    });
  } finally {
    if (waiter) feed.leave(waiter);
  }
}

class Waiter implements Subscriber {
  readonly isBusy = false;

  constructor(
    readonly audience: Audience,
    public place: Place,
    private readonly end: (batch: Batch | null) => void,
    private readonly isOver: (now: number) => boolean,
  ) {}

  take(batch: Batch): void {
    this.place = batch.place;
    if (batch.events.length > 0) this.end(batch);
  }

  catchUp(): void {
    this.end(null);
  }

  turn(now: number): void {
    if (this.isOver(now)) this.end(null);
  }

  expire(): void {
    this.end(null);
  }
}
