/**
 * Deals what reads acquire over the replicas. Sequelize's read pool gives away the connection that came back last, whichever
 * server it is to, and opens another one only where none is free: nearly all reads go to one server, and one that is down
 * fails the reads that it was to get.
 */
import type { Sequelize } from 'sequelize';
import {
  type ConnectionManager,
  knownManager,
  type Pool,
  poolsOf,
  type ServerConfig,
} from '../session/connection-internals.js';
import type { PooledClient } from './pooled-client.js';

/** A connection of the pool. */
interface ReadClient extends PooledClient {
  queryType?: 'read';
}

/** One replica. */
interface Server {
  readonly settings: ServerConfig;
  /** Connections that are being opened. */
  opening: number;
  /** When one that could not be reached may be tried again; 0 for one that can be reached. */
  retryAt: number;
}

/** Milliseconds until a server that could not be reached is tried again, with one connection. */
const PAUSE = 1_000;

/** Changes the instance's own read pool, which must have been made for several servers. */
export function dealReads(sequelize: Sequelize): void {
  const manager = knownManager<ReadClient>(sequelize);
  if (manager) new Dealer(manager);
}

class Dealer {
  readonly #manager: ConnectionManager<ReadClient>;
  readonly #pool: Pool<ReadClient>;
  readonly #servers: readonly Server[];
  readonly #serverOf = new WeakMap<ReadClient, Server>();
  /** Connections to each server, where all can be reached. */
  readonly #quota: number;
  /** The server of the next connection that is opened, where that is decided. */
  #wanted: Server | null = null;
  /** Which server is preferred of those that are equal. */
  #turn = 0;

  constructor(manager: ConnectionManager<ReadClient>) {
    const { read: pool } = poolsOf(manager);
    const { replication } = manager.config;
    this.#manager = manager;
    this.#pool = pool;
    this.#servers = (replication ? replication.read : []).map((settings) => ({
      settings,
      opening: 0,
      retryAt: 0,
    }));
    this.#quota = Math.ceil(pool.maxSize / this.#servers.length);
    const dispense = pool._dispense.bind(pool);
    const { validate } = manager.config.pool;
    const isOfUse = (client: ReadClient) => validate(client) && !this.#isSurplus(client);
    Object.assign(pool._factory, { create: () => this.#connect(), validate: isOfUse });
    manager.config.pool.validate = isOfUse;
    pool._dispense = () => {
      if (pool.waiting > 0 && this.#opensAnother()) pool._createResource();
      else dispense();
    };
  }

  /** Puts a connection to the server whose turn it is last, where it is taken from; or says that one has to be opened. */
  #opensAnother(): boolean {
    const { _availableObjects: available, size, maxSize } = this.#pool;
    if (available.length === 0) {
      this.#wanted = null;
      return false;
    }
    const server = this.#least((each) => this.#load(each));
    const index = available.findLastIndex(({ resource }) => this.#serverOf.get(resource) === server);
    if (index >= 0) available.push(...available.splice(index, 1));
    const isOpened = index < 0 && size < maxSize && this.#connections(server) < this.#quota;
    if (isOpened) this.#wanted = server;
    return isOpened;
  }

  /** The server with the least of something, of those that may be tried; all, where none may. */
  #least(measure: (server: Server) => number): Server {
    const count = this.#servers.length;
    const inTurn = this.#servers.map((_, index) => this.#servers[(index + this.#turn) % count] as Server);
    const open = inTurn.filter(isOpen);
    const choice = open.length > 0 ? open : inTurn;
    const least = choice.reduce((best, each) => (measure(each) < measure(best) ? each : best));
    this.#turn = this.#servers.indexOf(least) + 1;
    return least;
  }

  /** What is under way on a server. */
  #load(server: Server): number {
    return server.opening + this.#count(this.#pool._inUseObjects, server);
  }

  #connections(server: Server): number {
    return this.#load(server) + this.#count(this.#pool._availableObjects, server);
  }

  #count(connections: Pool<ReadClient>['_inUseObjects'], server: Server): number {
    return connections.filter(({ resource }) => this.#serverOf.get(resource) === server).length;
  }

  /** Connects to the server that is to have one more, or else to another one. */
  async #connect(): Promise<ReadClient> {
    const first = this.#wanted ?? this.#least((server) => this.#connections(server));
    this.#wanted = null;
    const failures: unknown[] = [];
    for (const server of [first, ...this.#servers.filter((each) => each !== first)]) {
      if (server !== first && !isOpen(server)) continue;
      // Others do not try it meanwhile, where it was down.
      if (server.retryAt > 0) server.retryAt = Number.POSITIVE_INFINITY;
      server.opening += 1;
      try {
        const client = await this.#manager._connect(server.settings);
        client.queryType = 'read';
        server.retryAt = 0;
        this.#serverOf.set(client, server);
        return client;
      } catch (error) {
        failures.push(error);
        server.retryAt = performance.now() + PAUSE;
      } finally {
        server.opening -= 1;
      }
    }
    throw failures[0];
  }

  /** Whether a connection makes room for one to another server, which was down when this one was opened. */
  #isSurplus(client: ReadClient): boolean {
    const { size, maxSize } = this.#pool;
    const server = this.#serverOf.get(client);
    const fair = Math.max(1, Math.floor(maxSize / this.#servers.length));
    if (size < maxSize || server === undefined || this.#connections(server) <= fair) return false;
    const other = this.#servers.find((each) => isOpen(each) && this.#connections(each) < fair);
    if (other === undefined) return false;
    this.#wanted = other;
    client._invalid = true;
    return true;
  }
}

function isOpen({ retryAt }: Server): boolean {
  return retryAt === 0 || performance.now() >= retryAt;
}
