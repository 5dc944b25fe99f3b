/**
 * The feed of a database in one process: one loop makes ticks, or finds them, and hands the events of each to all that wait for them. A
 * subscriber is a place; nothing is queued for it.
 */
import { joinSql, raw, sql } from '../../execute/sql/sql-fragment.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { runOutside } from '../../postgres/index.js';
import { describeError } from '../../util/describe-error.js';
import type { Logger } from '../../util/logger.js';
import { groupBy, keptIn } from '../../util/memo.js';
import { oneAtATime } from '../../util/promises.js';
import { sourceOf } from '../capture/change-table.js';
import type { Tick, Ticks } from '../capture/ticks.js';
import { feedName, type PlacedEvent } from './change-event.js';
import type { FeedSettings } from './feed-options.js';
import { type Condition, type Judged, judge, MOST } from './judge.js';
import { behind, type Place } from './place.js';
import type { TickSignal } from './tick-signal.js';

/** Conditions that differ, at once. Each is a statement for a tick that has events of its resource. */
const MOST_CONDITIONS = 100;

/** Milliseconds between two turns at most, however seldom the database is polled. */
const TURN = 1_000;

/** Ticks that a page of somebody far behind spans. Fewer are tried where too much has changed in them. */
const SPANS = [Number.POSITIVE_INFINITY, 64, 8, 1];

/** Events that a subscriber gets together. */
export interface Batch {
  readonly events: readonly PlacedEvent[];
  /** Behind them. */
  readonly place: Place;
  /** The window that they are from. */
  readonly within: Place;
}

/** A part of the events behind a place. */
export interface FeedPage extends Batch {
  /** True where nothing is behind it. */
  readonly isLast: boolean;
}

/** Readers with the same conditions, who get the same events. */
export interface Audience {
  readonly key: string;
  readonly conditions: readonly Condition[];
}

/** Somebody who waits for events. */
export interface Subscriber {
  readonly audience: Audience;
  readonly place: Place;
  /** True where it takes no events now: it reads those that it has missed, or its client has to read first. */
  readonly isBusy: boolean;
  /** Takes the events between its place and another one. @param shared their texts, as others of its audience have made them */
  take(batch: Batch, shared: Map<string, string>): void;
  /** Called when it has missed some. */
  catchUp(): void;
  /** Called with each turn of the loop, also while the database does not answer. @param now milliseconds */
  turn(now: number): void;
  /** Ends it: its place is there no more. */
  expire(): void;
}

/** The feeds of the process, for metrics. */
export const FEEDS = new Set<Feed>();

interface FeedContext extends Pick<FeedSettings, 'tick' | 'maxStreams'> {
  readonly logger: Logger;
  /** Signals of other processes; null where there are none. */
  readonly signal: TickSignal | null;
}

/** The feed of the resources whose events are in one table. */
export class Feed {
  readonly subscribers = new Set<Subscriber>();
  #latest: Tick | null = null;
  /** When the loop, or a request, has last found that nothing is missing; milliseconds. */
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** When another process was last known to do so. */
  #ledAt = Number.NEGATIVE_INFINITY;
  /** The tick whose events all subscribers have got that are not busy. */
  #delivered: Tick | null = null;
  #timer: NodeJS.Timeout | null = null;
  #polledAt = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  /** The end of the last statement: there is one at a time. */
  #reading: Promise<unknown> = Promise.resolve();
  readonly #check = oneAtATime(() => this.#beat());
  /** Never rejects. */
  readonly #poll = oneAtATime(() => this.#findAndDeliver());

  constructor(
    private readonly ticks: Ticks,
    private readonly context: FeedContext,
  ) {}

  /** Milliseconds since the last moment whose events are known. */
  get lag(): number {
    return performance.now() - Math.max(this.#checkedAt, this.#ledAt);
  }

  /** A tick that has seen all that had arrived where reads go a moment ago: as long ago as the option `tick` says, at most. */
  async now(): Promise<Tick> {
    const { tick } = this.context;
    return this.#latest && performance.now() - this.#checkedAt < tick ? this.#latest : this.#check();
  }

  /** The place before all events that are there, and no older than the retentions: a cursor of an older one has expired. */
  async start(retentions: readonly string[]): Promise<Place> {
    const latest = await this.now();
    return behind((await this.ticks.oldest(retentions)) ?? latest);
  }

  /** Runs statements when those before have ended, so that a feed never has more than one connection. */
  alone<T>(work: (ticks: Ticks) => Promise<T>): Promise<T> {
    const run = () => runOutside(() => work(this.ticks));
    const result = this.#reading.then(run, run);
    this.#reading = result;
    result.catch(() => {});
    return result;
  }

  async read({ conditions }: Audience, place: Place, size: number): Promise<FeedPage> {
    const latest = await this.now();
    const readWindow = (window: Place, crowded: ReadonlySet<string>) =>
      this.#readWindow(conditions, window, size, latest, crowded);
    if (place.from.n !== place.to.n) return readWindow(place, await this.#crowdedIn(place, conditions));
    if (place.to.n >= latest.n) return { events: [], place, within: place, isLast: true };
    for (const span of SPANS) {
      const isShort = latest.n - place.to.n > span;
      const to = isShort ? await this.alone((ticks) => ticks.behind(place.to, span)) : latest;
      const window = { from: place.to, to: to ?? latest, after: 0n };
      // Before anything is judged, which takes longer.
      const crowded = await this.#crowdedIn(window, conditions);
      if (span === 1 || crowded.size === 0) return readWindow(window, crowded);
    }
    throw new Error('A tick has no end.');
  }

  /** Sources of which more rows have changed in a window than are told of one by one. A later page of it has told of them. */
  async #crowdedIn(window: Place, conditions: readonly Condition[]): Promise<ReadonlySet<string>> {
    if (window.after > 0n) return new Set();
    return this.alone((ticks) => crowdedSources(ticks, window, conditions));
  }

  async #readWindow(
    conditions: readonly Condition[],
    window: Place,
    size: number,
    latest: Tick,
    crowded: ReadonlySet<string>,
  ): Promise<FeedPage> {
    const looked = Math.max(size, 100);
    const judged: Judged[] = [];
    const resets: PlacedEvent[] = [];
    for (const condition of conditions)
      if (crowded.has(sourceOf(condition.resource.plan))) resets.push(resetOf(condition));
      else judged.push(await this.alone((ticks) => judge(condition, ticks, window, looked)));
    const ends = judged.flatMap(({ last }) => last ?? []);
    const end = ends.length === 0 ? null : ends.reduce((first, each) => (each < first ? each : first));
    const all = merge(judged).filter(({ place }) => end === null || place <= end);
    let count = Math.min(size, all.length);
    // Events of one row are at one place, and the next page is behind it.
    const isCut = () => count > 0 && all[count - 1]?.place === all[count]?.place;
    while (count > 1 && isCut()) count -= 1;
    while (isCut()) count += 1;
    const some = all.slice(0, count);
    const last = some.length < all.length ? (some.at(-1)?.place ?? null) : end;
    const place = last === null ? behind(window.to) : { ...window, after: last };
    return {
      events: [...resets, ...some],
      place,
      within: window,
      isLast: last === null && window.to.n >= latest.n,
    };
  }

  /** @throws RefusedRequestError 503 where there are too many */
  check({ conditions }: Audience): void {
    const { maxStreams } = this.context;
    if (this.subscribers.size >= maxStreams) throw busy('Too many streams are open.');
    const keys = this.#conditions();
    for (const each of conditions) keys.set(each.key, each);
    if (keys.size > MOST_CONDITIONS) throw busy('Too many streams with other conditions are open.');
  }

  join(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    FEEDS.add(this);
    if (this.#timer) return;
    this.#delivered = null;
    const { tick, signal } = this.context;
    signal?.listen(() => void this.#poll());
    this.#timer = runOutside(() => setInterval(() => this.#turn(), Math.min(tick, TURN)));
  }

  leave(subscriber: Subscriber): void {
    this.subscribers.delete(subscriber);
    if (this.subscribers.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = null;
    FEEDS.delete(this);
    this.context.signal?.leave();
  }

  async #beat(): Promise<Tick> {
    const begun = performance.now();
    const known = this.#latest;
    const { latest, isBehind, isLost } = await this.alone((ticks) => ticks.beat(known));
    if (isLost) {
      this.#delivered = null;
      for (const subscriber of [...this.subscribers]) subscriber.expire();
    }
    this.#latest = latest;
    if (!isBehind) this.#checkedAt = begun;
    return latest;
  }

  #turn(): void {
    const now = performance.now();
    for (const subscriber of [...this.subscribers]) subscriber.turn(now);
    const { tick } = this.context;
    // Half a turn early at most, because timers are not exact.
    if (now - this.#polledAt >= tick - Math.min(tick, TURN) / 2) void this.#poll();
  }

  async #findAndDeliver(): Promise<void> {
    const { signal, logger } = this.context;
    try {
      if (signal?.isLed && this.#isDelivered(signal.n)) this.#ledAt = performance.now();
      else {
        const latest = await this.#check();
        signal?.publish(latest.n);
        await this.#deliver(latest);
      }
      this.#recall();
      this.#hasFailed = false;
    } catch (error) {
      // The readers keep their places, and the next turn goes on.
      if (!this.#hasFailed) logger.error('The feed of changes waits for the database', describeError(error));
      this.#hasFailed = true;
    }
    this.#polledAt = performance.now();
  }

  /** Delivers the events since the last delivery. */
  async #deliver(to: Tick): Promise<void> {
    const from = this.#delivered ?? to;
    if (to.n > from.n) {
      const window = { from, to, after: 0n };
      const judged = await this.#judgeAll(window);
      const shared = new Map<string, string>();
      const batches = new Map<string, Batch>();
      for (const subscriber of [...this.subscribers]) {
        const { key, conditions } = subscriber.audience;
        if (subscriber.isBusy || !isBehind(subscriber.place, from)) continue;
        const found = conditions.flatMap((each) => judged.get(each.key) ?? []);
        // One that came meanwhile, or whose condition has failed: it catches up by itself.
        if (found.length < conditions.length) continue;
        const make = () => ({ events: merge(found), place: behind(to), within: window });
        subscriber.take(keptIn(batches, key, make), shared);
      }
    }
    this.#delivered = to;
  }

  /** True where a tick is the last that was delivered, and no request has found a later one. */
  #isDelivered(n: number): boolean {
    return n === this.#delivered?.n && (this.#latest?.n ?? 0) <= n;
  }

  /** Has those catch up that have missed something: they were busy, or have failed in the middle of a window. */
  #recall(): void {
    const to = this.#delivered;
    if (!to) return;
    for (const subscriber of [...this.subscribers]) {
      const { isBusy, place } = subscriber;
      if (!isBusy && place.to.n <= to.n && !isBehind(place, to)) subscriber.catchUp();
    }
  }

  /** The conditions of all subscribers, by their keys. */
  #conditions(): Map<string, Condition> {
    const all = [...this.subscribers].flatMap(({ audience }) => audience.conditions);
    return new Map(all.map((each) => [each.key, each]));
  }

  /** Judges the events of a window for all subscribers, each condition once. */
  async #judgeAll(window: Place): Promise<ReadonlyMap<string, Judged>> {
    const conditions = this.#conditions();
    const judged = new Map<string, Judged>();
    if (conditions.size === 0) return judged;
    const counts = await this.alone((ticks) => countSources(ticks, window));
    for (const [source, own] of groupBy(conditions.values(), ({ resource }) => sourceOf(resource.plan))) {
      const count = counts.get(source) ?? 0;
      for (const condition of own) {
        const found =
          count === 0
            ? NONE
            : count > MOST
              ? { events: [resetOf(condition)], last: null }
              : // The condition of one must not stop the feed of all.
                await this.alone((ticks) => judge(condition, ticks, window, MOST + 1)).catch(() => null);
        if (found) judged.set(condition.key, found);
      }
    }
    return judged;
  }
}

const NONE: Judged = Object.freeze({ events: Object.freeze([]), last: null });

/** Sources of which more rows have changed in a window than are told of one by one. */
async function crowdedSources(
  ticks: Ticks,
  { from, to }: Place,
  conditions: readonly Condition[],
): Promise<ReadonlySet<string>> {
  const sources = [...new Set(conditions.map(({ resource }) => sourceOf(resource.plan)))];
  const counts = sources.map((source) => {
    const events = ticks.between(from, to, raw('1'), sql`c.source = ${source}`);
    const most = raw(String(MOST));
    return sql`SELECT ${source} AS c0 FROM (SELECT * FROM (${events}) AS c LIMIT ${most} + 1) AS c HAVING count(*) > ${most}`;
  });
  const rows = await ticks.readNow(joinSql(counts, ' UNION ALL '));
  return new Set(rows.map(([source]) => String(source)));
}

async function countSources(ticks: Ticks, { from, to }: Place): Promise<ReadonlyMap<string, number>> {
  // The erasure of an actor is of no source.
  const events = ticks.between(from, to, raw('c.source'), raw("c.source <> ''"));
  const statement = sql`SELECT c.source AS c0, count(*)::text AS c1 FROM (${events}) AS c GROUP BY 1 UNION ALL SELECT '', '1' WHERE ${ticks.has(to)}`;
  const isWhole = (rows: readonly (readonly (string | null)[])[]) => rows.some(([source]) => source === '');
  const rows = await ticks.read(statement);
  // A replica answers from its own time.
  const found = isWhole(rows) ? rows : await ticks.readNow(statement);
  return new Map(found.map(([source, count]) => [String(source), Number(count)]));
}

/** The event of a resource of which more rows have changed than are told of one by one. */
function resetOf({ resource: { plan } }: Condition): PlacedEvent {
  const event = { op: 'reset', at: new Date().toISOString(), request_id: null } as const;
  return { place: 0n, resource: feedName(plan), event };
}

function merge(judged: readonly Judged[]): readonly PlacedEvent[] {
  const [only] = judged;
  if (only && judged.length === 1) return only.events;
  return judged
    .flatMap(({ events }) => events)
    .sort((first, second) => (first.place < second.place ? -1 : first.place > second.place ? 1 : 0));
}

function isBehind({ from, to }: Place, tick: Tick): boolean {
  return from.n === to.n && to.n === tick.n;
}

function busy(detail: string): RefusedRequestError {
  return new RefusedRequestError(503, `${detail} Try again.`, { 'Retry-After': '5' });
}
