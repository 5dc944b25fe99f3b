/**
 * A queue of connections beside Sequelize's own pool, and a model of who is next, which is compared with who is served.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { ConnectionAcquireTimeoutError } from 'sequelize';
import {
  ConnectionQueue,
  type QueueEntry,
  type Waiter,
} from '../../src/postgres/connections/connection-queue.js';
import type { PooledClient } from '../../src/postgres/session/connection-internals.js';
import { type Deferred, deferred } from './deferred.js';
import type { FakeClock } from './fake-clock.js';
import { MemoryPool } from './memory-pool.js';

/** Milliseconds. */
const ACQUIRE_TIMEOUT = 100;
/** Longer than any timeout. */
const LONG = 10_000;

/** A waiter, with its state in the model. */
interface Guest extends Waiter {
  readonly id: number;
  readonly deadline: number;
  /** True where it joined while each had to get a connection of its own from the pool. */
  isAlone: boolean;
  entry: QueueEntry | null;
  state: 'waiting' | 'served' | 'taken' | 'over';
  client: PooledClient | null;
  /** Guests that are executed together with it. */
  companions: Guest[];
  /** True where it was executed with others, so that its first place in the queue is of no use any more. */
  isGrouped: boolean;
  /** True where it has one statement, which may go behind another one. */
  readonly follows: boolean;
}

/** An event, and the choice of its guest or connection. */
export interface Step {
  readonly kind: Exclude<keyof QueueSimulation, 'run' | 'finish'>;
  readonly choice: number;
}

/** Takes steps; throws when the queue differs from the model. */
export class QueueSimulation {
  readonly #clock: FakeClock;
  readonly #pool: MemoryPool;
  readonly #queue: ConnectionQueue;
  /** Connections that are being opened: an error refuses one. */
  readonly #opening: Deferred<Error | null>[] = [];
  /** Connections in use, by how many use them. */
  readonly #used = new Map<PooledClient, number>();
  /** Connections with an unknown number of sent bytes. */
  readonly #spoiled = new Set<PooledClient>();
  readonly #guests: Guest[] = [];
  /** Waiting guests, first come, first served. */
  readonly #line: Guest[] = [];
  /** Guests that returned; they go before all of those. */
  readonly #returned: Guest[] = [];
  /** Connections that were taken without the queue. */
  readonly #outsiders: PooledClient[] = [];
  /** Problems that were found. */
  readonly #problems: unknown[] = [];
  #waitingOutsiders = 0;
  #isLeaving = false;
  /** True where the pool refused a connection, so that those who returned wait for one that is in use. */
  #isRefused = false;
  #isLocked = false;
  #isDraining = false;

  constructor(clock: FakeClock, size: number) {
    this.#clock = clock;
    this.#pool = new MemoryPool(size, ACQUIRE_TIMEOUT, () => this.#open());
    this.#queue = new ConnectionQueue(this.#pool);
  }

  /** Takes one step, and all that follows from it. */
  async run({ kind, choice }: Step): Promise<void> {
    await this[kind](choice);
    await nextTurn();
    this.#check();
  }

  /** Lets all come to their end. */
  async finish(isDrained: boolean): Promise<void> {
    if (this.#isLocked) await this.run({ kind: 'lock', choice: 0 });
    this.#isDraining = isDrained;
    if (isDrained) this.#pool.bypassesQueue = true;
    let isEmpty = false;
    const drained = isDrained ? this.#pool.pool.drain().then(() => (isEmpty = true)) : null;
    for (let round = 0; this.#used.size + this.#opening.length > 0; round += 1) {
      expect(round).to.be.below(1_000);
      this.connect(0);
      this.leave(0);
      this.release(0);
      await nextTurn();
      this.#check();
    }
    await this.#clock.advance(LONG);
    if (drained) expect(isEmpty).to.equal(true);
    expect(this.#guests.filter(({ state }) => state !== 'over')).to.deep.equal([]);
    expect([this.#pool.pool.using, this.#pool.waiting, this.#waitingOutsiders]).to.deep.equal([0, 0, 0]);
  }

  /** Joins the queue. Where others wait in the pool, the queue requests a connection for each of its guests, too: else these would always be first. */
  async join(choice: number): Promise<void> {
    this.#join(choice % 3 === 0, choice % 2 === 0, () => {});
    if (this.#queue.bypassesQueue) return;
    await nextTurn();
    const others = this.#waitingInPool;
    const waiting = [...this.#returned, ...this.#line].filter(isReady);
    if (others > 0) expect(this.#pool.waiting - others).to.be.at.least(waiting.length);
  }

  joinAndThrow(choice: number): void {
    const error = new Error('cannot be sent');
    this.#join(false, choice % 2 === 0, (client) => {
      this.#exit(client);
      this.#spoiled.add(client);
      throw error;
    });
  }

  leave(choice: number): void {
    const guest = this.#served(choice);
    if (!guest) return;
    const client = this.#free(guest);
    for (const each of [guest, ...guest.companions.splice(0)]) each.state = 'over';
    this.#isLeaving = true;
    this.#queue.leave(client);
    this.#isLeaving = false;
  }

  /** Has one executed with one that has a connection. */
  takeAlong(choice: number): void {
    const guest = this.#served(choice);
    const companion = this.#next();
    if (!guest || guest.follows || !companion || this.#returned.includes(companion)) return;
    this.#forget(companion);
    companion.state = 'taken';
    guest.companions.push(companion);
  }

  requeueFirst(choice: number): void {
    const guest = this.#guests.find(({ companions }) => companions.length > 0) ?? this.#served(choice);
    if (!guest || guest.follows) return;
    const all = [guest, ...guest.companions.splice(0)];
    for (const each of all) Object.assign(each, { state: 'waiting', isGrouped: true, isAlone: false });
    this.#returned.push(...all);
    this.#queue.requeueFirst(this.#free(guest), all.map(entryOf));
  }

  requeue(choice: number): void {
    const guest = this.#served(choice);
    if (!guest || guest.follows || guest.isGrouped || guest.companions.length > 0) return;
    Object.assign(guest, { state: 'waiting', isAlone: false });
    const behind = this.#line.findIndex(({ deadline }) => deadline > guest.deadline);
    this.#line.splice(behind === -1 ? this.#line.length : behind, 0, guest);
    this.#queue.requeue(this.#free(guest), entryOf(guest));
  }

  goAway(choice: number): void {
    const waiting = this.#guests.filter((guest) => isWaiting(guest) && !this.#returned.includes(guest));
    const guest = waiting[choice % waiting.length];
    if (!guest) return;
    this.#forget(guest);
    guest.state = 'over';
  }

  /** Holds back those of one table, or no longer. */
  lock(): void {
    this.#isLocked = !this.#isLocked;
    if (!this.#isLocked) this.#queue.wake();
  }

  bypass(): void {
    this.#pool.bypassesQueue = !this.#pool.bypassesQueue;
  }

  acquire(): void {
    this.#waitingOutsiders += 1;
    const ended = this.#pool.acquire().then(
      (client) => {
        this.#enter(client);
        this.#outsiders.push(client);
      },
      () => {},
    );
    void ended.then(() => {
      this.#waitingOutsiders -= 1;
    });
  }

  release(choice: number): void {
    const [client] = this.#outsiders.splice(choice % Math.max(1, this.#outsiders.length), 1);
    if (!client) return;
    this.#exit(client);
    this.#pool.release(client);
  }

  break(choice: number): void {
    const used = [...this.#used.keys()];
    const client = used[choice % used.length];
    if (client) this.#pool.broken.add(client);
  }

  connect(choice: number): void {
    this.#endOpening(choice, null);
  }

  refuse(choice: number): void {
    this.#isRefused = true;
    this.#endOpening(choice, new Error('too many connections'));
  }

  async wait(choice: number): Promise<void> {
    await this.#clock.advance(1 + (choice % ACQUIRE_TIMEOUT));
    expect(this.#line.filter(({ deadline }) => deadline <= this.#clock.now)).to.deep.equal([]);
  }

  #join(isOfTable: boolean, follows: boolean, begin: (client: PooledClient) => void): void {
    const guest: Guest = {
      id: this.#guests.length,
      deadline: this.#clock.now + ACQUIRE_TIMEOUT,
      isAlone: this.#queue.bypassesQueue,
      entry: null,
      state: 'waiting',
      client: null,
      companions: [],
      isGrouped: false,
      follows,
      mayFollow: () => follows,
      isGone: () => guest.isGrouped || guest.state !== 'waiting',
      isHeldBack: () => isOfTable && this.#isLocked,
      use: (client, behind) => {
        if (behind > 0) this.#note(() => expect(follows, 'goes behind another one').to.equal(true));
        this.#note(() => this.#expectTurn(guest));
        this.#forget(guest);
        this.#note(() => this.#enter(client, behind));
        begin(client);
        Object.assign(guest, { state: 'served', client });
      },
      fail: (error) => this.#note(() => this.#fail(guest, error)),
    };
    this.#guests.push(guest);
    if (!guest.isAlone) this.#line.push(guest);
    guest.entry = this.#queue.join(guest);
  }

  #expectTurn(guest: Guest): void {
    expect(guest.state).to.equal('waiting');
    const isReturned = this.#returned.includes(guest);
    if (isReturned || this.#line.includes(guest)) expect(guest.id).to.equal(this.#next()?.id);
    else expect(guest.isAlone).to.equal(true);
    if (!this.#isLeaving || isReturned) return;
    expect(this.#waitingInPool, 'wait in the pool itself').to.equal(0);
  }

  /** Number of requests for a connection of their own that wait in the pool. */
  get #waitingInPool(): number {
    const alone = this.#guests.filter((each) => each.isAlone && isWaiting(each));
    return this.#waitingOutsiders + alone.length;
  }

  #fail(guest: Guest, error: unknown): void {
    expect(guest.state).to.equal('waiting');
    const isReturned = this.#returned.includes(guest);
    if (isReturned) expect(this.#isServing).to.equal(false);
    else if (error instanceof ConnectionAcquireTimeoutError)
      expect(guest.deadline).to.be.at.most(this.#clock.now);
    else if (this.#line.includes(guest)) expect(guest.id).to.equal(this.#line.find(isReady)?.id);
    this.#forget(guest);
    guest.state = 'over';
  }

  /** The queue may catch the error of a check, so it is kept here. */
  #note(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#problems.push(error);
    }
  }

  #check(): void {
    for (const problem of this.#problems) throw problem;
    expect(this.#pool.pool.using, 'connections in use').to.equal(this.#used.size);
    if (this.#returned.length === 0) this.#isRefused = false;
    const { available, size, maxSize } = this.#pool.pool;
    if (this.#isDraining || (available === 0 && size === maxSize)) return;
    const waiting = [...(this.#isServing && this.#isRefused ? [] : this.#returned), ...this.#line];
    expect(waiting.filter(isReady).length, 'wait without a need').to.be.at.most(this.#opening.length);
  }

  get #isServing(): boolean {
    return this.#guests.some(({ client }) => client);
  }

  /** Whose turn it is. */
  #next(): Guest | undefined {
    return this.#returned[0] ?? this.#line.find(isReady);
  }

  #forget(guest: Guest): void {
    for (const list of [this.#line, this.#returned])
      if (list.includes(guest)) list.splice(list.indexOf(guest), 1);
  }

  #served(choice: number): Guest | undefined {
    const served = this.#guests.filter(({ client }) => client);
    return served[choice % served.length];
  }

  /** A guest that follows another one finds the connection as that one left it. */
  #enter(client: PooledClient, behind = 0): void {
    const count = this.#used.get(client) ?? 0;
    this.#used.set(client, count + 1);
    if (behind > 0) return;
    expect(count, 'given to two').to.equal(0);
    expect(this.#pool.broken.has(client) || this.#spoiled.has(client), 'given when broken').to.equal(false);
  }

  #exit(client: PooledClient): void {
    const count = this.#used.get(client) ?? 0;
    if (count > 1) this.#used.set(client, count - 1);
    else this.#used.delete(client);
  }

  #free(guest: Guest): PooledClient {
    const { client } = guest;
    if (!client) throw new Error('It has no connection.');
    guest.client = null;
    this.#exit(client);
    return client;
  }

  async #open(): Promise<PooledClient> {
    const opening = deferred<Error | null>();
    this.#opening.push(opening);
    const refusal = await opening.promise;
    if (refusal) throw refusal;
    // A queue only hands it on.
    return {} as PooledClient;
  }

  #endOpening(choice: number, refusal: Error | null): void {
    const [opening] = this.#opening.splice(choice % Math.max(1, this.#opening.length), 1);
    opening?.resolve(refusal);
  }
}

function isReady({ isHeldBack }: Guest): boolean {
  return !isHeldBack?.();
}

function isWaiting({ state }: Guest): boolean {
  return state === 'waiting';
}

function entryOf({ entry }: Guest): QueueEntry {
  if (!entry) throw new Error('It never joined.');
  return entry;
}
