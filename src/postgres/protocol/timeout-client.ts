/** pg as the engine has Sequelize use it: connections that end when a query is not answered in time, and whose results are counted. */
import pg, { Client, type ClientConfig } from 'pg';
import { CountedValues } from './counted-values.js';
import { type Ask, askInTurn, QueryTurns, type TurnsClient } from './query-turns.js';

/** A connection. */
class WatchedClient extends Client {
  /** Milliseconds after which a query is given up; 0 for never. */
  readonly queryTimeout: number;
  readonly values = new CountedValues(this);
  /** Null in a copy that sends nothing. */
  readonly turns: QueryTurns | null;

  constructor({ query_timeout: limit = 0, ...config }: ClientConfig) {
    super(config);
    // Sequelize listens a little after the log-in; an end that comes with its answer would else be that of the process.
    this.on('error', () => {});
    this.queryTimeout = limit;
    this.turns = new QueryTurns(this as object as TurnsClient, limit);
  }

  // `never` is what all the overloads of the base have in common; the value is theirs, unchanged.
  override query(config: unknown, values?: unknown, callback?: unknown): never {
    return askInTurn(this.turns, super.query.bind(this) as Ask, this.values.count(config), values, callback);
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

/** The module: pg, but for the connections. */
export const timeoutDriver: object = Object.create(pg, { Client: { value: WatchedClient } });
