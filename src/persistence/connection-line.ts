/**
 * Who needs a connection of a pool for one statement stands in line, and who is done hands his on to the next. Sequelize's
 * pool takes two promises, two hooks and a timer for that, and the connection has nothing to do meanwhile. The pool stays
 * the owner: its size and patience are those of the line, and nobody here is preferred to those who wait there.
 */
import { ConnectionAcquireTimeoutError } from 'sequelize';
import type { PooledClient } from './connection-source.js';

/** What a line knows of its pool. */
export interface LinePool {
  /** Connections that there may be. */
  readonly size: number;
  /** Milliseconds that anybody waits for one. */
  readonly patience: number;
  /** How many wait in the pool itself. */
  readonly waiting: number;
  /** Whether a connection may go on to the next without the pool's seeing it. */
  mayHandOn(client: PooledClient): boolean;
  acquire(): Promise<PooledClient>;
  release(client: PooledClient): void;
}

/** One who waits. */
interface Waiting {
  /** Takes a connection, which must leave once. */
  readonly use: (client: PooledClient) => void;
  /** Takes why there is none. */
  readonly fail: (error: unknown) => void;
  readonly deadline: number;
}

/** The line for one pool. */
export class ConnectionLine {
  readonly #pool: LinePool;
  /** First come, first served. */
  readonly #waiting: Waiting[] = [];
  /** Connections that the pool has been asked for. */
  #asked = 0;
  /** Connections in use. */
  #held = 0;
  #clock: NodeJS.Timeout | null = null;

  constructor(pool: LinePool) {
    this.#pool = pool;
  }

  /**
   * Calls `use` with a connection, which the user gives back by `leave`; or `fail` with what Sequelize says when there is
   * none, or none in time.
   */
  join(use: Waiting['use'], fail: Waiting['fail']): void {
    this.#waiting.push({ use, fail, deadline: performance.now() + this.#pool.patience });
    if (this.#clock === null) this.#watchFirst();
    this.#ask();
  }

  /** Takes a connection back. */
  leave(client: PooledClient): void {
    const isAnyoneElseWaiting = this.#pool.waiting > this.#asked;
    if (!isAnyoneElseWaiting && this.#pool.mayHandOn(client)) this.#give(client);
    else this.#release(client);
  }

  #give(client: PooledClient): void {
    const next = this.#waiting.shift();
    if (!next) {
      this.#release(client);
      return;
    }
    try {
      next.use(client);
    } catch (error) {
      // Nobody knows what has been sent.
      client._invalid = true;
      this.#release(client);
      next.fail(error);
    }
  }

  #release(client: PooledClient): void {
    this.#held -= 1;
    this.#pool.release(client);
    this.#ask();
  }

  /** For each who waits, as long as the pool may have connections that are not here. */
  #ask(): void {
    while (this.#asked < this.#waiting.length && this.#asked + this.#held < this.#pool.size) {
      this.#asked += 1;
      void this.#acquire();
    }
  }

  async #acquire(): Promise<void> {
    let client: PooledClient;
    try {
      client = await this.#pool.acquire();
    } catch (error) {
      this.#asked -= 1;
      if (error instanceof ConnectionAcquireTimeoutError) this.#giveUp();
      else this.#waiting.shift()?.fail(error);
      this.#ask();
      return;
    }
    this.#asked -= 1;
    this.#held += 1;
    this.#give(client);
  }

  /** All have the same patience, so that the first one's ends first. */
  #watchFirst(): void {
    const [first] = this.#waiting;
    const giveUp = (): void => {
      this.#giveUp();
      this.#watchFirst();
    };
    this.#clock = first ? setTimeout(giveUp, Math.max(0, first.deadline - performance.now())).unref() : null;
  }

  #giveUp(): void {
    const now = performance.now();
    while (this.#waiting[0] && this.#waiting[0].deadline <= now) {
      this.#waiting.shift()?.fail(new ConnectionAcquireTimeoutError(new Error('Operation timeout')));
    }
  }
}
