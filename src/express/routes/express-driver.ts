/**
 * routing-controllers' driver for Express, with corrections. Its own driver goes on with requests that are over: after a check
 * that threw null, after a handler that is still writing or has answered, and twice after a rejected promise. And it would
 * send a record as it is in memory.
 */
import type { NextFunction, Request, RequestHandler, Response, Router } from 'express';
import {
  type Action,
  type ActionMetadata,
  ExpressDriver,
  type ExpressMiddlewareInterface,
  getFromContainer,
  type MiddlewareMetadata,
  NotFoundError,
  type ParamMetadata,
  type RoutingControllersOptions,
  type UseMetadata,
} from 'routing-controllers';
import { warnOfNothing } from '../../request/request-log.js';
import { existingSessions, methodName } from '../../request/request-sessions.js';
import { setDefaultHeaders } from '../../request/standard-headers.js';
import { checkJson, isBytesOrStream, JsonAnswer, writesPlainJson } from '../../respond/json-answer.js';
import {
  type SerializerRegistry,
  serializeResult,
  transformResult,
} from '../../respond/result-serializer.js';
import { isStream, type Source, StreamAnswer } from '../../respond/stream-answer.js';
import { ConfigError } from '../../util/config-error.js';
import { thrownError } from '../../util/describe-error.js';
import { answering, evaluateForAnswer } from '../resources/application-access.js';
import { guardJson, type ResultShaper, releaseJson } from '../resources/result-shaper.js';
import { checkDriver } from '../resources/routing-controllers-internals.js';
import { OwnArguments } from './own-arguments.js';
import { bodyParsers } from './own-body.js';
import { sentValue, sentValues } from './own-value.js';

interface RegisteredRoute {
  /** The controller's class. */
  readonly target: unknown;
  readonly verb: string;
  readonly method: string;
  readonly path: string | RegExp;
  readonly layer: Router['stack'][number];
}

/** The driver of `useExpressServer`, made safe. */
export class SafeExpressDriver extends ExpressDriver implements ResultShaper {
  readonly #serializers: SerializerRegistry;
  readonly #isIntercepted: boolean;
  readonly #router: Router;
  /** Registered routes, in their order. */
  readonly routes: RegisteredRoute[] = [];
  /** Results that are sent as they are. */
  readonly #shaped = new WeakSet<object>();
  readonly #asked = new WeakMap<ActionMetadata, OwnArguments>();
  readonly #bodyLimit: number | undefined;
  /** Routes whose method has returned nothing. */
  readonly #missing = new WeakSet<ActionMetadata>();
  /** Requests whose method has returned the response, whatever interceptors make of it. */
  readonly #answered = new WeakSet<Request>();
  /** True where the application has middlewares that run after an answer. */
  #hasAfter = false;

  /**
   * @param isIntercepted true where interceptors of the application see all results
   * @param bodyLimit in bytes; undefined for the default
   */
  constructor(
    router: Router,
    serializers: SerializerRegistry,
    isIntercepted: boolean,
    bodyLimit: number | undefined,
  ) {
    super(router);
    this.#bodyLimit = bodyLimit;
    this.#router = router;
    checkDriver();
    this.#serializers = serializers;
    this.#isIntercepted = isIntercepted;
  }

  /**
   * Express takes null, 'route' and 'router' for "no error, go on". A parameter may have begun a unit of work whose method was
   * never called, because another one failed; and an error handler of the user's may answer without a call of `next`.
   */
  override handleError(
    error: unknown,
    action: ActionMetadata | undefined,
    options: Action,
  ): void | Promise<void> {
    const goOn = (): void => super.handleError(thrownError(error, THROWER), action, options);
    const work = existingSessions(options.request);
    return work ? work.rollback(error).then(goOn) : goOn();
  }

  /** Returns the value that was read before: routing-controllers would let arrays pass, and has other messages for mistakes. */
  override getParamFromRequest(action: Action, param: ParamMetadata): unknown {
    const values = this.#asked.get(param.actionMetadata)?.valuesOf(action.request);
    return values?.has(param) ? values.get(param) : this.#find(action, param);
  }

  #find(action: Action, param: ParamMetadata): unknown {
    // routing-controllers reads a member of a value that may be no object.
    if (param.type === 'body-param') return memberOf(action.request.body, param.name);
    const found = super.getParamFromRequest(action, param);
    if (param.type === 'query') return sentValue(found);
    return param.type === 'queries' ? sentValues(found) : found;
  }

  protected override loadBodyParser(): object {
    return bodyParsers(super.loadBodyParser(), this.#bodyLimit);
  }

  /**
   * Calls the method alone, where routing-controllers has no parameter to read, and no interceptor for the result. Its own
   * way there makes eight promises, one behind the other.
   */
  override registerAction(method: ActionMetadata, execute: (action: Action) => unknown): void {
    for (const param of method.params) {
      // Every request has headers and cookies that no class names.
      if (param.type === 'headers' || param.type === 'cookies')
        param.validate ??= { forbidNonWhitelisted: false };
    }
    // A form with files is not JSON; another middleware reads it.
    if (method.isFileUsed || method.isFilesUsed) method.bodyExtraOptions ??= { type: 'application/json' };
    super.registerAction(method, this.#executionOf(method, execute));
    const { target, type, method: name, fullRoute } = method;
    const layer = this.#router.stack.at(-1);
    if (layer) this.routes.push({ target, verb: type, method: name, path: fullRoute, layer });
  }

  #executionOf(method: ActionMetadata, execute: (action: Action) => unknown): (action: Action) => unknown {
    if (this.#isInterceptedFor(method)) this.#noteAnswers(method);
    const { params, appendParams, methodOverride } = method;
    const asked = new OwnArguments(method, this, (action, param) => this.#find(action, param));
    this.#asked.set(method, asked);
    const isBare = params.length === 0 && !appendParams && !this.#isInterceptedFor(method);
    const runBare = isBare ? methodOverride : undefined;
    const { isEmpty } = asked;
    if (!runBare && isEmpty) return execute;
    return async (action) => {
      try {
        if (!isEmpty) await asked.read(action);
        if (runBare) this.handleSuccess(await runBare(method, action, []), method, action);
        else await execute(action);
      } catch (error) {
        await this.handleError(error, method, action);
      }
    };
  }

  /** Notes requests that a method answers by itself, before interceptors make something else of the response. */
  #noteAnswers(method: ActionMetadata): void {
    const { methodOverride } = method;
    if (!methodOverride) return;
    method.methodOverride = async (metadata, action, params) => {
      const result: unknown = await methodOverride(metadata, action, params);
      if (result === action.response) this.#answered.add(action.request);
      return result;
    };
  }

  /** @throws ConfigError for a class that routing-controllers would leave out */
  override registerMiddleware(middleware: MiddlewareMetadata, options: RoutingControllersOptions): void {
    const { use, error } = middleware.instance as Partial<Record<'use' | 'error', unknown>>;
    if (!use && !error) {
      const { name } = middleware.target;
      throw new ConfigError([
        `${name} has @Middleware and neither use nor error, and would not run; give it a method use(request, response, next).`,
      ]);
    }
    if (middleware.type === 'after') this.#hasAfter = true;
    super.registerMiddleware(middleware, options);
  }

  /** A handler that returns the response may still be writing to it; no other code must answer meanwhile. */
  override handleSuccess(given: unknown, action: ActionMetadata, options: Action): void {
    const response: Response = options.response;
    const result = this.#answered.has(options.request) ? response : given;
    const goOn = this.#afterAnswer(action, options);
    const { headersSent } = response;
    if (result === undefined && !headersSent) this.#logMissing(action, options);
    if (action.isJsonTyped && result !== response && !headersSent) setDefaultHeaders(response);
    if (result === response && !headersSent) response.once('close', () => goOn());
    // Each member by its name: this is done for each answer.
    else super.handleSuccess(result, action, { request: options.request, response, next: goOn });
  }

  /**
   * Runs the middlewares that come after an answer. Without any, no other route is called, and with some, others that
   * match do not become the request's route, by which loggers and tracers name it.
   */
  #afterAnswer({ uses, controllerMetadata }: ActionMetadata, { request, next }: Action): NextFunction {
    const isLast = !this.#hasAfter && !controllerMetadata.uses.some(comesAfter) && !uses.some(comesAfter);
    return (error?: unknown) => {
      if (error !== undefined && error !== null) next?.(error);
      else if (!isLast) {
        const { route } = request;
        Object.defineProperty(request, 'route', { configurable: true, get: () => route, set() {} });
        next?.();
      }
    };
  }

  guard(response: Response): void {
    guardJson(response, this.#serializers);
  }

  ready(result: unknown, { request }: Action): Promise<void> {
    return evaluateForAnswer(request, result, this.#serializers);
  }

  /**
   * Does all that may throw while there is something to roll back. Interceptors come later, and may make something else of
   * the result: it goes through class-transformer once more behind them.
   */
  shape(result: unknown, method: ActionMetadata, action: Action): unknown {
    const { request, response } = action;
    if (result === response) return result;
    releaseJson(response);
    const shown = answering(request, () => serializeResult(result, this.#serializers));
    if (!existingSessions(request)?.hasWrites) return shown;
    const shaped = answering(request, () => this.#transform(shown, method));
    if (method.isJsonTyped) checkJson(shaped, response);
    // A method may have answered by itself, and an interceptor may make something of nothing.
    const isOpen = this.#isInterceptedFor(method) || response.headersSent;
    if (!isOpen) {
      if (shaped === undefined) this.#logMissing(method, action);
      refuseMissing(shaped, method, action);
    }
    return this.settle(shaped, method) ? shaped : shown;
  }

  /** A method that returns nothing is answered with 404 by routing-controllers. Logged once, as it may be meant. */
  #logMissing(action: ActionMetadata, { request }: Action): void {
    const { undefinedResultCode, redirect, renderedTemplate, method } = action;
    if (undefinedResultCode || redirect || renderedTemplate || this.#missing.has(action)) return;
    this.#missing.add(action);
    const advice =
      `return a value, or the response where ${method} answers by itself, or put @OnUndefined(204) on it, or ` +
      '@OnUndefined(404) where that is meant.';
    const [author, outcome] = this.#isInterceptedFor(action)
      ? [`${methodName(action)} or an interceptor`, 'what the request has written stays']
      : [methodName(action), 'what its unit of work has written is rolled back'];
    warnOfNothing(request, author, outcome, advice);
  }

  settle(shaped: unknown, method: ActionMetadata): boolean {
    if (this.#isInterceptedFor(method) || typeof shaped !== 'object' || shaped === null) return false;
    this.#shaped.add(shaped);
    return true;
  }

  /** True where interceptors receive the results of a method. */
  #isInterceptedFor({ interceptors, controllerMetadata }: ActionMetadata): boolean {
    return this.#isIntercepted || interceptors.length + controllerMetadata.interceptors.length > 0;
  }

  /** Methods and interceptors return records too, and class-transformer would show all there is in one. */
  protected override transformResult(result: unknown, action: ActionMetadata, options: Action): unknown {
    if (isStream(result)) return this.#streamed(result, action, options);
    if (typeof result !== 'object' || result === null || isBytesOrStream(result)) return result;
    const shown = this.#shaped.has(result)
      ? result
      : answering(options.request, () => this.#transform(serializeResult(result, this.#serializers), action));
    return textOf(shown, action, options) ?? shown;
  }

  /** A stream that fails before the head of its answer is sent is answered as a method that has failed, without the headers of the route. */
  #streamed(stream: Source, action: ActionMetadata, options: Action): StreamAnswer {
    const response: Response = options.response;
    const before = Object.keys(action.headers).map((name) => [name, response.getHeader(name)] as const);
    return new StreamAnswer(stream, (error) => {
      for (const [name, value] of response.headersSent ? [] : before) {
        if (value === undefined) response.removeHeader(name);
        else response.setHeader(name, value);
      }
      void this.handleError(error, action, options);
    });
  }

  #transform(shown: unknown, action: ActionMetadata): unknown {
    // The same decision as in routing-controllers: neither bytes nor streams.
    const isTransformed = this.useClassTransformer && action.options.transformResponse !== false;
    if (!isTransformed || !(shown instanceof Object) || isBytesOrStream(shown)) return shown;
    const options = action.responseClassTransformOptions || this.classToPlainTransformOptions;
    return transformResult(shown, options, this.#serializers);
  }

  /** The wrappers of routing-controllers handle a rejection and pass it on all the same, which Express 5 takes for another one. */
  protected override prepareMiddlewares(uses: UseMetadata[]): RequestHandler[] {
    return joinOwn(uses).map((use) => {
      const { middleware } = use;
      if (isMiddlewareClass(middleware)) return settled(middlewareOf(middleware));
      const [handler] = super.prepareMiddlewares([use]) as unknown as [RequestHandler];
      const isErrorHandler = handler.length > 3;
      return isErrorHandler ? handler : settled(handler);
    });
  }
}

function memberOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name)
    ? (body as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function comesAfter({ afterAction }: UseMetadata): boolean {
  return afterAction;
}

/** A result as an answer that writes itself, which costs less than Express's way; undefined where that is not enough. */
function textOf(
  shown: unknown,
  { isJsonTyped, redirect, renderedTemplate }: ActionMetadata,
  { response, next }: Action,
): JsonAnswer | undefined {
  const isJson = isJsonTyped && !redirect && !renderedTemplate && writesPlainJson(response);
  if (!isJson || typeof shown !== 'object' || shown === null || isBytesOrStream(shown)) return undefined;
  const text: string | undefined = JSON.stringify(shown);
  return text === undefined ? undefined : new JsonAnswer(text, null, {}, true, () => next?.());
}

/** Throws the error of routing-controllers for a missing result, but after the commit. */
function refuseMissing(result: unknown, method: ActionMetadata, action: Action): void {
  const { undefinedResultCode, nullResultCode, redirect, renderedTemplate } = method;
  const code: unknown = result === undefined ? undefinedResultCode : result === null && nullResultCode;
  if (typeof code === 'function') throw Reflect.construct(code, [action]);
  if (result === undefined && !code && !redirect && !renderedTemplate) throw new NotFoundError();
}

const OWN = new WeakSet<object>();

/** Marks a middleware that the library adds to a route. Those that follow one another are one layer of Express, which costs less. */
export function ownMiddleware(handler: RequestHandler): RequestHandler {
  OWN.add(handler);
  return handler;
}

function joinOwn(uses: readonly UseMetadata[]): UseMetadata[] {
  const joined: UseMetadata[] = [];
  for (const use of uses) {
    const last = joined.at(-1);
    const [first, second] = [last?.middleware, use.middleware] as [RequestHandler, RequestHandler];
    if (last && OWN.has(first) && OWN.has(second)) {
      const middleware: RequestHandler = (request, response, next) =>
        first(request, response, (reason) =>
          reason === undefined ? second(request, response, next) : next(reason),
        );
      joined[joined.length - 1] = { ...last, middleware: ownMiddleware(middleware) };
    } else joined.push(use);
  }
  return joined;
}

const THROWER = 'A middleware, or what reads a parameter,';

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
 * Express 4 ignores promises, and an unhandled rejection ends the process. And a route that is skipped
 * has not begun: without taking that back, the next one that matches would neither answer nor go on.
 */
function settled(handler: RequestHandler): RequestHandler {
  return (request: StartedRequest, response: Response, next: NextFunction) => {
    const goOn = (reason?: unknown): void => {
      if (reason === 'route' || reason === 'router') request.routingControllersStarted = false;
      next(reason);
    };
    const fail = (error: unknown): void => next(thrownError(error, THROWER));
    try {
      const result: unknown = handler(request, response, goOn);
      if (result !== undefined) Promise.resolve(result).catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}
