/**
 * The limit on the bytes of one result, and the part of the process's budget that results take as they arrive. Results of our
 * statements and of Sequelize's queries count. A process whose heap is full ends, so a result is refused before.
 */
import { HEAP_FULL, RESULT_TOO_LARGE } from '../../errors/database-fault.js';
import { BUDGET, HEAP_LIMIT, isWithin, TEXT_WEIGHT, takeBytes } from '../../util/memory-budget.js';

/** Bytes of one result of our SQL. */
export const MAX_RESULT: number = Math.min(32 * 1024 * 1024, HEAP_LIMIT / 16);
/** Bytes of memory for one result, whatever has sent the query. */
const MAX_MEMORY = BUDGET / 2;
/** A result of fewer bytes takes nothing of the budget. */
export const SMALL_RESULT = 256 * 1024;

const HINT = 'lower pageSize.max, or read fewer columns with fields.';

class ResultRefusedError extends Error {
  readonly severity = 'ERROR';

  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** Bytes of the results of a query, or of a connection. */
export class ResultBytes {
  /** Bytes of the result that arrives, and of the memory for it. */
  #bytes = 0;
  #memory = 0;
  /** Bytes of memory for results before it. */
  #kept = 0;
  /** Bytes of the budget. */
  #taken = 0;
  readonly #most: number;

  /** @param most bytes of a result */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /**
   * Adds bytes to the result that arrives.
   *
   * @param memory bytes that are needed to answer with them
   * @returns why the result is refused; null where it is not
   */
  add(bytes: number, memory = TEXT_WEIGHT * bytes): Error | null {
    this.#bytes += bytes;
    this.#memory += memory;
    if (this.#bytes <= SMALL_RESULT) return null;
    const more = this.#kept + this.#memory - this.#taken;
    const isTooLarge = this.#bytes > this.#most || this.#memory > MAX_MEMORY;
    if (isTooLarge || (more > 0 && !isWithin(more))) return this.#refuse(isTooLarge);
    if (more > 0) this.#take(more);
    return null;
  }

  /** Begins the next result. @param isKept true where earlier results are kept beside it */
  next(isKept: boolean): void {
    this.#kept = isKept ? this.#taken : 0;
    this.#bytes = 0;
    this.#memory = 0;
  }

  /** Returns the bytes that the results have taken. */
  end(): void {
    this.#take(-this.#taken);
    this.next(false);
  }

  #refuse(isTooLarge: boolean): Error {
    this.#take(this.#kept - this.#taken);
    return isTooLarge
      ? new ResultRefusedError(
          `A result is too large: it has ${this.#bytes} bytes so far; ${HINT}`,
          RESULT_TOO_LARGE,
        )
      : new ResultRefusedError(`There is no memory for a result beside the others; ${HINT}`, HEAP_FULL);
  }

  #take(bytes: number): void {
    takeBytes(bytes);
    this.#taken += bytes;
  }
}

const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
/** Types whose values are as long as their texts: bytea, text, bpchar and varchar. */
const TEXTS: ReadonlySet<number> = new Set([17, 25, 1042, 1043]);
/** Bytes of memory for a value, or an item of one: `{}` in JSON is two of them, and 56 bytes. */
const ITEM = 32;

type Parse = (text: string) => unknown;

/** Types of pg, as queries may have their own. */
interface Types {
  getTypeParser(oid: number, format?: 'text'): Parse;
}

/**
 * Counts the results of Sequelize's queries on one connection. pg parses values as rows arrive, and all of them are in the heap before
 * anything can be done with the first one. A parser that throws has pg drop the rest of the result; the connection goes on.
 */
export class CountedValues {
  readonly #client: Types;
  readonly #connection: NodeJS.EventEmitter | undefined;
  readonly #bytes = new ResultBytes();
  /** True from the description of a result until no transaction is open. */
  #isCounting = false;

  constructor(client: object) {
    this.#client = client as Types;
    this.#connection = (client as { readonly connection?: NodeJS.EventEmitter }).connection;
    this.#connection?.on('end', () => this.#bytes.end());
  }

  count(query: unknown): unknown {
    if (typeof query === 'string') return { text: query, types: this.#counting(this.#client) };
    if (typeof query !== 'object' || query === null) return query;
    const { types } = query as { readonly types?: Types };
    return { ...query, types: this.#counting(types ?? this.#client) };
  }

  /** Queries that count for themselves are executed on the connection, too, and their ends are nothing to this. */
  #begin(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    const end = ({ status }: { readonly status: string }): void => {
      // Rows of a transaction may be held until it ends.
      if (status !== 'I') this.#bytes.next(false);
      else {
        this.#bytes.end();
        this.#isCounting = false;
        this.#connection?.off('readyForQuery', end);
      }
    };
    this.#connection?.on('readyForQuery', end);
  }

  #counting(types: Types): Types {
    return {
      getTypeParser: (oid, format) => {
        this.#begin();
        const parse = types.getTypeParser(oid, format);
        const isText = TEXTS.has(oid);
        return (text) => {
          const { length } = text;
          const memory = TEXT_WEIGHT * length + ITEM * (isText ? 1 : itemsOf(text));
          const refusal = this.#bytes.add(length, memory);
          if (refusal) throw refusal;
          return parse(text);
        };
      },
    };
  }
}

/** The value, and the items that a JSON text or an array may have. */
function itemsOf(text: string): number {
  let items = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === COMMA || code === BRACE || code === BRACKET) items += 1;
  }
  return items;
}
