/** The classes of a server whose requests and responses are Express's from birth. */
import { IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import express, { type Express } from 'express';

/** Options of `createServer`, of `node:http` and of `node:https`. */
export type RequestClasses = Required<Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>>;

/**
 * Options that make a server of your own as fast as `serve` and the `listen` of an application that `bootstrap` knows. Express sets the prototype of every
 * request and response to its own, which makes V8 give up what it has learned about their shape, and costs more than the rest
 * of Express together (expressjs/express#5998). Objects that are born with these prototypes are left as they are.
 *
 * @param app the outermost application: requests are born for this one
 * @example
 * ```ts
 * await bootstrap(app);
 * createServer({ key, cert, ...requestClasses(app) }, app).listen(443); // of node:https, or of node:http without a key
 * ```
 * @throws TypeError for what is no application of Express, such as a router
 */
export function requestClasses(app: Express): RequestClasses {
  if (!(app?.request instanceof IncomingMessage && app.response instanceof ServerResponse)) {
    throw new TypeError(
      `requestClasses takes an application of Express, and was given ${inspect(app, { depth: -1 })}; use that of express().`,
    );
  }
  // Functions, not classes: only a function's prototype can be replaced by the application's. Bun gives them more than Node does.
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
 * Lets `app.listen` make such a server. Express's own gives `this` to `createServer`, which takes options as well as a listener.
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
