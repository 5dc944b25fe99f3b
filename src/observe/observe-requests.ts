/** Installs the middlewares of requests before all routes, and the route of the metrics behind them. */

import { AsyncLocalStorage } from 'node:async_hooks';
import express, { type Express, type RequestHandler, type Router } from 'express';
import onHeaders from 'on-headers';
import type { Sequelize } from 'sequelize';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { type StatementMessage, statementChannel } from '../diagnostics/channels.js';
import { closePaths } from '../express/routes/allowed-methods.js';
import { type PathMatching, pathMatching } from '../express/routes/path-matching.js';
import { describePath } from '../request/request-log.js';
import { requestId, sendRequestId } from '../request/standard-headers.js';
import { type Logger, logInfo } from '../util/logger.js';
import { createMetrics, type Metrics } from './metrics.js';
import { metricsPath, type ObserveOptions } from './observe-options.js';

const identify: RequestHandler = (request, response, next) => {
  sendRequestId(request, response);
  next();
};

/** Installs the parts that the options enable. Routes of resources send the id themselves: a layer more of Express costs more than all of it. */
export function observeRequests(
  app: Express,
  options: ObserveOptions,
  plans: readonly ResourcePlan[],
  logger: Logger,
): void {
  const path = metricsPath(options);
  // The log, the timings and the metrics find a request by its id.
  if (options.accessLog || options.serverTiming || path !== null) app.use(identify);
  if (options.accessLog) app.use(accessLog(logger));
  if (options.serverTiming) app.use(serverTiming());
  if (path === null) return;
  const metrics = createMetrics(instancesOf(plans));
  // Requests for the metrics are frequent, and not counted in them.
  app.use(metricsRouter(path, metrics, pathMatching(app)));
  app.use(metrics.observe);
}

function instancesOf(plans: readonly ResourcePlan[]): Sequelize[] {
  return plans.flatMap(({ model: { sequelize } }) => (sequelize ? [sequelize] : []));
}

/**
 * Logs a request when its answer has been sent, or its connection closed before. The path is the template of
 * the route: a path has ids, and a query string has values.
 */
function accessLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    response.once('close', () => {
      const { method } = request;
      const route = describePath(request);
      const { statusCode, writableFinished } = response;
      const length = response.getHeader('Content-Length');
      logInfo(logger, `${method} ${route} ${statusCode}`, {
        requestId: requestId(request),
        method,
        route,
        status: statusCode,
        ms: Math.round((performance.now() - started) * 1000) / 1000,
        bytes: length === undefined ? null : Number(length),
        // The client went away before the end.
        isComplete: writableFinished,
      });
    });
    next();
  };
}

/** `GET {path}`: all metrics of the process, as Prometheus reads them. */
function metricsRouter(path: string, metrics: Metrics, matching: PathMatching): Router {
  const router = express.Router(matching);
  router.get(path, (_request, response, next) => {
    metrics
      .read()
      .then((text) => {
        // `send` would add a charset to a type that has its own parameters.
        response.setHeader('Content-Type', metrics.contentType);
        response.setHeader('Cache-Control', 'no-store');
        response.end(text);
      })
      .catch(next);
  });
  closePaths(router, [{ verb: 'get', path }], matching);
  return router;
}

interface Times {
  db: number;
  wait: number;
}

const times = new AsyncLocalStorage<Times>();
const TIMES = Symbol('times of the request');

/** A statement with the times of its request. */
interface TimedStatement extends StatementMessage {
  [TIMES]?: Times;
}

let isSubscribed = false;

/** Adds the header. Statements that go on at the same time are added up. */
function serverTiming(): RequestHandler {
  subscribe();
  return (_request, response, next) => {
    const started = performance.now();
    const own: Times = { db: 0, wait: 0 };
    onHeaders(response, () => {
      const total = performance.now() - started;
      const metrics = Object.entries({ ...own, total });
      response.setHeader(
        'Server-Timing',
        metrics.map(([name, ms]) => `${name};dur=${ms.toFixed(2)}`).join(', '),
      );
    });
    times.run(own, next);
  };
}

/** Once for all applications: statements have no application. */
function subscribe(): void {
  if (isSubscribed) return;
  isSubscribed = true;
  statementChannel.start.subscribe((message) => {
    const own = times.getStore();
    if (own) (message as TimedStatement)[TIMES] = own;
  });
  statementChannel.asyncEnd.subscribe((message) => {
    const { [TIMES]: own, wait, duration } = message as TimedStatement;
    if (!own) return;
    own.wait += wait ?? 0;
    own.db += duration ?? 0;
  });
}
