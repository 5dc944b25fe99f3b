/**
 * The statements that wait for a connection of a pool. A finished statement passes its connection to the next one. Sequelize's
 * pool takes two promises, two hooks and a timer for that, and the connection has nothing to do meanwhile. The pool stays
 * the owner: its size and acquire timeout are those of the queue, and it is as fair to its own waiters as to those here. Where more wait
 * than there are connections, those with one statement each use a connection together ([`shared-connections.ts`](shared-connections.ts)).
 */
import { AsyncResource } from 'node:async_hooks';
import { ConnectionAcquireTimeoutError } from 'sequelize';
import { fullPool } from '../../errors/database-fault.js';
import { isTraced } from '../protocol/pg-internals.js';
import type { PooledClient } from '../session/connection-internals.js';
import { SharedConnections } from './shared-connections.js';

/** Facts and methods of a pool that its queue uses. */
export interface QueuedPool {
  /** Connections that there may be. */
  readonly size: number;
  /** Milliseconds that anybody waits for one. */
  readonly acquireTimeout: number;
  /** Number of waiters in the pool itself. */
  readonly waiting: number;
  /** True where each waiter goes to the pool by itself: it is closing, or has to see each use. */
  readonly bypassesQueue: boolean;
  /** True where any connection is in use, so that the database is there. */
  readonly isInUse: boolean;
  /** True where a connection may be used again. */
  isSound(client: PooledClient): boolean;
  acquire(): Promise<PooledClient>;
  release(client: PooledClient): void;
  /** Closes a connection. */
  destroy(client: PooledClient): Promise<void>;
}

/** Work that waits for a connection. */
export interface Waiter {
  /**
   * Takes a connection, which must leave once, and not before this returns.
   *
   * @param behind how many statements are before it on the connection, whose answers come first
   */
  use(client: PooledClient, behind: number): void;
  /** Takes Sequelize's error where there is no connection, or none in time. */
  fail(error: unknown): void;
  /** True where the waiter no longer waits for a connection. */
  isGone?(): boolean;
  /** True where the waiters behind it go first for now. */
  isHeldBack?(): boolean;
  /** True where the waiter sends one statement, which may go behind another one that is not answered yet. */
  mayFollow?(): boolean;
}

/** A waiter in the queue. A tracer of pg counts its query as part of its own request, and not of the one that passes the connection. */
export class QueueEntry {
  readonly waiter: Waiter;
  readonly deadline: number;
  readonly #context = isTraced() ? new AsyncResource('ConnectionQueue') : undefined;

  constructor(waiter: Waiter, deadline: number) {
    this.waiter = waiter;
    this.deadline = deadline;
  }

  use(client: PooledClient, behind: number): void {
    if (this.#context) this.#context.runInAsyncScope(this.waiter.use, this.waiter, client, behind);
    else this.waiter.use(client, behind);
  }
}

/** The queue for one pool. */
export class ConnectionQueue {
  readonly #pool: QueuedPool;
  /** First come, first served. */
  readonly #waiting: QueueEntry[] = [];
  /** Waiters that had a connection and need one once more. They go before all others, which came later. */
  readonly #returned: QueueEntry[] = [];
  /** Connections that are requested from the pool, for the first in the queue. */
  #requested = 0;
  #held = 0;
  readonly #shared = new SharedConnections();
  #clock: NodeJS.Timeout | null = null;

  constructor(pool: QueuedPool) {
    this.#pool = pool;
  }

  /** True where each waiter goes to the pool by itself, because the pool has to see each of them. */
  get bypassesQueue(): boolean {
    return this.#pool.bypassesQueue;
  }

  /** Number of waiters for a connection of the pool, in this queue or outside of it. */
  get waiting(): number {
    const others = Math.max(0, this.#pool.waiting - this.#requested);
    return this.#waiting.length + this.#returned.length + others;
  }

  /** Serves a waiter when it is its turn, later than now. */
  join(waiter: Waiter): QueueEntry {
    const last = new QueueEntry(waiter, performance.now() + this.#pool.acquireTimeout);
    if (this.#pool.bypassesQueue) {
      void this.#acquire(last);
      return last;
    }
    this.#waiting.push(last);
    if (this.#clock === null) this.#watchFirst();
    this.#request();
    return last;
  }

  /** Takes a connection back that several waiters shared, and puts these waiters first in the queue: each needs a connection again. */
  requeueFirst(client: PooledClient, entries: readonly QueueEntry[]): void {
    this.#returned.push(...entries);
    this.leave(client);
    this.#request();
  }

  /** Takes a connection back whose waiter waits once more, where it was in the queue, and no longer than it would have. */
  requeue(client: PooledClient, entry: QueueEntry): void {
    const behind = this.#waiting.findIndex(({ deadline }) => deadline > entry.deadline);
    this.#waiting.splice(behind === -1 ? this.#waiting.length : behind, 0, entry);
    // It may be set for one who came later.
    if (this.#clock) clearTimeout(this.#clock);
    this.#watchFirst();
    this.leave(client);
  }

  /** Serves entries that were held back. */
  wake(): void {
    this.#request();
  }

  /** Takes a connection back, when the last of those who use it leaves. */
  leave(client: PooledClient): void {
    if (this.#shared.leave(client)) return;
    const isAwaited = this.#returned.length > 0 || (this.#waiting.length > 0 && !this.#isPoolAwaited);
    const isHandedOn = isAwaited && this.#pool.isSound(client);
    if (isHandedOn) this.#serve(this.#next(), client);
    else this.#release(client);
  }

  /** Takes a connection back that is to be closed. */
  async discard(client: PooledClient): Promise<void> {
    this.#held -= 1;
    try {
      await this.#pool.destroy(client);
    } finally {
      this.#request();
    }
  }

  /** True where a waiter outside of this queue waits in the pool. */
  get #isPoolAwaited(): boolean {
    return this.#pool.waiting > this.#requested;
  }

  /**
   * Requests a connection for each waiter of the queue, while the pool may have connections that the queue does not hold. Waiters outside of
   * the queue get every connection of the pool first, so each waiter of the queue then waits in the pool, too.
   */
  #request(): void {
    const isWorthwhile = () => this.#requested + this.#held < this.#pool.size || this.#isPoolAwaited;
    while (isWorthwhile() && this.#isMoreNeeded) void this.#acquire();
  }

  /** True where more waiters are in the queue than connections are requested from the pool. */
  get #isMoreNeeded(): boolean {
    let count = this.#returned.length;
    for (const { waiter } of this.#waiting) {
      if (count > this.#requested) break;
      if (!waiter.isHeldBack?.()) count += 1;
    }
    return count > this.#requested;
  }

  /** @param only whom the connection is for, if it is not for the first in the queue */
  async #acquire(only?: QueueEntry): Promise<void> {
    const requested = only ? 0 : 1;
    this.#requested += requested;
    let client: PooledClient;
    try {
      client = await this.#pool.acquire();
    } catch (error) {
      this.#requested -= requested;
      this.#refuse(error, only);
      return;
    }
    this.#requested -= requested;
    this.#held += 1;
    const isGone = only?.waiter.isGone?.() ?? false;
    this.#serve(isGone ? undefined : (only ?? this.#next()), client);
  }

  /** Refuses an entry that gets no connection. Requeued entries are served with connections in use, as long as there is one. */
  #refuse(error: unknown, only: QueueEntry | undefined): void {
    const isLate = !only && error instanceof ConnectionAcquireTimeoutError;
    const refused = this.#held === 0 ? this.#returned.splice(0) : [];
    const one = isLate ? undefined : (only ?? this.#nextWaiting());
    if (one && !one.waiter.isGone?.()) refused.push(one);
    if (isLate) this.#giveUp();
    for (const { waiter } of refused) waiter.fail(error);
    // A repeated request could be refused at once, again and again.
    if (isLate || refused.length > 0) this.#request();
  }

  #next(): QueueEntry | undefined {
    return this.#returned.shift() ?? this.#nextWaiting();
  }

  #nextWaiting(): QueueEntry | undefined {
    let index = 0;
    while (index < this.#waiting.length) {
      const { waiter } = this.#waiting[index] as QueueEntry;
      if (waiter.isGone?.()) this.#waiting.splice(index, 1);
      else if (waiter.isHeldBack?.()) index += 1;
      else return this.#waiting.splice(index, 1)[0];
    }
    return undefined;
  }

  #serve(next: QueueEntry | undefined, client: PooledClient): void {
    if (!next) {
      this.#release(client);
      return;
    }
    const share = this.#shareBehind(next);
    if (share === 0) {
      this.#use(next, client);
      return;
    }
    const together = [next, ...this.#takeFollowers(share)];
    this.#shared.share(client, together.length, () => {
      for (const [behind, entry] of together.entries()) this.#use(entry, client, behind);
    });
  }

  #use(entry: QueueEntry, client: PooledClient, behind = 0): void {
    try {
      entry.use(client, behind);
    } catch (error) {
      // A part may have been sent. Other queries must not come behind it, because they could end a transaction that it began.
      client._invalid = true;
      if (this.#shared.leave(client)) client.connection?.stream.destroy();
      else this.#release(client);
      entry.waiter.fail(error);
    }
  }

  /** Number of waiters for each connection of the pool, where they may go behind the one that takes it. */
  #shareBehind({ waiter }: QueueEntry): number {
    // A hook of the pool that has come meanwhile has to see each use.
    if (!mayFollow(waiter) || this.#isPoolAwaited || this.#pool.bypassesQueue) return 0;
    // Nobody who waits goes before an entry that returned.
    if (this.#returned.length > 0) return 0;
    return Math.floor(this.#waiting.length / this.#pool.size);
  }

  /** Takes the first waiters from the queue, up to the share of one connection, and stops at a waiter that may not share. */
  #takeFollowers(share: number): readonly QueueEntry[] {
    const most = Math.min(share, this.#shared.most - 1);
    const other = this.#waiting.slice(0, most).findIndex(({ waiter }) => !mayFollow(waiter));
    return this.#waiting.splice(0, other === -1 ? most : other);
  }

  #release(client: PooledClient): void {
    this.#held -= 1;
    this.#pool.release(client);
    this.#request();
  }

  /** All have the same timeout, so that the first one's ends first. */
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
      const waiter = this.#waiting.shift()?.waiter;
      if (!waiter?.isGone?.()) {
        const { size, acquireTimeout, isInUse } = this.#pool;
        const reason = isInUse ? fullPool(size, acquireTimeout) : new Error('Operation timeout');
        waiter?.fail(new ConnectionAcquireTimeoutError(reason));
      }
    }
  }
}

function mayFollow(waiter: Waiter): boolean {
  return waiter.mayFollow?.() === true && !waiter.isGone?.() && !waiter.isHeldBack?.();
}
