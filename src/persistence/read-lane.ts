/**
 * A connection that several reads share: each is sent without waiting for the answers to those before it, which saves both
 * sides most of their system calls. It is one of the pool's and goes back there as soon as nothing is under way.
 */
import { type ConnectionSource, markGivenUp, type PooledClient } from './connection-source.js';
import type { Settle, StatementExecutor, TextValues } from './driver-query.js';
import type { PreparedStatement } from './prepared-statement.js';

/** After as many milliseconds without any answer the reads behind the first one are asked again elsewhere. */
const PATIENCE = 20;

/** A read under way. */
export interface LaneRead {
  readonly statement: PreparedStatement;
  readonly values: TextValues;
  /** Takes what the database said; the first call counts. */
  readonly settle: Settle;
  /** Takes why there is no connection. */
  readonly fail: (error: unknown) => void;
  /** Whether it was asked again elsewhere. */
  isAskedAgain: boolean;
  isAnswered: boolean;
}

/** Executes a read on a connection of its own, unless it has been answered meanwhile. */
export type AskElsewhere = (read: LaneRead) => void;

/** One connection at a time, shared. */
export class ReadLane {
  readonly #source: ConnectionSource;
  readonly #executor: StatementExecutor;
  readonly #askElsewhere: AskElsewhere;
  /** In the order in which PostgreSQL answers them. */
  #underway: LaneRead[] = [];
  #client: PooledClient | null = null;
  #isOpening = false;
  #isClosing = false;
  #isCorked = false;
  #watch: NodeJS.Timeout | undefined;
  #lastAnswer = 0;

  constructor(source: ConnectionSource, executor: StatementExecutor, askElsewhere: AskElsewhere) {
    this.#source = source;
    this.#executor = executor;
    this.#askElsewhere = askElsewhere;
  }

  /** How many reads are under way. */
  get load(): number {
    return this.#underway.length;
  }

  /** Whether it takes reads: not while its connection is on its way back to others who wait for one. */
  get isOpen(): boolean {
    if (this.#client && this.#source.isReadWaiting) this.#isClosing = true;
    return !this.#isClosing;
  }

  /** Takes a read. */
  add(read: LaneRead): void {
    this.#underway.push(read);
    if (this.#client) this.#send(this.#client, read);
    else if (!this.#isOpening) void this.#open();
  }

  async #open(): Promise<void> {
    this.#isOpening = true;
    try {
      const client = await this.#source.acquire('read');
      this.#client = client;
      client.pipeline = true;
      this.#lastAnswer = performance.now();
      this.#watch ??= this.#checkIn(PATIENCE);
      for (const read of this.#underway) this.#send(client, read);
    } catch (error) {
      for (const read of this.#underway.splice(0)) read.fail(error);
    } finally {
      this.#isOpening = false;
    }
  }

  #send(client: PooledClient, read: LaneRead): void {
    this.#cork(client);
    this.#executor.execute(client, read.statement, read.values, (error, result) => {
      markGivenUp(client, error);
      this.#answered(client, read);
      // Who asked elsewhere has nothing to do with what goes wrong here.
      if (error && read.isAskedAgain) return;
      read.isAnswered = true;
      read.settle(error, result);
    });
  }

  /** What is sent in one turn of the event loop goes out in one piece. */
  #cork({ connection }: PooledClient): void {
    if (this.#isCorked || !connection) return;
    this.#isCorked = true;
    connection.stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      connection.stream.uncork();
    });
  }

  /** The answers come in the order of the reads, so each tells how long its own read took. */
  #answered(client: PooledClient, read: LaneRead): void {
    const now = performance.now();
    read.statement.measure(now - this.#lastAnswer);
    this.#lastAnswer = now;
    this.#underway.shift();
    if (this.#underway.length === 0) this.#close(client);
  }

  #close(client: PooledClient): void {
    client.pipeline = false;
    this.#client = null;
    this.#isClosing = false;
    this.#source.release(client);
  }

  /** It goes on when the lane closes: most are open for less time than it costs to start a timer and to stop it. */
  #checkIn(milliseconds: number): NodeJS.Timeout {
    // Behind whatever the event loop has not come to yet: an answer may be there and not have been read.
    return setTimeout(() => setImmediate(() => this.#check()), milliseconds).unref();
  }

  #check(): void {
    this.#watch = undefined;
    if (!this.#client) return;
    const silence = performance.now() - this.#lastAnswer;
    if (silence >= PATIENCE) this.#giveUp();
    else this.#watch = this.#checkIn(PATIENCE - silence);
  }

  /** The first read is slow; nobody has to wait for it but who asked for it. What was sent is answered, too, to nobody. */
  #giveUp(): void {
    this.#isClosing = true;
    const [, ...behind] = this.#underway;
    for (const read of behind) {
      read.isAskedAgain = true;
      this.#askElsewhere(read);
    }
  }
}
