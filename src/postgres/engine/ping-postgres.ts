/** Pings each server of a Sequelize instance, on a connection of its own. */
import { Client } from 'pg';
import type { Sequelize } from 'sequelize';
import { withAddress } from '../protocol/pg-client.js';
import { expectSession, type HostedServer } from '../session/choose-host.js';
import { plainManager, runConnectHooks } from '../session/connection-internals.js';

interface PostgresServer {
  /** Connects, queries, and disconnects. Rejects with the error of the driver; aborting ends it at once. */
  ping(signal: AbortSignal): Promise<void>;
}

/**
 * The servers of an instance: the primary, and every replica on another address. They are pinged outside of the pool. A
 * pool without a free connection is busy, not broken. A service that is taken away for it would only load the others more.
 */
export function postgresServers(sequelize: Sequelize): readonly PostgresServer[] {
  // The connection manager's copy of the configuration is the one in which each server has all it inherits.
  const { config } = plainManager(sequelize);
  const { replication } = config;
  const all = replication ? [replication.write, ...replication.read] : [config];
  const byAddress = new Map(all.map((server) => [addressOf(server), server]));
  return [...byAddress.values()].map((server: HostedServer) => ({
    ping: (signal) =>
      server.hosts ? pingAny(sequelize, server, signal) : pingOne(sequelize, server, signal),
  }));
}

function addressOf({ hosts, host, port, database }: HostedServer): string {
  const all = hosts ?? [{ host, port }];
  return `${all.map((each) => `${each.host}:${each.port}`).join()}/${database}`;
}

/** Resolves once one of several hosts answers. All are pinged at the same time, as a lost one may be silent. */
async function pingAny(sequelize: Sequelize, server: HostedServer, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const one = AbortSignal.any([signal, over.signal]);
  const pings = (server.hosts ?? []).map((host) => pingOne(sequelize, { ...server, ...host }, one));
  await Promise.any(pings).finally(() => over.abort());
}

async function pingOne(sequelize: Sequelize, server: HostedServer, signal: AbortSignal): Promise<void> {
  const own = { ...server };
  // The user's hooks may provide the password.
  await runConnectHooks(sequelize, own);
  await ping(own, signal);
}

async function ping(server: HostedServer, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { host, port, database, username, password, dialectOptions } = server;
  const config = withAddress({
    ...dialectOptions,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(database === undefined ? {} : { database }),
    ...(username === undefined ? {} : { user: username }),
    ...(password === undefined ? {} : { password }),
    // The one limit is that of the probe: the driver's own would end it earlier, without saying why.
    connectionTimeoutMillis: 0,
    query_timeout: 0,
    keepAlive: false,
  });
  const client = new Client(config);
  // pg waits for an answer that may never come; closing the socket is the only way to end that.
  const abort = (): void => void client.connection?.stream?.destroy();
  client.on('error', () => {});
  signal.addEventListener('abort', abort, { once: true });
  try {
    await client.connect();
    await client.query('SELECT 1');
    await expectSession(client, server, server.sessionAttributes ?? 'any');
  } finally {
    // The end is not awaited, because the server has answered. A connection that does not close is cut when the probe is over.
    if (signal.aborted) abort();
    else client.end().catch(() => {});
  }
}
