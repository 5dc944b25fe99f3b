/** A page of a feed that waits for its first event. */
import type { Audience, Batch, Feed, FeedPage, Subscriber } from './feed.js';
import type { Place } from './place.js';

/** Pages without an event that are read at once. */
const MOST_EMPTY = 20;

interface Wanted {
  readonly size: number;
  /** Milliseconds in which the first event may come. */
  readonly wait: number;
  /** True where nobody waits any more. */
  isOver(): boolean;
  /** Called each time before it waits. */
  onWait(): void;
}

/** Reads the events behind a place, or waits for some. Of many pages without any, the place behind them is returned. */
export async function readPage(
  feed: Feed,
  audience: Audience,
  from: Place,
  wanted: Wanted,
): Promise<FeedPage> {
  const { size, wait, isOver, onWait } = wanted;
  const until = performance.now() + wait;
  let place = from;
  for (let empty = 0; ; empty += 1) {
    const page = await feed.read(audience, place, size);
    const isDone = page.isLast ? performance.now() >= until || isOver() : empty >= MOST_EMPTY;
    if (page.events.length > 0 || isDone) return page;
    place = page.place;
    if (!page.isLast) continue;
    onWait();
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
  return new Promise((resolve) => {
    const end = (batch: Batch | null) => {
      feed.leave(waiter);
      resolve(batch);
    };
    const waiter: Subscriber & { place: Place } = {
      audience,
      place,
      isBusy: false,
      take(batch) {
        waiter.place = batch.place;
        if (batch.events.length > 0) end(batch);
      },
      catchUp: () => end(null),
      turn(now) {
        if (now >= until || isOver()) end(null);
      },
      expire: () => end(null),
    };
    feed.join(waiter);
  });
}
