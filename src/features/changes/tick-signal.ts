/** Signals between processes: with Redis one process polls the database for changes, and publishes each tick to the others. */
import { randomUUID } from 'node:crypto';
import type { Redis } from '../../postgres/index.js';

/** Milliseconds between two signals of a process that polls. */
const INTERVAL = 1_000;
/** Milliseconds after which one that was not heard is gone. */
const PATIENCE = 3_500;

/** The signals of the processes of one database. Without them each process polls by itself. */
export class TickSignal {
  /** The newest tick that was heard of. It is an earlier one where the database has lost commits. */
  n = 0;
  readonly #me = randomUUID();
  #listener: Redis | null = null;
  /** When a process that comes before this one was last heard. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #publishedAt = Number.NEGATIVE_INFINITY;
  #published = 0;

  constructor(
    private readonly redis: Redis,
    private readonly channel: string,
  ) {}

  /** True where another process polls. Of those that do, the one whose name comes first goes on. */
  get isLed(): boolean {
    return performance.now() - this.#heardAt < PATIENCE;
  }

  /** @param wake called when another process has made a tick */
  listen(wake: () => void): void {
    if (this.#listener) return;
    const listener = this.redis.duplicate();
    this.#listener = listener;
    listener.on('error', () => {});
    listener.on('message', (_channel, message) => {
      const [from = '', n = ''] = message.split(' ');
      if (from >= this.#me) return;
      this.#heardAt = performance.now();
      const tick = Number(n);
      if (tick === this.n) return;
      this.n = tick;
      wake();
    });
    const subscribe = () => void listener.subscribe(this.channel).catch(() => {});
    if (listener.status === 'ready') subscribe();
    else listener.on('ready', subscribe);
  }

  leave(): void {
    this.#listener?.disconnect();
    this.#listener = null;
    this.#heardAt = Number.NEGATIVE_INFINITY;
  }

  /** Publishes that this process polls, and the newest tick. */
  publish(n: number): void {
    const now = performance.now();
    if (n === this.#published && now - this.#publishedAt < INTERVAL) return;
    this.#published = n;
    this.#publishedAt = now;
    this.redis.publish(this.channel, `${this.#me} ${n}`).catch(() => {});
  }
}
