/** Clients of back ends that not every application has: their packages are loaded at their first use. */
import { once } from 'node:events';
import { ConfigError, throwProblems } from '../../util/config-error.js';
import { nullIfMissing } from '../../util/optional-package.js';
import type { ClickHouseClient, Cluster, Redis } from './client-types.js';
import { urlProblem } from './connection-url.js';

/** A client, and the function that closes it where it is ours. */
interface OwnedClient<T> {
  readonly client: T;
  close(): Promise<void>;
}

const CLIENTS = Object.freeze({
  clickhouse: {
    name: '@clickhouse/client',
    maker: 'createClient(…)',
    protocols: ['http:', 'https:'],
    load: loadClickHouse,
  },
  cache: { name: 'ioredis', maker: 'new Redis(…)', protocols: ['redis:', 'rediss:'], load: loadCache },
});

/** Milliseconds. */
const CONNECT_TIMEOUT = 2_000;
/** Milliseconds between attempts to connect again. ioredis would come to wait 2 s, however soon the server is back. */
const LONGEST_WAIT = 1_000;
const MORE_WAIT = 50;

/** Constructor of another client like one that was made here. */
const SEPARATE = new WeakMap<ClickHouseClient, () => ClickHouseClient>();

/**
 * Checks the URLs, and that the packages for them are installed, without connecting to anything. Of a client it checks that it is one.
 *
 * @throws ConfigError for all that are none, or of another protocol, and for all packages that are missing
 */
export function checkClients(clients: {
  readonly clickhouse?: string | ClickHouseClient | undefined;
  readonly cache?: string | Redis | Cluster | undefined;
}): void {
  const options = ['clickhouse', 'cache'] as const;
  throwProblems(
    options.flatMap((option) => {
      const given: unknown = clients[option];
      if (given === undefined) return [];
      return typeof given === 'string' ? clientProblems(option, given) : foreignProblems(option, given);
    }),
  );
}

/** A client of ClickHouse: the user's own, which stays his to close, or one made from a URL that `checkClients` has checked. */
export function openClickHouse(given: string | ClickHouseClient): OwnedClient<ClickHouseClient> {
  if (typeof given !== 'string') return { client: given, close: async () => {} };
  const { createClient, ClickHouseLogLevel } = loadClickHouse() as ClickHousePackage;
  const create = (): ClickHouseClient =>
    // It prints each failed ping otherwise; the health report has it.
    createClient({ url: given, log: { level: ClickHouseLogLevel.OFF } });
  try {
    const client = create();
    SEPARATE.set(client, create);
    return { client, close: () => client.close() };
  } catch {
    // The package's own words about a URL may repeat parts of it that are secret.
    throw new ConfigError([
      `The engine option clickhouse has a parameter that ${CLIENTS.clickhouse.name} does not accept; correct it.`,
    ]);
  }
}

/**
 * A client for one query besides those of the application: with connections of its own, where it was made from a URL. For a client of the
 * user's it is that one.
 */
export function separateClickHouse(client: ClickHouseClient): OwnedClient<ClickHouseClient> {
  const separate = SEPARATE.get(client)?.();
  return separate ? { client: separate, close: () => separate.close() } : { client, close: async () => {} };
}

/**
 * A client of Redis: the user's own, which stays his to close, or one made from a URL that `checkClients` has checked. One of
 * ours connects at once, and again by itself; commands fail instead of waiting for a server that is away, or not connected to yet.
 */
export function openCache(given: string | Redis | Cluster): OwnedClient<Redis> {
  // A cluster has the commands of a server, and a public type that cannot be one of either.
  if (typeof given !== 'string') return { client: given as Redis, close: async () => {} };
  // Some versions of ioredis 5 have it under this name only.
  const { default: RedisClient } = loadCache() as CachePackage;
  const client = new RedisClient(given, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    retryStrategy: (attempts) => Math.min(attempts * MORE_WAIT, LONGEST_WAIT),
  });
  // Without a listener ioredis prints each failed attempt to connect. The health probe reports the reason.
  client.on('error', () => {});
  const close = async (): Promise<void> => {
    if (client.status !== 'end') client.disconnect();
  };
  return { client: client as unknown as Redis, close };
}

/**
 * Waits until a client made here has connected, so that the first commands do not fail. One that cannot be reached is not
 * waited for any longer: an application works without its cache.
 */
export async function untilConnected(client: Redis): Promise<void> {
  const tooLong = AbortSignal.timeout(CONNECT_TIMEOUT);
  await once(client, 'ready', { signal: tooLong }).catch(() => {});
}

type ClickHousePackage = typeof import('@clickhouse/client');
type CachePackage = typeof import('ioredis');

function loadClickHouse(): ClickHousePackage | null {
  try {
    return require('@clickhouse/client');
  } catch (error) {
    return nullIfMissing('@clickhouse/client', error);
  }
}

function loadCache(): CachePackage | null {
  try {
    return require('ioredis');
  } catch (error) {
    return nullIfMissing('ioredis', error);
  }
}

/** The message holds nothing of the URL but its scheme, because a URL may hold a password. */
function clientProblems(option: keyof typeof CLIENTS, url: string): string[] {
  const { name, protocols, load } = CLIENTS[option];
  const problem = urlProblem(url, protocols, `one that begins with ${protocols.join('// or ')}//`);
  const problems = problem === null ? [] : [`The engine option ${option} ${problem}`];
  if (!load()) problems.push(`The engine option ${option} needs the package ${name}; npm install ${name}.`);
  return problems;
}

/** Options of a client in its place would fail at the first command. They may hold a password, which the message leaves out. */
function foreignProblems(option: keyof typeof CLIENTS, given: unknown): string[] {
  const { ping } = Object(given) as { readonly ping?: unknown };
  if (typeof ping === 'function') return [];
  const { name, maker, protocols } = CLIENTS[option];
  const kind = given === null ? 'null' : `of type ${typeof given}`;
  return [
    `The engine option ${option} is ${kind}, and no client; use ${maker} of ${name}, or a URL that begins with ${protocols.join('// or ')}//.`,
  ];
}
