/** The route of the metrics. */
import express, { type Router } from 'express';
import { closePaths } from '../express/routes/allowed-methods.js';
import type { PathMatching } from '../express/routes/path-matching.js';
import type { Metrics } from './metrics.js';

/** `GET {path}`: all metrics of the process, as Prometheus reads them. */
export function metricsRouter(path: string, metrics: Metrics, matching: PathMatching): Router {
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
