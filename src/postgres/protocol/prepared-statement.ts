/** A statement that connections prepare under a name, and what is known of its executions. */
import { createHash, randomUUID } from 'node:crypto';
import { isOfValue } from '../../errors/database-fault.js';

/** A statement of which not even the fastest execution was below as many milliseconds gets a connection of its own. */
const CHEAP = 2;
/** Milliseconds that the fastest execution of a slow one takes: on a busy machine many are slower than they need to be. */
export const SLOW = 20;

/** Reads the text of a value as the driver would. */
export type TextParser = (text: string) => unknown;

/** One SQL text. */
export class PreparedStatement {
  readonly text: string;
  /** Empty for one that is not kept: PostgreSQL plans it anew for the values of each execution. */
  readonly name: string;
  /** Number of the last use of it in its cache; a statement of no cache is always in use. */
  lastUse = Number.POSITIVE_INFINITY;
  #oids: string | null = null;
  #parsers: readonly TextParser[] = [];
  /** Milliseconds of the fastest execution of this window, and of the one before it. */
  #fastest = Number.POSITIVE_INFINITY;
  #fastestBefore = Number.POSITIVE_INFINITY;
  #executions = 0;

  /** @param name another one than that of the text */
  constructor(text: string, name = statementName(text)) {
    this.text = text;
    this.name = name;
  }

  /** The parsers of columns of these types; the same array as long as these are the same, on whatever connection. */
  parsersFor(oids: readonly number[], parserOf: (oid: number) => TextParser): readonly TextParser[] {
    const key = oids.join();
    if (key !== this.#oids) {
      this.#oids = key;
      this.#parsers = Object.freeze(oids.map(parserOf));
    }
    return this.#parsers;
  }

  /** The one that is to be executed: another one of the same text, where that is better now. */
  get current(): PreparedStatement {
    return this;
  }

  /** A statement of the same text that is planned for its values, where plans for any values may be bad. */
  get planned(): PreparedStatement {
    return this;
  }

  /** True where reads may wait behind it on a shared connection. */
  get isCheap(): boolean {
    return this.cost < CHEAP;
  }

  /** True where it takes long, or may, so that such reads leave a connection to others. */
  get isSlow(): boolean {
    return this.cost >= SLOW && this.cost !== Number.POSITIVE_INFINITY;
  }

  /** Milliseconds of the fastest of the last executions: the slower ones of a cheap statement waited for something else. */
  get cost(): number {
    return Math.min(this.#fastest, this.#fastestBefore);
  }

  /** Takes how long an execution was, in milliseconds. */
  measure(duration: number): void {
    this.#executions += 1;
    // The first one of a window may have waited for something else, too.
    if (this.#executions % MEASURED_EXECUTIONS === 0) {
      this.#fastestBefore = this.#fastest;
      this.#fastest = Number.POSITIVE_INFINITY;
    }
    if (duration < this.#fastest) this.#fastest = duration;
  }
}

/** Behind a pooler, processes meet each other's statements on the connections to the server. */
const PROCESS = randomUUID();
/** Of six bits each. */
const DIGITS = 22;

/**
 * The name for a text in this process: a name never means another text. ASCII, and far shorter than the 63 bytes that
 * PostgreSQL keeps of a name.
 */
function statementName(text: string): string {
  const digest = createHash('sha256').update(PROCESS).update(text).digest('base64url');
  return `crud_${digest.slice(0, DIGITS)}`;
}

/** Executions of a window. The cost is taken of one to two of them; a table that has grown shows in the next ones. */
const MEASURED_EXECUTIONS = 128;

/** SQLSTATE for a name that is not prepared. */
export const GONE = '26000';
/** SQLSTATE for a name that is prepared already. */
export const THERE_ALREADY = '42P05';

/**
 * True where the prepared statements of a connection are of no use any more: the table was changed, or behind a
 * pooler, or after `DISCARD ALL`, the connection to the server is another one, where the statement is not there, or
 * there already. Nothing was executed then. An error that a function of the user's raises has a context.
 */
export function isStale(error: unknown): boolean {
  const { code, where } = error as Partial<Record<'code' | 'where', unknown>>;
  return isOfChangedTable(error) || ((code === GONE || code === THERE_ALREADY) && where === undefined);
}

/**
 * True where PostgreSQL refuses a statement, and would for ever: its results have other types than when it was
 * prepared, its parameters other ones than the columns have now, or the sequence of its keys is that of a table before this one.
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
/** The same of the type of a parameter, as an internal error, which is in English always. */
const GONE_TYPE = /^cache lookup failed for type \d+/;
/** A value that a type has not: the column may be wider by now. */
const VALUE_STATES: ReadonlySet<unknown> = new Set(['22P02', '22003']);

/**
 * Takes what PostgreSQL says of a statement that the connection had prepared before. Types of parameters are those of that time, and the same
 * text, prepared anew, may be right.
 */
export function noteOutdated(error: Error): void {
  const { code, where, message } = error as Error & { readonly code?: unknown; readonly where?: unknown };
  const isOfTypes = (TYPE_STATES.has(code) && where === undefined) || GONE_TYPE.test(message);
  if (isOfTypes || (VALUE_STATES.has(code) && isOfValue({ where })))
    Object.defineProperty(error, OUTDATED, { value: true });
}
