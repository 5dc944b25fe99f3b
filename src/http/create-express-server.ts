/** An HTTP server whose requests and responses are Express's from birth. */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { isDraining } from './draining.js';
import { OpenResponses } from './open-responses.js';

/** The responses that a server is writing now. */
const OPEN = new WeakMap<Server, OpenResponses>();

/** The connections of a server, those too that are no longer HTTP. */
const SOCKETS = new WeakMap<Server, Set<Socket>>();

/** Cuts every connection. Node's own method leaves those alone that were upgraded, such as WebSockets. */
export function cutConnections(server: Server): void {
  for (const socket of SOCKETS.get(server) ?? []) socket.destroy();
}

/** Lets the answers under way say that their connection ends, so that clients go elsewhere with the next request. */
export function announceEnd(server: Server): void {
  for (const response of openResponses(server)) {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  }
}

/**
 * Ends the connections on which nothing is under way. Node takes an answer that was handed over for one that has arrived,
 * and would cut off what a slow client still reads; so all wait for those, which is not long.
 */
export function closeIdleConnections(server: Server): void {
  for (const response of openResponses(server)) if (response.writableEnded) return;
  server.closeIdleConnections();
}

/**
 * Creates the server. Express sets the prototype of every request and response to its own, which makes V8 give up what it
 * has learned about their shape, and costs more than the rest of Express together (expressjs/express#5998). Objects that
 * are born with these prototypes are left as they are.
 */
export function createExpressServer(app: Express): Server {
  const open = new OpenResponses();
  function forget(this: ServerResponse): void {
    open.delete(this);
    // One whose head was sent before could not say that the connection ends.
    if (!server.listening) closeIdleConnections(server);
  }
  const server = createServer(bornAsExpress(app), (request, response) => {
    open.add(response);
    response.on('close', forget);
    if (!server.listening || isDraining(app)) response.setHeader('Connection', 'close');
    app(request as never, response as never);
  });
  OPEN.set(server, open);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  SOCKETS.set(server, sockets);
  return server;
}

/** The responses that a server has not finished. */
function openResponses(server: Server): Iterable<ServerResponse> {
  return OPEN.get(server) ?? [];
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
