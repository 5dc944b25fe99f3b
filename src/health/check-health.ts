/** `checkHealth`: queries all configured back ends at once, each on connections of its own. */
import {
  type ClickHouseClient,
  type Cluster,
  type Engine,
  enginesInUse,
  postgresServers,
  type Redis,
  separateClickHouse,
} from '../postgres/index.js';
import { throwProblems } from '../util/config-error.js';

/** Options of a check. */
export interface CheckOptions {
  /** Seconds that each back end has to answer. Default: 5. */
  timeout?: number;
}

/** Seconds. */
export const DEFAULT_TIMEOUT = 5;
/** Seconds. Node fires a timer of more than 2 ** 31 milliseconds at once. */
const TIMER_LIMIT = 2_000_000;

/**
 * Queries every configured back end at the same time, each on a connection of its own. One that fails or is late is
 * recorded, never thrown; without any the report is healthy.
 *
 * @example
 * ```ts
 * const report = await checkHealth({ timeout: 1 });
 * ```
 * @throws ConfigError for a timeout that is not a positive number of seconds
 */
export async function checkHealth({ timeout = DEFAULT_TIMEOUT }: CheckOptions = {}): Promise<HealthReport> {
  throwProblems(timeoutProblems(timeout));
  const pings = enginesInUse().flatMap(pingsOf);
  return new HealthReport(await Promise.all(pings.map(([name, ping]) => probe(name, ping, timeout))));
}

/** Problems of a timeout. */
export function timeoutProblems(timeout: unknown): string[] {
  if (typeof timeout === 'number' && timeout > 0 && timeout < TIMER_LIMIT) return [];
  return [
    `The health timeout is ${String(timeout)}; use a number of seconds above 0 and below ${TIMER_LIMIT}.`,
  ];
}

/** The pings of the back ends that an engine has. Nothing is read before a probe runs them. */
function pingsOf({ sequelize, clickhouse, cache }: Engine): readonly (readonly [ComponentName, Ping])[] {
  return [
    ['postgres', async (signal) => pingServers(postgresServers(sequelize))(signal)],
    ...(clickhouse ? [['clickhouse', abortable(pingClickHouse(clickhouse))] as const] : []),
    ...(cache ? [['cache', abortable(pingCache(cache))] as const] : []),
  ];
}

/** A ping that ends with its signal, because not all drivers do. */
function abortable(ping: Ping): Ping {
  return (signal) => untilAborted(signal, ping(signal));
}

/** By a query: the plain ping needs no credentials. It never rejects, but says so in its result. */
function pingClickHouse(shared: ClickHouseClient): Ping {
  return async (signal) => {
    const { client, close } = separateClickHouse(shared);
    try {
      const result = await client.ping({ select: true, abort_signal: signal });
      if (!result.success) throw result.error;
    } finally {
      await close();
    }
  };
}

/** Queries all servers of a back end at the same time; each has to answer. */
function pingServers(servers: readonly { readonly ping: Ping }[]): Ping {
  return async (signal) => {
    const answers = await Promise.allSettled(
      servers.map((server) => untilAborted(signal, server.ping(signal))),
    );
    const reasons = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [shownReason(answer.reason)] : [],
    );
    const [reason] = reasons;
    if (reason === undefined) return;
    throw new ProbeFailure(
      servers.length === 1 ? reason : `${reasons.length} of ${servers.length} servers: ${reason}`,
    );
  };
}

/** The ping of a server, or of a cluster: all its masters have to answer. */
function pingCache(cache: Redis | Cluster): Ping {
  return cache.isCluster ? pingCluster(cache as Cluster) : pingRedis(cache as Redis);
}

/** The client itself has found the nodes of the cluster, and goes on finding them. */
function pingCluster(cluster: Cluster): Ping {
  return async (signal) => {
    // A client with `lazyConnect` connects at its first command, which would never come: a process that is not ready gets no requests.
    if (cluster.status === 'wait') await cluster.connect();
    const masters = cluster.nodes('master');
    if (masters.length === 0) throw new ProbeFailure('connection lost');
    await pingServers(masters.map((master) => ({ ping: pingRedis(master) })))(signal);
  };
}

/** On a connection of its own: a client that is reconnecting keeps commands, or refuses them. */
function pingRedis(client: Redis): Ping {
  return async (signal) => {
    const connection = client.duplicate({
      lazyConnect: true,
      enableOfflineQueue: true,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    let failure: unknown;
    connection.on('error', (error: unknown) => {
      failure ??= error;
    });
    const close = (): void => {
      // Disconnecting once more than needed would start a timer that nothing clears.
      if (connection.status === 'end') return;
      connection.disconnect();
      // It says goodbye first, which a silent peer would not answer.
      if (signal.aborted) connection.stream?.destroy();
    };
    signal.addEventListener('abort', close, { once: true });
    try {
      await connection.connect();
      await connection.ping();
    } catch (error) {
      // connect() rejects only with a closed connection; the event before it has the reason.
      throw failure ?? error;
    } finally {
      close();
    }
  };
}

/** The name of a back end. */
export type ComponentName = 'postgres' | 'clickhouse' | 'cache';

/**
 * One back end. Frozen.
 *
 * @example
 * ```ts
 * const down = (await checkHealth()).components.filter((component) => !component.healthy);
 * ```
 */
export class ComponentHealth {
  declare readonly name: ComponentName;
  declare readonly healthy: boolean;
  /** Milliseconds until it answered; null when it did not. */
  declare readonly latencyMs: number | null;
  /** A short reason without hosts, users or passwords; null when healthy. */
  declare readonly error: string | null;

  constructor(found: Omit<ComponentHealth, 'toJSON'>) {
    Object.freeze(Object.assign(this, found));
  }

  toJSON() {
    return { name: this.name, healthy: this.healthy, latency_ms: this.latencyMs, error: this.error };
  }
}

/**
 * All configured back ends. Frozen. Healthy when each of them is, and when there is none.
 *
 * @example
 * ```ts
 * const report = await checkHealth();
 * if (!report.healthy) console.warn(JSON.stringify(report));
 * ```
 */
export class HealthReport {
  readonly healthy: boolean;
  readonly components: readonly ComponentHealth[];

  constructor(components: readonly ComponentHealth[]) {
    this.components = Object.freeze([...components]);
    this.healthy = components.every((component) => component.healthy);
    Object.freeze(this);
  }

  /** `{"status":"healthy"|"unhealthy","checks":[{"name","healthy","latency_ms","error"}]}` */
  toJSON() {
    return {
      status: this.healthy ? ('healthy' as const) : ('unhealthy' as const),
      checks: this.components.map((component) => component.toJSON()),
    };
  }
}

/** Queries a back end. Resolves when it answers, rejects when it fails, and with the signal's reason when aborted. */
type Ping = (signal: AbortSignal) => Promise<void>;

class ProbeFailure extends Error {}

/**
 * Runs a probe. Never rejects.
 *
 * @param timeout seconds
 */
async function probe(name: ComponentName, ping: Ping, timeout: number): Promise<ComponentHealth> {
  const start = performance.now();
  const controller = new AbortController();
  const late = new ProbeFailure(`timed out after ${timeout} s`);
  const timer = setTimeout(() => controller.abort(late), timeout * 1000);
  try {
    await ping(controller.signal);
    const latencyMs = Math.round((performance.now() - start) * 1000) / 1000;
    return new ComponentHealth({ name, healthy: true, latencyMs, error: null });
  } catch (error) {
    return new ComponentHealth({ name, healthy: false, latencyMs: null, error: shownReason(error) });
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/** Ends with the work, or when aborted. Later results of the work are ignored, failures included. */
function untilAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function shownReason(error: unknown): string {
  return error instanceof ProbeFailure ? error.message : failureReason(error);
}

/**
 * Codes of drivers by reason: of sockets, of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html), of Node
 * (https://nodejs.org/api/tls.html#x509-certificate-error-codes), of ClickHouse by numbers, and the first words of messages of Redis.
 */
const CODES: Readonly<Record<string, string>> = {
  'connection refused': 'ECONNREFUSED ENOENT',
  'connection lost': 'ECONNRESET EPIPE',
  'timed out': 'ETIMEDOUT',
  'host not reachable': 'EHOSTUNREACH',
  'host not found': 'ENOTFOUND EAI_AGAIN',
  'authentication failed': '28P01 28000 516 194 193 192 WRONGPASS NOAUTH',
  'no such database': '3D000 81',
  'too many connections': '53300',
  'certificate not trusted':
    'SELF_SIGNED_CERT_IN_CHAIN DEPTH_ZERO_SELF_SIGNED_CERT UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT ' +
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'certificate of another host': 'ERR_TLS_CERT_ALTNAME_INVALID',
  'certificate expired': 'CERT_HAS_EXPIRED',
  'starting up or shutting down': '57P01 57P02 57P03 LOADING',
};

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries(CODES).flatMap(([reason, codes]) => codes.split(' ').map((code) => [code, reason])),
);

/** Drivers raise these without a code. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/connection (?:is closed|terminated)|socket hang up/i, 'connection lost'],
  [/^(?:command timed out|timeout)\b/i, 'timed out'],
  [/does not support SSL/, 'no TLS'],
  [/^The server (?:refuses|accepts) writes$/, 'another kind of server'],
];

/** The reason of an error, found by its codes. Its message is never passed on: it may name hosts and users. */
export function failureReason(error: unknown): string {
  for (const { code, message } of chainOf(error, new Set())) {
    const text = typeof message === 'string' ? message : '';
    const reason =
      REASONS.get(String(code)) ??
      REASONS.get(text.split(' ')[0] ?? '') ??
      MESSAGES.find(([pattern]) => pattern.test(text))?.[1];
    if (reason !== undefined) return reason;
  }
  return 'failed';
}

/** An error, its causes, and the members of an aggregate (one for each address of a host). */
function chainOf(error: unknown, seen: Set<unknown>): readonly Record<string, unknown>[] {
  if (typeof error !== 'object' || error === null || seen.has(error)) return [];
  seen.add(error);
  const known = error as Record<string, unknown>;
  const { cause, errors, lastNodeError } = known;
  const inner = [cause, lastNodeError, ...(Array.isArray(errors) ? errors : [])];
  return [known, ...inner.flatMap((each) => chainOf(each, seen))];
}
