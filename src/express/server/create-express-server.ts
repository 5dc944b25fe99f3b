/** An HTTP server whose requests and responses are Express's from birth. */
import { createServer, type Server, type ServerOptions } from 'node:http';
import type { Express } from 'express';
import { checkResponses } from '../../request/node-internals.js';
import { isDraining } from './draining.js';
import { requestClasses } from './request-classes.js';
import { ServedConnections } from './served-connections.js';

/** Timeouts of connections and requests, in milliseconds. */
export type ServerTimeouts = Required<
  Pick<
    ServerOptions,
    'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'connectionsCheckingInterval'
  >
>;

/**
 * Headers before the whole request; keep-alive above the idle time of usual load balancers, 60 s. Node looks at the times of headers
 * and requests now and then: by default every 30 s, which would double them.
 */
export const TIMEOUTS: ServerTimeouts = Object.freeze({
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
});

/** Creates the server, and what tells what is under way on it. */
export function createExpressServer(app: Express, timeouts: ServerTimeouts = TIMEOUTS) {
  checkResponses();
  const server: Server = createServer({ ...timeouts, ...requestClasses(app) }, (request, response) => {
    const isEnding = !server.listening || isDraining(app);
    if (isEnding && !connections.endWith(response)) {
      request.resume();
      return;
    }
    connections.begin(response);
  });
  const connections = new ServedConnections(server, (response) =>
    app(response.req as never, response as never),
  );
  return { server, connections };
}
