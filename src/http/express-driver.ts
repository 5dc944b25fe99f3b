/**
 * routing-controllers' driver for Express, without its ways to go on with a request that is over: past a check that
 * threw null, past a handler that is still writing, and twice past a rejected promise; and without sending a record as
 * it is in memory.
 */
import type { NextFunction, Request, RequestHandler, Response, Router } from 'express';
import {
  type Action,
  type ActionMetadata,
  ExpressDriver,
  type ExpressMiddlewareInterface,
  getFromContainer,
  type UseMetadata,
} from 'routing-controllers';
import { type SerializerRegistry, serializeResult, transformResult } from '../response/result-serializer.js';

/** What `useExpressServer` would use, made safe. */
export class SafeExpressDriver extends ExpressDriver {
  readonly #serializers: SerializerRegistry;

  constructor(router: Router, serializers: SerializerRegistry) {
    super(router);
    this.#serializers = serializers;
  }

  /** Express takes null, 'route' and 'router' for "no error, go on". */
  override handleError(error: unknown, action: ActionMetadata | undefined, options: Action): void {
    super.handleError(asError(error), action, options);
  }

  /** A handler that returns the response may still be writing to it; nobody else is to answer meanwhile. */
  override handleSuccess(result: unknown, action: ActionMetadata, options: Action): void {
    const response: Response = options.response;
    if (result === response && !response.headersSent) response.once('close', () => options.next?.());
    else super.handleSuccess(result, action, options);
  }

  /** Methods and interceptors return records too, and class-transformer would show all there is in one. */
  protected override transformResult(result: unknown, action: ActionMetadata): unknown {
    const shown = serializeResult(result, this.#serializers);
    // As routing-controllers decides it: neither bytes nor streams.
    const isTransformed = this.useClassTransformer && action.options.transformResponse !== false;
    if (!isTransformed || !(shown instanceof Object) || shown instanceof Uint8Array) return shown;
    if (typeof (shown as { pipe?: unknown }).pipe === 'function') return shown;
    const options = action.responseClassTransformOptions || this.classToPlainTransformOptions;
    return transformResult(shown, options, this.#serializers);
  }

  /** Its own wrappers handle a rejection and hand it on all the same, which Express 5 takes for another one. */
  protected override prepareMiddlewares(uses: UseMetadata[]): RequestHandler[] {
    return uses.map((use) => {
      const { middleware } = use;
      if (isMiddlewareClass(middleware)) return settled(middlewareOf(middleware));
      const [handler] = super.prepareMiddlewares([use]) as unknown as [RequestHandler];
      const isErrorHandler = handler.length > 3;
      return isErrorHandler ? handler : settled(handler);
    });
  }
}

function asError(thrown: unknown): object {
  if (typeof thrown === 'object' && thrown !== null) return thrown;
  return new TypeError(
    `Something that is not an error was thrown: ${thrown === null ? 'null' : typeof thrown}.`,
  );
}

type MiddlewareClass = new () => ExpressMiddlewareInterface;

function isMiddlewareClass(middleware: unknown): middleware is MiddlewareClass {
  return typeof middleware === 'function' && typeof middleware.prototype?.use === 'function';
}

function middlewareOf(middleware: MiddlewareClass): RequestHandler {
  return (request, response, next) => getFromContainer(middleware).use(request, response, next);
}

/** A request that a route of routing-controllers has begun to answer; its other routes then leave it alone. */
type StartedRequest = Request & { routingControllersStarted?: boolean };

/**
 * Express 4 does not look at promises, and a rejection that nobody handles ends the process. And a route that is skipped
 * has not begun: without taking that back, the next one that matches would neither answer nor go on.
 */
function settled(handler: RequestHandler): RequestHandler {
  return (request: StartedRequest, response: Response, next: NextFunction) => {
    const goOn = (reason?: unknown): void => {
      if (reason === 'route' || reason === 'router') request.routingControllersStarted = false;
      next(reason);
    };
    const fail = (error: unknown): void => next(asError(error));
    try {
      const result: unknown = handler(request, response, goOn);
      if (result !== undefined) Promise.resolve(result).catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}
