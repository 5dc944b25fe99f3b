/** Holds the logger of an application, for code that runs outside of its routes. */
import type { Application, Request } from 'express';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { defaultLogger, type Logger } from '../util/logger.js';
import { applicationChain } from './express-internals.js';
import { requestResource } from './request-notes.js';

const LOGGERS = new WeakMap<Application | ResourcePlan, Logger>();

/** Remembers the logger of an application, or of a resource that has one of its own. */
export function setLogger(owner: Application | ResourcePlan, logger: Logger): void {
  LOGGERS.set(owner, logger);
}

/** The logger of an application, or of the nearest one that it is mounted in; the default where none was given. */
export function loggerOf(app: Application): Logger {
  for (const each of applicationChain(app)) {
    const logger = LOGGERS.get(each);
    if (logger) return logger;
  }
  return defaultLogger;
}

/** The logger of what a request is for. */
export function requestLogger(request: Request): Logger {
  const plan = requestResource(request);
  return (plan && LOGGERS.get(plan)) ?? loggerOf(request.app);
}
