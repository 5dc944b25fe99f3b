/** `serve`: listens, and stops without losing a request. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Express, Request } from 'express';
import { describePath, loggerOf } from '../../request/request-log.js';
import { namesOf } from '../../respond/failure-log.js';
import { ConfigError, throwProblems } from '../../util/config-error.js';
import { tell } from '../../util/logger.js';
import { createExpressServer } from './create-express-server.js';
import { startDraining } from './draining.js';
import { announceReady, endWithProcess } from './process-end.js';
import { type ServeOptions, serveProblems, shutdownTimes } from './serve-options.js';
import type { CutOff } from './served-connections.js';

/**
 * Listens, tells the logger of `bootstrap` where, and on SIGTERM or SIGINT stops gracefully: readiness turns 503, the last answer of each connection says
 * `Connection: close` and what comes after it is not executed. After `drainDelay` no connection is accepted any more,
 * requests under way finish, and what is left is closed at `shutdownTimeout`. When every server of the process has stopped,
 * the engines are disposed, and the process ends with 0, or with 1 when requests had to be cut off or something could not
 * be disposed in time. A second signal ends it at once, with 1. Only this function hooks the signals; it unhooks them when
 * the last server is closed by other means.
 *
 * @example
 * ```ts
 * await bootstrap(app);
 * await serve(app, { port: 3000 });
 * ```
 * @throws ConfigError for an option that is unknown or has a value it cannot have, when the port is taken or not allowed, and on
 * Bun, which has no server that can stop so
 */
export async function serve(app: Express, options: ServeOptions): Promise<Server> {
  throwProblems(serveProblems(options));
  const { port, host, lifespan } = options;
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
  tell(logger, `Listening on ${addressOf(server)}`);
  const { drainDelay, shutdownTimeout } = shutdownTimes(options);
  const leave = endWithProcess({
    async stop(cause) {
      const { length: requests } = connections.open;
      tell(logger, `Stopping at ${cause}`, { requests, drainDelay, shutdownTimeout });
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

async function listen(server: Server, port: number, host: string | undefined): Promise<void> {
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
