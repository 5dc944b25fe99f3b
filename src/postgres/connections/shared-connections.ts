/**
 * Connections that several statements use together. Each statement is sent before earlier ones are answered, which
 * saves both sides most of their system calls. Each has a Sync of its own, so it is a transaction of its own, and its
 * failure does not change later ones (PostgreSQL's manual, 53.2.4).
 */
import type { PooledClient } from '../session/connection-internals.js';

/** Number of statements that use a connection together at most. */
const MAX_TOGETHER = 4;
/** Milliseconds. Where they take longer, the last ones have waited for a slow one, and fewer go together. */
const PATIENCE = 100;

/** Growth of a window after each success. */
const GROWTH = 1 / 16;

interface Use {
  /** Number of statements that have not left. */
  count: number;
  readonly since: number;
}

/** Shared connections of one queue. */
export class SharedConnections {
  readonly #uses = new Map<PooledClient, Use>();
  readonly #window = new GrowingWindow(MAX_TOGETHER);

  /** Number of statements that may share a connection: one after slow ones, until later ones are fast. */
  get most(): number {
    return this.#window.size;
  }

  /** Adds `count` users to a connection; each of them leaves it once. Their queries are sent by one system call. */
  share(client: PooledClient, count: number, send: () => void): void {
    this.#uses.set(client, { count, since: performance.now() });
    client.pipeline = count > 1;
    const stream = client.connection?.stream;
    stream?.cork();
    try {
      send();
    } finally {
      stream?.uncork();
    }
  }

  /** Leaves a connection. @returns true where others still use it */
  leave(client: PooledClient): boolean {
    const use = this.#uses.get(client);
    if (!use) return false;
    use.count -= 1;
    if (use.count > 0) return true;
    this.#uses.delete(client);
    client.pipeline = false;
    if (performance.now() - use.since > PATIENCE) this.#window.shrink();
    else this.#window.grow();
    return false;
  }
}

/**
 * Number of statements that go together, between one and a maximum, which it begins with. It grows by addition and shrinks by division,
 * like TCP's window.
 */
export class GrowingWindow {
  readonly #maximum: number;
  #size: number;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#size = maximum;
  }

  /** Rounded down. */
  get size(): number {
    return Math.floor(this.#size);
  }

  grow(): void {
    this.#size = Math.min(this.#maximum, this.#size + GROWTH);
  }

  shrink(): void {
    this.#size = Math.max(1, this.#size / 2);
  }
}
