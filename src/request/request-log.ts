/** Lines of the log about a request: its logger, and its path as it may be logged. */
import type { Application, Request, Router } from 'express';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { defaultLogger, type Logger } from '../util/logger.js';
import { applicationChain, type Layer, layersOf } from './express-internals.js';
import { requestResource } from './request-notes.js';
import { requestId } from './standard-headers.js';

const LOGGERS = new WeakMap<Application | ResourcePlan, Logger>();

/** Remembers the logger of an application, or of a resource that has one of its own. */
export function setLogger(owner: Application | ResourcePlan, logger: Logger): void {
  LOGGERS.set(owner, logger);
}

/** The logger of an application, or of the nearest one that it is mounted in; the default where there is none. */
export function loggerOf(app: Application): Logger {
  for (const each of applicationChain(app)) {
    const logger = LOGGERS.get(each);
    if (logger) return logger;
  }
  return defaultLogger;
}

/** The logger of the resource of a request. */
export function requestLogger(request: Request): Logger {
  const plan = requestResource(request);
  return (plan && LOGGERS.get(plan)) ?? loggerOf(request.app);
}

/** Warns of a method that returned nothing. @param outcome that of its writes, in words @param advice to its author */
export function warnOfNothing(request: Request, method: string, outcome: string, advice: string): void {
  requestLogger(request).warn(
    `${request.method} ${describePath(request)} is answered with 404, as ${method} returned nothing, and ${outcome}; ${advice}`,
    { requestId: requestId(request) },
  );
}

/** Routes of an application that its own router does not show. */
const HIDDEN = new WeakMap<Application, { readonly prefix: string; readonly router: Router }[]>();

/** Remembers a router that is mounted inside a handler. */
export function rememberRoutes(app: Application, prefix: string, router: Router): void {
  HIDDEN.set(app, [...(HIDDEN.get(app) ?? []), { prefix, router }]);
}

/** Placeholder of a segment that is no word of a route. */
const UNKNOWN = ':…';

/** The route's template; where no route was reached, the words of the path that are in one. Express 5 leaves no `baseUrl` then. */
export function describePath({ app, baseUrl = '', path, route }: Request): string {
  if (typeof route?.path === 'string') return `${baseUrl}${route.path}`;
  const words = new Set([...applicationChain(app)].flatMap(wordsOf));
  return `${baseUrl}${path.replace(/[^/]+/g, (segment) => (words.has(segment) ? segment : UNKNOWN))}`;
}

/** The segments of all templates, without parameters and patterns. */
function wordsOf(app: Application): string[] {
  const hidden = HIDDEN.get(app) ?? [];
  const templates = [
    ...templatesOf(layersOf(app)),
    ...hidden.flatMap(({ prefix, router }) => [prefix, ...templatesOf(router.stack as readonly Layer[])]),
  ];
  return templates
    .flatMap((template) => template.split('/'))
    .filter((segment) => /^[\w\-.~]+$/.test(segment));
}

function templatesOf(stack: readonly Layer[] = []): string[] {
  return stack.flatMap(({ route, handle }) => [
    ...(typeof route?.path === 'string' ? [route.path] : []),
    ...templatesOf(handle?.stack),
  ]);
}
