/** An HTTP server whose requests and responses are Express's from birth, and its applications that are about to stop. */
import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import express, { type Application, type Express } from 'express';
import { applicationChain } from '../../request/express-internals.js';
import { checkResponses } from '../../request/node-internals.js';
import { admitRequests } from '../connection/open-connection.js';
import { ServedConnections } from './served-connections.js';

/** Options of `createServer`, of `node:http` and of `node:https`. */
export type RequestClasses = Required<Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>>;

/**
 * Options that make a server of your own as fast as `serve` and the `listen` of an application with `bootstrap`. Express sets the
 * prototype of every request and response to its own. That makes V8 discard the shapes that it has optimized for, and costs more than
 * the rest of Express together (expressjs/express#5998). Objects that are created with these prototypes are left as they are.
 *
 * @param app the outermost application: requests are created for this one
 * @example
 * ```ts
 * await bootstrap(app);
 * createServer({ key, cert, ...requestClasses(app) }, app).listen(443); // of node:https, or of node:http without a key
 * ```
 * @throws TypeError for a value that is no application of Express, such as a router
 */
export function requestClasses(app: Express): RequestClasses {
  if (!(app?.request instanceof IncomingMessage && app.response instanceof ServerResponse)) {
    throw new TypeError(
      `requestClasses takes an application of Express, and was given ${inspect(app, { depth: -1 })}; use that of express().`,
    );
  }
  // Functions, not classes: only a function's prototype can be replaced by the application's. Bun passes them more than Node does.
  function ExpressRequest(this: IncomingMessage, ...given: [socket: Socket]): void {
    Reflect.apply(IncomingMessage, this, given);
  }
  function ExpressResponse(
    this: ServerResponse,
    ...given: [request: IncomingMessage, options: object]
  ): void {
    Reflect.apply(ServerResponse, this, given);
  }
  return {
    IncomingMessage: withPrototype(ExpressRequest, IncomingMessage, app.request) as typeof IncomingMessage,
    ServerResponse: withPrototype(ExpressResponse, ServerResponse, app.response) as typeof ServerResponse,
  };
}

/**
 * Lets `app.listen` make such a server. Express's own passes `this` to `createServer`, which takes options as well as a listener.
 * Any other `listen` is left as it is.
 */
export function listenWithClasses(app: Express): void {
  const { listen } = app;
  if (listen !== express.application.listen || !String(listen).includes('createServer(this)')) return;
  app.listen = (...args: unknown[]) => {
    const server: Server = Reflect.apply(listen, requestClasses(app), args);
    return server.on('request', app);
  };
}

function withPrototype(born: object, parent: object, prototype: object): unknown {
  Object.setPrototypeOf(born, parent);
  return Object.assign(born, { prototype });
}

/** Timeouts of connections and requests, in milliseconds. */
export type ServerTimeouts = Required<
  Pick<
    ServerOptions,
    'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'connectionsCheckingInterval'
  >
>;

/**
 * Headers before the whole request; keep-alive above the idle time of usual load balancers, 60 s. Node checks the times of headers
 * and requests now and then: by default every 30 s, which would double them.
 */
export const TIMEOUTS: ServerTimeouts = Object.freeze({
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
});

/** Creates the server, and the list of its connections. */
export function createExpressServer(app: Express, timeouts: ServerTimeouts = TIMEOUTS) {
  checkResponses();
  admitRequests(app);
  const server: Server = createServer({ ...timeouts, ...requestClasses(app) }, (request, response) => {
    const isEnding = !server.listening || isDraining(app);
    if (isEnding && !connections.endWith(response)) {
      request.resume();
      return;
    }
    connections.begin(response);
    app(request as never, response as never);
  });
  const connections = new ServedConnections(server);
  return { server, connections };
}

const DRAINING = new WeakSet<Application>();
/** False for most of the time of a process: each request tests it. */
let isAnyDraining = false;

/** From now on the application says that it is not ready. */
export function startDraining(app: Application): void {
  DRAINING.add(app);
  isAnyDraining = true;
}

/** True where the application, or one that it is mounted in, is about to stop. */
export function isDraining(app: Application): boolean {
  if (isAnyDraining) for (const each of applicationChain(app)) if (DRAINING.has(each)) return true;
  return false;
}
