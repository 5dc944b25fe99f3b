/** A feed as Server-Sent Events: a place that moves on as its client takes the events. */
import type { Response } from 'express';
import { rest } from '../../express/connection/open-connection.js';
import { isDraining } from '../../express/server/express-server.js';
import { logFailure } from '../../respond/send-problem.js';
import { keptIn } from '../../util/memo.js';
import type { PlacedEvent } from './change-event.js';
import type { Audience, Batch, Feed, Subscriber } from './feed.js';
import type { FeedSettings } from './feed-options.js';
import type { Place, PlaceCodec } from './place.js';

/** Milliseconds in which a client has to take something. */
const PATIENCE = 10_000;
/** Characters of a text that is written to all at once. Who gets more reads it in pages. */
const PIECE = 32 * 1024;
/** Events of a page: some 300 kB. Each page reads all rows of its window, of which there may be ten thousand. */
const PAGE = 1_000;
/** Bounds of the time after which a client comes back; milliseconds. Many would come at once otherwise. */
const RETRY = [2_000, 5_000] as const;

/** The headers of a stream. */
export const STREAM_HEADERS = Object.freeze({
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
});

/** A stream that is open. */
export class EventStream implements Subscriber {
  readonly #begunAt = performance.now();
  #writtenAt = this.#begunAt;
  /** Since when the client takes nothing; null where it does. */
  #blockedAt: number | null = null;
  #isReading = false;
  /** When it reads again after a failure; milliseconds. */
  #readsAt = 0;
  /** The last place that was written. */
  #told: Place | null = null;

  constructor(
    private readonly feed: Feed,
    readonly audience: Audience,
    public place: Place,
    private readonly codec: PlaceCodec,
    private readonly response: Response,
    private readonly times: Pick<FeedSettings, 'heartbeat' | 'maxAge'>,
  ) {}

  /** Sends the headers and the first place, and waits for events. */
  open(): void {
    const response = this.response;
    response.writeHead(200, STREAM_HEADERS);
    response.on('drain', () => {
      this.#blockedAt = null;
      this.catchUp();
    });
    response.on('close', () => this.feed.leave(this));
    if (response.destroyed) return;
    rest(response);
    this.feed.join(this);
    this.#write(`retry: ${retryTime()}\n${this.#position()}`);
    this.catchUp();
  }

  get isBusy(): boolean {
    const isWaiting = this.#isReading || performance.now() < this.#readsAt;
    return isWaiting || this.#blockedAt !== null || this.response.destroyed;
  }

  take(batch: Batch, shared: Map<string, string>): void {
    const text = keptIn(shared, this.audience.key, () => this.#textOf(batch));
    if (text.length > PIECE) {
      this.catchUp();
      return;
    }
    this.#take(batch, text);
  }

  /** Reads the events that it has missed, page by page, as the client takes it. Never throws. */
  catchUp(): void {
    if (this.isBusy) return;
    this.#isReading = true;
    this.#readAll()
      .catch((error: unknown) => {
        this.#readsAt = performance.now() + retryTime();
        logFailure(this.response.req, 503, error);
      })
      .finally(() => {
        this.#isReading = false;
      });
  }

  turn(now: number): void {
    const { heartbeat, maxAge } = this.times;
    const response = this.response;
    if (this.#blockedAt !== null && now - this.#blockedAt > PATIENCE) {
      this.feed.leave(this);
      response.destroy();
    } else if (now - this.#begunAt > maxAge || isDraining(response.req.app)) this.#end();
    else if (this.#blockedAt === null && now - this.#writtenAt >= heartbeat)
      this.#write(`: heartbeat\n${this.#told === this.place ? '\n' : this.#position()}`);
  }

  expire(): void {
    this.#end();
  }

  /** The client comes back with its place. */
  #end(): void {
    this.feed.leave(this);
    this.response.end(`retry: ${retryTime()}\n\n`);
  }

  async #readAll(): Promise<void> {
    for (;;) {
      const page = await this.feed.read(this.audience, this.place, PAGE);
      if (this.response.destroyed || this.response.writableEnded) return;
      this.#take(page, this.#textOf(page));
      if (page.isLast || this.#blockedAt !== null) return;
    }
  }

  #take({ place, events }: Batch, text: string): void {
    this.place = place;
    if (events.length === 0) return;
    this.#told = place;
    this.#write(text);
  }

  #textOf({ events, place, within }: Batch): string {
    const last = events.length - 1;
    return events
      .map((each, index) => {
        // Resources of one table have an event each at one place: behind the first one comes the second one.
        const isShared = each.place > 0n && each.place === events[index + 1]?.place;
        const after = isShared ? each.place - 1n : each.place;
        return this.#eventText(each, index === last ? place : { ...within, after });
      })
      .join('');
  }

  #eventText({ resource, event }: PlacedEvent, place: Place): string {
    return `id: ${this.codec.encode(place)}\nevent: change\ndata: ${JSON.stringify({ resource, ...event })}\n\n`;
  }

  /** Without data: the client keeps it for its return, and dispatches nothing. */
  #position(): string {
    this.#told = this.place;
    return `id: ${this.codec.encode(this.place)}\n\n`;
  }

  #write(text: string): void {
    this.#writtenAt = performance.now();
    const response = this.response as Response & { flush?: () => void };
    if (!response.write(text)) this.#blockedAt = this.#writtenAt;
    // Where a middleware keeps it back to compress it.
    response.flush?.();
  }
}

function retryTime(): number {
  const [least, most] = RETRY;
  return Math.round(least + Math.random() * (most - least));
}
