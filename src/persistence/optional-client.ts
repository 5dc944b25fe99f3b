/** Clients of back ends that not every application has: their packages are loaded only when they are asked for. */
import { createRequire } from 'node:module';
import { ConfigError, throwProblems } from '../plan/config-error.js';
import type { ClickHouseClient, Redis } from './client-types.js';

/** A client, and what closes it where it is ours. */
export interface OwnedClient<T> {
  readonly client: T;
  close(): Promise<void>;
}

const PROTOCOLS = Object.freeze({ clickhouse: ['http:', 'https:'], cache: ['redis:', 'rediss:'] });

/**
 * Looks at the URLs without connecting to anything.
 *
 * @throws ConfigError for all that are none, or of another protocol
 */
export function checkClients(clients: {
  readonly clickhouse?: string | ClickHouseClient | undefined;
  readonly cache?: string | Redis | undefined;
}): void {
  const options = ['clickhouse', 'cache'] as const;
  throwProblems(
    options.flatMap((option) => {
      const given = clients[option];
      return typeof given === 'string' ? urlProblem(option, given) : [];
    }),
  );
}

/**
 * A client of ClickHouse: the user's own, which stays his to close, or one made from a URL.
 *
 * @throws ConfigError when a URL is given and `@clickhouse/client` is not installed
 */
export function openClickHouse(given: string | ClickHouseClient): OwnedClient<ClickHouseClient> {
  if (typeof given !== 'string') return { client: given, close: async () => {} };
  const { createClient, ClickHouseLogLevel } = load<typeof import('@clickhouse/client')>(
    'clickhouse',
    '@clickhouse/client',
  );
  // It prints each failed ping otherwise; the health report tells of it.
  const client = accepted('clickhouse', '@clickhouse/client', () =>
    createClient({ url: given, log: { level: ClickHouseLogLevel.OFF } }),
  );
  return { client, close: () => client.close() };
}

/**
 * A client of Redis: the user's own, which stays his to close, or one made from a URL. One of ours connects at once, and
 * again by itself; commands fail instead of waiting for a server that is away.
 *
 * @throws ConfigError when a URL is given and `ioredis` is not installed
 */
export function openCache(given: string | Redis): OwnedClient<Redis> {
  if (typeof given !== 'string') return { client: given, close: async () => {} };
  const { Redis: RedisClient } = load<typeof import('ioredis')>('cache', 'ioredis');
  const client = new RedisClient(given, { maxRetriesPerRequest: 1, enableOfflineQueue: false });
  // Without a listener ioredis prints each failed attempt to connect. The health probe tells what is wrong.
  client.on('error', () => {});
  const close = async (): Promise<void> => {
    if (client.status !== 'end') client.disconnect();
  };
  return { client: client as unknown as Redis, close };
}

function load<T>(option: string, name: string): T {
  try {
    return createRequire(__filename)(name) as T;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new ConfigError([`The engine option ${option} needs the package ${name}; npm install ${name}.`]);
  }
}

/** A driver's own words about a URL may repeat parts of it that are secret. */
function accepted<T>(option: string, name: string, create: () => T): T {
  try {
    return create();
  } catch {
    throw new ConfigError([
      `The engine option ${option} has a parameter that ${name} does not accept; correct it.`,
    ]);
  }
}

/** The message holds nothing of the URL but its protocol, because a URL may hold a password. */
function urlProblem(option: keyof typeof PROTOCOLS, url: string): string[] {
  const protocols = PROTOCOLS[option];
  const found = URL.canParse(url) ? new URL(url).protocol : null;
  if (found !== null && protocols.includes(found)) return [];
  const problem = found === null ? 'is not a URL' : `begins with '${found}'`;
  return [`The engine option ${option} ${problem}; use one that begins with ${protocols.join('// or ')}//.`];
}
