/**
 * Errors by which PostgreSQL refuses a statement that a connection has prepared: its table was changed, or a pooler assigns
 * each transaction another connection to the server.
 */
import { isOfValue } from '../../errors/database-fault.js';

/** SQLSTATE for a name that is not prepared. */
const GONE = '26000';
/** SQLSTATE for a name that is prepared already. */
const THERE_ALREADY = '42P05';

/**
 * True where the prepared statements of a connection are invalid. The table was changed; or a pooler has another connection to the
 * server, or `DISCARD ALL` was sent, so that a statement is missing there, or exists already. Nothing was
 * executed then. An error that a function of the user's raises has a context.
 */
export function isStale(error: unknown): boolean {
  const { code, where } = error as Partial<Record<'code' | 'where', unknown>>;
  return isOfChangedTable(error) || ((code === GONE || code === THERE_ALREADY) && where === undefined);
}

/**
 * True where PostgreSQL refuses a statement for ever. Its results have other types than when it was prepared, its parameters
 * have other types than the columns now, or the sequence of its keys is that of an earlier table.
 */
export function isOfChangedTable(error: unknown): boolean {
  const { code, routine } = error as Partial<Record<'code' | 'routine', unknown>>;
  const isRefused =
    (code === '0A000' && routine === 'RevalidateCachedQuery') || OUTDATED in (error as object);
  return isRefused || (code === 'XX000' && routine === 'relation_open');
}

/** Mark of an error whose statement may have parameters of types that columns had before. A copy of the error has it, too. */
const OUTDATED = Symbol('outdated');

/** Types that do not fit, in an assignment, a cast, an operator or a function, or that are gone. */
const TYPE_STATES: ReadonlySet<unknown> = new Set([
  '42804',
  '42846',
  '42883',
  '42725',
  '42P08',
  '42P18',
  '42704',
]);
/** The same for the type of a parameter: an internal error, which is always in English. */
const GONE_TYPE = /^cache lookup failed for type \d+/;
/** A value that a type has not: the column may be wider by now. */
const VALUE_STATES: ReadonlySet<unknown> = new Set(['22P02', '22003']);

/**
 * Marks an error of a statement that the connection had prepared before. Types of parameters are those of that time, and the same
 * text, prepared anew, may be right.
 */
export function noteOutdated(error: Error): void {
  const { code, where, message } = error as Error & { readonly code?: unknown; readonly where?: unknown };
  const isOfTypes = (TYPE_STATES.has(code) && where === undefined) || GONE_TYPE.test(message);
  if (isOfTypes || (VALUE_STATES.has(code) && isOfValue({ where })))
    Object.defineProperty(error, OUTDATED, { value: true });
}

/** Lost names of prepared statements that are a sign of a pooler. `DISCARD ALL` on a few connections loses fewer. */
const MANY = 20;
/** Milliseconds in which so many are lost. */
const WINDOW = 10_000;

/** Signs of a pooler that assigns each transaction another connection, for one instance. */
export class PoolerSigns {
  #count = 0;
  #since = Number.NEGATIVE_INFINITY;

  /**
   * Counts the error of a stale statement; true where there is such a pooler.
   *
   * @param isFresh true for a statement that was prepared a moment ago
   */
  add(error: Error, isFresh = false): boolean {
    const { code, where } = error as { readonly code?: string; readonly where?: string };
    // PgBouncer has one statement for a text, and goes on with that of before a migration until RECONNECT.
    if (isFresh && code === '0A000' && where === undefined) return true;
    // The name has a random number of this process. So it was prepared here, through another connection to the pooler.
    if (code === THERE_ALREADY) return true;
    if (code !== GONE) return false;
    const now = performance.now();
    if (now - this.#since > WINDOW) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count >= MANY;
  }
}
