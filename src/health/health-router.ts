/** The routes of the health checks. */
import express, { type Response, type Router } from 'express';
import { closePaths } from '../express/routes/allowed-methods.js';
import { LOOSE, leaveOtherPaths, type PathMatching } from '../express/routes/path-matching.js';
import { isDraining } from '../express/server/express-server.js';
import { loggerOf } from '../request/request-log.js';
import { DEFAULT_HEADERS } from '../request/standard-headers.js';
import { oneAtATime } from '../util/promises.js';
import { checkHealth, type HealthReport } from './check-health.js';
import { type HealthOptions, resolveHealthOptions } from './health-options.js';

/** Milliseconds for which a report is sent again: several clients often probe at once. */
const REUSE = 1_000;
/** Report while the process stops: no back end is checked any more. */
const DRAINING = Object.freeze({ status: 'unhealthy', checks: [] });

const NOTHING_TO_CHECK =
  'Readiness has nothing to check, because no engine is in use, and says healthy; call engineLifespan(dsn)(app), or ' +
  'configureEngine({ sequelize }) with an instance of your own, or pass health: false.';

/**
 * `GET {prefix}/ready`: 200 when all back ends answer, else 503, with the report; also 503 while the process drains.
 * Where there is nothing to check, the log says so once.
 * `GET {prefix}/live`: 200 as long as the process turns, without a ping.
 *
 * @example
 * ```ts
 * app.use(healthRouter({ prefix: '/internal', timeout: 1 })); // /internal/ready and /internal/live
 * ```
 * @throws ConfigError for a prefix that is not a plain path, a timeout that is not a positive number of seconds, and an
 * unknown option
 */
export function healthRouter(options: HealthOptions = {}): Router {
  const { prefix, includeLiveness } = resolveHealthOptions(options);
  const names = includeLiveness ? ['ready', 'live'] : ['ready'];
  const router = express.Router();
  router.use(leaveOtherPaths(names.map((name) => ({ verb: 'get', path: `${prefix}/${name}` }))));
  return addHealthRoutes(router, options, LOOSE);
}

/** The same with the settings of an application. */
export function healthRouterFor(options: HealthOptions, matching: PathMatching): Router {
  return addHealthRoutes(express.Router(matching), options, matching);
}

function addHealthRoutes(router: Router, options: HealthOptions, matching: PathMatching): Router {
  const { prefix, timeout, includeLiveness } = resolveHealthOptions(options);
  const check = shared(() => checkHealth({ timeout }));
  let isTold = false;
  router.get(`${prefix}/ready`, (request, response, next) => {
    if (isDraining(request.app)) send(response, 503, DRAINING);
    else {
      check()
        .then((report) => {
          // An engine may come after the routes, and before the first probe.
          if (report.components.length === 0 && !isTold) loggerOf(request.app).warn(NOTHING_TO_CHECK);
          isTold = true;
          send(response, report.healthy ? 200 : 503, report);
        })
        .catch(next);
    }
  });
  if (includeLiveness) {
    router.get(`${prefix}/live`, (_request, response) => send(response, 200, { status: 'alive' }));
  }
  const names = includeLiveness ? ['ready', 'live'] : ['ready'];
  closePaths(
    router,
    names.map((name) => ({ verb: 'get', path: `${prefix}/${name}` })),
    matching,
  );
  return router;
}

/** One check at a time for all requests, and its report for a second after. */
function shared(check: () => Promise<HealthReport>): () => Promise<HealthReport> {
  const run = oneAtATime(check);
  let last: { readonly report: HealthReport; readonly at: number } | null = null;
  return async () => {
    if (last && performance.now() - last.at < REUSE) return last.report;
    const report = await run();
    last = { report, at: performance.now() };
    return report;
  };
}

function send(response: Response, status: number, body: object): void {
  response.status(status).set(DEFAULT_HEADERS).json(body);
}
