/** The back ends of the application, each behind something that breaks it. */
import { startClickHouse } from '../support/clickhouse-server.js';
import { Gate } from '../support/gate.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { startRedis } from '../support/redis-server.js';

/** They run until they are disposed. */
export class BackEnds implements AsyncDisposable {
  readonly postgres: OwnPostgres;
  readonly redis: GatedServer;
  readonly clickhouse: GatedServer;

  private constructor(postgres: OwnPostgres, redis: GatedServer, clickhouse: GatedServer) {
    this.postgres = postgres;
    this.redis = redis;
    this.clickhouse = clickhouse;
  }

  static async start(): Promise<BackEnds> {
    return new BackEnds(
      await OwnPostgres.create('soak'),
      await GatedServer.before(await startRedis()),
      await GatedServer.before(await startClickHouse()),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      this.redis.dispose(),
      this.clickhouse.dispose(),
      this.postgres[Symbol.asyncDispose](),
    ]);
  }
}

/** A server, which is stopped and started by closing and opening the gate before it. */
class GatedServer {
  readonly gate: Gate;
  readonly #server: { stop(): Promise<void> };

  private constructor(gate: Gate, server: { stop(): Promise<void> }) {
    this.gate = gate;
    this.#server = server;
  }

  static async before(server: { readonly url: string; stop(): Promise<void> }): Promise<GatedServer> {
    return new GatedServer(await Gate.before(server.url), server);
  }

  async dispose(): Promise<void> {
    await this.gate.close();
    await this.#server.stop();
  }
}
