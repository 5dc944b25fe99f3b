/** The options of `bootstrap` for logs, timings, metrics and traces, checked. */
import type { ResourcePlan } from '../compile/resource-plan.js';
import { type MountedRouter, mayBeId } from '../express/routes/mount-resources.js';
import {
  flagProblems,
  pathProblems,
  showValue,
  unknownOptions,
  withoutSlash,
} from '../util/option-problems.js';
import { metricsProblem } from './metrics.js';

/** Where the metrics are. */
export interface MetricsOptions {
  /** Path, which is not under `routePrefix`. Default: `/metrics`. */
  path?: string;
}

/** Options of the log, the timings and the metrics of requests. */
export interface ObserveOptions {
  /**
   * True: each request is a line in the log: method, template of the route, status, milliseconds, bytes and id, at
   * level `info`. No path, query string, header or body. Without a `logger` it is JSON on standard output. Requests
   * that were answered before `bootstrap` was reached have no line. Default: false.
   */
  accessLog?: boolean;
  /**
   * True: answers have `Server-Timing`: `db` and `wait` are the milliseconds that statements took and waited for a
   * connection, `total` all of the request. It shows clients how long the work on the server took, so it is for
   * development and trusted clients. Default: false.
   */
  serverTiming?: boolean;
  /**
   * True: `GET /metrics` returns the metrics of the process, as Prometheus reads them. These are requests by route and status,
   * statements and their waits, sizes of batches, connections, and those of Node. They are in the registry of the
   * package `prom-client`, which has to be installed, beside metrics of yours. The route has no guard: do not make it
   * reachable from outside, or put a middleware before `bootstrap`. Default: false.
   *
   * @example
   * ```ts
   * await bootstrap(app, { metrics: { path: '/internal/metrics' } });
   * ```
   */
  metrics?: boolean | MetricsOptions;
}

/** Their names. */
export const OBSERVE_OPTIONS: readonly (keyof ObserveOptions)[] = ['accessLog', 'serverTiming', 'metrics'];

const DEFAULT_PATH = '/metrics';

/** The path of the metrics; null where there are none. */
export function metricsPath({ metrics = false }: ObserveOptions): string | null {
  if (metrics === false) return null;
  return withoutSlash((metrics === true ? undefined : metrics.path) ?? DEFAULT_PATH);
}

/** Problems of the options. */
export function observeProblems(options: ObserveOptions): string[] {
  const { accessLog = false, serverTiming = false, metrics = false } = options;
  return [
    ...flagProblems('accessLog', accessLog),
    ...flagProblems('serverTiming', serverTiming),
    ...(metrics === false ? [] : metricsProblems(metrics)),
  ];
}

function metricsProblems(metrics: unknown): string[] {
  const missing = metricsProblem();
  const others = missing === null ? [] : [missing];
  if (metrics === true) return others;
  if (typeof metrics !== 'object' || metrics === null)
    return [`metrics is ${showValue(metrics)}; use true, false, or { path: '/internal/metrics' }.`];
  const { path = DEFAULT_PATH } = metrics as MetricsOptions;
  return [
    ...others,
    ...unknownOptions('metrics', metrics, ['path']),
    ...pathProblems('The path of metrics', path, '/internal/metrics'),
  ];
}

/** Resources where the metrics would be. */
export function metricsConflicts(
  path: string | null,
  resources: readonly ResourcePlan[],
  routePrefix: string,
): string[] {
  return resources
    .filter(({ prefix }) => `${routePrefix}${prefix}`.toLowerCase() === path?.toLowerCase())
    .map(
      ({ name }) =>
        `${name} is on '${path}', where the metrics are; give one of them another path, such as metrics: { path: '/internal/metrics' }.`,
    );
}

/** Resources with a record whose path may be that of the metrics, which come first. */
export function hiddenByMetrics(
  path: string | null,
  routes: MountedRouter['routes'],
  routePrefix: string,
): string[] {
  if (!path) return [];
  const end = path.lastIndexOf('/');
  const word = path.slice(end + 1);
  return routes
    .filter(({ resource: { plan }, registered }) => {
      const isBelow = `${routePrefix}${plan.prefix}`.toLowerCase() === path.slice(0, end).toLowerCase();
      const hasRecords = registered.routes.some((each) => each.path === `${plan.prefix}/:id`);
      return isBelow && hasRecords && mayBeId(plan, word);
    })
    .map(
      ({ resource: { plan } }) =>
        `${plan.name} may have a record with the id '${word}' at '${path}', where the metrics are; give one of them another path, such as metrics: { path: '/internal/metrics' }.`,
    );
}
