/**
 * Connections of pg that execute one query at a time: the next one is sent when the one before has ended. pg 8 keeps the others
 * itself and warns of it, and the next major version will not. A connection with `pipeline` sends all at once. Connections
 * of an engine also end when a query is not answered in time, and count their results.
 */
import { AsyncResource } from 'node:async_hooks';
import { isIP } from 'node:net';
import pg, { Client, type ClientConfig } from 'pg';
import { QUERY_TIMEOUT } from '../../errors/database-fault.js';
import { CountedValues } from './result-limit.js';

/** A client of pg, which emits `drain` when it has nothing to do. */
interface TurnsClient {
  readonly pipeline?: boolean;
  readonly connection?: { readonly stream: { destroy(error: Error): void } };
  on(event: 'drain' | 'error' | 'end', listener: () => void): unknown;
}

type PgQuery = (config?: unknown, values?: unknown, answer?: unknown) => never;

interface Waiting {
  send(): unknown;
  fail(error: unknown): void;
}

/** Queries of one connection, oldest first. */
export class QueryTurns {
  readonly #client: TurnsClient;
  readonly #waiting: Waiting[] = [];
  #isBusy = false;
  #isOver = false;
  readonly #limit: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param limit milliseconds after which a query is abandoned; 0 for never. Default: pg ends it by itself */
  constructor(client: TurnsClient, limit = 0) {
    this.#client = client;
    this.#limit = limit;
    client.on('drain', () => {
      clearTimeout(this.#timer);
      this.#isBusy = false;
      this.#sendNext();
    });
    client.on('error', () => this.close());
    client.on('end', () => this.close());
  }

  /** True where the next query is sent at once. */
  get isFree(): boolean {
    if (this.#isOver || this.#client.pipeline) return true;
    return !this.#isBusy && this.#waiting.length === 0;
  }

  /** Notes that a query was sent. */
  begin(): void {
    this.#isBusy = true;
  }

  /** Notes that a query was answered, and pg is ready for the next. pg emits `drain` only when nothing was sent meanwhile. */
  end(): void {
    this.#isBusy = false;
  }

  /**
   * Ends the connection when a query is not answered in time, with pg's error for it, so that neither this query nor those that wait are
   * executed later. A query that submits itself has its own timeout, and one that is described may have another limit.
   */
  limit(config: unknown): void {
    const { query_timeout: own } = Object(config) as Readonly<Record<string, unknown>>;
    const limit = typeof own === 'number' ? own : this.#limit;
    if (limit === 0 || submitsItself(config)) return;
    clearTimeout(this.#timer);
    const giveUp = (): void => this.#client.connection?.stream.destroy(new Error(QUERY_TIMEOUT));
    this.#timer = setTimeout(giveUp, limit).unref();
  }

  /**
   * Keeps a query until it is its turn.
   *
   * @param send returns false where it has sent nothing
   * @param fail takes the error that `send` throws
   */
  wait(send: () => unknown, fail: (error: unknown) => void): void {
    // A tracer finds the code that queries in its async context.
    const context = new AsyncResource('crud-controllers:query');
    this.#waiting.push({ send: () => context.runInAsyncScope(send), fail });
  }

  /** The connection is lost or being closed: pg refuses all queries, and each fails with that. */
  close(): void {
    clearTimeout(this.#timer);
    this.#isOver = true;
    this.#sendNext();
  }

  #sendNext(): void {
    while (this.#isOver || !this.#isBusy) {
      const next = this.#waiting.shift();
      if (!next) return;
      try {
        this.#isBusy = next.send() !== false;
      } catch (error) {
        next.fail(error);
      }
    }
  }
}

/** True for a query object, such as ours and those of cursors: it has its own timeout, and parses its own rows. */
function submitsItself(config: unknown): boolean {
  return (Object(config) as { readonly submit?: unknown }).submit !== undefined;
}

/** Queries pg in turn; returns the value of pg. */
function queryInTurn(
  turns: QueryTurns | null,
  pgQuery: PgQuery,
  config: unknown,
  values: unknown,
  callback: unknown,
): never {
  // Tracers wrap a callback that is the last argument.
  const [bound, own] = typeof values === 'function' ? [undefined, values] : [values, callback];
  const query = (answer: unknown): never => {
    const result = answer === undefined ? pgQuery(config, bound) : pgQuery(config, bound, answer);
    turns?.limit(config);
    return result;
  };
  const isQuery = typeof config === 'string' || (typeof config === 'object' && config !== null);
  // pg reports the error of others.
  if (!turns || turns.isFree || !isQuery) {
    const result = query(own);
    turns?.begin();
    return result;
  }
  const send = () => void query(own);
  const { callback: described, handleError } = config as Partial<Record<string, unknown>>;
  if (submitsItself(config)) {
    turns.wait(
      send,
      (error) => typeof handleError === 'function' && Reflect.apply(handleError, config, [error]),
    );
    return config as never;
  }
  const answer = [own, described].find((each) => typeof each === 'function') as Answer | undefined;
  if (answer) {
    turns.wait(send, answer);
    return undefined as never;
  }
  return new Promise((resolve, reject) => {
    const settle: Answer = (error, result) => (error ? reject(error) : resolve(result));
    turns.wait(() => void query(settle), reject);
  }) as never;
}

type Answer = (error: unknown, result?: unknown) => void;

/** Makes a client of pg send queries in turn, unless it does so by itself. A client of another driver stays as it is. */
export function takeTurns(client: object): void {
  if (!(client instanceof Client) || 'turns' in client) return;
  const prototype = Object.getPrototypeOf(client) as { readonly query: PgQuery };
  Object.assign(client, {
    turns: new QueryTurns(client as TurnsClient),
    query(this: { readonly turns: QueryTurns | null }, config: unknown, values: unknown, callback: unknown) {
      // A tracer may have wrapped it meanwhile.
      return queryInTurn(this.turns, prototype.query.bind(this) as PgQuery, config, values, callback);
    },
  });
}

/**
 * The same configuration with the IP address of the server among the options of TLS. Before pg 8.23 only names were there, so that Node
 * expected a certificate of `localhost`.
 */
export function withAddress<C extends { readonly host?: string | undefined; readonly ssl?: unknown }>(
  config: C,
): C {
  const { host, ssl } = config;
  if (!ssl || host === undefined || isIP(host) === 0) return config;
  return { ...config, ssl: { host, ...(typeof ssl === 'object' ? ssl : {}) } };
}

class WatchedClient extends Client {
  /** Milliseconds after which a query is abandoned; 0 for never. */
  readonly queryTimeout: number;
  readonly values = new CountedValues(this);
  /** Null in a copy that sends nothing. */
  readonly turns: QueryTurns | null;

  constructor({ query_timeout: limit = 0, ...config }: ClientConfig) {
    super(withAddress<ClientConfig>(config));
    // Sequelize listens a little after the log-in; an end that comes with its answer would else be that of the process.
    this.on('error', () => {});
    this.queryTimeout = limit;
    this.turns = new QueryTurns(this as object as TurnsClient, limit);
  }

  // `never` fits all the overloads of the base; the value is theirs, unchanged.
  override query(config: unknown, values?: unknown, callback?: unknown): never {
    return queryInTurn(
      this.turns,
      super.query.bind(this) as PgQuery,
      submitsItself(config) ? config : this.values.count(config),
      values,
      callback,
    );
  }

  // `never` for the same reason as in `query`.
  override end(callback?: unknown): never {
    const end = super.end.bind(this) as (callback?: unknown) => never;
    const ended = callback === undefined ? end() : end(callback);
    // Only now does pg refuse the queries that wait.
    this.turns?.close();
    return ended;
  }
}

/** The driver of an engine: pg, but for the connections. */
export const timeoutDriver: object = Object.create(pg, { Client: { value: WatchedClient } });
