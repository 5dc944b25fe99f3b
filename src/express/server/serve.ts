/** `serve`: listens, and stops without losing a request. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Express, Request } from 'express';
import { describePath, loggerOf } from '../../request/request-log.js';
import { namesOf } from '../../respond/failure-log.js';
import { ConfigError, throwProblems } from '../../util/config-error.js';
import { logInfo } from '../../util/logger.js';
import { applicationProblems, unknownOptions } from '../../util/option-problems.js';
import { createExpressServer, startDraining } from './express-server.js';
import { announceReady, endWithProcess } from './process-end.js';
import type { CutOff } from './served-connections.js';

/**
 * Listens, logs the address by the logger of `bootstrap`, and on SIGTERM or SIGINT stops gracefully. Readiness turns 503. The last
 * answer of each connection has `Connection: close`, and later requests on it are not executed. After `drainDelay` no connection is
 * accepted any more, and requests under way finish. Open connections are closed at `shutdownTimeout`. When every server of the
 * process has stopped, the engines are disposed. The process ends with 0, or with 1 when requests were cut off or something was not
 * disposed in time. A second signal ends it at once, with 1. Only this function hooks the signals; it unhooks them when
 * the last server is closed by other means.
 *
 * @example
 * ```ts
 * await bootstrap(app);
 * await serve(app, { port: 3000 });
 * ```
 * @throws ConfigError for an unknown option or a wrong value, when the port is taken or not allowed, and on Bun, whose server cannot
 * stop gracefully
 */
export async function serve(app: Express, options: ServeOptions): Promise<Server> {
  // Plain JavaScript may leave them out.
  throwProblems([...applicationProblems('serve', app), ...serveProblems(options ?? {})]);
  const { port, host = LOOPBACK, lifespan } = options;
  const resource = await lifespan?.(app);
  const dispose = async (): Promise<void> => resource?.[Symbol.asyncDispose]();
  const { server, connections } = createExpressServer(app);
  try {
    await listen(server, port, host);
  } catch (error) {
    await dispose();
    throw error;
  }
  const logger = loggerOf(app);
  const alone =
    options.host === undefined ? ", for this machine alone; host: '0.0.0.0' takes requests of others" : '';
  logInfo(logger, `Listening on ${addressOf(server)}${alone}`);
  const { drainDelay, shutdownTimeout } = shutdownTimes(options);
  const leave = endWithProcess({
    async stop(cause) {
      const { length: requests } = connections.open;
      logInfo(logger, `Stopping at ${cause}`, { requests, drainDelay, shutdownTimeout });
      startDraining(app);
      connections.announceEnd();
      await delay(drainDelay);
      const deadline = performance.now() + shutdownTimeout;
      const cut = await connections.close(shutdownTimeout);
      const wasClean = cut.requests.length + cut.connections === 0;
      if (!wasClean) logger.warn(`Cut off after shutdownTimeout: ${describeCut(cut)}`, { shutdownTimeout });
      return { wasClean, deadline };
    },
    dispose,
    logger,
  });
  server.once('close', leave);
  announceReady();
  return server;
}

/** The routes of requests that were cut off, and the number of other connections. */
function describeCut({ requests, connections }: CutOff): string {
  const routes = new Map<string, number>();
  for (const { req } of requests) {
    const route = 'app' in req ? describePath(req as Request) : 'of a listener';
    const name = `${req.method} ${route}`;
    routes.set(name, (routes.get(name) ?? 0) + 1);
  }
  const { length } = requests;
  return [
    ...(length > 0 ? [`${length} ${length === 1 ? 'request' : 'requests'}: ${namesOf(routes)}`] : []),
    ...(connections > 0
      ? [`${connections} ${connections === 1 ? 'connection' : 'connections'} without one`]
      : []),
  ].join('; ');
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const advice = listenAdvice((error as NodeJS.ErrnoException).code);
    if (advice) throw new ConfigError([`Port ${port} ${advice}.`]);
    throw error;
  }
}

/** Where a browser of this machine finds the server. */
function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  const isAny = address === '::' || address === '0.0.0.0';
  const host = family === 'IPv6' ? `[${address}]` : address;
  return `http://${isAny ? 'localhost' : host}:${port}${isAny ? ', and on all addresses of this machine' : ''}`;
}

function listenAdvice(code: string | undefined): string | null {
  switch (code) {
    case 'EADDRINUSE':
      return 'is in use; stop what listens there, or choose another one';
    case 'EACCES':
      return 'is not allowed for this user; choose one above 1023';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'cannot be had, because host is no address of this machine; correct it or leave it out';
    default:
      return null;
  }
}

/** Options of `serve`. */
export interface ServeOptions {
  /** 0 is any free one. */
  port: number;
  /** Name or address of this machine; `0.0.0.0` and `::` are all addresses, for containers. Default: 127.0.0.1, which no other machine reaches. */
  host?: string | undefined;
  /**
   * Runs before listening, such as `engineLifespan(dsn)`. Its result is disposed when a signal has stopped this and every
   * other server of the process; code that closes the server instead calls `disposeEngine`.
   */
  lifespan?: (app: Express) => Promise<AsyncDisposable>;
  /**
   * Milliseconds between the signal and the end of accepting. Readiness is 503 already then, and requests are
   * still served: load balancers need the time to notice. Default: 5000 in Kubernetes, else 0.
   */
  drainDelay?: number;
  /**
   * Milliseconds that requests under way get to finish, after which their connections are closed. The rest of them is the
   * time to dispose the lifespan's result, which is never less than 2000. Default: 20000.
   */
  shutdownTimeout?: number;
}

const NAMES = ['port', 'host', 'lifespan', 'drainDelay', 'shutdownTimeout'] satisfies (keyof ServeOptions)[];
/** The default host. Without a proxy or rules, every client that reaches the port may do everything. */
const LOOPBACK = '127.0.0.1';
const SHUTDOWN_TIMEOUT = 20_000;
const KUBERNETES_DRAIN_DELAY = 5_000;
/** Milliseconds. Node fires a timer of more than 2 ** 31 milliseconds at once. */
const LONGEST_WAIT = 2_000_000_000;

/** The times of a shutdown, with defaults. */
export function shutdownTimes({
  drainDelay = process.env['KUBERNETES_SERVICE_HOST'] ? KUBERNETES_DRAIN_DELAY : 0,
  shutdownTimeout = SHUTDOWN_TIMEOUT,
}: Pick<ServeOptions, 'drainDelay' | 'shutdownTimeout'>) {
  return { drainDelay, shutdownTimeout };
}

function serveProblems(options: Partial<ServeOptions>): string[] {
  const { port = Number.NaN, host, lifespan } = options;
  const isPort = Number.isInteger(port) && port >= 0 && port < 65_536;
  return [
    ...runtimeProblems(process.versions),
    ...unknownOptions('serve', options, NAMES),
    ...(isPort ? [] : [`The port is ${inspect(options.port)}; use an integer from 0 to 65535.`]),
    ...(host === undefined || (typeof host === 'string' && host !== '')
      ? []
      : [
          `host is ${inspect(host, { depth: 0 })}; use a name or an address of this machine, or leave it out.`,
        ]),
    ...(lifespan === undefined || typeof lifespan === 'function'
      ? []
      : [`lifespan is ${inspect(lifespan, { depth: -1 })}; use a function such as engineLifespan(dsn).`]),
    ...Object.entries(shutdownTimes(options))
      .filter(([, value]) => !(typeof value === 'number' && value >= 0 && value <= LONGEST_WAIT))
      .map(
        ([name, value]) =>
          `${name} is ${inspect(value)}; use a number of milliseconds from 0 to ${LONGEST_WAIT}.`,
      ),
  ];
}

/** Connections end in order by features of Node that other runtimes lack. */
function runtimeProblems({ bun }: NodeJS.ProcessVersions): string[] {
  if (bun === undefined) return [];
  return [
    `serve needs the HTTP server of Node, and this is Bun ${bun}; start the application with node, or use app.listen(port), which ` +
      'cuts off requests when the process is stopped.',
  ];
}
