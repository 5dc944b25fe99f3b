/** A statement that connections prepare under a name, and what is known of its executions. */
import { createHash, randomUUID } from 'node:crypto';

/** Reads the text of a value as the driver would. */
export type TextParser = (text: string) => unknown;

/** One SQL text. */
export class PreparedStatement {
  readonly text: string;
  /** Empty for one that is not kept: PostgreSQL plans it anew for the values of each execution. */
  readonly name: string;
  /** Which use of its cache the last one was; one of no cache is always in use. */
  lastUse = Number.POSITIVE_INFINITY;
  #oids: string | null = null;
  #parsers: readonly TextParser[] = [];
  #fastest = Number.POSITIVE_INFINITY;
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

  /** Milliseconds of the fastest of the last executions: the slower ones of a cheap statement waited for something else. */
  get cost(): number {
    return this.#fastest;
  }

  /** Takes how long an execution was, in milliseconds. */
  measure(duration: number): void {
    this.#executions += 1;
    const isNewWindow = this.#executions % MEASURED_EXECUTIONS === 0;
    if (isNewWindow || duration < this.#fastest) this.#fastest = duration;
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

/** How many executions the cost is taken of; a table that has grown shows in the next ones. */
const MEASURED_EXECUTIONS = 256;

/** What PostgreSQL says of a name that is not prepared. */
export const GONE = '26000';
/** What PostgreSQL says of one that is prepared already. */
export const THERE_ALREADY = '42P05';

/**
 * Whether an error says that what a connection has prepared is of no use any more: the table was changed, or behind a
 * pooler, or after `DISCARD ALL`, the connection to the server is another one, where the statement is not there, or there
 * already. Nothing was executed then. What a function of the user's says has a context.
 */
export function isStale(error: unknown): boolean {
  const { code, where } = error as Partial<Record<'code' | 'where', unknown>>;
  return isOfChangedTable(error) || ((code === GONE || code === THERE_ALREADY) && where === undefined);
}

/** Whether PostgreSQL refuses a statement, and would for ever, because its results have other types than when it was prepared. */
export function isOfChangedTable(error: unknown): boolean {
  const { code, routine } = error as Partial<Record<'code' | 'routine', unknown>>;
  return code === '0A000' && routine === 'RevalidateCachedQuery';
}
