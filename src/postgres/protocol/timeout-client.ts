/**
 * pg as the engine has Sequelize use it: with one clock for the `query_timeout` of all queries. pg starts a timer for each,
 * and what it holds outlives the query: lists on the general path gave the garbage collector two and a half times as much
 * work, which was a fifth of all their time.
 */
import pg, { Client, type ClientConfig } from 'pg';
import { QUERY_TIMEOUT } from '../../errors/database-fault.js';
import { watchHeap } from './heap-watch.js';
import { queryTimeouts } from './query-timeouts.js';
import { type Ask, askInTurn, QueryTurns } from './query-turns.js';

type Answer = (error: Error | null, result?: unknown) => void;

/** Has a query given up that is not answered in time; pg is to tell the result what it says. */
function inTime(client: Client, limit: number, answer: Answer): Answer {
  let isOver = false;
  const end: Answer = (error, result) => {
    if (isOver) return;
    isOver = true;
    queryTimeouts.end(query);
    answer(error, result);
  };
  const query = {
    /** With pg's error. The connection is closed, so that what was behind the query is not executed by and by. */
    giveUp() {
      end(new Error(QUERY_TIMEOUT));
      void client.end();
    },
  };
  queryTimeouts.begin(limit, query);
  return end;
}

/** A connection. */
class WatchedClient extends Client {
  /** Milliseconds after which a query is given up; 0 for never. */
  readonly queryTimeout: number;
  /** Null in a copy that sends nothing. */
  readonly turns: QueryTurns | null = new QueryTurns(this);

  constructor({ query_timeout: limit, ...config }: ClientConfig) {
    super(config);
    // Sequelize listens a little after the log-in; an end that comes with its answer would else be that of the process.
    this.on('error', () => {});
    watchHeap(this);
    this.queryTimeout = limit ?? 0;
  }

  // `never` is what all the overloads of the base have in common; the value is theirs, unchanged.
  override query(config: unknown, values?: unknown, callback?: unknown): never {
    const pgQuery = super.query.bind(this) as Ask;
    const query: Ask = (...args) => askInTurn(this.turns, pgQuery, args[0], args[1], args[2]);
    const limit = limitOf(config, this.queryTimeout);
    if (limit === 0) return query(config, values, callback);
    const [bound, answer] = typeof values === 'function' ? [undefined, values] : [values, callback];
    const ask = (given: Answer) => query(config, bound, inTime(this, limit, given));
    if (typeof answer === 'function') return ask(answer as Answer);
    return new Promise((resolve, reject) => {
      ask((error, result) => (error ? reject(error) : resolve(result)));
    }) as never;
  }

  // As with the query.
  override end(callback?: unknown): never {
    const end = super.end.bind(this) as (callback?: unknown) => never;
    const ended = callback === undefined ? end() : end(callback);
    // Only now does pg refuse what waits.
    this.turns?.close();
    return ended;
  }
}

/**
 * Milliseconds that a query may take; 0 for no end. One that is described may have a limit of its own, which not every version
 * of pg looks at. Objects that submit themselves have patience of their own.
 */
function limitOf(config: unknown, ofOthers: number): number {
  if (typeof config === 'string') return ofOthers;
  if (typeof config !== 'object' || config === null) return 0;
  const { submit, callback, query_timeout: own } = config as Record<string, unknown>;
  if (submit !== undefined || callback !== undefined) return 0;
  return typeof own === 'number' ? own : ofOthers;
}

/** The module: pg, but for the connections. */
export const timeoutDriver: object = Object.create(pg, { Client: { value: WatchedClient } });
