/** The keys of requests and their answers, in the database: written in the transaction of the request's own writes. */

import type { Sequelize } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeFault } from '../../errors/database-fault.js';
import type { OwnTable } from '../../operation/feature.js';
import {
  runCallbacks,
  type StatementTarget,
  statementRunner,
  type TextResult,
} from '../../postgres/index.js';
import { describeError } from '../../util/describe-error.js';
import type { Logger } from '../../util/logger.js';
import { type KeyStatements, keyStatements, keyTableOf, type RequestKey } from './key-table.js';

/** An answer that was sent. */
export interface KeptAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly etag: string | null;
  /** JSON, or a row behind a mark; empty where it had no body. */
  readonly answer: string;
}

/** State of a key: of another request; under way, or done without an answer to return; or answered. */
type KnownKey = 'other' | 'under way' | 'unanswered' | KeptAnswer;

/** Old keys go in batches, so that none holds many locks. */
const BATCH = 100;
/** Milliseconds from one sweep of a table to the next. */
const INTERVAL = 60_000;
/** Milliseconds that one sweep goes on for at most. */
const LONGEST_SWEEP = 3_000;

/** When each table was swept, in milliseconds. */
const swept = new WeakMap<Sequelize, Map<string, number>>();

/** The keys of requests that write one model. */
export class KeptAnswers {
  readonly #model: ModelClass;
  readonly #retention: string;
  readonly table: OwnTable;
  readonly #statements: KeyStatements;

  /**
   * @param model attached to an instance
   * @param retention hours
   */
  constructor(model: ModelClass, retention: number) {
    this.#model = model;
    this.#retention = String(retention * 3_600);
    this.table = keyTableOf(model);
    this.#statements = keyStatements(this.table);
  }

  /**
   * Takes a key for a request. Waits for another request with it, unless that was done already.
   *
   * @returns null for a new key; it is the request's as soon as its transaction commits
   */
  async take(
    { scope, key, fingerprint }: RequestKey,
    on: StatementTarget,
    hasWaited: boolean,
  ): Promise<KnownKey | null> {
    const { take, find } = this.#statements;
    try {
      if (hasWaited) await on.write(LIMIT_WAIT, []);
      const { count } = await on.write(take, [scope, key, fingerprint, this.#retention]);
      if (count > 0) return null;
    } catch (error) {
      if (describeFault(error)?.kind === 'locked') return 'under way';
      throw error;
    }
    // The statement before has locked the row.
    return readKey(await on.write(find, [scope, key]), fingerprint);
  }

  async keep({ scope, key }: RequestKey, given: KeptAnswer, on: StatementTarget): Promise<void> {
    const { status, location, etag, answer } = given;
    const values = [scope, key, String(status), location, etag, answer];
    const { count } = await on.write(this.#statements.keep, values);
    if (count !== 1) throw new Error('The Idempotency-Key of this request is gone, so nothing is written.');
  }

  /** Releases the key, so that the request may be sent again. */
  async release({ scope, key }: RequestKey, on: StatementTarget): Promise<void> {
    await on.write(this.#statements.release, [scope, key]);
  }

  /** Removes keys that are too old, now and then. Returns at once, and never throws. */
  sweep(logger: Logger): void {
    const sequelize = this.#model.sequelize as Sequelize;
    const times = swept.get(sequelize) ?? new Map<string, number>();
    const now = performance.now();
    if (now - (times.get(this.table.name) ?? Number.NEGATIVE_INFINITY) < INTERVAL) return;
    swept.set(sequelize, times.set(this.table.name, now));
    const remove = () =>
      this.#removeOld(sequelize, now + LONGEST_SWEEP).catch((error: unknown) =>
        logger.warn('Old keys of requests could not be removed', describeError(error)),
      );
    // The end of the engine waits for it.
    runCallbacks(sequelize, [remove], logger);
  }

  async #removeOld(sequelize: Sequelize, end: number): Promise<void> {
    let count = BATCH;
    while (count === BATCH && performance.now() < end) {
      const values = [this.#retention, String(BATCH)];
      ({ count } = await statementRunner(sequelize).write(this.#statements.sweep, values));
    }
  }
}

/** Why a write that was to keep its row has failed, as far as a key may be the reason. */
export type AttemptFailure = 'taken' | 'locked' | null;

/**
 * The key is not searched yet. The write may have met its own first try in another unique index, or waited for it there. A table
 * with rules cannot be written so.
 */
export function attemptFailure(error: unknown): AttemptFailure {
  const kind = describeFault(error)?.kind;
  if (kind === 'locked') return 'locked';
  const { code } = (error as { readonly parent?: { readonly code?: unknown } } | null)?.parent ?? {};
  return kind === 'unique' || code === NOT_SUPPORTED ? 'taken' : null;
}

const NOT_SUPPORTED = '0A000';

/** Sets the shortest wait for a lock. */
const LIMIT_WAIT = "SELECT set_config('lock_timeout', '1ms', true)";

function readKey({ rows }: TextResult, expected: string): KnownKey {
  const [fingerprint, status, location = null, etag = null, answer] = rows[0] ?? [];
  const [asked] = expected.split('.');
  if (fingerprint?.split('.')[0] !== asked) return 'other';
  // The answer shows rows that the request may not see any more.
  if (fingerprint !== expected) return 'unanswered';
  if (status === null || status === undefined) return 'unanswered';
  return { status: Number(status), location, etag, answer: answer ?? '' };
}
