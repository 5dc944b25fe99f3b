/** Installs the middlewares of requests before all routes, and the route of the metrics behind them. */
import type { Express, RequestHandler } from 'express';
import type { Sequelize } from 'sequelize';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { pathMatching } from '../express/routes/path-matching.js';
import { sendRequestId } from '../request/standard-headers.js';
import type { Logger } from '../util/logger.js';
import { accessLog } from './access-log.js';
import { createMetrics } from './metrics.js';
import { metricsRouter } from './metrics-router.js';
import { metricsPath, type ObserveOptions } from './observe-options.js';
import { serverTiming } from './server-timing.js';

const identify: RequestHandler = (request, response, next) => {
  sendRequestId(request, response);
  next();
};

/** Installs what the options ask for. Routes of resources send the id themselves: a layer more of Express costs more than all of it. */
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
  // The metrics are asked for all the time, and tell of everything else.
  app.use(metricsRouter(path, metrics, pathMatching(app)));
  app.use(metrics.observe);
}

function instancesOf(plans: readonly ResourcePlan[]): Sequelize[] {
  return plans.flatMap(({ model: { sequelize } }) => (sequelize ? [sequelize] : []));
}
