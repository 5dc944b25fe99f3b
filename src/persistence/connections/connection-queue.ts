/**
 * Who needs a connection of a pool for one statement stands in line, and who is done hands his on to the next. Sequelize's
 * pool takes two promises, two hooks and a timer for that, and the connection has nothing to do meanwhile. The pool stays
 * the owner: its size and patience are those of the line, and neither who waits here nor who waits there is preferred.
 */
import { AsyncResource } from 'node:async_hooks';
import { ConnectionAcquireTimeoutError } from 'sequelize';
import type { PooledClient } from './pooled-client.js';

/** What a line knows of its pool. */
export interface LinePool {
  /** Connections that there may be. */
  readonly size: number;
  /** Milliseconds that anybody waits for one. */
  readonly patience: number;
  /** How many wait in the pool itself. */
  readonly waiting: number;
  /** Whether everybody has to ask the pool for himself: it is closing, or has to see each use. */
  readonly isStrict: boolean;
  /** Whether a connection may be used again. */
  isSound(client: PooledClient): boolean;
  acquire(): Promise<PooledClient>;
  release(client: PooledClient): void;
}

/** One who needs a connection. */
export interface Customer {
  /** Takes a connection, which must leave once, and not before this returns. */
  use(client: PooledClient): void;
  /** Takes what Sequelize says when there is no connection, or none in time. */
  fail(error: unknown): void;
  /** Whether he no longer waits for one. */
  isGone?(): boolean;
  /** Whether those behind him go first for now. */
  isHeldBack?(): boolean;
}

/** Where a customer waits. What is logged and traced of him is part of his request, not of that which hands him a connection. */
export class Place extends AsyncResource {
  readonly customer: Customer;
  readonly deadline: number;

  constructor(customer: Customer, deadline: number) {
    super('ConnectionLine');
    this.customer = customer;
    this.deadline = deadline;
  }

  use(client: PooledClient): void {
    this.runInAsyncScope(this.customer.use, this.customer, client);
  }
}

/** The line for one pool. */
export class ConnectionLine {
  readonly #pool: LinePool;
  /** First come, first served. */
  readonly #waiting: Place[] = [];
  /** Those who had a connection and need one once more. They are before all others, who would else be before them now. */
  readonly #returned: Place[] = [];
  /** Connections that the pool has been asked for. */
  #asked = 0;
  /** Connections in use. */
  #held = 0;
  #clock: NodeJS.Timeout | null = null;

  constructor(pool: LinePool) {
    this.#pool = pool;
  }

  /** Whether everybody who joins is alone, because the pool has to see each of them. */
  get isStrict(): boolean {
    return this.#pool.isStrict;
  }

  /** Serves a customer when it is his turn, later than now. */
  join(customer: Customer): Place {
    const last = new Place(customer, performance.now() + this.#pool.patience);
    if (this.#pool.isStrict) {
      void this.#acquire(last);
      return last;
    }
    this.#waiting.push(last);
    if (this.#clock === null) this.#watchFirst();
    this.#ask();
    return last;
  }

  /** Takes a connection back that several have used, who need one once more: this one, and others if there are any. */
  goBack(client: PooledClient, places: readonly Place[]): void {
    this.#returned.push(...places);
    this.leave(client);
    this.#ask();
  }

  /** Takes a connection back whose customer waits once more, where he was in line, and no longer than he would have. */
  putBack(client: PooledClient, place: Place): void {
    const behind = this.#waiting.findIndex(({ deadline }) => deadline > place.deadline);
    this.#waiting.splice(behind === -1 ? this.#waiting.length : behind, 0, place);
    // It may be set for one who came later.
    if (this.#clock) clearTimeout(this.#clock);
    this.#watchFirst();
    this.leave(client);
  }

  /** Has those served who were held back. */
  wake(): void {
    this.#ask();
  }

  /** Takes a connection back. */
  leave(client: PooledClient): void {
    const isAwaited = this.#returned.length > 0 || (this.#waiting.length > 0 && !this.#isPoolAwaited);
    const isHandedOn = isAwaited && this.#pool.isSound(client);
    if (isHandedOn) this.#serve(this.#next(), client);
    else this.#release(client);
  }

  /** Whether anybody waits in the pool who is not of this line. */
  get #isPoolAwaited(): boolean {
    return this.#pool.waiting > this.#asked;
  }

  /**
   * For each in line, as long as the pool may have connections that are not here. Where others wait in the pool, it is they
   * who get every connection, so that all of the line have to wait there, too.
   */
  #ask(): void {
    const isWorthwhile = () => this.#asked + this.#held < this.#pool.size || this.#isPoolAwaited;
    while (this.#isMoreNeeded && isWorthwhile()) void this.#acquire();
  }

  /** Whether there are more in line than connections that the pool has been asked for. */
  get #isMoreNeeded(): boolean {
    let count = this.#returned.length;
    for (const { customer } of this.#waiting) {
      if (count > this.#asked) break;
      if (!customer.isHeldBack?.()) count += 1;
    }
    return count > this.#asked;
  }

  /** @param only whom the connection is for, if it is not for the first in line */
  async #acquire(only?: Place): Promise<void> {
    this.#asked += 1;
    let client: PooledClient;
    try {
      client = await this.#pool.acquire();
    } catch (error) {
      this.#asked -= 1;
      this.#refuse(error, only);
      return;
    }
    this.#asked -= 1;
    this.#held += 1;
    const isGone = only?.customer.isGone?.() ?? false;
    this.#serve(isGone ? undefined : (only ?? this.#next()), client);
  }

  /** There is no connection for somebody. Those who returned are served with those in use, as long as there is one. */
  #refuse(error: unknown, only: Place | undefined): void {
    const isLate = !only && error instanceof ConnectionAcquireTimeoutError;
    const refused = this.#held === 0 ? this.#returned.splice(0) : [];
    const one = isLate ? undefined : (only ?? this.#nextWaiting());
    if (one && !one.customer.isGone?.()) refused.push(one);
    if (isLate) this.#giveUp();
    for (const { customer } of refused) customer.fail(error);
    // Else it might be refused at once, again and again.
    if (isLate || refused.length > 0) this.#ask();
  }

  #next(): Place | undefined {
    return this.#returned.shift() ?? this.#nextWaiting();
  }

  #nextWaiting(): Place | undefined {
    let index = 0;
    while (index < this.#waiting.length) {
      const { customer } = this.#waiting[index] as Place;
      if (customer.isGone?.()) this.#waiting.splice(index, 1);
      else if (customer.isHeldBack?.()) index += 1;
      else return this.#waiting.splice(index, 1)[0];
    }
    return undefined;
  }

  #serve(next: Place | undefined, client: PooledClient): void {
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
      next.customer.fail(error);
    }
  }

  #release(client: PooledClient): void {
    this.#held -= 1;
    this.#pool.release(client);
    this.#ask();
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
      const customer = this.#waiting.shift()?.customer;
      if (!customer?.isGone?.()) {
        customer?.fail(new ConnectionAcquireTimeoutError(new Error('Operation timeout')));
      }
    }
  }
}
