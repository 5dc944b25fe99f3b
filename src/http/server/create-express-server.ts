/** An HTTP server whose requests and responses are Express's from birth. */
import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { isDraining } from './draining.js';
import { checkResponses } from './node-internals.js';
import { ServedConnections } from './served-connections.js';

/** How long what clients do may take, in milliseconds. */
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

/**
 * Creates the server, and what tells what is under way on it. Express sets the prototype of every request and response to its own, which makes V8 give up what it
 * has learned about their shape, and costs more than the rest of Express together (expressjs/express#5998). Objects that
 * are born with these prototypes are left as they are.
 */
export function createExpressServer(app: Express, timeouts: ServerTimeouts = TIMEOUTS) {
  checkResponses();
  const server: Server = createServer({ ...timeouts, ...bornAsExpress(app) }, (request, response) => {
    const isEnding = !server.listening || isDraining(app);
    if (isEnding && !connections.endWith(response)) {
      request.resume();
      return;
    }
    response.on('close', finish);
    connections.begin(response);
  });
  const connections = new ServedConnections(server, (response) =>
    app(response.req as never, response as never),
  );
  function finish(this: ServerResponse): void {
    connections.finish(this);
  }
  return { server, connections };
}

function bornAsExpress(app: Express) {
  // Functions, not classes: only a function's prototype can be replaced by the application's.
  function ExpressRequest(this: IncomingMessage, socket: Socket): void {
    IncomingMessage.call(this, socket);
  }
  function ExpressResponse(this: ServerResponse, request: IncomingMessage, options: object): void {
    Reflect.apply(ServerResponse, this, [request, options]);
  }
  return {
    IncomingMessage: withPrototype(ExpressRequest, IncomingMessage, app.request) as typeof IncomingMessage,
    ServerResponse: withPrototype(ExpressResponse, ServerResponse, app.response) as typeof ServerResponse,
  };
}

function withPrototype(born: object, parent: object, prototype: object): unknown {
  Object.setPrototypeOf(born, parent);
  return Object.assign(born, { prototype });
}
