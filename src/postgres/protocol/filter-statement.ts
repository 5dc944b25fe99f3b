/**
 * A statement whose values decide which plan is good, such as a filter. A connection that keeps it saves parsing, and PostgreSQL
 * may save planning. After five executions it takes one plan for all values, where it estimates that this costs no more. For some
 * values such a plan is a bad one. So only a statement that was fast many times in a row is kept. After a slow execution it is
 * planned for its values again, for eight times as many executions each time.
 */
import { PreparedStatement, SLOW } from './prepared-statement.js';

/** Fast executions in a row, after which a statement is kept for the first time. */
const FIRST_TRIAL = 8;
const GROWTH = 8;
/** Fast executions in a row, after which any is kept. */
const LAST_TRIAL = 4096;
/** Milliseconds of an execution that is a sign of a bad plan. A busy machine holds up a good one for tens of them. */
const BAD = 100;
/** It takes as many times the usual time, too: on a busy machine all are slower. */
const FACTOR = 4;
/** The usual time is a moving average; this is the part that the last execution has in it. */
const WEIGHT = 1 / 16;
/** Milliseconds that the usual execution may take on a shared connection, where others wait for the slower ones, too. */
const LIGHT = 5;

/** Measured times of the executions of a text. */
class Trial {
  #usual = 0;
  #needed = FIRST_TRIAL;
  /** Fast executions in a row. */
  #fast = 0;

  /** Where the usual execution is slow, parsing and planning are a small part of it. */
  get isKept(): boolean {
    return this.#fast >= this.#needed && this.#usual < SLOW;
  }

  get isLight(): boolean {
    return this.isKept && this.#usual < LIGHT;
  }

  /** Takes how long an execution was, in milliseconds. */
  measure(duration: number): void {
    if (this.#usual === 0) this.#usual = duration;
    if (duration <= Math.max(BAD, FACTOR * this.#usual)) this.#fast += 1;
    else {
      if (this.isKept) this.#needed = Math.min(LAST_TRIAL, this.#needed * GROWTH);
      this.#fast = 0;
    }
    this.#usual += (duration - this.#usual) * WEIGHT;
  }
}

/** A text that is planned for the values of each execution, and the same text as connections keep it. */
export class FilterStatement extends PreparedStatement {
  readonly #trial = new Trial();
  readonly #mayKeep: boolean;
  #kept: KeptFilter | null = null;

  /** @param mayKeep true where connections keep statements */
  constructor(text: string, mayKeep: boolean) {
    super(text, '');
    this.#mayKeep = mayKeep;
  }

  override get current(): PreparedStatement {
    if (!this.#mayKeep || !this.#trial.isKept) return this;
    this.#kept ??= new KeptFilter(this, this.#trial);
    this.#kept.lastUse = this.lastUse;
    return this.#kept;
  }

  override get isCheap(): boolean {
    return false;
  }

  override get isSlow(): boolean {
    return true;
  }

  override measure(duration: number): void {
    super.measure(duration);
    this.#trial.measure(duration);
  }
}

class KeptFilter extends PreparedStatement {
  readonly #planned: FilterStatement;
  readonly #trial: Trial;

  constructor(planned: FilterStatement, trial: Trial) {
    super(planned.text);
    this.#planned = planned;
    this.#trial = trial;
  }

  override get planned(): PreparedStatement {
    return this.#planned;
  }

  override get isCheap(): boolean {
    return super.isCheap && this.#trial.isLight;
  }

  override get isSlow(): boolean {
    return !this.isCheap;
  }

  override measure(duration: number): void {
    super.measure(duration);
    this.#trial.measure(duration);
  }
}
