/** The options of `bootstrap` that make visible what it does. */
import type { RequestHandler } from 'express';
import type { Logger } from '../../util/logger.js';
import { flagProblems } from '../../util/option-problems.js';
import { sendRequestId } from '../request/request-id.js';
import { accessLog } from './access-log.js';
import { serverTiming } from './server-timing.js';

/** What of the requests to an application is shown. */
export interface ObserveOptions {
  /**
   * Whether each request is a line in the log: method, template of the route, status, milliseconds, bytes and id, at level `info`.
   * No path, query string, header or body. Without a `logger` it is JSON on standard output. Requests that were answered
   * before `bootstrap` was reached have no line. Default: false.
   */
  accessLog?: boolean;
  /**
   * Whether answers have `Server-Timing`: `db` and `wait` are the milliseconds that statements took and waited for a connection,
   * `total` all of the request. It tells clients how long the work on the server took, so it is for development and trusted clients.
   * Default: false.
   */
  serverTiming?: boolean;
}

/** What is wrong with them. */
export function observeProblems({ accessLog = false, serverTiming = false }: ObserveOptions): string[] {
  return [...flagProblems('accessLog', accessLog), ...flagProblems('serverTiming', serverTiming)];
}

/** What requests go through first. */
export function observers(options: ObserveOptions, logger: Logger): RequestHandler[] {
  return [
    (request, response, next) => {
      sendRequestId(request, response);
      next();
    },
    ...(options.accessLog ? [accessLog(logger)] : []),
    ...(options.serverTiming ? [serverTiming()] : []),
  ];
}
