/** The back ends of the application, each behind something that breaks it. */
import { startClickHouse } from '../support/clickhouse-server.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { startRedis } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';

export type BackEnds = Awaited<ReturnType<typeof startBackEnds>>;

/** They run until they are disposed. To the clients of Redis and ClickHouse, a proxy that is down is a stop. */
export async function startBackEnds() {
  const postgres = await OwnPostgres.create('soak');
  const servers = [await startRedis(), await startClickHouse()] as const;
  const redis = await TcpProxy.before(servers[0].url);
  const clickhouse = await TcpProxy.before(servers[1].url);
  return {
    postgres,
    redis,
    clickhouse,
    async [Symbol.asyncDispose]() {
      for (const each of [redis, clickhouse, ...servers, postgres]) await each[Symbol.asyncDispose]();
    },
  };
}
