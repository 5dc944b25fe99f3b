/**
 * Statements that connections prepare under a name: the measured times of each, those that are in use by their
 * text, and those that one connection has prepared.
 */
import { createHash, randomUUID } from 'node:crypto';

/** A statement of which not even the fastest execution was below as many milliseconds gets a connection of its own. */
const CHEAP = 2;
/** A statement is slow where its fastest execution takes as many milliseconds. Other executions say little on a busy machine. */
export const SLOW = 20;

/** Reads the text of a value as the driver would. */
export type TextParser = (text: string) => unknown;

/** A statement that connections prepare once: a SQL text and its name. */
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

  /** The statement to execute: another statement with the same text, where PostgreSQL executes that one better now. */
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
/** Digits of a name, of six bits each. */
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

/** Clients choose orders and sizes. So statements are limited to as many; a connection keeps a plan of some 10 kB for each. */
const MAX_STATEMENTS = 200;

/** Uses of all caches: connections keep statements of several. */
let uses = 0;

/** Statements by text. The one that was not used for longest makes room; connections close theirs when they have too many. */
export class StatementCache<S extends PreparedStatement = PreparedStatement> {
  readonly #statements = new Map<string, S>();
  readonly #make: (text: string) => S;

  constructor(make: (text: string) => S) {
    this.#make = make;
  }

  get(text: string): S {
    const statement = this.#statements.get(text) ?? this.#add(text);
    uses += 1;
    statement.lastUse = uses;
    return statement;
  }

  #add(text: string): S {
    if (this.#statements.size === MAX_STATEMENTS)
      this.#statements.delete(leastUsed(this.#statements.values()).text);
    const statement = this.#make(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

/** Makes a statement that connections keep. */
export function named(text: string): PreparedStatement {
  return new PreparedStatement(text);
}

/** Makes a statement that is prepared for each execution: a pooler may assign each transaction another connection to the server. */
export function unnamed(text: string): PreparedStatement {
  return new PreparedStatement(text, '');
}

function leastUsed(statements: Iterable<PreparedStatement>): PreparedStatement {
  return [...statements].reduce((oldest, statement) =>
    statement.lastUse < oldest.lastUse ? statement : oldest,
  );
}

/**
 * A statement as one connection has prepared it. PostgreSQL refuses to execute it once the types of its results have changed. So the
 * description of its results holds as long as there are any: for this connection, which may not have met a change that
 * others have.
 */
export interface Preparation {
  readonly statement: PreparedStatement;
  /** The driver's parsers of the result columns; null as long as they have not been described. */
  parsers: readonly TextParser[] | null;
  /** True where the preparation is of no use any more. */
  isLost: boolean;
}

/** Prepared statements of one connection, by name. */
export class Preparations {
  readonly #kept = new Map<string, Preparation>();

  /** Preparation under the statement's name, if it is of that statement and still of use. */
  find(statement: PreparedStatement): Preparation | undefined {
    const known = this.#kept.get(statement.name);
    return known?.statement === statement && !known.isLost ? known : undefined;
  }

  /** True where the name is in use, or was. */
  has(name: string): boolean {
    return this.#kept.has(name);
  }

  /** Keeps one, unless it has no name. */
  add(preparation: Preparation): void {
    const { name } = preparation.statement;
    if (name !== '') this.#kept.set(name, preparation);
  }

  /** Makes room for all that a query executes, where it needs any; the names that are no longer kept. */
  makeRoom(statements: readonly PreparedStatement[]): readonly string[] {
    const names = new Set(statements.map(({ name }) => name).filter((name) => name !== ''));
    const added = [...names].filter((name) => !this.#kept.has(name)).length;
    const removed: string[] = [];
    while (added > 0 && this.#kept.size + added > MAX_STATEMENTS) {
      const others = [...this.#kept.values()].filter(({ statement }) => !names.has(statement.name));
      const unused = leastUsed(others.map(({ statement }) => statement));
      this.#kept.delete(unused.name);
      removed.push(unused.name);
    }
    return removed;
  }
}
